/* test_prefixes.c: the truths of prefixes from one running pair are those of the oracle that folds each prefix anew. */
#include <criterion/criterion.h>
#include <math.h>

#include "fixtures/generator.h"
#include "integers.h"
#include "oracles/prefixes.h"
#include "same_truth.h"

enum { MOST = 200 };

static void expect_prefix(struct fold_prefixes *prefixes, const struct fold_terms *row, size_t n, const char *what) {
  struct fold_terms prefix = *row;
  struct fold_truth got, want;
  char where[120];
  prefix.n = n;
  fold_truth_init(&got);
  fold_truth_init(&want);
  snprintf(where, sizeof where, "%s %s %s: the first %zu", what, fold_dtype_name(row->dtype), fold_op_name(row->op), n);
  memset(got.rounded, 0xa5, sizeof got.rounded);
  cr_expect_eq(fold_prefixes_truth(prefixes, n, &got).code, FOLD_OK, "%s", where);
  cr_expect_eq(fold_oracle_terms(&prefix, 1, &want).code, FOLD_OK, "%s", where);
  expect_same_truth(&got, &want, where);
  fold_truth_free(&got);
  fold_truth_free(&want);
}

/* Each prefix in turn, as a judge asks for them; then some in any order, some of them twice. */
static void expect_prefixes(const struct fold_terms *row, const char *what) {
  struct fold_prefixes prefixes;
  uint64_t state = 7;
  cr_assert_eq(fold_prefixes_open(&prefixes, row).code, FOLD_OK);
  for (size_t n = 0; n <= row->n; n++) expect_prefix(&prefixes, row, n, what);
  for (int k = 0; k < 20; k++) expect_prefix(&prefixes, row, next_word(&state) % (row->n + 1), what);
  expect_prefix(&prefixes, row, row->n, what);
  expect_prefix(&prefixes, row, row->n, what);
  fold_prefixes_close(&prefixes);
}

static const enum fold_op ops[] = {FOLD_SUM, FOLD_MAX, FOLD_MIN, FOLD_PROD};
static const size_t lengths[] = {MOST, MOST, MOST, 20}; /* a product is folded anew each time */

Test(prefixes, are_the_truths_of_each_prefix_on_random_patterns) {
  uint64_t data[MOST];
  for (int dtype = 0; dtype < FOLD_FLOATS; dtype++)
    for (int k = 0; k < 4; k++)
      for (int finite = 0; finite < 2; finite++) {
        uint64_t state = 50 + (uint64_t)dtype;
        for (size_t i = 0; i < MOST; i++) fold_bits_store(dtype, data, i, random_pattern(dtype, finite, &state));
        const struct fold_terms row = fold_terms_of(dtype, ops[k], data, lengths[k]);
        expect_prefixes(&row, finite ? "finite patterns" : "all patterns");
      }
  mpfr_free_cache();
}

/* What comes before a NaN or an infinity stays finite, and zeros keep their sign until another term comes. */
Test(prefixes, are_the_truths_of_each_prefix_among_special_values) {
  static const double specials[] = {-0.0, 0.0, 1, -1, INFINITY, -INFINITY, NAN, 0x1p-14};
  uint64_t data[12], state = 3;
  for (int dtype = 0; dtype < FOLD_FLOATS; dtype++)
    for (int trial = 0; trial < 200; trial++) {
      const size_t kinds = 1 + next_word(&state) % 8, n = next_word(&state) % 12;
      for (size_t i = 0; i < n; i++)
        fold_bits_store(dtype, data, i, fold_bits_from_double(dtype, specials[next_word(&state) % kinds]));
      const struct fold_terms row = fold_terms_of(dtype, ops[trial % 3], data, n);
      expect_prefixes(&row, "special values");
    }
  mpfr_free_cache();
}

/* Terms that do not lie side by side; and those of two factors, which no running pair holds. */
Test(prefixes, take_strided_terms_and_products_of_two) {
  uint64_t data[3 * 30], state = 9;
  for (size_t i = 0; i < 3 * 30; i++) fold_bits_store(FOLD_F32, data, i, random_pattern(FOLD_F32, true, &state));
  struct fold_terms row = fold_terms_of(FOLD_F32, FOLD_SUM, data, 30);
  row.step[0] = 3;
  expect_prefixes(&row, "every third");
  row.factors = 2;
  row.factor[1] = data;
  row.step[1] = 1;
  expect_prefixes(&row, "products");
  mpfr_free_cache();
}
