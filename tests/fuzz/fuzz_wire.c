/* fuzz_wire.c: any bytes as what two ranks say to a question: heard as an answer, a failure, calls or nonsense. The file under
 * test is included whole, for its listener is static; no world is started, and none is ended. */
#include "ranks/world.c"

#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void hear_all(struct fold_rank *rank, size_t answer_bytes, const uint8_t *bytes, size_t n) {
  const struct fold_question question = {.kind = WIRE_RUN, .answer_bytes = answer_bytes, .what = "a fuzzed run"};
  unsigned char *answer = malloc(answer_bytes);
  int ends[2];
  enum heard heard;
  if (!answer || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) || write(ends[1], bytes, n) != (ssize_t)n) abort();
  close(ends[1]);
  rank->fd = ends[0];
  do heard = listen_to(rank, &question, answer, fold_now() + 10);
  while (heard == HEARD_NOTHING);
  if (heard == HEARD_LATE) abort(); /* all has arrived: nothing is waited for */
  if (heard == HEARD_FAILURE && (rank->failure.code <= FOLD_OK || rank->failure.code > FOLD_ENVIRONMENT)) abort();
  close(rank->fd);
  free(answer);
}

/* One byte chooses the answer's size, two where the second rank's words begin. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
  static const size_t sizes[] = {0, 1, 8, sizeof(struct fold_wire_ran), 600, FOLD_COMM_TOKEN};
  if (n < 3 || n > 60000) return 0; /* a socket takes so much at once */
  size_t answer_bytes = sizes[bytes[0] % (sizeof sizes / sizeof *sizes)], first = (bytes[1] | bytes[2] << 8) % (n - 2);
  struct fold_rank ranks[2] = {0};
  struct fold_world world = {.ranks = 2, .rank = ranks};
  char text[200];
  hear_all(&ranks[0], answer_bytes, bytes + 3, first);
  hear_all(&ranks[1], answer_bytes, bytes + 3 + first, n - 3 - first);
  if (fold_world_find_other_arguments(&world, 0, 2, text) && strlen(text) == 0) abort();
  free(ranks[0].calls);
  free(ranks[1].calls);
  return 0;
}
