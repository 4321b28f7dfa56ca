/* test_truths.c: what is kept of a case's truths: few of a large case, and the same whichever rows were computed before. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "integers.h"
#include "judge/evidence.h"
#include "oracles/order.h"

struct filled {
  struct fold_case c;
  struct fold_truths truths;
  float *in;
};

static void open_filled(struct filled *f, enum fold_problem_id problem, size_t rows, size_t cols) {
  uint64_t state = rows + cols;
  f->c = (struct fold_case){.name = (char[]){"c"}, .dtype = FOLD_F32, .problem = fold_problem(problem)};
  f->c.rows = rows, f->c.cols = cols;
  f->in = malloc((rows * cols + 1) * sizeof *f->in);
  cr_assert(f->in != NULL);
  for (size_t i = 0; i < rows * cols; i++)
    fold_bits_store(FOLD_F32, f->in, i, random_pattern(FOLD_F32, i % 977 != 976, &state));
  cr_assert_eq(fold_truths_open(&f->truths, &f->c, f->in).code, FOLD_OK);
}

static void close_filled(struct filled *f) {
  fold_truths_close(&f->truths);
  free(f->in);
}

static void expect_truth(struct filled *f, size_t result) {
  const struct fold_call call = fold_case_call(&f->c, f->truths.in, NULL);
  const struct fold_terms terms = fold_call_terms(&call, result);
  const struct fold_truth *got;
  struct fold_truth want;
  fold_truth_init(&want);
  cr_assert_eq(fold_oracle_terms(&terms, 1, &want).code, FOLD_OK);
  cr_assert_eq(fold_truths_row(&f->truths, result, &got).code, FOLD_OK);
  cr_expect(got->n == want.n && got->rounded[FOLD_F64] == want.rounded[FOLD_F64] && got->lowest == want.lowest,
            "%s: result %zu of %zu terms: got %llx of %zu, want %llx", f->c.problem->name, result, want.n,
            (unsigned long long)got->rounded[FOLD_F64], got->n, (unsigned long long)want.rounded[FOLD_F64]);
  fold_truth_free(&want);
}

/* Up to the number of which all are kept, and above it; in turn, and then here and there. */
Test(truths, are_those_of_the_result_that_is_asked_for) {
  static const struct {
    enum fold_problem_id problem;
    size_t rows, cols;
  } cases[] = {{FOLD_ROWS_SUM, 50, 3},   {FOLD_ROWS_SUM, 5000, 3},  {FOLD_ROWS_MAX, 5000, 3},
               {FOLD_SCAN, 3, 50},       {FOLD_EXCLUSIVE, 3, 50},   {FOLD_SCAN, 2, 3000},
               {FOLD_SCAN_MIN, 5, 1000}, {FOLD_EXCLUSIVE, 5, 1000}, {FOLD_SCAN, 5000, 1}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct filled f;
    uint64_t state = i;
    open_filled(&f, cases[i].problem, cases[i].rows, cases[i].cols);
    const size_t results = fold_case_results(&f.c);
    for (size_t r = 0; r < results; r += 1 + (r > 100) * (next_word(&state) % 16)) expect_truth(&f, r);
    for (size_t k = 0; k < 200; k++) expect_truth(&f, next_word(&state) % results);
    close_filled(&f);
  }
  mpfr_free_cache();
}

Test(truths, take_a_hundred_bytes_a_result) {
  struct filled f;
  open_filled(&f, FOLD_SCAN, 100, 1000);
  cr_expect_leq(f.truths.n_weighed * sizeof *f.truths.weighed + sizeof *f.truths.heights, 100);
  cr_expect_leq(f.truths.n_kept * 2500, 100 * fold_case_results(&f.c));
  close_filled(&f);
}

/* Each order's own, whichever order was computed before. */
Test(truths, know_the_height_of_each_prefix) {
  struct filled f;
  size_t n_orders;
  const struct fold_order *orders = fold_orders(&n_orders);
  open_filled(&f, FOLD_SCAN, 2, 70);
  for (size_t k = 0; k < n_orders; k++)
    for (size_t r = 0; r < 140; r += 1 + r % 3)
      for (int again = 0; again < 2; again++) {
        uint64_t got = 0, want = 0;
        cr_assert_eq(fold_truths_height_of(&f.truths, &orders[k], r % 70 + 1, &got).code, FOLD_OK);
        cr_assert_eq(fold_order_height(&orders[k], FOLD_F32, NULL, r % 70 + 1, &want).code, FOLD_OK);
        cr_expect_eq(got, want, "%s: result %zu", orders[k].name, r);
      }
  close_filled(&f);
}
