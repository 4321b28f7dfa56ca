/* test_reveal_data.c: the data on which trees are tested have all the properties by which functions may choose their
 * order. */
#include <criterion/criterion.h>
#include <limits.h>
#include <math.h>

#include "base/bits.h"
#include "reveal/reveal.h"

/* What a row of test data holds. */
struct looks {
  int zeros[2], negative, subnormal, top; /* top: the greatest exponent */
  bool equal;
};

static struct looks look_at(enum fold_dtype dtype, const void *row, size_t n) {
  struct looks l = {.top = INT_MIN, .equal = true};
  for (size_t i = 0; i < n; i++) {
    const uint64_t bits = fold_bits_load(dtype, row, i);
    const enum fold_class class = fold_bits_class(dtype, bits);
    const double x = fold_bits_to_double(dtype, bits);
    cr_assert(isfinite(x));
    l.zeros[signbit(x) != 0] += class == FOLD_ZERO;
    l.negative += signbit(x) != 0;
    l.subnormal += class == FOLD_SUBNORMAL;
    l.equal &= bits == fold_bits_load(dtype, row, 0);
    if (x != 0 && ilogb(x) > l.top) l.top = ilogb(x);
  }
  return l;
}

/* near[k]: rows whose greatest term lies in quarter k of the exponents. */
Test(reveal, the_test_data_hold_what_functions_choose_by) {
  static const enum fold_dtype dtypes[] = {FOLD_F32, FOLD_F64, FOLD_BF16, FOLD_F16};
  enum { N = 64 };
  for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
    const struct fold_format f = fold_format_of(dtypes[d]);
    const struct fold_summer s = {
        .n = N, .dtype = dtypes[d], .accumulator = dtypes[d], .result = dtypes[d], .factors = 1};
    int zeros = 0, many = 0, positive = 0, negative = 0, equal = 0, subnormal = 0, top = INT_MIN, least = INT_MAX,
        near[4] = {0};
    for (size_t r = 0; r < FOLD_PROOF_ROWS; r++) {
      double row[N];
      fold_proof_row(&s, r, (void *[FOLD_INPUTS]){row});
      const struct looks l = look_at(dtypes[d], row, N);
      cr_assert_lt(l.zeros[0] + l.zeros[1], N, "row %zu is of zeros alone", r);
      zeros += l.zeros[0] > 0 && l.zeros[1] > 0;
      many += 2 * (l.zeros[0] + l.zeros[1]) > N;
      positive += l.negative == 0, negative += l.negative == N, equal += l.equal, subnormal += l.subnormal == N;
      if (l.top > top) top = l.top;
      if (l.top < least) least = l.top;
      if (l.top >= f.emin) near[4 * (l.top - f.emin) / (f.emax + 1 - f.emin)]++;
    }
    cr_expect(zeros > 5 && many > 5 && positive > 5 && negative > 5 && equal > 5 && subnormal > 2,
              "%s: %d %d %d %d %d %d", fold_dtype_name(dtypes[d]), zeros, many, positive, negative, equal, subnormal);
    cr_expect(top >= f.emax - 10 && least < f.emin, "%s: from 2^%d to 2^%d", fold_dtype_name(dtypes[d]), least, top);
    for (int k = 0; k < 4 && f.emax > 100; k++)
      cr_expect_gt(near[k], 2, "%s: quarter %d", fold_dtype_name(dtypes[d]), k);
  }
}

Test(reveal, both_factors_are_wide_and_near_one_and_far_from_it) {
  enum { N = 64 };
  const struct fold_summer s = {.n = N, .dtype = FOLD_F32, .accumulator = FOLD_F32, .result = FOLD_F32, .factors = 2};
  int wide[2] = {0}, above_one[2] = {0}, high[2] = {0}, low[2] = {0};
  for (size_t r = 0; r < FOLD_PROOF_ROWS; r++) {
    float row[2][N];
    fold_proof_row(&s, r, (void *[FOLD_INPUTS]){row[0], row[1]});
    for (int k = 0; k < 2; k++) {
      float least = INFINITY, most = 0;
      for (size_t i = 0; i < N; i++) {
        const float x = fabsf(row[k][i]);
        least = fminf(least, x), most = fmaxf(most, x);
        cr_assert(isfinite(row[0][i] * row[1][i] * N));
      }
      wide[k] += least > 0 && most / least > 0x1p12f;
      above_one[k] += least < 1 && most > 2;
      high[k] += most > 0x1p40f;
      low[k] += most < 0x1p-40f;
    }
  }
  for (int k = 0; k < 2; k++)
    cr_expect(wide[k] > 20 && above_one[k] > 20 && high[k] > 2 && low[k] > 2, "factor %d: %d %d %d %d", k, wide[k],
              above_one[k], high[k], low[k]);
}
