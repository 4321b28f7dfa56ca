/* test_narrowing.c: what rounding factors to a narrower format may change: never too little, hardly too much, and nothing where they fit. */
#include <criterion/criterion.h>
#include <math.h>

#include "arithmetics.h"
#include "oracles/bound.h"
#include "oracles/narrowing.h"

enum { MOST = 8 };

/* The fraction bits that f32 loses to tf32, to bf16. */
static float to_zero(float x, unsigned bits) { return fold_bits_f32(fold_f32_bits(x) >> bits << bits); }
/* Carries into the exponent by itself; a tie goes to even. */
static float to_nearest(float x, unsigned bits) {
  const uint32_t b = fold_f32_bits(x);
  return fold_bits_f32((b + ((1u << (bits - 1)) - 1) + (b >> bits & 1)) >> bits << bits);
}
static float f16_nearest(float x) { return fold_f16_to_f32(fold_f32_to_f16(x)); }
static float f16_to_zero(float x) {
  const uint16_t near = fold_f32_to_f16(x);
  return fabsf(fold_f16_to_f32(near)) > fabsf(x) ? fold_f16_to_f32((uint16_t)(near - 1)) : fold_f16_to_f32(near);
}
static float rounded(enum fold_factor_dtype to, bool nearest, float x) {
  if (to == FOLD_FACTORS_F16) return nearest ? f16_nearest(x) : f16_to_zero(x);
  const unsigned bits = to == FOLD_FACTORS_TF32 ? 13 : 16;
  return nearest ? to_nearest(x, bits) : to_zero(x, bits);
}

static struct fold_terms terms_of(const float *x, const float *y, size_t n) {
  return (struct fold_terms){.dtype = FOLD_F32, .op = FOLD_SUM, .factors = 2, .factor = {x, y}, .step = {1, 1}, .n = n};
}
static struct fold_narrowing narrowing_of(const float *x, const float *y, size_t n, enum fold_factor_dtype to) {
  const struct fold_terms terms = terms_of(x, y, n);
  struct fold_narrowing narrowing;
  cr_assert_eq(fold_narrowing_of(&terms, to, &narrowing).code, FOLD_OK);
  return narrowing;
}

static uint64_t state = 7;
static uint32_t next(void) { return (uint32_t)((state = state * 6364136223846793005u + 1442695040888963407u) >> 32); }
/* Between 2^-reach and 2^reach in magnitude; some with few bits. */
static float any(int reach) {
  const float x = ldexpf(1 + (float)(next() >> 9) * 0x1p-23f, (int)(next() % (unsigned)(2 * reach)) - reach);
  return (next() & 1 ? -1 : 1) * (next() % 4 ? x : to_zero(x, 20));
}

static void check_terms(enum fold_factor_dtype to, const float *x, const float *y, size_t n) {
  const struct fold_narrowing narrowing = narrowing_of(x, y, n, to);
  cr_assert(!narrowing.overflows);
  for (int nearest = 0; nearest < 2; nearest++) {
    __float128 sum = 0, apart = 0;
    for (size_t t = 0; t < n; t++) {
      const __float128 changed =
          (__float128)rounded(to, nearest, x[t]) * rounded(to, nearest, y[t]) - (__float128)x[t] * y[t];
      sum += changed;
      apart += changed < 0 ? -changed : changed;
    }
    cr_expect(!((sum < 0 ? -sum : sum) > narrowing.error), "to %d, nearest %d: above", to, nearest);
    if (!nearest) cr_expect(narrowing.error <= apart * (1 + 0x1p-6) + 0x1p-1000, "to %d: too much", to);
  }
}

Test(narrowing, it_is_what_rounding_may_change_and_hardly_more) {
  float x[MOST], y[MOST];
  for (enum fold_factor_dtype to = FOLD_FACTORS_TF32; to <= FOLD_FACTORS_F16; to++)
    for (int trial = 0; trial < 20000; trial++) {
      const size_t n = 1 + (size_t)trial % MOST;
      for (size_t t = 0; t < n; t++) x[t] = any(15), y[t] = any(15);
      check_terms(to, x, y, n);
    }
}

