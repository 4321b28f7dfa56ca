/* test_shapes.c: in which shapes judges lay the same terms, and what lies between and behind them. */
#include "judge/lay.h"
#include "lone_trial.h"

enum {
  FAR = 1 << 20
}; /* in place of a column stride: from 5 to 64, as the input decides, with two elements between the rows */

static bool has_strides(const struct fold_call *call, const size_t want[4]) {
  const size_t row = (size_t)call->stride[0][FOLD_M], col = (size_t)call->stride[0][FOLD_K];
  if (want[3] == FAR) return col >= 5 && col <= 64 && row == call->cols * col + 2;
  return row == want[2] && col == want[3];
}

/* Products of two inputs, too: each input is laid. */
static void expect_runs(fold_judge_runs *judge, size_t cols, const size_t (*want)[4], size_t n) {
  static const enum fold_problem_id problems[] = {FOLD_ROWS_SUM, FOLD_DOT};
  for (size_t i = 0; i < 2; i++) {
    struct lone b;
    open_lone(&b, problems[i], FOLD_F32, 3, cols);
    const struct fold_finding f = judge_lone(&b, judge);
    cr_expect_eq(f.verdict, FOLD_HELD, "problem %zu: %s", i, f.reason);
    cr_expect_eq(seen.runs, n, "problem %zu: %zu runs", i, seen.runs);
    for (size_t k = 0; k < n && k < seen.runs; k++) {
      const struct fold_call *call = &seen.call[k];
      cr_expect(call->rows == want[k][0] && call->cols == want[k][1] && has_strides(call, want[k]),
                "problem %zu, run %zu: %zu x %zu by %td, %td", i, k, call->rows, call->cols, call->stride[0][FOLD_M],
                call->stride[0][FOLD_K]);
    }
    close_lone(&b);
  }
}

/* Each length once. */
Test(shapes, the_first_terms_of_a_row_are_one_half_of_it_all_but_one_and_all) {
  static const size_t of_10[][4] = {{1, 1, 0, 0}, {1, 1, 0, 0},  {1, 1, 0, 0},  {1, 5, 0, 0},
                                    {1, 5, 0, 0}, {1, 5, 0, 0},  {1, 9, 0, 0},  {1, 9, 0, 0},
                                    {1, 9, 0, 0}, {1, 10, 0, 0}, {1, 10, 0, 0}, {1, 10, 0, 0}};
  static const size_t of_2[][4] = {{1, 1, 0, 0}, {1, 1, 0, 0}, {1, 1, 0, 0}, {1, 2, 0, 0}, {1, 2, 0, 0}, {1, 2, 0, 0}};
  expect_runs(fold_judge_length_invariant, 10, of_10, sizeof of_10 / sizeof *of_10);
  expect_runs(fold_judge_length_invariant, 2, of_2, sizeof of_2 / sizeof *of_2);
  expect_runs(fold_judge_length_invariant, 1, of_2, 3);
}

/* Identity elements, then zeros: a few more, up to multiples of 8 and 32, a power of two and twice as many. */
Test(shapes, rows_are_padded_to_the_lengths_that_callers_pad_to) {
  static const size_t of_10[][4] = {{3, 11, 0, 0}, {3, 11, 0, 0}, {3, 12, 0, 0}, {3, 12, 0, 0}, {3, 13, 0, 0},
                                    {3, 13, 0, 0}, {3, 16, 0, 0}, {3, 16, 0, 0}, {3, 32, 0, 0}, {3, 32, 0, 0},
                                    {3, 16, 0, 0}, {3, 16, 0, 0}, {3, 20, 0, 0}, {3, 20, 0, 0}};
  static const size_t of_8[][4] = {{3, 9, 0, 0},  {3, 9, 0, 0},  {3, 10, 0, 0}, {3, 10, 0, 0}, {3, 11, 0, 0},
                                   {3, 11, 0, 0}, {3, 16, 0, 0}, {3, 16, 0, 0}, {3, 32, 0, 0}, {3, 32, 0, 0},
                                   {3, 16, 0, 0}, {3, 16, 0, 0}, {3, 16, 0, 0}, {3, 16, 0, 0}};
  expect_runs(fold_judge_padding_invariant, 10, of_10, sizeof of_10 / sizeof *of_10);
  expect_runs(fold_judge_padding_invariant, 8, of_8, sizeof of_8 / sizeof *of_8);
}

Test(shapes, terms_are_put_apart_by_strides) {
  static const size_t want[][4] = {{3, 10, 11, 1}, {3, 10, 64, 1}, {3, 10, 20, 2}, {3, 10, 31, 3}, {3, 10, 0, FAR},
                                   {3, 10, 1, 3},  {3, 10, 1, 6},  {3, 10, 0, 0},  {3, 10, 0, 1}};
  expect_runs(fold_judge_stride_invariant, 10, want, sizeof want / sizeof *want);
}

/* Of long rows as many as there is room for: the fewer, the longer they become. */
Test(shapes, of_long_rows_some_are_run) {
  struct lone b;
  open_lone(&b, FOLD_ROWS_SUM, FOLD_F32, MOST_ROWS, 100000);
  judge_lone(&b, fold_judge_padding_invariant);
  cr_expect(seen.call[0].rows == 6 && seen.call[seen.runs - 1].rows == 3, "%zu rows, then %zu", seen.call[0].rows,
            seen.call[seen.runs - 1].rows);
  judge_lone(&b, fold_judge_stride_invariant);
  cr_expect_eq(seen.call[0].rows, 2, "%zu rows by strides", seen.call[0].rows);
  close_lone(&b);
}

