/* test_judge_spoilt.c: no subject is judged on an input, or by threads, that another one changed. */
#include <fenv.h>
#include <omp.h>

#include "fixtures/npy.h"
#include "literal.h"
#include "openmp_keeps.h"
#include "scratch.h"

/* The input is laid anew after a subject that spoilt it: the next one, which did nothing, is judged on what it should be. */
static fold_status spoil(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  fold_bits_store(call->dtype, call->out, 0, fold_f32_bits(6));
  fold_bits_store(call->dtype, (void *)(uintptr_t)call->in[0], 1, fold_f32_bits(100));
  return fold_ok();
}
static fold_status add_three(const struct fold_subject *subject, const struct fold_call *call) {
  double sum = 0;
  (void)subject;
  for (size_t i = 0; i < 3; i++) sum += fold_bits_to_double(FOLD_F32, fold_bits_load(FOLD_F32, call->in[0], i));
  fold_bits_store(FOLD_F32, call->out, 0, fold_bits_from_double(FOLD_F32, sum));
  return fold_ok();
}

static void name_two(struct fold_subject subjects[2], fold_run *first, fold_run *second) {
  subjects[0].name = "spoils";
  subjects[0].run = first;
  subjects[1].name = "after";
  subjects[1].run = second;
}

/* One that spoils the input, and an honest one after it, which is not to be blamed. */
static void expect_spoiler_alone_blamed(const struct fold_cases *cases) {
  uint64_t claims = FOLD_CLAIM(FOLD_KEEPS_INPUT) | FOLD_CLAIM(FOLD_CORRECTLY_ROUNDED);
  struct fold_subject subjects[2] = {plant(0, NULL, FOLD_EXACT, claims), plant(0, NULL, FOLD_EXACT, claims)};
  struct fold_registry registry = {subjects, 2};
  struct tally t;
  name_two(subjects, spoil, add_three);
  cr_assert_eq(tally_verify(&registry, NULL, false, cases, &t).code, FOLD_OK);
  cr_expect(t.count[FOLD_KEEPS_INPUT][FOLD_REFUTED] == 1 && t.count[FOLD_KEEPS_INPUT][FOLD_HELD] == 1);
  cr_expect_eq(t.count[FOLD_CORRECTLY_ROUNDED][FOLD_HELD], 2, "%s", t.last[FOLD_CORRECTLY_ROUNDED].reason);
}

Test(judge_spoilt, who_comes_after_a_subject_that_spoilt_the_input_is_not_blamed) {
  struct literal l;
  CASE(&l, 1, 2, 3);
  expect_spoiler_alone_blamed(&l.cases);
}

static fold_status give_integers(void *context, uint64_t first, size_t n, void *out) {
  (void)context;
  for (size_t i = 0; i < n; i++) ((float *)out)[i] = (float)(first + i + 1);
  return fold_ok();
}

/* An array's rows are the inputs, one after the other: a sum has one of them. */
Test(judge_spoilt, an_array_that_was_spoilt_is_read_again) {
  SCRATCH(s);
  struct literal l;
  CASE(&l, 1, 2, 3);
  scratch_path(&s, "array.npy");
  l.c.npy = s.path;
  cr_assert_eq(fold_npy_write(l.c.npy, FOLD_F32, 1, 3, false, give_integers, NULL).code, FOLD_OK);
  expect_spoiler_alone_blamed(&l.cases);
}

/* In the batch of five it leaves a result unwritten, and spoils the input in every other run: also in the one that only asks whether the
 * result was written. */
static fold_status spoil_five(const struct fold_subject *subject, const struct fold_call *call) {
  static unsigned fives;
  (void)subject;
  for (size_t r = 0; r < call->rows; r++)
    if (call->rows != 5 || r != 1) fold_bits_store(FOLD_F32, call->out, r, fold_f32_bits(6));
  if (call->rows == 5 && fives++ % 2) fold_bits_store(FOLD_F32, (void *)(uintptr_t)call->in[0], 1, fold_f32_bits(100));
  return fold_ok();
}
static fold_status add_threes(const struct fold_subject *subject, const struct fold_call *call) {
  struct fold_call row = *call;
  for (size_t r = 0; r < call->rows; r++) {
    row.in[0] = (const float *)call->in[0] + r * 3;
    row.out = (float *)call->out + r;
    FOLD_TRY(add_three(subject, &row));
  }
  return fold_ok();
}

Test(judge_spoilt, who_comes_after_a_subject_that_spoilt_the_batch_is_not_blamed) {
  struct literal l;
  uint64_t claims = FOLD_CLAIM(FOLD_BATCH_INVARIANT);
  struct fold_subject subjects[2] = {plant(0, NULL, FOLD_PLAIN, claims | FOLD_CLAIM(FOLD_KEEPS_INPUT)),
                                     plant(0, NULL, FOLD_PLAIN, claims)};
  struct fold_registry registry = {subjects, 2};
  struct tally t;
  CASE(&l, 1, 2, 3);
  name_two(subjects, spoil_five, add_threes);
  cr_assert_eq(tally_verify(&registry, NULL, false, &l.cases, &t).code, FOLD_OK);
  cr_expect_eq(t.count[FOLD_BATCH_INVARIANT][FOLD_HELD], 2, "%s", t.last[FOLD_BATCH_INVARIANT].reason);
  cr_expect_eq(t.count[FOLD_KEEPS_INPUT][FOLD_REFUTED], 1, "%s", t.last[FOLD_KEEPS_INPUT].reason);
}

