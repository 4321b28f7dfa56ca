/* test_bound.c: bounds hold for real sums, are nearly reached by adversarial ones, and refuse what they cannot bound.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "arithmetics.h"
#include "cleanup.h"
#include "integers.h"
#include "oracles/bound.h"

/* The accumulator's arithmetic, one rounding each (-ffp-contract=off, SSE). */
static float plain(const float *x, size_t n) {
  float s = 0;
  for (size_t i = 0; i < n; i++) s += x[i];
  return s;
}

static float kahan(const float *x, size_t n) {
  float s = 0, c = 0;
  for (size_t i = 0; i < n; i++) {
    float y = x[i] - c, t = s + y;
    c = (t - s) - y;
    s = t;
  }
  return s;
}

static float neumaier(const float *x, size_t n) {
  float s = 0, c = 0;
  for (size_t i = 0; i < n; i++) {
    float t = s + x[i];
    c += fabsf(s) >= fabsf(x[i]) ? (s - t) + x[i] : (x[i] - t) + s;
    s = t;
  }
  return s + c;
}

static float float64(const float *x, size_t n) {
  double s = 0;
  for (size_t i = 0; i < n; i++) s += (double)x[i];
  return (float)s;
}

static double cut(double x, int last) { return ldexp(trunc(ldexp(x, -last)), last); }

/* Blocks of 4, aligned to their largest addend, the partial sum among them; all cut to 24 bits. Doubles hold what is added. */
static float truncated(const float *x, size_t n) {
  double s = 0;
  for (size_t i = 0; i < n; i += 4) {
    const size_t end = i + 4 < n ? i + 4 : n;
    double most = fabs(s), sum;
    for (size_t k = i; k < end; k++) most = fmax(most, fabs((double)x[k]));
    if (most == 0) continue;
    const int last = ilogb(most) - 23;
    sum = cut(s, last);
    for (size_t k = i; k < end; k++) sum += cut((double)x[k], last);
    s = sum == 0 ? 0 : cut(sum, ilogb(sum) - 23);
  }
  return (float)s;
}

static float product(const float *x, size_t n) {
  float p = 1;
  for (size_t i = 0; i < n; i++) p *= x[i];
  return p;
}

/* |got - exact| / bound, or -1 where there is no bound; 0 / 0 is 0. */
static double fraction(struct way way, const struct fold_truth *truth, uint64_t height, double got) {
  mpfr_t bound, error;
  mpfr_inits2(128, bound, error, (mpfr_ptr)0);
  fold_status status = fold_bound(way_of(way, truth->dtype), truth, height, bound);
  mpfr_d_sub(error, got, truth->exact, MPFR_RNDA);
  mpfr_abs(error, error, MPFR_RNDN);
  double result = -1;
  if (status.code == FOLD_OK) {
    if (!mpfr_zero_p(error)) mpfr_div(error, error, bound, MPFR_RNDU);
    result = mpfr_get_d(error, MPFR_RNDU);
  }
  mpfr_clears(bound, error, (mpfr_ptr)0);
  return result;
}

static double fraction_of_f32(struct way way, enum fold_op op, const float *x, size_t n, double got) {
  TRUTH(truth);
  cr_assert(fold_oracle_exact(FOLD_F32, op, x, n, 1, &truth).code == FOLD_OK);
  double result = fraction(way, &truth, n ? n - 1 : 0, got);
  return result;
}

static const struct {
  struct way way;
  float (*sum)(const float *, size_t);
  double reached; /* what the worst trial must reach: else the trials say little */
} methods[] = {{PLAINLY, plain, 0.4},
               {{FOLD_KAHAN, FOLD_USUAL, FOLD_USUAL}, kahan, 0.3},
               {{FOLD_NEUMAIER, FOLD_USUAL, FOLD_USUAL}, neumaier, 0.9},
               {{FOLD_TRUNCATED, FOLD_USUAL, FOLD_USUAL}, truncated, 0.15},
               {IN_F64, float64, 0.9}};