/* Ties that go up: each factor moves by all that it would lose toward zero, so that l(x) l(y) is needed. */
Test(narrowing, it_covers_two_factors_that_are_both_rounded_up) {
  static const int bits[] = {[FOLD_FACTORS_TF32] = 10, [FOLD_FACTORS_BF16] = 7, [FOLD_FACTORS_F16] = 10};
  for (enum fold_factor_dtype to = FOLD_FACTORS_TF32; to <= FOLD_FACTORS_F16; to++) {
    const float x = 1 + 3 * ldexpf(1, -bits[to] - 1), up = 1 + 4 * ldexpf(1, -bits[to] - 1);
    cr_assert_eq(rounded(to, true, x), up);
    const double error = narrowing_of(&x, &x, 1, to).error, changed = (double)up * up - (double)x * x;
    cr_expect(error >= changed && error <= changed * (1 + 0x1p-40), "to %d: %a", to, error);
  }
}

/* Below the normal range: multiples of 2^-136 of tf32, of 2^-133 of bf16, of 2^-24 of f16. */
Test(narrowing, it_knows_the_least_numbers_of_the_format) {
  static const struct {
    enum fold_factor_dtype to;
    float x;
    double lost;
  } rows[] = {{FOLD_FACTORS_TF32, 0x1p-136f, 0},
              {FOLD_FACTORS_TF32, 0x1.8p-136f, 0x1p-137},
              {FOLD_FACTORS_TF32, 0x1p-137f, 0x1p-137},
              {FOLD_FACTORS_BF16, 0x1.8p-133f, 0x1p-134},
              {FOLD_FACTORS_F16, 0x1p-24f, 0},
              {FOLD_FACTORS_F16, 0x1.8p-24f, 0x1p-25},
              {FOLD_FACTORS_F16, 0x1p-30f, 0x1p-30},
              {FOLD_FACTORS_F16, 0x1.004p-14f, 0},
              {FOLD_FACTORS_F16, 0x1.002p-14f, 0x1p-25},
              {FOLD_FACTORS_TF32, 2049, 1},
              {FOLD_FACTORS_TF32, 2048, 0},
              {FOLD_FACTORS_BF16, 257, 1}};
  const float one = 1;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const double error = narrowing_of(&rows[i].x, &one, 1, rows[i].to).error;
    cr_expect(error >= rows[i].lost && error <= rows[i].lost * (1 + 0x1p-40), "row %zu: %a", i, error);
    cr_expect_eq(fold_factors_fit(FOLD_F32, &rows[i].x, 1, rows[i].to), rows[i].lost == 0, "row %zu", i);
  }
}

Test(narrowing, it_says_which_factors_may_overflow) {
  static const struct {
    enum fold_factor_dtype to;
    float x;
    bool overflows;
  } rows[] = {{FOLD_FACTORS_F16, 65519, false},
              {FOLD_FACTORS_F16, -65520, true},
              {FOLD_FACTORS_F16, 65536, true},
              {FOLD_FACTORS_TF32, 0x1.ffdffep127f, false},
              {FOLD_FACTORS_TF32, 0x1.ffep127f, true},
              {FOLD_FACTORS_BF16, 0x1.fefffep127f, false},
              {FOLD_FACTORS_BF16, 0x1.ffp127f, true},
              {FOLD_FACTORS_F16, INFINITY, false},
              {FOLD_FACTORS_KEPT, 0x1.fffffep127f, false}};
  const float one = 1;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    cr_expect_eq(narrowing_of(&rows[i].x, &one, 1, rows[i].to).overflows, rows[i].overflows, "first, row %zu", i);
    cr_expect_eq(narrowing_of(&one, &rows[i].x, 1, rows[i].to).overflows, rows[i].overflows, "second, row %zu", i);
    if (rows[i].overflows) cr_expect(!fold_factors_fit(FOLD_F32, &rows[i].x, 1, rows[i].to), "row %zu", i);
  }
}

/* What may come of such terms, added in f32 into f32. */
static fold_status outcomes_of(const float *x, const float *y, size_t n, enum fold_factor_dtype to,
                               enum fold_method method, double *bound, struct fold_outcomes *may) {
  const struct fold_terms terms = terms_of(x, y, n);
  const struct fold_narrowing narrowing = narrowing_of(x, y, n, to);
  const struct fold_arithmetic how = {method, FOLD_F32, FOLD_F32, to};
  struct fold_truth truth;
  mpfr_t most;
  mpfr_init2(most, 128);
  fold_truth_init(&truth);
  cr_assert_eq(fold_oracle_terms(&terms, 1, &truth).code, FOLD_OK);
  const fold_status status = fold_bound_narrowed(how, &truth, n - 1, &narrowing, NULL, most, may);
  *bound = mpfr_get_d(most, MPFR_RNDU);
  fold_truth_free(&truth);
  mpfr_clear(most);
  return status;
}