Test(shapes, none_is_made_of_rows_that_are_empty_or_very_long) {
  static fold_judge_runs *const judges[] = {fold_judge_length_invariant, fold_judge_padding_invariant,
                                            fold_judge_stride_invariant};
  static const struct {
    size_t rows, cols;
    enum fold_verdict verdict;
    const char *reason;
  } cases[] = {{0, 3, FOLD_SKIPPED, FOLD_NO_RESULTS},
               {3, 0, FOLD_SKIPPED, FOLD_NO_TERMS},
               {1, FOLD_ROW_TERMS, FOLD_HELD, ""},
               {1, FOLD_ROW_TERMS + 1, FOLD_SKIPPED, "rows of over 262144 terms"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (size_t k = 0; k < 3; k++) {
      struct lone b;
      open_lone(&b, FOLD_ROWS_SUM, FOLD_F32, cases[i].rows, cases[i].cols);
      const struct fold_finding f = judge_lone(&b, judges[k]);
      cr_expect(f.verdict == cases[i].verdict && strcmp(f.reason, cases[i].reason) == 0, "judge %zu of %zu x %zu: %s",
                k, cases[i].rows, cases[i].cols, f.reason);
      close_lone(&b);
    }
}

/* Nothing of the row's, so that who takes it for a term is seen. */
Test(shapes, what_lies_between_strided_rows_is_nan) {
  struct lone b;
  open_lone(&b, FOLD_DOT, FOLD_F32, 3, 10);
  judge_lone(&b, fold_judge_stride_invariant);
  for (size_t k = 0; k < 2; k++)
    for (int input = 0; input < 2; input++)
      cr_expect_eq(fold_bits_class(FOLD_F32, seen.behind[k][input]), FOLD_NAN, "shape %zu, input %d", k, input);
  close_lone(&b);
}

/* A subject that reads past it is seen at once. */
Test(shapes, an_array_with_strides_ends_with_its_last_term) {
  static const struct fold_layout layouts[] = {{.step = 3, .gap = 1}, {.step = 1, .gap = 5, .turned = true}};
  static const size_t ends[] = {2 * 31 + 9 * 3 + 1, 9 * 8 + 2 + 1};
  struct lone b;
  open_lone(&b, FOLD_DOT, FOLD_F32, 3, 10);
  for (size_t i = 0; i < 2; i++) {
    struct fold_rig rig = {0};
    const struct fold_laid s = fold_laid_of(&b.trial, &b.c.shape, &layouts[i]);
    cr_assert_eq(fold_laid_open(&b.trial, &s, 0, &rig).code, FOLD_OK);
    cr_expect(rig.in[0].n == ends[i] && rig.in[1].n == ends[i], "layout %zu: %zu elements", i, rig.in[0].n);
    fold_rig_close(&rig);
  }
  close_lone(&b);
}

/* -0 leaves a sum of -0 what it is, which +0 does not. */
Test(shapes, rows_of_sums_are_padded_with_negative_zeros_and_positive_ones) {
  static const enum fold_problem_id problems[] = {FOLD_ROWS_SUM, FOLD_DOT};
  for (size_t i = 0; i < 2; i++) {
    struct lone b;
    open_lone(&b, problems[i], FOLD_F32, 3, 10);
    judge_lone(&b, fold_judge_padding_invariant);
    for (size_t k = 0; k < seen.runs; k++)
      cr_expect(seen.behind[k][0] == (k % 2 ? 0 : 0x80000000) && seen.behind[k][1] == 0, "problem %zu, run %zu", i, k);
    close_lone(&b);
  }
}

/* Whichever row has the sum -0: +0 would make that +0. */
Test(shapes, rows_of_which_one_has_the_sum_negative_zero_are_not_padded_with_positive_ones) {
  for (size_t row = 0; row < 3; row++) {
    struct lone b;
    open_lone(&b, FOLD_ROWS_SUM, FOLD_F32, 3, 10);
    for (size_t i = row * 10; i < row * 10 + 10; i++) fold_bits_store(FOLD_F32, fold_rig_input(&b.rig), i, 0x80000000);
    cr_assert_eq(fold_rig_load(&b.rig).code, FOLD_OK);
    const struct fold_finding f = judge_lone(&b, fold_judge_padding_invariant);
    cr_expect_eq(f.verdict, FOLD_HELD, "row %zu: %s", row, f.reason);
    close_lone(&b);
  }
}

/* And with nothing else, but for sums. */
Test(shapes, rows_are_padded_with_the_identity_of_their_operation) {
  static const struct {
    enum fold_problem_id problem;
    enum fold_dtype dtype;
    uint64_t bits;
  } identities[] = {{FOLD_ROWS_SUM, FOLD_F16, 0x8000},     {FOLD_ROWS_PROD, FOLD_F32, 0x3f800000},
                    {FOLD_ROWS_PROD, FOLD_F16, 0x3c00},    {FOLD_ROWS_MAX, FOLD_F32, 0xff800000},
                    {FOLD_ROWS_MIN, FOLD_F32, 0x7f800000}, /* where there is no infinity, the largest number: */
                    {FOLD_ROWS_MAX, FOLD_E4M3, 0xfe},      {FOLD_ROWS_MIN, FOLD_E4M3, 0x7e}};
  for (size_t i = 0; i < sizeof identities / sizeof *identities; i++) {
    struct lone b;
    open_lone(&b, identities[i].problem, identities[i].dtype, 3, 10);
    judge_lone(&b, fold_judge_padding_invariant);
    cr_expect_eq(seen.behind[0][0], identities[i].bits, "%zu: 0x%llx", i, (unsigned long long)seen.behind[0][0]);
    cr_expect_eq(seen.runs, b.c.problem->op == FOLD_SUM ? 14 : 7, "%zu: %zu runs", i, seen.runs);
    close_lone(&b);
  }
}
