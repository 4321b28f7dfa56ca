/* test_dot_exact.c: sums of exact products: the fast oracle against MPFR alone, and both against integers. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "base/bits.h"
#include "cleanup.h"
#include "fixtures/generator.h"
#include "integers.h"
#include "oracles/exact.h"
#include "oracles/super_dot.h"

#define MOST_TERMS 3000

static bool same_number(mpfr_srcptr a, mpfr_srcptr b) {
  if (mpfr_nan_p(a) || mpfr_nan_p(b)) return mpfr_nan_p(a) && mpfr_nan_p(b);
  return mpfr_equal_p(a, b) && !mpfr_signbit(a) == !mpfr_signbit(b);
}

static struct fold_terms products(enum fold_dtype dtype, const void *x, const void *y, size_t n) {
  return (struct fold_terms){.dtype = dtype, .op = FOLD_SUM, .factors = 2, .factor = {x, y}, .step = {1, 1}, .n = n};
}

/* Every field of the two oracles' answers. */
static void compare(enum fold_dtype dtype, const void *x, const void *y, size_t n, const char *what) {
  struct fold_terms terms = products(dtype, x, y, n);
  struct fold_truth fast, slow;
  char where[120];
  snprintf(where, sizeof where, "%s %s n=%zu", what, fold_dtype_name(dtype), n);
  fold_truth_init(&fast);
  fold_truth_init(&slow);
  fold_status a = fold_oracle_terms(&terms, 1, &fast), b = fold_oracle_mpfr_terms(&terms, &slow);
  cr_assert(a.code == FOLD_OK && b.code == FOLD_OK, "%s: %s%s", where, a.text, b.text);
  for (int to = 0; to < FOLD_FLOATS; to++)
    cr_expect(fast.rounded[to] == slow.rounded[to], "%s to %s: got %llx, want %llx", where, fold_dtype_name(to),
              (unsigned long long)fast.rounded[to], (unsigned long long)slow.rounded[to]);
  cr_expect(same_number(fast.exact, slow.exact), "%s: exact", where);
  cr_expect(same_number(fast.abs_sum, slow.abs_sum) && same_number(fast.finite, slow.finite), "%s: abs_sum, finite",
            where);
  cr_expect(fold_bits_same(FOLD_F64, fold_f64_bits(fast.condition), fold_f64_bits(slow.condition)), "%s: condition",
            where);
  cr_expect(fast.lowest == slow.lowest, "%s: lowest bit 2^%ld, want 2^%ld", where, fast.lowest, slow.lowest);
  cr_expect(fast.finite_terms == slow.finite_terms && fast.factors == 2 && slow.factors == 2, "%s", where);
  fold_truth_free(&fast);
  fold_truth_free(&slow);
}

Test(dot_exact, equals_mpfr_on_random_patterns) {
  static uint64_t x[MOST_TERMS], y[MOST_TERMS];
  for (int dtype = 0; dtype < FOLD_FLOATS; dtype++)
    for (int finite = 0; finite < 2; finite++) {
      uint64_t state = 40 + (uint64_t)dtype;
      for (size_t i = 0; i < MOST_TERMS; i++) {
        fold_bits_store(dtype, x, i, random_pattern(dtype, finite, &state));
        fold_bits_store(dtype, y, i, random_pattern(dtype, finite, &state));
      }
      const char *what = finite ? "finite patterns" : "all patterns";
      size_t size = fold_dtype_size(dtype);
      for (size_t n = 0; n <= 70; n++)
        compare(dtype, (unsigned char *)x + n * size, (unsigned char *)y + 2 * n * size, n, what);
      compare(dtype, x, y, MOST_TERMS, what);
    }
  mpfr_free_cache();
}

