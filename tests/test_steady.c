/* test_steady.c: a subject that varies by itself is refuted by run_to_run, and by no claim about surroundings. */
#include "lone_trial.h"

static const struct fold_claim *claim;
static void by_claim(struct fold_trial *trial, struct fold_finding *finding) {
  fold_judge_claim(claim, trial, finding);
}

/* Another result in each run. */
static fold_status count_runs(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  note(call);
  for (size_t r = 0; r < call->rows; r++)
    fold_bits_store(call->dtype, call->out, r, fold_bits_from_double(call->dtype, (double)seen.runs));
  return fold_ok();
}

/* That in runs of its own number of threads, and none elsewhere. */
static fold_status count_own_runs(const struct fold_subject *subject, const struct fold_call *call) {
  FOLD_TRY(count_runs(subject, call));
  if (call->launch.threads) memset(call->out, 0, call->rows * fold_dtype_size(call->dtype));
  return fold_ok();
}

/* Up to that run; 0.5 from there on. */
static size_t varies_up_to;
static fold_status vary_at_first(const struct fold_subject *subject, const struct fold_call *call) {
  FOLD_TRY(count_runs(subject, call));
  for (size_t r = 0; r < call->rows && seen.runs > varies_up_to; r++)
    fold_bits_store(call->dtype, call->out, r, fold_bits_from_double(call->dtype, 0.5));
  return fold_ok();
}

static struct fold_subject twin = {.name = "twin", .dtypes = 15, .problems = 15, .run = sum_rows};

static struct fold_finding judge(fold_status (*run)(const struct fold_subject *, const struct fold_call *),
                                 enum fold_claim_id id, uint64_t asked) {
  const struct fold_registry registry = {&twin, 1};
  struct lone b;
  size_t n;
  open_lone(&b, FOLD_ROWS_SUM, FOLD_F32, 3, 10);
  b.subject.run = run;
  b.subject.twin = "twin";
  b.trial.registry = &registry;
  b.trial.asked = asked;
  claim = &fold_claims(&n)[id];
  const struct fold_finding f = judge_lone(&b, by_claim);
  close_lone(&b);
  return f;
}

#define RUN_TO_RUN FOLD_CLAIM(FOLD_RUN_TO_RUN)
static const char *const told = "the same run varies by itself: see run_to_run";

Test(steady, who_varies_by_itself_is_not_refuted_by_its_surroundings) {
  static const enum fold_claim_id of_surroundings[] = {
      FOLD_SAME_BITS_AS,     FOLD_LAUNCH_INVARIANT,  FOLD_ALIGNMENT_INVARIANT, FOLD_BATCH_INVARIANT,
      FOLD_LENGTH_INVARIANT, FOLD_PADDING_INVARIANT, FOLD_STRIDE_INVARIANT};
  for (size_t i = 0; i < sizeof of_surroundings / sizeof *of_surroundings; i++) {
    struct fold_finding f = judge(count_runs, of_surroundings[i], RUN_TO_RUN);
    cr_expect(f.verdict == FOLD_SKIPPED && strcmp(f.reason, told) == 0, "claim %d: %s", (int)of_surroundings[i],
              f.reason);
    f = judge(count_runs, of_surroundings[i], 0);
    cr_expect(
        f.verdict == FOLD_REFUTED && strstr(f.reason, "different bits, but the same run varies by itself: 8 of 8 "),
        "claim %d: %s", (int)of_surroundings[i], f.reason);
  }
}

Test(steady, of_the_terms_order_it_is_refuted_all_the_same) {
  const struct fold_finding f = judge(count_runs, FOLD_PERMUTATION_INVARIANT, RUN_TO_RUN);
  cr_expect(f.verdict == FOLD_REFUTED && strstr(f.reason, "different bits for the terms "), "%s", f.reason);
}

/* The run that refuted has one result, and the one that it was compared with has not. */
Test(steady, the_base_run_is_looked_at_too) {
  const struct fold_finding f = judge(count_own_runs, FOLD_LAUNCH_INVARIANT, RUN_TO_RUN);
  cr_expect(f.verdict == FOLD_SKIPPED && strcmp(f.reason, told) == 0, "%s", f.reason);
}

/* The number of rows. */
static fold_status count_rows(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  for (size_t r = 0; r < call->rows; r++)
    fold_bits_store(call->dtype, call->out, r, fold_bits_from_double(call->dtype, (double)call->rows));
  return fold_ok();
}

Test(steady, a_difference_that_is_there_again_refutes) {
  const struct fold_finding f = judge(count_rows, FOLD_BATCH_INVARIANT, RUN_TO_RUN);
  cr_expect(f.verdict == FOLD_REFUTED && strcmp(f.reason, "same bits up to 1 row, different bits from 2 (of 3)") == 0,
            "%s", f.reason);
}

/* No subject can have its bits: that is not the subject's fault, but where it is not seen again the subject's it stays. */
Test(steady, a_twin_that_varies_by_itself_refutes_nobody) {
  static const struct {
    unsigned dtypes, problems, varies_up_to;
    enum fold_verdict verdict;
    const char *reason;
  } rows[] = {
      {15, 15, MOST_CALLS, FOLD_BROKEN, "its reference twin gives different bits in a repeat"},
      {15, 15, 2, FOLD_BROKEN, "its reference twin gives different bits in a repeat"},
      {15, 15, 0, FOLD_REFUTED, "different bits than twin"},
      {15 & ~(1u << FOLD_F32), 15, 0, FOLD_SKIPPED, "its reference twin does not take this case"},
      {15, 15 & ~(1u << FOLD_ROWS_SUM), 0, FOLD_SKIPPED, "its reference twin does not take this case"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    twin.dtypes = rows[i].dtypes, twin.problems = rows[i].problems, twin.run = vary_at_first;
    varies_up_to = rows[i].varies_up_to;
    const struct fold_finding f = judge(sum_rows, FOLD_SAME_BITS_AS, 0);
    cr_expect(f.verdict == rows[i].verdict && strcmp(f.reason, rows[i].reason) == 0, "row %zu: %s", i, f.reason);
  }
}

/* The sum that it once gave of an input that lay there. */
static fold_status keep_sums(const struct fold_subject *subject, const struct fold_call *call) {
  static const void *known;
  static uint64_t sum;
  if (call->in[0] != known) {
    const fold_status status = sum_rows(subject, call);
    known = call->in[0];
    sum = fold_bits_load(call->dtype, call->out, 0);
    return status;
  }
  fold_bits_store(call->dtype, call->out, 0, sum);
  return fold_ok();
}

/* Where run_to_run is judged it has asked already. */
Test(steady, stored_results_hold_no_claim_about_surroundings) {
  static fold_judge_runs *const judges[] = {fold_judge_launch_invariant, fold_judge_alignment_invariant};
  for (size_t i = 0; i < 2; i++) {
    struct lone b;
    open_lone(&b, FOLD_ROWS_SUM, FOLD_F32, 1, 9);
    b.subject.run = keep_sums;
    const struct fold_finding f = judge_lone(&b, judges[i]);
    cr_expect_eq(f.verdict, FOLD_REFUTED);
    cr_expect_str_eq(f.reason, "it returned stored results of an earlier input");
    close_lone(&b);
  }
}
