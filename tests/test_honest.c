/* test_honest.c: a subject that always gives the right result for its terms holds by every judge, and the input is
 * unchanged afterwards, though judges permute, negate, rotate and copy it, for each factor.
 */
#include <math.h>

#include "lone_trial.h"

static fold_judge_runs *const judges[] = {fold_judge_run_to_run,
                                          fold_judge_launch_invariant,
                                          fold_judge_alignment_invariant,
                                          fold_judge_batch_invariant,
                                          fold_judge_permutation_invariant,
                                          fold_judge_length_invariant,
                                          fold_judge_padding_invariant,
                                          fold_judge_stride_invariant,
                                          fold_judge_writes_output,
                                          fold_judge_stays_in_bounds,
                                          fold_judge_keeps_input};
enum { JUDGES = sizeof judges / sizeof *judges };

static void expect_held(size_t judge, enum fold_problem_id problem, enum fold_dtype dtype, size_t rows, bool guest) {
  struct lone b;
  uint64_t after;
  open_lone(&b, problem, dtype, rows, 10);
  if (!guest) b.subject.guest = NULL;
  const struct fold_finding f = judge_lone(&b, judges[judge]);
  cr_expect_eq(f.verdict, FOLD_HELD, "judge %zu, problem %d, %s, %zu rows, guest %d: %s", judge, (int)problem,
               fold_dtype_name(dtype), rows, guest, f.reason);
  cr_assert_eq(fold_rig_load(&b.rig).code, FOLD_OK);
  cr_assert_eq(fold_rig_hash(&b.rig, &after).code, FOLD_OK);
  cr_expect_eq(after, b.trial.input_hash, "judge %zu, problem %d, %zu rows: another input", judge, (int)problem, rows);
  cr_expect_null(fold_trial_find(&b.trial, FOLD_DID_WRITE_INPUT), "judge %zu, problem %d: blamed for it", judge,
                 (int)problem);
  close_lone(&b);
}

/* Of the maxima the same is given whatever the terms are: another input is tried for who does not look. */
Test(honest, sums_and_dot_products_are_held_by_each_judge) {
  static const enum fold_problem_id problems[] = {FOLD_ROWS_SUM, FOLD_DOT, FOLD_ROWS_MAX};
  static const enum fold_dtype dtypes[] = {FOLD_F32, FOLD_F64, FOLD_F16};
  for (size_t j = 0; j < JUDGES; j++)
    for (size_t p = 0; p < 3; p++)
      for (size_t d = 0; d < 3; d++)
        for (size_t rows = 1; rows <= 4; rows += 3)
          for (int guest = 0; guest <= (j > 0); guest++) /* a guest's repeats keep the machine busy */
            expect_held(j, problems[p], dtypes[d], rows, guest);
}

/* ---- which terms stand where ---- */

enum { MOST_TERMS = 16 };
static double places[3][FOLD_INPUTS][MOST_TERMS]; /* of the last three runs */

static fold_status look(const struct fold_subject *subject, const struct fold_call *call) {
  memmove(places, places + 1, 2 * sizeof *places);
  for (size_t i = 0; i < call->cols; i++) {
    places[2][0][i] = fold_bits_to_double(call->dtype, fold_bits_load(call->dtype, call->in[0], i));
    places[2][1][i] = fold_bits_to_double(call->dtype, fold_bits_load(call->dtype, call->in[1], i));
  }
  return sum_rows(subject, call);
}

static void permute(size_t n) {
  struct lone b;
  open_lone(&b, FOLD_DOT, FOLD_F32, 1, n);
  b.subject.run = look;
  for (unsigned k = 0; k < 2; k++)
    for (size_t i = 0; i < n; i++)
      fold_bits_store(FOLD_F32, fold_rig_input_at(&b.rig, k), i, fold_f32_bits((float)(100 * k + i)));
  cr_assert_eq(fold_rig_load(&b.rig).code, FOLD_OK);
  const struct fold_finding f = judge_lone(&b, fold_judge_permutation_invariant);
  cr_expect(f.verdict == FOLD_HELD && f.comparisons == 3, "%s", f.reason);
  close_lone(&b);
}

/* Factors stay together. */
Test(honest, terms_are_reversed_shuffled_and_interleaved) {
  static const double reversed[2][8] = {{7, 6, 5, 4, 3, 2, 1, 0}, {6, 5, 4, 3, 2, 1, 0}},
                      interleaved[2][8] = {{4, 1, 6, 3, 0, 5, 2, 7}, {3, 1, 5, 0, 4, 2, 6}};
  for (size_t n = 8; n >= 7; n--) {
    permute(n);
    for (int run = 0; run < 3; run++)
      for (size_t i = 0; i < n; i++)
        cr_expect_eq(places[run][1][i], 100 + places[run][0][i], "run %d, place %zu of %zu", run, i, n);
    for (size_t i = 0; i < n; i++) {
      cr_expect_eq(places[0][0][i], reversed[8 - n][i], "reversed, place %zu of %zu: %g", i, n, places[0][0][i]);
      cr_expect_eq(places[2][0][i], interleaved[8 - n][i], "interleaved, place %zu of %zu: %g", i, n, places[2][0][i]);
    }
  }
}