Test(narrowing, whole_numbers_that_fit_leave_only_the_exact_result) {
  const float x[] = {1, 2047, 3, 2}, y[] = {1, 1, 5, 1024}, other[] = {1, 2049, 3, 2};
  struct fold_outcomes may;
  double bound;
  cr_assert_eq(outcomes_of(x, y, 4, FOLD_FACTORS_TF32, FOLD_PLAIN, &bound, &may).code, FOLD_OK);
  cr_expect(may.exact && bound == 0);
  cr_assert_eq(outcomes_of(other, y, 4, FOLD_FACTORS_TF32, FOLD_PLAIN, &bound, &may).code, FOLD_OK);
  cr_expect(!may.exact && bound >= 1 && bound < 1 + 0x1p-40, "2049 may be 2048, and nothing else changes: %a", bound);
  cr_assert_eq(outcomes_of(x, y, 4, FOLD_FACTORS_BF16, FOLD_PLAIN, &bound, &may).code, FOLD_OK);
  cr_expect(!may.exact && bound >= 7 && bound < 8, "2047 may be 2040: %a", bound);
}

/* An exact sum of rounded products is D off, and rounded once; a plain one passes through its roundings, too. */
Test(narrowing, the_error_of_the_sum_comes_on_top) {
  const float x[] = {1 + 0x1p-23f, 1}, y[] = {1, 1 + 0x1p-23f};
  struct fold_outcomes may;
  double bound;
  cr_assert_eq(outcomes_of(x, y, 2, FOLD_FACTORS_TF32, FOLD_EXACT, &bound, &may).code, FOLD_OK);
  cr_expect(!may.exact && bound >= 0x1p-22 + 0x1p-23 && bound < 0x1.8001p-22, "%a", bound);
  cr_assert_eq(outcomes_of(x, y, 2, FOLD_FACTORS_TF32, FOLD_PLAIN, &bound, &may).code, FOLD_OK);
  cr_expect(bound >= 0x1p-21 && bound < 0x1.0001p-21, "gamma_2 of 2: %a", bound);
  const float many[] = {1 + 0x1p-23f, 0x1p20f}, by[] = {1 + 0x1p-22f, 1};
  cr_assert_eq(outcomes_of(many, by, 2, FOLD_FACTORS_TF32, FOLD_PLAIN, &bound, &may).code, FOLD_OK);
  cr_expect(bound > 0x1p-3 + 0x1.7p-22 && bound < 0x1.01p-3, "gamma_2 of 2^20: %a", bound);
}

/* Factors below the least number of f16 may double: then the sum that is rounded has 2 S, too. */
Test(narrowing, what_is_rounded_is_the_sum_of_the_larger_products) {
  const float x[] = {0x1.8p-25f, 0x1.000002p-26f}, y[] = {0x1.000002p0f, 0x1.000002p0f};
  const double sum = (double)x[0] * y[0] + (double)x[1] * y[1], gamma = 0x1p-23;
  struct fold_outcomes may;
  double bound;
  cr_assert_eq(outcomes_of(x, y, 2, FOLD_FACTORS_F16, FOLD_PLAIN, &bound, &may).code, FOLD_OK);
  const double narrowed = narrowing_of(x, y, 2, FOLD_FACTORS_F16).error;
  cr_expect(narrowed >= sum * (1 - 0x1p-10));
  cr_expect(bound - narrowed >= gamma * (sum + narrowed) && bound - narrowed < 1.01 * gamma * (sum + narrowed), "%a",
            bound);
}

Test(narrowing, a_factor_that_may_become_zero_may_make_a_nan_of_an_infinity) {
  const float infinite = INFINITY, least = 0x1p-136f, less = 0x1.8p-137f;
  struct fold_outcomes may;
  double bound;
  cr_assert_eq(outcomes_of(&infinite, &least, 1, FOLD_FACTORS_TF32, FOLD_PLAIN, &bound, &may).code, FOLD_OK);
  cr_expect(may.infinite[0] && !may.nan && !may.finite);
  for (enum fold_method method = FOLD_PLAIN; method <= FOLD_EXACT; method += FOLD_EXACT) {
    for (int first = 0; first < 2; first++) {
      const float *x = first ? &infinite : &less, *y = first ? &less : &infinite;
      cr_assert_eq(outcomes_of(x, y, 1, FOLD_FACTORS_TF32, method, &bound, &may).code, FOLD_OK);
      cr_expect(may.infinite[0] && may.nan && !may.infinite[1]);
    }
  }
}

