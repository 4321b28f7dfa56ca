/* test_collective.c: the parts below collectives, bottom-up: how columns are divided, messages on a socket, and which
 * part of an input a rank gets. */
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>

#include "integers.h"
#include "kernels/collective/collective.h"
#include "kernels/collective/parts.h"
#include "mutants.h"
#include "ranks.h"
#include "rig/rig.h"

/* Cuts rise from 0 to n, at multiples of the grain, and no rank has two grains more than another. */
static void expect_cuts(size_t n, size_t grain, int ranks) {
  size_t most = 0, least = SIZE_MAX;
  cr_expect(fold_comm_cut(n, grain, ranks, 0) == 0 && fold_comm_cut(n, grain, ranks, ranks) == n);
  for (int r = 0; r < ranks; r++) {
    size_t at = fold_comm_cut(n, grain, ranks, r), end = fold_comm_cut(n, grain, ranks, r + 1);
    cr_assert(at <= end && end <= n, "%zu by %zu over %d: rank %d has %zu to %zu", n, grain, ranks, r, at, end);
    cr_expect(at == n || at % grain == 0, "%zu by %zu over %d: rank %d starts at %zu", n, grain, ranks, r, at);
    size_t grains = (end - at + grain - 1) / grain;
    most = grains > most ? grains : most;
    least = grains < least ? grains : least;
  }
  cr_expect(most - least <= 1, "%zu by %zu over %d: between %zu and %zu grains", n, grain, ranks, least, most);
}

Test(collective, cuts_cover_what_is_cut_evenly) {
  for (size_t n = 0; n < 70; n++)
    for (size_t grain = 1; grain < 9; grain++)
      for (int ranks = 1; ranks < 18; ranks++) expect_cuts(n, grain, ranks);
  uint64_t state = 5;
  for (int trial = 0; trial < 5000; trial++)
    expect_cuts(next_word(&state) >> (24 + next_word(&state) % 40),
                1 + (next_word(&state) >> (40 + next_word(&state) % 24)), 1 + (int)(next_word(&state) % 1024));
}

/* Blocks of a row: tiles of 4096 times a power of two, as few as need be, whatever the ranks. */
Test(collective, canonical_blocks_follow_from_the_number_of_columns_alone) {
  const size_t most = (size_t)FOLD_PARTS_MOST_BLOCKS * 4096;
  const struct {
    size_t cols, grain;
  } grains[] = {{0, 4096},        {1, 4096},        {4097, 4096},          {most, 4096},
                {most + 1, 8192}, {2 * most, 8192}, {2 * most + 1, 16384}, {(size_t)1 << 32, 8388608}};
  for (size_t i = 0; i < sizeof grains / sizeof *grains; i++)
    cr_expect_eq(fold_collective_canonical_grain(grains[i].cols), grains[i].grain, "%zu columns: %zu", grains[i].cols,
                 fold_collective_canonical_grain(grains[i].cols));
}

/* Room for a slice of every rank and the combined one; of short vectors, for everybody's. No element less, few more. */
Test(collective, canonical_has_room_for_what_its_ranks_send) {
  static const size_t rows[] = {1, 2, 3, 1000, 8191, 65537, 100003, 1000000, 1000001, 1000002};
  for (int ranks = 1; ranks <= 9; ranks++)
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
      for (int d = 0; d < FOLD_FLOATS; d++) {
        const struct fold_comm_ops ops = {0};
        struct fold_comm comm = {.ops = &ops, .ranks = ranks};
        struct fold_call call = {.dtype = (enum fold_dtype)d,
                                 .problem = fold_rows_problem(FOLD_SUM),
                                 .rows = rows[k],
                                 .cols = 1,
                                 .comm = &comm};
        size_t size = fold_dtype_size(call.dtype), longest = 0, all = rows[k] * (size_t)ranks * size;
        for (int r = 0; r < ranks; r++) {
          size_t own = fold_comm_cut(rows[k], 1, ranks, r + 1) - fold_comm_cut(rows[k], 1, ranks, r);
          longest = own > longest ? own : longest;
        }
        size_t sliced = ((size_t)ranks + 1) * longest * size, room = fold_collective_canonical_scratch(NULL, &call);
        bool is_short = (all - rows[k] * size) <= 65536 && rows[k] * size <= 65536;
        cr_expect(room >= FOLD_SCRATCH_ZEROED + (is_short ? all : sliced), "%zu x %d: %zu bytes", rows[k], ranks, room);
        cr_expect(room <= FOLD_SCRATCH_ZEROED + (is_short ? 131072 : sliced + ((size_t)ranks + 1) * size),
                  "%zu x %d: %zu bytes", rows[k], ranks, room);
      }
}

struct sender {
  int fd;
  const unsigned char *bytes;
  size_t n;
  enum fold_wire how;
};
static void *send_slowly(void *of) {
  struct sender *s = of;
  s->how = fold_wire_send_by(s->fd, fold_now() + 600, WIRE_LOAD, s->bytes, 1000, s->bytes + 1000, s->n - 1000);
  return NULL;
}