/* Few significant bits, exponents that overlap, cancellation, ties: what reaches bounds. */
static float awkward(uint64_t *state) {
  uint64_t word = next_word(state);
  int exponent = (int)(word >> 40 & 31);
  uint32_t significand = word >> 33 & 1 ? 0x800000 + (uint32_t)(word >> 48 & 3) : 0xffffff - (uint32_t)(word >> 48 & 3);
  if (word >> 34 & 1) significand = 0x800000 | (uint32_t)(word & 0x7fffff);
  return ldexpf((float)significand, exponent - 20) * (word >> 35 & 1 ? -1.0f : 1.0f);
}

Test(bound, holds_for_sums_and_is_nearly_reached) {
  for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
    uint64_t state = 17;
    double worst = 0;
    float x[300];
    for (int trial = 0; trial < 30000; trial++) {
      size_t n = trial % 50 ? 1 + next_word(&state) % 6 : 300;
      for (size_t i = 0; i < n; i++) x[i] = awkward(&state);
      if (n > 2 && trial & 1) x[n - 1] = -x[0];
      double at = fraction_of_f32(methods[m].way, FOLD_SUM, x, n, (double)methods[m].sum(x, n));
      cr_expect(at >= 0 && at <= 1, "%s, trial %d, n=%zu: error is %g of the bound",
                fold_bound_formula(methods[m].way.method), trial, n, at);
      if (at > worst) worst = at;
    }
    cr_expect(worst >= methods[m].reached, "%s: never above %g of the bound", fold_bound_formula(methods[m].way.method),
              worst);
  }
  mpfr_free_cache();
}

/* 1 + u + u ...: each addition is a tie that rounds down to 1, so that n - 1 half ulps are lost. */
Test(bound, plain_sum_reaches_its_bound_and_breaks_the_compensated_ones) {
  static float x[4097];
  for (size_t i = 0; i < 4097; i++) x[i] = i ? 0x1p-24f : 1;
  double got = (double)plain(x, 4097), at = fraction_of_f32((struct way)PLAINLY, FOLD_SUM, x, 4097, got);
  cr_expect(got == 1 && at > 0.99 && at <= 1, "%g of the bound", at);
  cr_expect(fraction_of_f32((struct way){FOLD_KAHAN, FOLD_USUAL, FOLD_USUAL}, FOLD_SUM, x, 4097, got) > 1);
  cr_expect(fraction_of_f32((struct way){FOLD_NEUMAIER, FOLD_USUAL, FOLD_USUAL}, FOLD_SUM, x, 4097, got) > 1);
  cr_expect(fraction_of_f32((struct way)IN_F64, FOLD_SUM, x, 4097, got) > 1);
  cr_expect(fraction_of_f32((struct way){FOLD_EXACT, FOLD_USUAL, FOLD_USUAL}, FOLD_SUM, x, 4097, got) > 1);
  /* With the height of a tree of 4097 leaves the sequential sum's error is too large. */
  TRUTH(truth);
  cr_assert(fold_oracle_exact(FOLD_F32, FOLD_SUM, x, 4097, 1, &truth).code == FOLD_OK);
  cr_expect(fraction((struct way)PLAINLY, &truth, 13, got) > 1);
}

/* 1 + 15/8 u: truncation loses nearly two units, which no rounding does. 2^24 - 1 ones are added exactly. */
Test(bound, truncated_sums_lose_more_than_rounded_ones) {
  static float ones[1025];
  const float x[] = {1, 0x1.ep-24f}, got = truncated(x, 2);
  cr_expect(got == 1 && fraction_of_f32((struct way)PLAINLY, FOLD_SUM, x, 2, (double)got) > 1);
  cr_expect(fraction_of_f32((struct way){FOLD_TRUNCATED, FOLD_USUAL, FOLD_USUAL}, FOLD_SUM, x, 2, (double)got) < 1);
  for (size_t i = 0; i < 1025; i++) ones[i] = i ? 1 : 0xfffbffp0f;
  cr_expect(truncated(ones, 1025) == 0xffffffp0f);
  cr_expect(fraction_of_f32((struct way){FOLD_TRUNCATED, FOLD_USUAL, FOLD_USUAL}, FOLD_SUM, ones, 1025, 0xfffffep0) >
            1);
}