/* Products of any two powers of two, with all bits below or none: around each edge of the scales, and the ends of the range. */
Test(dot_exact, equals_mpfr_at_the_edges_of_the_scales) {
  static const int exponents[] = {-1074, -1073, -1050, -1023, -1022, -1021, -902, -901, -900,
                                  -899,  -551,  -550,  -450,  -25,   -24,   -1,   0,    1,
                                  24,    174,   175,   499,   500,   501,   1000, 1001, 1023};
  enum { N = sizeof exponents / sizeof *exponents };
  static double x[4 * N * N], y[4 * N * N];
  size_t n = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < 4; k++) {
        x[n] = ldexp(k & 1 ? 0x1.fffffffffffffp0 : 1, exponents[i]) * (n % 3 ? 1 : -1);
        y[n] = ldexp(k & 2 ? 0x1.fffffffffffffp0 : 1, exponents[j]);
        compare(FOLD_F64, &x[n], &y[n], 1, "edge");
        n++;
      }
  compare(FOLD_F64, x, y, n, "all edges");
  mpfr_free_cache();
}

static uint64_t bits_of(const double *x, const double *y, size_t n) {
  struct fold_terms terms = products(FOLD_F64, x, y, n);
  TRUTH(truth);
  cr_assert_eq(fold_oracle_terms(&terms, 1, &truth).code, FOLD_OK);
  uint64_t bits = truth.rounded[FOLD_F64];
  return bits;
}

Test(dot_exact, special_values) {
  const double minus[] = {-0.0, 0.0, -1.0}, plus[] = {1.0, -5.0, 0.0};
  const double infinite[] = {INFINITY, 0.0, 1.0}, other[] = {-2.0, 7.0, 1.0};
  const double zero[] = {0.0, 1.0}, meets[] = {INFINITY, 1.0};
  const double large[] = {0x1p1000, 0x1p1000, 1.0}, cancels[] = {0x1p1000, -0x1p1000, 3.0};
  const double tiny[] = {0x1p-1074, 0x1p-1074}, also[] = {0x1p-1074, 0x1p1000};
  cr_expect_eq(bits_of(NULL, NULL, 0), 0);
  cr_expect_eq(bits_of(minus, plus, 3), fold_f64_bits(-0.0), "all products are -0");
  cr_expect_eq(bits_of(plus, plus, 0), 0);
  cr_expect_eq(bits_of(infinite, other, 3), fold_f64_bits(-INFINITY));
  cr_expect(isnan(fold_bits_f64(bits_of(zero, meets, 2))), "0 times infinity");
  cr_expect_eq(bits_of(large, cancels, 3), fold_f64_bits(3.0), "products beyond the range cancel");
  cr_expect_eq(bits_of(large, large, 2), fold_f64_bits(INFINITY));
  cr_expect_eq(bits_of(tiny, also, 2), fold_f64_bits(0x1p-74));
  cr_expect_eq(bits_of(tiny, tiny, 2), 0, "2^-2147 rounds to zero");
}

/* Integers below 2^31 have products and sums in 128 bits. */
Test(dot_exact, equals_integers) {
  enum { N = 5000 };
  static double x[N], y[N];
  uint64_t state = 9;
  __int128 sum = 0;
  for (size_t i = 0; i < N; i++) {
    int64_t a = (int32_t)(random_pattern(FOLD_F32, false, &state)),
            b = (int32_t)(random_pattern(FOLD_F32, false, &state));
    x[i] = (double)a, y[i] = (double)b;
    sum += (__int128)a * b;
  }
  cr_expect_eq(bits_of(x, y, N), fold_f64_bits((double)(__float128)sum));
}

Test(dot_exact, does_not_depend_on_threads) {
  enum { N = 200000 };
  double *x = malloc(N * sizeof *x), *y = malloc(N * sizeof *y);
  struct fold_super_dot *state = malloc(sizeof *state);
  uint64_t seed = 3, want = 0;
  for (size_t i = 0; i < N; i++) {
    x[i] = fold_bits_f64(random_pattern(FOLD_F64, true, &seed));
    y[i] = fold_bits_f64(random_pattern(FOLD_F64, true, &seed));
  }
  for (unsigned threads = 1; threads <= 7; threads += 2) {
    memset(state, 0, sizeof *state);
    cr_assert_eq(fold_super_dot_add(FOLD_F64, x, y, N / 3, threads, state).code, FOLD_OK);
    cr_assert_eq(fold_super_dot_add(FOLD_F64, x + N / 3, y + N / 3, N - N / 3, threads, state).code, FOLD_OK);
    uint64_t got = fold_super_dot_close(state, FOLD_F64);
    if (threads == 1) want = got;
    cr_expect_eq(got, want, "%u threads", threads);
  }
  struct fold_terms terms = products(FOLD_F64, x, y, N);
  TRUTH(truth);
  cr_assert_eq(fold_oracle_terms(&terms, 3, &truth).code, FOLD_OK);
  cr_expect_eq(truth.rounded[FOLD_F64], want);
  cr_expect_eq(truth.lowest, state->lowest);
  free(state);
  free(x);
  free(y);
}