/* The products reach the threshold only as they are rounded up. */
Test(narrowing, a_sum_may_overflow_by_rounded_factors) {
  const float x[] = {0x1.ffffp63f, 0x1p64f}, y[] = {0x1.ffffp63f, 0x1p63f};
  struct fold_outcomes may;
  double bound;
  cr_assert_eq(outcomes_of(x, y, 1, FOLD_FACTORS_KEPT, FOLD_PLAIN, &bound, &may).code, FOLD_OK);
  cr_expect(may.finite && !may.infinite[0]);
  cr_assert_eq(outcomes_of(x, y, 1, FOLD_FACTORS_TF32, FOLD_PLAIN, &bound, &may).code, FOLD_OK);
  cr_expect(may.finite && may.infinite[0] && !may.infinite[1]);
}

/* The result does not overflow, but the first of its terms does. */
Test(narrowing, a_partial_sum_may_overflow_by_rounded_factors) {
  const float x[] = {0x1.ffffp63f, -0x1p63f}, y[] = {0x1.ffffp63f, 0x1p63f};
  struct fold_outcomes may;
  double bound;
  cr_assert_eq(outcomes_of(x, y, 2, FOLD_FACTORS_KEPT, FOLD_PLAIN, &bound, &may).code, FOLD_OK);
  cr_expect(may.finite && !may.infinite[0] && !may.infinite[1]);
  cr_assert_eq(outcomes_of(x, y, 2, FOLD_FACTORS_TF32, FOLD_PLAIN, &bound, &may).code, FOLD_OK);
  cr_expect(may.finite && may.infinite[0] && !may.infinite[1]);
}

Test(narrowing, a_factor_that_may_overflow_leaves_no_bound) {
  const float x[] = {1, 70000}, y[] = {1, 1};
  struct fold_outcomes may;
  double bound;
  const fold_status status = outcomes_of(x, y, 2, FOLD_FACTORS_F16, FOLD_PLAIN, &bound, &may);
  cr_expect_eq(status.code, FOLD_UNSUPPORTED);
  cr_expect_str_eq(status.text, "no bound: a factor may overflow when it is rounded to f16");
  cr_expect_eq(outcomes_of(x, y, 1, FOLD_FACTORS_F16, FOLD_PLAIN, &bound, &may).code, FOLD_OK);
}

/* Subnormal numbers of f64 beside large ones, whose products a double does not hold. */
Test(narrowing, what_underflows_in_double_counts) {
  const double x = 0x1.8p-600, y = 0x1p-600, zero = 0;
  struct fold_terms terms = {
      .dtype = FOLD_F64, .op = FOLD_SUM, .factors = 2, .factor = {&x, &y}, .step = {1, 1}, .n = 1};
  struct fold_narrowing narrowing;
  cr_assert_eq(fold_narrowing_of(&terms, FOLD_FACTORS_TF32, &narrowing).code, FOLD_OK);
  cr_expect(narrowing.error > 0 && narrowing.error < 0x1p-1060);
  terms.factor[1] = &zero;
  cr_assert_eq(fold_narrowing_of(&terms, FOLD_FACTORS_TF32, &narrowing).code, FOLD_OK);
  cr_expect(narrowing.error == 0, "nothing times zero changes");
}

/* The product of a subnormal factor is aligned as if that factor were the least normal number; of other products nothing is cut off besides. */
Test(narrowing, subnormal_factors_are_aligned_by_the_least_exponent) {
  const double x[] = {0x1p-24, 0x1.004p-14}, y[] = {0x1p10, 0x1.004p0};
  uint16_t a[2], b[2];
  for (int i = 0; i < 2; i++) {
    a[i] = (uint16_t)fold_bits_from_double(FOLD_F16, x[i]);
    b[i] = (uint16_t)fold_bits_from_double(FOLD_F16, y[i]);
  }
  const struct fold_terms terms = {
      .dtype = FOLD_F16, .op = FOLD_SUM, .factors = 2, .factor = {a, b}, .step = {1, 1}, .n = 2};
  struct fold_narrowing narrowing = {.error = 0};
  cr_assert_eq(fold_alignment_of(&terms, FOLD_F32, &narrowing).code, FOLD_OK);
  cr_expect_eq(narrowing.error, 18 * 0x1p-4 * 0x1p-24, "2^-14 2^10, twice 9 u");
  a[0] = a[1];
  narrowing.error = 0;
  cr_assert_eq(fold_alignment_of(&terms, FOLD_F32, &narrowing).code, FOLD_OK);
  cr_expect_eq(narrowing.error, 0);
}