/* Five rows in a batch, of both factors. */
static struct {
  unsigned batches;
  double row[FOLD_INPUTS][5][3];
} five;
static fold_status look_at_five(const struct fold_subject *subject, const struct fold_call *call) {
  five.batches += call->rows == 5;
  for (size_t i = 0; call->rows == 5 && i < 15; i++) {
    five.row[0][i / 3][i % 3] = fold_bits_to_double(call->dtype, fold_bits_load(call->dtype, call->in[0], i));
    five.row[1][i / 3][i % 3] = fold_bits_to_double(call->dtype, fold_bits_load(call->dtype, call->in[1], i));
  }
  return sum_rows(subject, call);
}

Test(honest, a_row_of_products_is_put_in_a_batch_with_both_factors) {
  struct lone b;
  open_lone(&b, FOLD_DOT, FOLD_F32, 1, 3);
  b.subject.run = look_at_five;
  for (unsigned k = 0; k < 2; k++)
    for (size_t i = 0; i < 3; i++)
      fold_bits_store(FOLD_F32, fold_rig_input_at(&b.rig, k), i, fold_f32_bits((float)(10 * k + i + 1)));
  cr_assert_eq(fold_rig_load(&b.rig).code, FOLD_OK);
  cr_expect_eq(judge_lone(&b, fold_judge_batch_invariant).verdict, FOLD_HELD);
  cr_expect_eq(five.batches, 1);
  for (unsigned k = 0; k < 2; k++)
    for (int i = 0; i < 3; i++) {
      cr_expect(isinf(five.row[k][0][i]) && isnan(five.row[k][1][i]), "input %u, term %d", k, i);
      for (int r = 2; r < 5; r++)
        cr_expect_eq(five.row[k][r][i], 10 * k + (r < 4 ? i : 2 - i) + 1, "input %u, row %d, term %d", k, r, i);
    }
  close_lone(&b);
}

/* What stands in it then may be anything. */
Test(honest, a_batch_in_which_a_run_failed_is_not_kept) {
  struct lone b;
  open_lone(&b, FOLD_ROWS_SUM, FOLD_F32, 1, 3);
  judge_lone(&b, fold_judge_batch_invariant);
  cr_expect_not_null(b.batch.ops, "one in which nothing happened is kept");
  seen.fails_in = 1;
  cr_expect_eq(judge_lone(&b, fold_judge_batch_invariant).verdict, FOLD_BROKEN);
  cr_expect_null(b.batch.ops);
  close_lone(&b);
}

/* A row of one term has no part, and of a long one none is run. */
Test(honest, a_part_of_a_row_is_run_where_it_has_one_up_to_a_length) {
  static const struct {
    size_t rows, cols;
    bool has_part;
  } cases[] = {{1, 1, false}, {2, 2, true}, {1, FOLD_ROW_TERMS, true}, {1, FOLD_ROW_TERMS + 1, false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct lone b;
    size_t parts = 0;
    open_lone(&b, FOLD_ROWS_SUM, FOLD_F32, cases[i].rows, cases[i].cols);
    b.subject.guest = NULL;
    cr_expect_eq(judge_lone(&b, fold_judge_alignment_invariant).verdict, FOLD_HELD);
    for (size_t k = 0; k < seen.runs; k++) parts += seen.call[k].rows == 1 && seen.call[k].cols + 1 == cases[i].cols;
    cr_expect_eq(parts, cases[i].has_part ? 2 : 0, "case %zu: %zu runs of a part", i, parts);
    close_lone(&b);
  }
}

/* Of runs that a trial remembers there is an end. */
Test(honest, a_run_is_made_whether_or_not_it_can_be_remembered) {
  struct lone b;
  struct fold_varied made;
  open_lone(&b, FOLD_ROWS_SUM, FOLD_F32, 1, 3);
  judge_lone(&b, fold_judge_permutation_invariant);
  for (size_t n = FOLD_VARIED_MOST - 1; n <= FOLD_VARIED_MOST; n++) {
    const struct fold_variation how = {.shift = (ptrdiff_t)n - FOLD_VARIED_MOST + 2};
    b.trial.varied.n = n;
    cr_assert_eq(fold_trial_vary(&b.trial, &how, &made).code, FOLD_OK);
    cr_expect(made.same && b.trial.varied.n == FOLD_VARIED_MOST, "%zu of %d", b.trial.varied.n, FOLD_VARIED_MOST);
  }
  close_lone(&b);
}