/* Many times what a socket holds, in two pieces, through another thread. */
Test(collective, a_message_arrives_whole) {
  enum { N = 5000003 };
  int pair[2];
  pthread_t thread;
  static unsigned char sent[N], got[N];
  uint64_t state = 6;
  for (size_t i = 0; i < N; i++) sent[i] = (unsigned char)next_word(&state);
  cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  struct sender sender = {pair[0], sent, N, FOLD_WIRE_LATE};
  cr_assert_eq(pthread_create(&thread, NULL, send_slowly, &sender), 0);
  struct fold_wire_head head;
  cr_expect(fold_wire_read(pair[1], &head, sizeof head) && head.kind == WIRE_LOAD && head.n_bytes == N);
  cr_expect(fold_wire_read(pair[1], got, N) && memcmp(sent, got, N) == 0);
  pthread_join(thread, NULL);
  cr_expect_eq(sender.how, FOLD_WIRE_DONE);
  cr_expect(fold_wire_send(pair[0], WIRE_DONE, NULL, 0, NULL, 0) && fold_wire_read(pair[1], &head, sizeof head) &&
            head.n_bytes == 0);
}

/* Silence and a full socket end at the deadline, part of a message too; who hangs up is gone at once, without a signal. */
Test(collective, a_message_that_does_not_come_is_late_and_who_hung_up_is_gone) {
  static char bytes[1 << 22];
  int pair[2];
  cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  double start = fold_now();
  cr_expect_eq(fold_wire_read_by(pair[1], start + 0.2, bytes, 8), FOLD_WIRE_LATE);
  cr_assert_eq(send(pair[0], bytes, 5, 0), 5);
  cr_expect_eq(fold_wire_read_by(pair[1], start + 0.4, bytes, 8), FOLD_WIRE_LATE);
  cr_expect_eq(fold_wire_send_by(pair[0], start + 0.6, WIRE_LOAD, bytes, sizeof bytes, NULL, 0), FOLD_WIRE_LATE);
  double took = fold_now() - start;
  cr_expect(took >= 0.6 && took < 60, "took %g s", took); /* with room: a busy machine is late too */
  cr_expect_eq(fold_wire_read_by(pair[1], start - 1, bytes, 8), FOLD_WIRE_DONE, "what is there is read, however late");
  close(pair[1]);
  cr_expect_eq(fold_wire_send_by(pair[0], INFINITY, WIRE_LOAD, bytes, sizeof bytes, NULL, 0), FOLD_WIRE_GONE);
  cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  cr_assert_eq(send(pair[0], bytes, 5, 0), 5);
  close(pair[0]);
  cr_expect_eq(fold_wire_read_by(pair[1], INFINITY, bytes, 8), FOLD_WIRE_GONE);
}

/* As a rank asks between two moves: no rank has said anything; one has; all have ended. */
Test(collective, a_word_is_there_or_not_or_never_will_be) {
  int pair[2];
  cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  double start = fold_now();
  cr_expect(!fold_wire_has_word(pair[1], 100) && fold_now() - start >= 0.09);
  cr_assert_eq(send(pair[0], "word", 4, 0), 4);
  cr_expect(fold_wire_has_word(pair[1], 60000));
  char word[4];
  cr_expect(fold_wire_read(pair[1], word, 4) && !fold_wire_has_word(pair[1], 0));
  close(pair[0]);
  cr_expect(fold_wire_has_word(pair[1], 60000) && !fold_wire_read(pair[1], word, 1));
  close(pair[1]);
}

static const struct fold_subject *find(const char *name) {
  size_t n;
  const struct fold_subject *all = fold_mutants_broken(&n);
  for (size_t i = 0; i < n; i++)
    if (strcmp(all[i].name, name) == 0) return &all[i];
  cr_assert_fail("no %s", name);
  return NULL;
}

/* Every rank holds its columns of the rows that are asked for, and no other: all ranks find each row right. */
static void expect_places(struct fold_rig *rig, const struct fold_subject *subject, size_t first, size_t rows,
                          size_t cols, unsigned ranks) {
  float *x = fold_rig_input(rig), got[16];
  struct fold_traces traces;
  struct fold_request request = {.first = {first}, .rows = rows, .cols = cols, .ranks = ranks, .poison = 0x3c};
  for (size_t i = 0; i < rig->in[0].n; i++) x[i] = i < first ? -1 : (float)(i - first + 1);
  cr_assert_eq(fold_rig_load(rig).code, FOLD_OK);
  fold_status status = fold_rig_run(rig, subject, &request, got, &traces);
  cr_assert_eq(status.code, FOLD_OK, "%s", status.text);
  for (size_t r = 0; r < rows; r++)
    cr_expect(got[r] == (float)ranks, "%s: %zu x %zu from %zu over %u ranks, shift %td: row %zu is right on %g",
              subject->name, rows, cols, first, ranks, rig->in[0].shift, r, (double)got[r]);
}

