/* test_device_judges.c: the same claims are judged over a device as on the host, each fault by its own claim. */
#include <criterion/criterion.h>
#include <string.h>

#include "arithmetics.h"
#include "fixtures/generator.h"
#include "kernels/host/host.h"
#include "played_device.h"
#include "tally.h"

enum { ROWS = 3 };

#define ALL                                                                                                 \
  (FOLD_CLAIM(FOLD_WRITES_OUTPUT) | FOLD_CLAIM(FOLD_STAYS_IN_BOUNDS) | FOLD_CLAIM(FOLD_LEAVES_NO_TRACE) |   \
   FOLD_CLAIM(FOLD_KEEPS_INPUT) | FOLD_CLAIM(FOLD_BOUNDED) | FOLD_CLAIM(FOLD_CORRECTLY_ROUNDED) |           \
   FOLD_CLAIM(FOLD_RUN_TO_RUN) | FOLD_CLAIM(FOLD_LAUNCH_INVARIANT) | FOLD_CLAIM(FOLD_ALIGNMENT_INVARIANT) | \
   FOLD_CLAIM(FOLD_BATCH_INVARIANT) | FOLD_CLAIM(FOLD_PERMUTATION_INVARIANT))

static fold_status judge(enum fault fault, uint64_t claims, size_t rows, struct tally *t) {
  static char name[] = "integers";
  struct fold_subject subject = subject_of(fault);
  subject.claims = claims;
  struct fold_registry registry = {&subject, 1};
  struct fold_case c = {
      .name = name, .file = name, .dtype = FOLD_F32, .problem = fold_rows_problem(FOLD_SUM), .rows = rows, .cols = 50};
  c.source = (struct fold_source){fold_generator_find("integers"), FOLD_F32, 7, c.cols, 0};
  struct fold_cases cases = {&c, 1, 1};
  device.calls = 0;
  seen.runs = 0;
  seen.varied.n = 0;
  return tally_verify(&registry, NULL, false, &cases, t);
}

Test(device_judges, a_right_subject_holds_what_it_claims) {
  for (size_t rows = 1; rows <= ROWS; rows++)
    for (enum fault f = RIGHT; f <= NEEDS_SCRATCH; f += NEEDS_SCRATCH - RIGHT) {
      struct tally t;
      cr_assert_eq(judge(f, ALL, rows, &t).code, FOLD_OK);
      for (int k = 0; k < FOLD_CLAIMS; k++)
        if (ALL & FOLD_CLAIM(k))
          cr_expect_eq(t.last[k].verdict, FOLD_HELD, "%zu rows, claim %d: %s", rows, k, t.last[k].reason);
    }
}

Test(device_judges, a_fault_is_held_against_what_it_breaks) {
  static const struct {
    enum fault fault;
    ptrdiff_t aside;
    uint64_t breaks, too;
  } rows[] = {
      {NOT_WRITTEN, 0, FOLD_CLAIM(FOLD_WRITES_OUTPUT), ALL},
      {AT_OUTPUT, -3, FOLD_CLAIM(FOLD_STAYS_IN_BOUNDS), 0},
      {AT_INPUT, -3, FOLD_CLAIM(FOLD_STAYS_IN_BOUNDS), 0},
      {AT_SCRATCH, 5003, FOLD_CLAIM(FOLD_STAYS_IN_BOUNDS), 0},
      {AT_SCRATCH, 3, FOLD_CLAIM(FOLD_LEAVES_NO_TRACE), 0},
      {LEAVES_STATE, 0, FOLD_CLAIM(FOLD_LEAVES_NO_TRACE), 0},
      {CHANGES_INPUT, 0, FOLD_CLAIM(FOLD_KEEPS_INPUT), FOLD_CLAIM(FOLD_RUN_TO_RUN)},
      {AT_7_BLOCKS, 0, FOLD_CLAIM(FOLD_LAUNCH_INVARIANT), 0},
      {AT_128_THREADS, 0, FOLD_CLAIM(FOLD_LAUNCH_INVARIANT), 0},
      {AT_AN_ADDRESS, 0, FOLD_CLAIM(FOLD_ALIGNMENT_INVARIANT), 0},
      {KEEPS_RESULTS, 0, FOLD_CLAIM(FOLD_RUN_TO_RUN), FOLD_CLAIM(FOLD_PERMUTATION_INVARIANT)},
      {COUNTS_RUNS, 0, FOLD_CLAIM(FOLD_RUN_TO_RUN), ALL},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct tally t;
    aside = rows[i].aside;
    cr_assert_eq(judge(rows[i].fault, ALL, ROWS, &t).code, FOLD_OK);
    for (int k = 0; k < FOLD_CLAIMS; k++) {
      if (!(ALL & FOLD_CLAIM(k))) continue;
      bool breaks = rows[i].breaks & FOLD_CLAIM(k);
      if (breaks || !(rows[i].too & FOLD_CLAIM(k)))
        cr_expect_eq(t.last[k].verdict, breaks ? FOLD_REFUTED : FOLD_HELD, "fault %zu, claim %d: %s", i, k,
                     t.last[k].reason);
    }
  }
}