/* In any run, after a batch whose rig was closed for that too, a write is a fault that is handled, and not the end. */
static fold_status spoil_each(const struct fold_subject *subject, const struct fold_call *call) {
  FOLD_TRY(add_threes(subject, call));
  fold_bits_store(FOLD_F32, (void *)(uintptr_t)call->in[0], 1, fold_f32_bits(100));
  return fold_ok();
}

Test(judge_spoilt, a_subject_that_spoils_each_input_is_judged_to_the_end) {
  struct literal l;
  struct fold_subject subject =
      plant(0, NULL, FOLD_PLAIN, FOLD_CLAIM(FOLD_BATCH_INVARIANT) | FOLD_CLAIM(FOLD_KEEPS_INPUT));
  subject.run = spoil_each;
  struct tally t = judge(&subject, CASE(&l, 1, 2, 3));
  cr_expect_eq(t.judgements, 2);
  cr_expect_eq(verdict_of(&t, FOLD_KEEPS_INPUT), FOLD_REFUTED, "%s", t.last[FOLD_KEEPS_INPUT].reason);
}

/* In each run OpenMP's other threads are left rounding upwards; leaves_no_trace, which would find it, is not asked for. */
static fold_status leave_upward(const struct fold_subject *subject, const struct fold_call *call) {
#pragma omp parallel num_threads(4)
  if (omp_get_thread_num() > 0) fesetround(FE_UPWARD);
  return add_threes(subject, call);
}

Test(judge_spoilt, the_threads_that_make_inputs_are_put_right_after_each_subject) {
  static const enum fold_claim_id claims[] = {FOLD_RUN_TO_RUN, FOLD_STAYS_IN_BOUNDS, FOLD_KEEPS_INPUT};
  for (size_t k = 0; k < sizeof claims / sizeof *claims; k++) {
    struct literal l;
    struct fold_subject subject = plant(0, NULL, FOLD_PLAIN, FOLD_CLAIM(claims[k]));
    int usual = 0;
    CASE(&l, 1, 2, 3);
    subject.run = leave_upward;
    struct tally t = tally_of(&subject, &l.cases);
    cr_expect_eq(t.count[claims[k]][FOLD_HELD], 1, "%s", t.last[claims[k]].reason);
#pragma omp parallel num_threads(4) reduction(+ : usual)
    usual += fegetround() == FE_TONEAREST;
    cr_expect_eq(usual, 4, "claim %zu: %d of 4 threads round to nearest", k, usual);
  }
}

static unsigned calls, turns_in;
static fold_status turn_in_one_run(const struct fold_subject *subject, const struct fold_call *call) {
  const bool turns = ++calls == turns_in;
#pragma omp parallel num_threads(4)
  if (turns && omp_get_thread_num() == 2) fesetround(FE_UPWARD);
  return add_rows(subject, call);
}

/* Whichever run of the trial leaves one of OpenMP's threads changed, those in memory of a judge's own among them, it is found at last. */
Test(judge_spoilt, a_thread_that_any_run_turned_is_found) {
  if (!openmp_keeps()) cr_skip("this OpenMP's threads keep nothing");
  unsigned runs = 1;
  for (unsigned at = 0; at <= runs; at++) {
    struct literal l;
    struct fold_subject subject = plant(0, NULL, FOLD_PLAIN,
                                        FOLD_CLAIM(FOLD_LAUNCH_INVARIANT) | FOLD_CLAIM(FOLD_LEAVES_NO_TRACE) |
                                            FOLD_CLAIM(FOLD_BATCH_INVARIANT) | FOLD_CLAIM(FOLD_LENGTH_INVARIANT));
    CASE(&l, 1, 2, 3);
    subject.run = turn_in_one_run;
    calls = 0, turns_in = at;
    struct tally t = tally_of(&subject, &l.cases);
    if (at == 0) runs = calls;
    cr_expect_eq(t.last[FOLD_LEAVES_NO_TRACE].verdict, at ? FOLD_REFUTED : FOLD_HELD, "run %u of %u: %s", at, runs,
                 t.last[FOLD_LEAVES_NO_TRACE].reason);
  }
  cr_expect_gt(runs, 20, "%u runs", runs);
}

/* The twin spoils the input in its own run of the other's trial: that is the twin's, and is in the log as its. */
Test(judge_spoilt, who_names_a_twin_that_spoils_the_input_is_not_blamed) {
  struct literal l;
  uint64_t claims = FOLD_CLAIM(FOLD_KEEPS_INPUT) | FOLD_CLAIM(FOLD_SAME_BITS_AS);
  struct fold_subject subjects[2] = {plant(0, NULL, FOLD_EXACT, 0), plant(0, NULL, FOLD_EXACT, claims)};
  struct fold_registry registry = {subjects, 2};
  struct tally t;
  CASE(&l, 1, 2, 3);
  name_two(subjects, spoil, add_three);
  subjects[1].twin = "spoils";
  cr_assert_eq(tally_verify(&registry, "after", false, &l.cases, &t).code, FOLD_OK);
  cr_expect_eq(t.last[FOLD_SAME_BITS_AS].verdict, FOLD_HELD, "%s", t.last[FOLD_SAME_BITS_AS].reason);
  cr_expect_eq(t.last[FOLD_KEEPS_INPUT].verdict, FOLD_HELD, "%s", t.last[FOLD_KEEPS_INPUT].reason);
}