Test(bound, holds_for_products_and_is_nearly_reached) {
  uint64_t state = 18;
  double worst = 0;
  for (int trial = 0; trial < 20000; trial++) {
    float x[40];
    size_t n = 1 + next_word(&state) % (trial % 10 ? 4 : 40);
    for (size_t i = 0; i < n; i++) x[i] = ldexpf((float)(0x800000 | (next_word(&state) >> (i ? 41 : 50))), -23);
    double at = fraction_of_f32((struct way)PLAINLY, FOLD_PROD, x, n, (double)product(x, n));
    cr_expect(at >= 0 && at <= 1, "trial %d, n=%zu: %g", trial, n, at);
    if (at > worst) worst = at;
  }
  cr_expect(worst > 0.7, "never above %g of the bound", worst);
  mpfr_free_cache();
}

/* The correctly rounded result is within, two places beside it is not; each dtype, both operations. */
Test(bound, of_exact_admits_only_the_nearest) {
  uint64_t state = 19, data[50];
  for (int dtype = 0; dtype < FOLD_FLOATS; dtype++)
    for (int trial = 0; trial < 2000; trial++) {
      TRUTH(truth);
      size_t n = 2 + next_word(&state) % 48;
      for (size_t i = 0; i < n; i++) fold_bits_store(dtype, data, i, random_pattern(dtype, true, &state));
      enum fold_op op = trial & 1 ? FOLD_SUM : FOLD_PROD;
      cr_assert(fold_oracle_exact(dtype, op, data, op == FOLD_PROD ? 2 : n, 1, &truth).code == FOLD_OK);
      uint64_t bits = truth.rounded[dtype], up = fold_bits_up(dtype, fold_bits_up(dtype, bits));
      double at =
          fraction((struct way){FOLD_EXACT, FOLD_USUAL, FOLD_USUAL}, &truth, 0, fold_bits_to_double(dtype, bits));
      double beside =
          fraction((struct way){FOLD_EXACT, FOLD_USUAL, FOLD_USUAL}, &truth, 0, fold_bits_to_double(dtype, up));
      if (fold_bits_class(dtype, bits) >= FOLD_INFINITE)
        cr_expect(at == -1, "an overflow has no bound");
      else if (fold_bits_distance(dtype, bits, up) < 2) /* no number is so far above */
        cr_expect(at >= 0 && at <= 1);
      else
        cr_expect(at >= 0 && at <= 1 && beside > 1, "%s trial %d: %g, two places up %g", fold_dtype_name(dtype), trial,
                  at, beside);
    }
  mpfr_free_cache();
}

/* 16-bit dtypes: f32 in turn, then one rounding. */
Test(bound, covers_the_last_rounding_to_16_bits) {
  uint64_t state = 20;
  for (int dtype = FOLD_F16; dtype <= FOLD_BF16; dtype++) {
    double worst = 0, worst_product = 0;
    for (int trial = 0; trial < 20000; trial++) {
      uint16_t x[20];
      size_t n = 1 + next_word(&state) % 20;
      float sum = 0, p = 1;
      for (size_t i = 0; i < n; i++) {
        uint64_t word = next_word(&state);
        x[i] = (uint16_t)fold_bits_from_double(dtype, ldexp((double)(int64_t)word, -60 - (int)(word & 7)));
        sum += (float)fold_bits_to_double(dtype, x[i]);
        if (i < 3) p *= (float)fold_bits_to_double(dtype, x[i]);
      }
      TRUTH(truth);
      cr_assert(fold_oracle_exact(dtype, FOLD_SUM, x, n, 1, &truth).code == FOLD_OK);
      uint64_t bits = fold_bits_from_double(dtype, (double)sum);
      double at = fraction((struct way)PLAINLY, &truth, n - 1, fold_bits_to_double(dtype, bits));
      cr_assert(fold_oracle_exact(dtype, FOLD_PROD, x, n < 3 ? n : 3, 1, &truth).code == FOLD_OK);
      bits = fold_bits_from_double(dtype, (double)p);
      double at_product = fraction((struct way)PLAINLY, &truth, 2, fold_bits_to_double(dtype, bits));
      cr_expect(at >= 0 && at <= 1 && at_product >= 0 && at_product <= 1, "%s trial %d: %g, product %g",
                fold_dtype_name(dtype), trial, at, at_product);
      worst = fmax(worst, at);
      worst_product = fmax(worst_product, at_product);
    }
    cr_expect(worst > 0.9 && worst_product > 0.9, "%s: never above %g, %g", fold_dtype_name(dtype), worst,
              worst_product);
  }
  mpfr_free_cache();
}