/* In a batch of a row, which has memory of its own. */
Test(device_judges, an_input_that_is_changed_elsewhere_is_told) {
  struct tally t;
  cr_assert_eq(judge(CHANGES_FIVE, ALL, 1, &t).code, FOLD_OK);
  cr_expect_eq(t.last[FOLD_BATCH_INVARIANT].verdict, FOLD_HELD);
  cr_expect_eq(t.last[FOLD_KEEPS_INPUT].verdict, FOLD_REFUTED);
  cr_expect_str_eq(t.last[FOLD_KEEPS_INPUT].reason, "the input was changed, in a run for batch_invariant");
}

/* Each claim by itself varies what it is about, and nothing beside it. */
Test(device_judges, a_claim_alone_varies_its_own) {
  static const enum fold_claim_id claims[] = {FOLD_LAUNCH_INVARIANT, FOLD_ALIGNMENT_INVARIANT, FOLD_WRITES_OUTPUT};
  for (size_t k = 0; k < 3; k++) {
    size_t launches = 0, addresses = 0, poisons = 0;
    struct tally t;
    cr_assert_eq(judge(RIGHT, FOLD_CLAIM(claims[k]), 1, &t).code, FOLD_OK);
    for (size_t i = 0; i < seen.varied.n; i++) {
      const struct varied *v = &seen.varied.at[i];
      launches += v->blocks || v->block;
      addresses += v->shift || v->out_shift;
      poisons += v->nan;
    }
    cr_expect(launches == (k == 0 ? 5 : 0) && (addresses > 0) == (k == 1) && poisons == (k == 2),
              "claim %d: %zu launches, %zu addresses, %zu poisons", (int)claims[k], launches, addresses, poisons);
  }
}

Test(device_judges, runs_are_varied_by_the_plan) {
  struct varied listed[FOLD_PLAN_MOST + 1];
  struct tally t;
  cr_assert_eq(
      judge(RIGHT,
            FOLD_CLAIM(FOLD_LAUNCH_INVARIANT) | FOLD_CLAIM(FOLD_ALIGNMENT_INVARIANT) | FOLD_CLAIM(FOLD_WRITES_OUTPUT),
            1, &t)
          .code,
      FOLD_OK);
  size_t n = varied_of_plan(FOLD_CUDA, 50, t.input_hash, listed);
  varied_expect(&seen.varied, listed, n + 1);
}

static struct way ran;
static fold_status run_a_way(const struct fold_subject *declared, const struct fold_call *call) {
  struct fold_subject subject = *declared;
  subject.method = ran.method;
  subject.accumulator = ran.accumulator;
  return (ran.method == FOLD_PLAIN && ran.accumulator == FOLD_USUAL ? fold_host_ordered : fold_host_summed)(&subject,
                                                                                                            call);
}

/* What the method adds up on a device is replayed by the method. */
Test(device_judges, a_method_is_replayed_as_itself) {
  static char name[] = "normal";
  static const struct way ways[] = {PLAINLY, {FOLD_KAHAN, FOLD_USUAL, FOLD_USUAL}, IN_F64};
  for (size_t m = 0; m < 3; m++)
    for (size_t own = 0; own < 3; own++) {
      struct fold_subject subject = subject_of(OF_A_METHOD);
      struct fold_case c = {.name = name,
                            .file = name,
                            .dtype = FOLD_F32,
                            .problem = fold_rows_problem(FOLD_SUM),
                            .rows = 8,
                            .cols = 3000};
      c.source = (struct fold_source){fold_generator_find("normal"), FOLD_F32, 7, c.cols, 0};
      struct fold_cases cases = {&c, 1, 1};
      subject.claims = FOLD_CLAIM(FOLD_REPLAYS);
      subject.order = "host/sequential";
      subject.method = ways[own].method;
      subject.accumulator = ways[own].accumulator;
      ran = ways[m];
      method_run = run_a_way;
      struct tally t = tally_of(&subject, &cases);
      cr_expect_eq(t.last[FOLD_REPLAYS].verdict, m == own ? FOLD_HELD : FOLD_REFUTED, "method %zu as %zu: %s", m, own,
                   t.last[FOLD_REPLAYS].reason);
    }
}

/* Whatever call of the device fails, and whichever subject is judged. Only the last look at the input comes when all is judged, and with it the input
 * that the judges of these claims laid last is sent; after keeps_input's own look there is nothing more to see. */
Test(device_judges, nothing_holds_by_a_call_that_failed) {
  for (int k = 0; k < FOLD_CLAIMS; k++) {
    struct tally t;
    if (!(ALL & FOLD_CLAIM(k))) continue;
    device.fails_in = 0;
    cr_assert_eq(judge(NEEDS_SCRATCH, FOLD_CLAIM(k), 1, &t).code, FOLD_OK);
    const bool laid = k == FOLD_ALIGNMENT_INVARIANT || k == FOLD_PERMUTATION_INVARIANT;
    const unsigned calls = device.calls, last = k == FOLD_KEEPS_INPUT ? calls : calls - 1 - laid;
    for (device.fails_in = 1; device.fails_in <= last; device.fails_in++) {
      fold_status status = judge(NEEDS_SCRATCH, FOLD_CLAIM(k), 1, &t);
      const struct fold_finding *f = &t.last[k];
      cr_expect(status.code == FOLD_OK ? f->verdict == FOLD_BROKEN && strstr(f->reason, "failed")
                                       : status.code == FOLD_ENVIRONMENT,
                "claim %d, call %u of %u: %d, verdict %d: %s", k, device.fails_in, calls, (int)status.code,
                (int)f->verdict, f->reason);
      cr_expect_eq(count_memory(), 0, "claim %d, call %u: memory is left", k, device.fails_in);
    }
  }
}