Test(collective, each_rank_gets_its_own_columns) {
  struct fold_rig rig;
  ranks_world(FOLDPROOF_MUTANTS);
  cr_assert_eq(fold_rig_open_rows(&rig, FOLD_MPI, FOLD_SUM, FOLD_F32, 900, 16).code, FOLD_OK);
  static const char *const probes[] = {"probe/places", "probe/places_by_grain"};
  for (size_t p = 0; p < 2; p++)
    for (unsigned ranks = 1; ranks <= 8; ranks += ranks < 5 ? 1 : 3)
      for (ptrdiff_t shift = 0; shift < 4; shift += 3) {
        const struct fold_subject *probe = find(probes[p]);
        cr_assert_eq(fold_rig_move(&rig, shift).code, FOLD_OK);
        expect_places(&rig, probe, 0, 1, 900, ranks);
        expect_places(&rig, probe, 1, 1, 13, ranks);
        expect_places(&rig, probe, 0, 9, 100, ranks);
        expect_places(&rig, probe, 200, 7, 100, ranks);
        expect_places(&rig, probe, 5, 3, 2, ranks);
        expect_places(&rig, probe, 0, 4, 0, ranks);
        expect_places(&rig, probe, 0, 0, 5, ranks);
      }
  fold_rig_close(&rig);
  cr_expect_eq(fold_worlds_close().code, FOLD_OK);
}

/* What the ranks hold is not sent again; what changed, or was replaced by another rig, is. */
Test(collective, parts_are_sent_when_they_changed_and_only_then) {
  struct fold_rig a, b;
  struct fold_world *world = ranks_world(FOLDPROOF_MUTANTS);
  cr_assert_eq(fold_rig_open_rows(&a, FOLD_MPI, FOLD_SUM, FOLD_F32, 60, 4).code, FOLD_OK);
  cr_assert_eq(fold_rig_open_rows(&b, FOLD_MPI, FOLD_SUM, FOLD_F32, 60, 4).code, FOLD_OK);
  const struct fold_subject *probe = find("probe/places");
  struct fold_request request = {.rows = 2, .cols = 30, .ranks = 3};
  struct fold_traces traces;
  float got[4];
  expect_places(&a, probe, 0, 2, 30, 3);
  uint64_t loads = fold_world_loads(world);
  cr_expect_eq(fold_rig_run(&a, probe, &request, got, &traces).code, FOLD_OK);
  cr_expect_eq(fold_world_loads(world), loads, "the same again");
  expect_places(&b, probe, 0, 2, 30, 3);
  ((float *)fold_rig_input(&b))[7] = 0;
  cr_assert_eq(fold_rig_load(&b).code, FOLD_OK);
  cr_expect_eq(fold_rig_run(&b, probe, &request, got, &traces).code, FOLD_OK);
  cr_expect(got[0] == 2 && got[1] == 3, "b's change is seen on one rank: %g, %g", (double)got[0], (double)got[1]);
  loads = fold_world_loads(world);
  cr_expect_eq(fold_rig_run(&a, probe, &request, got, &traces).code, FOLD_OK);
  cr_expect(fold_world_loads(world) == loads + 3 && got[0] == 3, "a's parts are sent again: %g", (double)got[0]);
  request.ranks = 2;
  cr_expect_eq(fold_rig_run(&a, probe, &request, got, &traces).code, FOLD_OK);
  cr_expect(fold_world_loads(world) == loads + 5 && got[0] == 2, "other parts for other ranks: %g", (double)got[0]);
  request.ranks = 9;
  cr_expect_eq(fold_rig_run(&a, probe, &request, got, &traces).code, FOLD_UNSUPPORTED, "there are eight");
  fold_rig_close(&a);
  fold_rig_close(&b);
  cr_expect_eq(fold_worlds_close().code, FOLD_OK);
}

/* A world that was closed is followed by a new one, whose ranks hold nothing yet. */
Test(collective, a_new_world_holds_no_parts_of_the_last_one) {
  struct fold_rig rig;
  ranks_world(FOLDPROOF_MUTANTS);
  cr_assert_eq(fold_rig_open_rows(&rig, FOLD_MPI, FOLD_SUM, FOLD_F32, 60, 4).code, FOLD_OK);
  const struct fold_subject *probe = find("probe/places");
  expect_places(&rig, probe, 0, 2, 30, 3);
  cr_expect_eq(fold_world_close(FOLD_MPI).code, FOLD_OK);
  cr_expect_eq(fold_world_of(FOLD_MPI, &rig.world).code, FOLD_OK);
  struct fold_request request = {.rows = 2, .cols = 30, .ranks = 3};
  struct fold_traces traces;
  float got[4];
  fold_status status = fold_rig_run(&rig, probe, &request, got, &traces);
  cr_expect(status.code == FOLD_OK && got[0] == 3, "%s", status.text);
  fold_rig_close(&rig);
  cr_expect_eq(fold_worlds_close().code, FOLD_OK);
}