/* Within a factor 4 sqrt 2 of what is asked for (condition.h). */
Test(dot_exact, ill_conditioned_factors_have_the_wanted_condition) {
  static const double wanted[] = {100, 1e4, 1e6, 1e12, 1e20};
  static uint64_t x[MOST_TERMS], y[MOST_TERMS];
  size_t reached = 0;
  for (int dtype = 0; dtype < FOLD_FLOATS; dtype++)
    for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++)
      for (size_t n = 33; n <= MOST_TERMS; n = 3 * n + 1) {
        struct fold_source first = {fold_generator_find("ill_conditioned_dot"), dtype, 5 + k, n, wanted[k]},
                           second = fold_source_of_input(&first, 1);
        if (fold_source_check(&first).code != FOLD_OK) continue;
        fold_generate(&first, 0, n, x);
        fold_generate(&second, 0, n, y);
        struct fold_terms terms = products(dtype, x, y, n);
        TRUTH(truth);
        cr_assert_eq(fold_oracle_terms(&terms, 1, &truth).code, FOLD_OK);
        double quotient = truth.condition / wanted[k];
        cr_expect(quotient >= 1 / 5.66 && quotient <= 5.66, "%s n=%zu: condition %g for %g",
                  fold_dtype_name((enum fold_dtype)dtype), n, truth.condition, wanted[k]);
        reached++;
      }
  cr_expect_gt(reached, 40, "%zu conditions", reached);
}

/* Of what an earlier use left nothing stays: products, whose sum has a lowest bit, and a product too long to hold. */
Test(dot_exact, a_truth_is_used_again) {
  static double x[MOST_TERMS];
  for (size_t i = 0; i < MOST_TERMS; i++) x[i] = 1 + 0x1.8p-51;
  struct fold_terms terms = products(FOLD_F64, x, x, 3);
  for (int fast = 0; fast < 2; fast++) {
    TRUTH(truth);
    cr_assert_eq((fast ? fold_oracle_terms(&terms, 1, &truth) : fold_oracle_mpfr_terms(&terms, &truth)).code, FOLD_OK);
    cr_expect(truth.factors == 2 && truth.lowest == -104 && !truth.enclosed, "%d", fast);
    const enum fold_op ops[] = {FOLD_PROD, FOLD_MAX};
    for (int k = 0; k < 2; k++) {
      fold_status status = fast ? fold_oracle_exact(FOLD_F64, ops[k], x, MOST_TERMS, 1, &truth)
                                : fold_oracle_mpfr(FOLD_F64, ops[k], x, MOST_TERMS, &truth);
      cr_assert_eq(status.code, FOLD_OK);
      cr_expect(truth.factors == 1 && truth.lowest == FOLD_NO_BIT && truth.enclosed == (k == 0), "%d, %d: %u, %ld, %d",
                fast, k, truth.factors, truth.lowest, truth.enclosed);
    }
  }
  mpfr_free_cache();
}

Test(dot_exact, other_folds_of_products_are_refused) {
  double one = 1;
  struct fold_terms terms = products(FOLD_F64, &one, &one, 1);
  TRUTH(truth);
  terms.op = FOLD_MAX;
  cr_expect_eq(fold_oracle_terms(&terms, 1, &truth).code, FOLD_BAD_INPUT);
  cr_expect_eq(fold_oracle_mpfr_terms(&terms, &truth).code, FOLD_BAD_INPUT);
}