/* A sum of f16 is a multiple of eta, so that its last rounding loses nothing below the normal range: 1.2 + eta - 1.2 may be off by
 * gamma_2 (2.4 + eta) and 2^-11 of it, which is 4.8 eta; half of eta more would let 5 eta pass. */
Test(bound, of_a_small_16_bit_sum_has_no_underflow) {
  double x[] = {1229, 0x1p-14, -1229}, eta = 0x1p-24;
  uint16_t data[3];
  for (int i = 0; i < 3; i++) data[i] = (uint16_t)fold_bits_from_double(FOLD_F16, x[i] * 0x1p-10);
  TRUTH(truth);
  cr_assert(fold_oracle_exact(FOLD_F16, FOLD_SUM, data, 3, 1, &truth).code == FOLD_OK);
  double near = fraction((struct way)PLAINLY, &truth, 2, 5 * eta),
         far = fraction((struct way)PLAINLY, &truth, 2, 6 * eta);
  cr_expect(near >= 0 && near <= 1 && far > 1, "off by 4 eta: %g of the bound, by 5 eta: %g", near, far);
}

/* A library that knows no accumulator: each sum of two is rounded to 16 bits, as the heads of the trees of 2 to 20 ranks
 * do. Rounded towards zero instead, an addition loses up to twice as much; the f32 bound holds for neither. */
static double narrow_sum(enum fold_dtype dtype, const uint16_t *x, size_t n, bool towards_zero) {
  double sum = fold_bits_to_double(dtype, x[0]);
  for (size_t i = 1; i < n; i++) {
    double both = sum + fold_bits_to_double(dtype, x[i]);
    uint64_t bits = fold_bits_from_double(dtype, both);
    if (towards_zero && fabs(fold_bits_to_double(dtype, bits)) > fabs(both)) bits--;
    sum = fold_bits_to_double(dtype, bits);
  }
  return sum;
}

Test(bound, of_narrow_additions_is_nearly_reached_and_broken_by_truncation) {
  uint64_t state = 21;
  for (int dtype = FOLD_F16; dtype <= FOLD_BF16; dtype++) {
    double worst = 0, truncated = 0, plain_worst = 0;
    for (int trial = 0; trial < 20000; trial++) {
      uint16_t x[20];
      size_t n = 1 + next_word(&state) % 20;
      for (size_t i = 0; i < n; i++) {
        uint64_t word = next_word(&state);
        x[i] = (uint16_t)fold_bits_from_double(dtype, ldexp((double)(word >> 11), -52 - (int)(word & 7)));
      }
      TRUTH(truth);
      cr_assert(fold_oracle_exact(dtype, FOLD_SUM, x, n, 1, &truth).code == FOLD_OK);
      double sum = narrow_sum(dtype, x, n, false), at = fraction((struct way)NARROWLY, &truth, n - 1, sum);
      cr_expect(at >= 0 && at <= 1, "%s trial %d, n=%zu: %g", fold_dtype_name(dtype), trial, n, at);
      worst = fmax(worst, at);
      truncated = fmax(truncated, fraction((struct way)NARROWLY, &truth, n - 1, narrow_sum(dtype, x, n, true)));
      plain_worst = fmax(plain_worst, fraction((struct way)PLAINLY, &truth, n - 1, sum));
    }
    cr_expect(worst > 0.8, "%s: never above %g of the bound", fold_dtype_name(dtype), worst);
    cr_expect(truncated > 1, "%s: truncated additions stay within, at most %g", fold_dtype_name(dtype), truncated);
    cr_expect(plain_worst > 1, "%s: within the bound of an f32 accumulator, %g", fold_dtype_name(dtype), plain_worst);
  }
  mpfr_free_cache();
}

