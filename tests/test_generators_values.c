/* test_generators_values.c: distributions of those generators whose code does not show them.
 *
 * Statistics of fixed seeds are facts, not chances; their limits are what a sound stream passes with a probability of
 * error below 1e-6 (5 standard deviations; Kolmogorov and Smirnov's 2 exp(-2 k^2) < 1e-6 at k = 2.7), so that a defect,
 * not luck, is seen.
 */
#include "fixtures/draw.h"
#include "generate_help.h"

enum { N = 1 << 18 };

static double value(const struct fold_source *source, uint64_t bits) {
  return fold_bits_to_double(source->dtype, bits);
}

static int rising(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Kolmogorov and Smirnov's distance, times sqrt n. */
static double distance(double *x, size_t n, double (*cdf)(double)) {
  double worst = 0;
  qsort(x, n, sizeof *x, rising);
  for (size_t i = 0; i < n; i++) {
    double f = cdf(x[i]), below = f - (double)i / (double)n, above = (double)(i + 1) / (double)n - f;
    worst = fmax(worst, fmax(below, above));
  }
  return worst * sqrt((double)n);
}

static double *values_of(const struct fold_source *source, size_t n) {
  uint64_t *bits = patterns_of(source, 0, n);
  double *x = calloc(n, sizeof *x);
  cr_assert_not_null(x);
  for (size_t i = 0; i < n; i++) x[i] = value(source, bits[i]);
  free(bits);
  return x;
}

static double normal_cdf(double x) { return 0.5 * erfc(-x * M_SQRT1_2); }
static double uniform_cdf(double x) { return (x + 1000) / 2000; }

/* Moments up to the fourth: their variances are 1/n, 2/n, 15/n and 96/n. Each f32 too: rounding moves none of them. */
Test(generators_values, normal_is_standard_normal) {
  for (uint64_t seed = 1; seed <= 3; seed++)
    for (int d = FOLD_F32; d <= FOLD_F64; d++) {
      struct fold_source source = source_of("normal", d, seed, N);
      double *x = values_of(&source, N), m1 = 0, m2 = 0, m3 = 0, m4 = 0, pair = 0, next = 0, tail = 0, root = sqrt(N);
      for (size_t i = 0; i < N; i++) {
        double q = x[i] * x[i];
        m1 += x[i], m2 += q, m3 += q * x[i], m4 += q * q;
        if (i & 1)
          pair += x[i] * x[i - 1];
        else if (i > 0)
          next += x[i] * x[i - 1];
        tail += fabs(x[i]) > 3;
      }
      cr_expect(fabs(m1 / N) <= 5 / root, "mean %g", m1 / N);
      cr_expect(fabs(m2 / N - 1) <= 5 * sqrt(2) / root, "variance %g", m2 / N);
      cr_expect(fabs(m3 / N) <= 5 * sqrt(15) / root, "third moment %g", m3 / N);
      cr_expect(fabs(m4 / N - 3) <= 5 * sqrt(96) / root, "fourth moment %g", m4 / N);
      cr_expect(fabs(pair / (N / 2)) <= 5 * M_SQRT2 / root, "correlation in a pair %g", pair / (N / 2));
      cr_expect(fabs(next / (N / 2)) <= 5 * M_SQRT2 / root, "correlation across pairs %g", next / (N / 2));
      double p = 2 * normal_cdf(-3);
      cr_expect(fabs(tail - N * p) <= 5 * sqrt(N * p), "beyond 3: %g of %g", tail, N * p);
      double k = distance(x, N, normal_cdf);
      cr_expect(k <= 2.7, "Kolmogorov-Smirnov %g", k);
      free(x);
    }
}

Test(generators_values, uniform_is_uniform_in_its_half_open_interval) {
  int wrong = 0;
  for (int d = 0; d < FOLD_E4M3; d++) {
    struct fold_source source = source_of("uniform", d, 5, N);
    double *x = values_of(&source, N);
    for (size_t i = 0; i < N; i++)
      if (!(x[i] >= -1000 && x[i] < 1000)) TELL(wrong, "%s %zu: %g", fold_dtype_name(source.dtype), i, x[i]);
    /* The 16-bit types have so few values that the distance shows their steps. */
    double k = d >= FOLD_F32 ? distance(x, N, uniform_cdf) : 0;
    cr_expect(k <= 2.7, "%s: Kolmogorov-Smirnov %g", fold_dtype_name(source.dtype), k);
    free(x);
  }
}

/* The largest words: what would round to the open end must stay below it. */
Test(generators_values, open_ends_stay_open) {
  for (int d = 0; d < FOLD_E4M3; d++) {
    enum fold_dtype dtype = (enum fold_dtype)d;
    double unit = fold_draw_unit(~0u, d == FOLD_F64 ? ~0u : 0);
    cr_expect(unit < 1);
    cr_expect(fold_bits_to_double(dtype, fold_draw_between(dtype, -1000, 1000, unit)) < 1000, "%s",
              fold_dtype_name(dtype));
    cr_expect(fold_bits_to_double(dtype, fold_draw_between(dtype, 1, 2, unit)) < 2, "%s", fold_dtype_name(dtype));
    cr_expect(fold_bits_to_double(dtype, fold_draw_between(dtype, -1000, 1000, 0)) == -1000);
  }
}

Test(generators_values, full_range_has_every_exponent_alike) {
  for (int d = 0; d < FOLD_E4M3; d++) {
    struct fold_source source = source_of("full_range", d, 10, N);
    struct fold_format f = fold_format_of(source.dtype);
    size_t fields = d == FOLD_F16 ? 31 : (size_t)(2 * f.emax - 32), negative = 0;
    uint64_t *x = patterns_of(&source, 0, N);
    int wrong = 0, ones[52] = {0}, count[2048] = {0};
    for (size_t i = 0; i < N; i++) {
      uint64_t field = (x[i] & f.exponent) >> (f.precision - 1);
      if (field >= fields) TELL(wrong, "%s %zu: field %zu", fold_dtype_name(source.dtype), i, (size_t)field);
      count[field]++;
      negative += (x[i] & f.sign) != 0;
      for (int b = 0; b < f.precision - 1; b++) ones[b] += x[i] >> b & 1;
    }
    /* 6: there are 2014 fields. */
    for (size_t e = 0; e < fields; e++)
      cr_expect(fabs(count[e] - (double)N / (double)fields) <= 6 * sqrt((double)N / (double)fields), "%s field %zu: %d",
                fold_dtype_name(source.dtype), e, count[e]);
    for (int b = 0; b < f.precision - 1; b++)
      cr_expect(fabs(ones[b] - N / 2.0) <= 2.5 * sqrt(N), "%s fraction bit %d: %d", fold_dtype_name(source.dtype), b,
                ones[b]);
    cr_expect(fabs((double)negative - N / 2.0) <= 2.5 * sqrt(N), "%zu negative", negative);
    free(x);
  }
}

Test(generators_values, subnormals_are_nonzero_subnormals_of_both_signs) {
  for (int d = 0; d < FOLD_E4M3; d++) {
    struct fold_source source = source_of("subnormals", d, 11, N);
    uint64_t *x = patterns_of(&source, 0, N), seen = 0, most = 0, negative = 0;
    struct fold_format f = fold_format_of(source.dtype);
    int wrong = 0;
    for (size_t i = 0; i < N; i++) {
      if (fold_bits_class(source.dtype, x[i]) != FOLD_SUBNORMAL)
        TELL(wrong, "%s %zu: %zx", fold_dtype_name(source.dtype), i, (size_t)x[i]);
      seen |= x[i] & f.fraction;
      most += (x[i] & f.fraction) > f.fraction / 2;
      negative += fold_bits_negative(source.dtype, x[i]);
    }
    cr_expect(seen == f.fraction, "fraction bits never set: %zx", (size_t)(f.fraction & ~seen));
    cr_expect(fabs((double)most - N / 2.0) <= 2.5 * sqrt(N), "%zu in the upper half", (size_t)most);
    cr_expect(fabs((double)negative - N / 2.0) <= 2.5 * sqrt(N), "%zu negative", (size_t)negative);
    free(x);
  }
}
