/* test_rank_clock.c: the clock that collectives are timed by, and what lies between its two stamps. What is made of
 * times is tested with simulated ones (test_bench_figures.c, played_collectives.c). Here they are real, and only what
 * holds on any machine, however busy, is checked: a sleep takes no less time than asked for, and no part takes more
 * than the whole.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "bench/rank_bench.h"

enum { ROUNDS = 5 };
static const double nap = 0.004;

static void sleep_for(double seconds) {
  struct timespec span = {0, (long)(1e9 * seconds)}, left;
  while (nanosleep(&span, &left) != 0) span = left;
}

Test(rank_clock, a_run_lasts_from_its_begin_to_its_end) {
  struct fold_rank_clock clock;
  cr_assert_eq(fold_rank_clock_open(&clock, false, 3).code, FOLD_OK);
  for (unsigned i = 0; i < 3; i++) {
    double start = fold_now(), inner, outer;
    cr_assert_eq(fold_rank_clock_begin(&clock, i).code, FOLD_OK);
    if (i == 1) sleep_for(nap);
    cr_assert_eq(fold_rank_clock_end(&clock, i).code, FOLD_OK);
    outer = fold_now() - start;
    cr_assert_eq(fold_rank_clock_read(&clock, i, &inner).code, FOLD_OK);
    cr_expect(inner >= (i == 1 ? nap : 0) && inner <= outer, "run %u: %g of %g s", i, inner, outer);
  }
  fold_rank_clock_close(&clock);
  cr_expect(clock.time == NULL && clock.n == 0);
}

static unsigned naps, blinks;
static fold_status run_nap(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject, (void)call;
  naps++;
  sleep_for(nap);
  return fold_ok();
}
static fold_status run_blink(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject, (void)call;
  blinks++;
  return fold_ok();
}

/* A world of one: what it says comes back. */
static unsigned meetings;
static fold_status echo(struct fold_comm *comm, const void *in, void *out, size_t count, enum fold_comm_type type,
                        enum fold_op op, void *stream) {
  (void)comm, (void)op, (void)stream;
  meetings++;
  if (in != out) memcpy(out, in, count * fold_dtype_size((enum fold_dtype)type));
  sleep_for(nap); /* waiting for the others is not the run's */
  return fold_ok();
}

#define SUBJECT(id, function) \
  { .name = id, .engine = FOLD_MPI, .about = id, .dtypes = 1u << FOLD_F32, .problems = 1u << FOLD_SUM, .run = function }
static const struct fold_subject subjects[] = {SUBJECT("nap", run_nap), SUBJECT("blink", run_blink)};

static struct fold_wire_lay lay_of(void) {
  struct fold_wire_lay lay = {.dtype = FOLD_F32,
                              .op = FOLD_SUM,
                              .ranks = 1,
                              .seed = 1,
                              .rows = 1,
                              .all_cols = 100,
                              .n_entrants = 2,
                              .repeats = ROUNDS,
                              .generator = "normal"};
  for (int k = 0; k < 2; k++) {
    lay.entrant[k].cols = 100;
    strcpy(lay.entrant[k].subject, subjects[k].name);
  }
  return lay;
}

/* Each run is between the stamps, alone: not its meeting, not a warm-up, not the other entrant. */
Test(rank_clock, what_is_timed_is_the_run_alone) {
  const struct fold_registry registry = {.subjects = subjects, .n = 2};
  const struct fold_comm_ops ops = {.allreduce = echo};
  struct fold_comm comm = {.ops = &ops, .ranks = 1, .parts = &fold_parts_host};
  struct fold_wire_lay lay = lay_of();
  struct fold_wire_race race = {.entrants = 3, .warm_up = 2, .repeats = ROUNDS};
  struct fold_rank_bench bench = {0};
  double seconds[2 * ROUNDS], sum = 0;
  if (!fold_comm_engine_of(FOLD_MPI)) cr_skip_test("this build has no MPI");
  fold_status status = fold_rank_lay(&bench, &registry, FOLD_MPI, &comm, &lay);
  cr_assert_eq(status.code, FOLD_OK, "%s", status.text);
  double start = fold_now();
  status = fold_rank_race(&bench, &race, seconds);
  double outer = fold_now() - start;
  cr_assert_eq(status.code, FOLD_OK, "%s", status.text);
  cr_expect(naps == ROUNDS + 2 && blinks == ROUNDS + 2 && meetings == 2 * (ROUNDS + 2), "%u, %u, %u", naps, blinks,
            meetings);
  for (int i = 0; i < 2 * ROUNDS; i++) {
    cr_expect(seconds[i] >= (i < ROUNDS ? nap : 0), "run %d: %g s", i, seconds[i]);
    sum += seconds[i];
  }
  /* What is not a run slept for as long: two warm-ups, and in front of each run. */
  cr_expect(sum <= outer - nap * (2 + 2 * (ROUNDS + 2)), "%g of %g s", sum, outer);
  fold_rank_bench_drop(&bench);
}

Test(rank_clock, a_hosts_ceiling_is_a_rate) {
  struct fold_wire_ceiling asked = {.n_bytes = 1 << 20};
  struct fold_ceiling ceiling = {.rate = NAN, .most = NAN, .clock = NAN};
  cr_assert_eq(fold_rank_ceiling(FOLD_HOST, &asked, &ceiling).code, FOLD_OK);
  cr_expect(ceiling.rate > 0 && isfinite(ceiling.rate) && ceiling.most == ceiling.rate && ceiling.clock == 0);
}