/* In a 16-bit accumulator a partial sum overflows that fits in f32; and for f32 itself the two methods are one. */
Test(bound, of_narrow_additions_minds_the_dtypes_own_range) {
  uint16_t large[] = {0x7bff, 0x7bff, 0xfbff}; /* 65504 + 65504 - 65504 */
  float x[] = {0.75f, -0x1p-30f, 3};
  TRUTH(truth);
  mpfr_t narrow, plain_bound;
  mpfr_inits2(128, narrow, plain_bound, (mpfr_ptr)0);
  cr_assert(fold_oracle_exact(FOLD_F16, FOLD_SUM, large, 3, 1, &truth).code == FOLD_OK);
  cr_expect(fold_bound(way_of((struct way)NARROWLY, truth.dtype), &truth, 2, narrow).code == FOLD_UNSUPPORTED,
            "131008 is no f16");
  cr_expect(fold_bound(way_of((struct way)PLAINLY, truth.dtype), &truth, 2, narrow).code == FOLD_OK,
            "131008 is an f32");
  cr_assert(fold_oracle_exact(FOLD_F32, FOLD_SUM, x, 3, 1, &truth).code == FOLD_OK);
  cr_assert(fold_bound(way_of((struct way)NARROWLY, truth.dtype), &truth, 2, narrow).code == FOLD_OK);
  cr_assert(fold_bound(way_of((struct way)PLAINLY, truth.dtype), &truth, 2, plain_bound).code == FOLD_OK);
  cr_expect(mpfr_equal_p(narrow, plain_bound), "f32 is its own accumulator");
  mpfr_clears(narrow, plain_bound, (mpfr_ptr)0);
}

static enum fold_code answer(struct way way, enum fold_op op, const float *x, size_t n, uint64_t height) {
  TRUTH(truth);
  mpfr_t bound;
  mpfr_init2(bound, 53);
  cr_assert(fold_oracle_exact(FOLD_F32, op, x, n, 1, &truth).code == FOLD_OK);
  fold_status status = fold_bound(way_of(way, FOLD_F32), &truth, height, bound);
  cr_expect((status.code == FOLD_OK) == (status.text[0] == '\0'), "a refusal has its reason");
  mpfr_clear(bound);
  return status.code;
}

Test(bound, refuses_where_its_theorem_does_not_hold) {
  float inf[] = {1, INFINITY}, large[] = {0x1.8p127f, 0x1.8p127f, -0x1.8p127f}, fits[] = {0x1.8p126f, 0x1.7p126f};
  float below[] = {-0x1.8p127f, -0x1.8p127f, 0x1.8p127f};
  float tiny[] = {0x1p-100f, 0x1p-100f, 0x1p100f}, huge[] = {0x1p100f, 0x1p100f, 0x1p-100f}, zero[] = {0, 0x1p-100f};
  static const struct way ways[] = {
      PLAINLY,  {FOLD_KAHAN, FOLD_USUAL, FOLD_USUAL}, {FOLD_NEUMAIER, FOLD_USUAL, FOLD_USUAL}, IN_F64,
      NARROWLY, {FOLD_EXACT, FOLD_USUAL, FOLD_USUAL}};
  for (size_t m = 0; m < sizeof ways / sizeof *ways; m++) {
    cr_expect(answer(ways[m], FOLD_SUM, inf, 2, 1) == FOLD_UNSUPPORTED, "infinite term, way %zu", m);
    cr_expect(answer(ways[m], FOLD_MAX, fits, 2, 1) == FOLD_UNSUPPORTED, "max, way %zu", m);
    cr_expect(answer(ways[m], FOLD_SUM, fits, 2, 1) == FOLD_OK, "large sum that fits, way %zu", m);
    bool reaches = ways[m].accumulator != FOLD_USUAL ? !is_narrow(ways[m]) : ways[m].method == FOLD_EXACT;
    cr_expect(answer(ways[m], FOLD_SUM, large, 3, 2) == (reaches ? FOLD_OK : FOLD_UNSUPPORTED),
              "partial sums overflow, way %zu", m);
    cr_expect(answer(ways[m], FOLD_SUM, large, 2, 1) == FOLD_UNSUPPORTED, "the sum overflows, way %zu", m);
    cr_expect(answer(ways[m], FOLD_SUM, below, 3, 2) == (reaches ? FOLD_OK : FOLD_UNSUPPORTED),
              "partial sums overflow downwards, way %zu", m);
  }
  cr_expect(answer((struct way)PLAINLY, FOLD_PROD, tiny, 3, 2) == FOLD_OK,
            "partial product underflows, by a subnormal or two");
  cr_expect(answer((struct way)PLAINLY, FOLD_PROD, huge, 3, 2) == FOLD_UNSUPPORTED, "partial product overflows");
  cr_expect(answer((struct way)PLAINLY, FOLD_PROD, zero, 2, 1) == FOLD_OK, "a zero product is exact");
  cr_expect(answer((struct way){FOLD_KAHAN, FOLD_USUAL, FOLD_USUAL}, FOLD_PROD, fits, 2, 1) == FOLD_UNSUPPORTED,
            "no such product");
  static float many[10000000] = {1, 0x1p-30f};
  cr_expect(answer((struct way){FOLD_KAHAN, FOLD_USUAL, FOLD_USUAL}, FOLD_SUM, many, 1600000, 1) == FOLD_OK,
            "n u below 1/10");
  cr_expect(answer((struct way){FOLD_KAHAN, FOLD_USUAL, FOLD_USUAL}, FOLD_SUM, many, 1700000, 1) == FOLD_UNSUPPORTED,
            "n u above 1/10");
  cr_expect(
      answer((struct way){FOLD_NEUMAIER, FOLD_USUAL, FOLD_USUAL}, FOLD_SUM, many, 10000000, 1) == FOLD_UNSUPPORTED,
      "n u above 1/2");
  many[1] = 0x1p-20f;
  cr_expect(answer((struct way){FOLD_KAHAN, FOLD_USUAL, FOLD_USUAL}, FOLD_SUM, many, 1700000, 1) == FOLD_OK,
            "nothing rounds");
  cr_expect(answer((struct way){FOLD_NEUMAIER, FOLD_USUAL, FOLD_USUAL}, FOLD_SUM, many, 10000000, 1) == FOLD_OK,
            "nothing rounds");
}

