/* numpy_dot.c: reads pairs of rows and dot products of them from numpy_dot.py, and judges each product by the bound
 * that holds for any order.
 *
 * Usage: numpy_dot DTYPE. Input, repeated: the length as a little-endian 64-bit number, both rows, the result. Output: how many results
 * are within their bound, how many of those are the correctly rounded ones, and how many there were.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/bits.h"
#include "oracles/bound.h"

static int fail(const char *what) {
  fprintf(stderr, "numpy_dot: %s\n", what);
  return 2;
}

struct count {
  size_t within, nearest, all;
};

static fold_status judge(const struct fold_terms *terms, uint64_t got, struct count *count) {
  struct fold_truth truth;
  struct fold_outcomes may;
  mpfr_t bound, error;
  mpfr_inits2(256, bound, error, (mpfr_ptr)0);
  fold_truth_init(&truth);
  fold_status status = fold_oracle_terms(terms, 0, &truth);
  if (status.code == FOLD_OK)
    status = fold_bound_outcomes(fold_arithmetic_of(FOLD_PLAIN, terms->dtype), &truth, terms->n ? terms->n - 1 : 0,
                                 NULL, bound, &may);
  if (status.code == FOLD_OK && fold_bits_class(terms->dtype, got) < FOLD_INFINITE) {
    fold_truth_error(error, &truth, terms->dtype, got);
    count->within += mpfr_lessequal_p(error, bound) != 0;
    count->nearest += got == truth.rounded[terms->dtype];
  }
  count->all++;
  fold_truth_free(&truth);
  mpfr_clears(bound, error, (mpfr_ptr)0);
  return status;
}

static int judge_next(enum fold_dtype dtype, size_t n, struct count *count) {
  const size_t size = fold_dtype_size(dtype);
  unsigned char *rows = malloc(2 * n * size + 1);
  uint64_t got = 0;
  int result = rows ? 0 : fail("no memory");
  if (!result && (fread(rows, size, 2 * n, stdin) != 2 * n || fread(&got, size, 1, stdin) != 1))
    result = fail("the input ends early");
  if (!result) {
    const struct fold_terms terms = {
        .dtype = dtype, .op = FOLD_SUM, .factors = 2, .factor = {rows, rows + n * size}, .n = n};
    fold_status status = judge(&terms, fold_bits_load(dtype, &got, 0), count);
    if (status.code != FOLD_OK) result = fail(status.text);
  }
  free(rows);
  return result;
}

int main(int argc, char **argv) {
  int dtype = argc == 2 ? fold_dtype_parse(argv[1]) : -1, result = 0;
  struct count count = {0};
  uint64_t n;
  if (dtype < 0) return fail("usage: numpy_dot DTYPE");
  while (!result && fread(&n, sizeof n, 1, stdin) == 1) result = judge_next((enum fold_dtype)dtype, n, &count);
  printf("%zu %zu %zu\n", count.within, count.nearest, count.all);
  return result;
}
