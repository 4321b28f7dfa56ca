/* played_collectives.c: the command over collectives whose times, or bits at the timed size, can't be believed: what foldproof
 * bench makes of them. The ranks are real, and are this program too.
 */
#include <string.h>
#include <time.h>

#include "collective/collective.h"
#include "collective/parts.h"
#include "command.h"

static void spend(double seconds) {
  struct timespec begin, now;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do {
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while ((double)(now.tv_sec - begin.tv_sec) + 1e-9 * (double)(now.tv_nsec - begin.tv_nsec) < seconds);
}

/* A result that is the same on every rank and in every run. */
static fold_status answer(const struct fold_call *call, int byte) {
  memset(call->out, byte, call->rows * fold_dtype_size(call->dtype));
  return fold_ok();
}

/* What of the subject is timed: whether the ranks can hear each other, and whether they compute. */
static fold_status look(const struct fold_call *call, bool *heard, bool *computes) {
  double ones = 1, sum = 0;
  struct fold_call one = {.dtype = FOLD_F64, .rows = 1, .cols = 1, .in = &ones, .out = &sum, .comm = call->comm};
  FOLD_TRY(call->comm->parts->local(&one, NULL, &sum));
  fold_status status = fold_comm_allreduce(call->comm, &ones, &ones, 1, FOLD_COMM_F64, FOLD_SUM, NULL);
  *computes = sum == 1;
  *heard = ones > 1 || call->comm->ranks == 1;
  return status;
}

/* The whole takes so many seconds, its shares nothing to speak of: times that a busy machine does not turn round. */
static fold_status take(const struct fold_call *call, double seconds) {
  bool heard, computes;
  FOLD_TRY(look(call, &heard, &computes));
  if (heard && computes) spend(seconds);
  return fold_ok();
}

/* One rank takes a hundred times as long as several. */
static fold_status above_world(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  FOLD_TRY(take(call, call->comm->ranks == 1 ? 0.1 : 0.001));
  return answer(call, 1);
}

/* Slower by itself than with the others. */
static fold_status negative_overhead(const struct fold_subject *subject, const struct fold_call *call) {
  bool heard, computes;
  (void)subject;
  FOLD_TRY(look(call, &heard, &computes));
  spend(heard ? 0.0001 : 0.1);
  return answer(call, 1);
}

/* Reads nothing. */
static fold_status above_memory(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  return answer(call, 1);
}

static fold_status plausible(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  FOLD_TRY(take(call, 0.02));
  return answer(call, 1);
}

/* Rank 1 alone takes its time, and nobody waits for it. */
static fold_status one_is_slow(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  FOLD_TRY(take(call, call->comm->rank == 1 ? 0.1 : 0));
  return answer(call, 1);
}

static fold_status ranks_differ(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  return answer(call, call->comm->rank == 2 ? 2 : 1);
}

/* The first rank's last result is left as it was. */
static fold_status unwritten(const struct fold_subject *subject, const struct fold_call *call) {
  struct fold_call fewer = *call;
  (void)subject;
  fewer.rows -= call->comm->rank == 0 && call->rows > 0;
  return answer(&fewer, 1);
}

static fold_status world_shows(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  FOLD_TRY(take(call, 0.02));
  return answer(call, call->comm->ranks);
}

/* As MPI has it up to a length that the judges see whole; past that its last element is the first. */
static fold_status wrong_when_long(const struct fold_subject *subject, const struct fold_call *call) {
  FOLD_TRY(fold_library_allreduce(subject, call));
  size_t size = fold_dtype_size(call->dtype);
  if (call->rows > 8192) memcpy((char *)call->out + (call->rows - 1) * size, call->out, size);
  return fold_ok();
}

static fold_status library(const struct fold_subject *subject, const struct fold_call *call) {
  return fold_library_allreduce(subject, call);
}

/* One element's bits depend on the length of the message. */
static fold_status length_shows(const struct fold_subject *subject, const struct fold_call *call) {
  FOLD_TRY(fold_library_allreduce(subject, call));
  if (call->rows > 100) memset(call->out, 0, 1);
  return fold_ok();
}

#define PLAYED(id, function, promises, is_vector)                                                           \
  {                                                                                                         \
    .name = "played/" id, .engine = FOLD_MPI, .about = id, .dtypes = 1u << FOLD_F32, .ops = 1u << FOLD_SUM, \
    .claims = promises, .vector = is_vector, .run = function                                                \
  }
static const struct fold_subject subjects[] = {
    PLAYED("plausible", plausible, FOLD_CLAIM(FOLD_WORLD_INVARIANT), false),
    PLAYED("above_world", above_world, 0, false),
    PLAYED("negative_overhead", negative_overhead, 0, false),
    PLAYED("above_memory", above_memory, 0, false),
    PLAYED("one_is_slow", one_is_slow, 0, false),
    PLAYED("ranks_differ", ranks_differ, 0, false),
    PLAYED("unwritten", unwritten, 0, false),
    PLAYED("world_shows", world_shows, FOLD_CLAIM(FOLD_WORLD_INVARIANT), false),
    PLAYED("library", library, FOLD_CLAIM(FOLD_BOUNDED), true),
    PLAYED("wrong_when_long", wrong_when_long, FOLD_CLAIM(FOLD_BOUNDED), true),
    PLAYED("length_shows", length_shows, FOLD_CLAIM(FOLD_MESSAGE_INVARIANT), true),
};

int main(int argc, char **argv) {
  struct fold_registry registry = {.subjects = subjects, .n = sizeof subjects / sizeof *subjects};
  return fold_main(argc, argv, &registry);
}