Test(bound, its_refusals_say_why) {
  static const struct {
    enum fold_op op;
    float x[3];
    const char *why;
  } rows[] = {
      {FOLD_SUM, {1, 2, INFINITY}, "no bound: a term is not finite"},
      {FOLD_SUM, {0x1.8p127f, 0x1.8p127f, 1}, "no bound: the exact result overflows its dtype"},
      {FOLD_PROD, {0x1p100f, 0x1p100f, 1}, "no bound: the exact result overflows its dtype"},
      {FOLD_SUM, {0x1.8p127f, 0x1.8p127f, -0x1.8p127f}, "no bound: a sum on the way, or the last, may overflow"},
      {FOLD_PROD, {0x1p100f, 0x1p100f, 0x1p-100f}, "no bound: a product on the way, or the last, may overflow"},
      {FOLD_MAX, {1, 2, 3}, "no bound: max and min round nothing"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    TRUTH(truth);
    mpfr_t bound;
    mpfr_init2(bound, 53);
    cr_assert_eq(fold_oracle_exact(FOLD_F32, rows[i].op, rows[i].x, 3, 1, &truth).code, FOLD_OK);
    fold_status status = fold_bound(way_of((struct way)PLAINLY, FOLD_F32), &truth, 2, bound);
    cr_expect(status.code == FOLD_UNSUPPORTED && !strcmp(status.text, rows[i].why), "row %zu: %s", i, status.text);
    mpfr_clear(bound);
  }
}

/* Where gamma says nothing, (n - 1) u sum|x| holds for any order: 4 terms, so 3 u (8 + 2^-25). */
Test(bound, a_tall_tree_has_the_bound_of_any_order) {
  float x[] = {4, 0x1p-26f, -0x1p-26f, -4};
  uint64_t heights[] = {(uint64_t)1 << 23, (uint64_t)1 << 24, UINT64_MAX};
  TRUTH(truth);
  mpfr_t bound;
  mpfr_init2(bound, 53);
  cr_assert(fold_oracle_exact(FOLD_F32, FOLD_SUM, x, 4, 1, &truth).code == FOLD_OK);
  for (int i = 0; i < 3; i++) {
    cr_assert(fold_bound(way_of((struct way)PLAINLY, truth.dtype), &truth, heights[i], bound).code == FOLD_OK);
    cr_expect(mpfr_get_d(bound, MPFR_RNDU) == 24 * 0x1p-24 + 3 * 0x1p-49, "height %llu",
              (unsigned long long)heights[i]);
  }
  mpfr_clear(bound);
}
