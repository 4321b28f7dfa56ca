/* generate_help.h: what the suites of the generators share: sources by name, rows in memory, exact sums.
 *
 * A mismatch does not end a test; TELL prints at most ten of them and counts all, and the test fails at its end.
 */
#ifndef GENERATE_HELP_H
#define GENERATE_HELP_H

#include <criterion/criterion.h>
#include <math.h>
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bits.h"
#include "fixtures/generator.h"

#define TELL(wrong, ...)                               \
  do {                                                 \
    if ((wrong)++ < 10) cr_expect(false, __VA_ARGS__); \
  } while (0)

static inline struct fold_source source_of(const char *name, int dtype, uint64_t seed, size_t cols) {
  struct fold_source source = {fold_generator_find(name), (enum fold_dtype)dtype, seed, cols, 0};
  cr_assert_not_null(source.generator, "no generator %s", name);
  return source;
}

/* n elements from the first on, as patterns; the caller frees them. */
static inline uint64_t *patterns_of(const struct fold_source *source, uint64_t first, size_t n) {
  uint64_t *patterns = calloc(n + 1, sizeof *patterns);
  void *raw = calloc(n + 1, sizeof *patterns);
  cr_assert(patterns && raw, "no memory");
  fold_generate(source, first, n, raw);
  for (size_t i = 0; i < n; i++) patterns[i] = fold_bits_load(source->dtype, raw, i);
  free(raw);
  return patterns;
}

/* The accumulator's addition: f32 for the 16-bit types. */
static inline double accumulate(enum fold_dtype dtype, double sum, double x) {
  return dtype == FOLD_F64 ? sum + x : (double)((float)sum + (float)x);
}

/* More bits than any sum of 2^32 doubles needs: each addition is exact. */
enum { EXACT_BITS = 2200 };

static inline void exact_sums(enum fold_dtype dtype, const uint64_t *row, size_t n, mpfr_t sum, mpfr_t abs_sum) {
  mpfr_t x;
  mpfr_init2(x, 53);
  mpfr_init2(sum, EXACT_BITS);
  mpfr_init2(abs_sum, EXACT_BITS);
  mpfr_set_zero(sum, 1);
  mpfr_set_zero(abs_sum, 1);
  for (size_t i = 0; i < n; i++) {
    mpfr_set_d(x, fold_bits_to_double(dtype, row[i]), MPFR_RNDN);
    mpfr_add(sum, sum, x, MPFR_RNDN);
    mpfr_abs(x, x, MPFR_RNDN);
    mpfr_add(abs_sum, abs_sum, x, MPFR_RNDN);
  }
  mpfr_clear(x);
}

#endif
