/* test_generators_values.c: the generators whose promise is about each element: ranges, classes, distributions.
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

/* Box and Muller's formula by libm. draw.h derives 2.5e-11 for the radius (half of the logarithm's), 7e-12 for the
 * sine. */
Test(generators_values, normal_polynomials_are_log_cos_and_sin) {
  const uint32_t edges[] = {0,          1,          2,          0x1fffffff, 0x20000000, 0x3fffffff,
                            0x40000000, 0x5fffffff, 0x60000000, 0x7fffffff, 0x80000000, 0x9fffffff,
                            0xa0000000, 0xbfffffff, 0xc0000000, 0xdfffffff, 0xe0000000, 0xffffffff};
  int wrong = 0;
  for (int i = 0; i < 18 * 18 + 20000; i++) {
    philox4x32_ctr_t w = fold_draw_words(3, (uint64_t)i, 0);
    uint32_t a = i < 324 ? edges[i / 18] : w.v[0], b = i < 324 ? edges[i % 18] : w.v[1];
    double z0, z1, u = (a + 0.5) * 0x1p-32, r = sqrt(-2 * log(u)), t = 2 * M_PI * (b * 0x1p-32);
    fold_draw_normal(a, b, &z0, &z1);
    bool close = fabs(z0 - r * cos(t)) <= 1e-10 * r && fabs(z1 - r * sin(t)) <= 1e-10 * r;
    if (!close) TELL(wrong, "words %08x %08x: %.12g %.12g, want %.12g %.12g", a, b, z0, z1, r * cos(t), r * sin(t));
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

/* Half open in the dtype: from the pattern of the least value to below that of the end. */
static const double mixed_ends[2][4] = {{1e-6, 1e-4, 0.01, 1}, {1e-3, 1e-1, 1e6, 1e8}};

/* Whether an element is large; `spread` gets the sums of the small and of the large. */
static bool is_large(enum fold_dtype dtype, double x, double spread[2], int *wrong) {
  double end[4];
  for (int e = 0; e < 4; e++)
    end[e] = fold_bits_to_double(dtype, fold_bits_from_double(dtype, mixed_ends[dtype != FOLD_F16][e]));
  const bool large = x >= end[2];
  if (!(x >= end[2 * large] && x < end[2 * large + 1])) TELL(*wrong, "%s: %g", fold_dtype_name(dtype), x);
  spread[large] += x;
  return large;
}

/* The mean of n / 2 uniform numbers varies by width / sqrt(6 n); and a rounding's bias. */
static void expect_means(enum fold_dtype dtype, const double spread[2], size_t n) {
  for (int half = 0; half < 2; half++) {
    const double least = mixed_ends[dtype != FOLD_F16][2 * half], end = mixed_ends[dtype != FOLD_F16][2 * half + 1];
    const double mean = spread[half] / ((double)n / 2), want = (end + least) / 2;
    cr_expect(fabs(mean - want) <= 5 * (end - least) / sqrt(6.0 * (double)n) + fold_ulp(dtype, want),
              "%s: mean %g, want %g", fold_dtype_name(dtype), mean, want);
  }
}

/* As the report shuffles: exactly half of each row, anywhere. Of two neighbours both are of one kind in half of the pairs. */
Test(generators_values, mixed_is_half_large_half_small_shuffled) {
  enum { COLS = 1000, ROWS = N / COLS };
  for (int d = 0; d < FOLD_E4M3; d++) {
    struct fold_source source = source_of("mixed", d, 6, COLS);
    double *x = values_of(&source, ROWS * COLS), spread[2] = {0, 0}, alike = 0, moved = 0;
    int wrong = 0;
    for (size_t row = 0; row < ROWS; row++) {
      size_t large = 0;
      for (size_t c = 0; c < COLS; c++) {
        const bool now = is_large(source.dtype, x[row * COLS + c], spread, &wrong);
        large += now;
        if (c % 2) alike += now == (x[row * COLS + c - 1] >= mixed_ends[d != FOLD_F16][2]);
        if (row) moved += now != (x[(row - 1) * COLS + c] >= mixed_ends[d != FOLD_F16][2]);
      }
      cr_expect_eq(large, COLS / 2, "%s row %zu: %zu of %d large", fold_dtype_name(source.dtype), row, large, COLS);
    }
    const double pairs = ROWS * COLS / 2, want = pairs * (COLS / 2 - 1) / (COLS - 1.0);
    cr_expect(fabs(alike - want) <= 5 * sqrt(pairs / 4), "%s: %g of %g pairs alike", fold_dtype_name(source.dtype),
              alike, pairs);
    const double places = (ROWS - 1) * COLS;
    cr_expect(fabs(moved - places / 2) <= 5 * sqrt(places / 4), "%s: %g of %g places change from row to row",
              fold_dtype_name(source.dtype), moved, places);
    expect_means(source.dtype, spread, ROWS * COLS);
    free(x);
  }
}

/* The middle of an odd row is either, in half of the rows. */
Test(generators_values, an_odd_row_of_mixed_has_one_more_of_either) {
  enum { ROWS = 4000 };
  for (size_t cols = 1; cols <= 7; cols += 2) {
    struct fold_source source = source_of("mixed", FOLD_F32, 8, cols);
    double *x = values_of(&source, ROWS * cols), more = 0;
    for (size_t row = 0; row < ROWS; row++) {
      size_t large = 0;
      for (size_t c = 0; c < cols; c++) large += x[row * cols + c] > 1;
      cr_expect(large == cols / 2 || large == cols / 2 + 1, "%zu columns: %zu large", cols, large);
      more += large > cols / 2;
    }
    cr_expect(fabs(more - ROWS / 2) <= 5 * sqrt(ROWS / 4), "%zu columns: one more large in %g of %d rows", cols, more,
              ROWS);
    free(x);
  }
}

Test(generators_values, mixed_pairs_is_one_large_one_small_in_chance_order) {
  for (int d = 0; d < FOLD_E4M3; d++) {
    struct fold_source source = source_of("mixed_pairs", d, 6, N);
    double *x = values_of(&source, N), swapped = 0, spread[2] = {0, 0};
    int wrong = 0;
    for (size_t i = 0; i < N; i += 2) {
      const bool first = is_large(source.dtype, x[i], spread, &wrong);
      const bool second = is_large(source.dtype, x[i + 1], spread, &wrong);
      if (first == second) TELL(wrong, "%s pair %zu: %g %g", fold_dtype_name(source.dtype), i / 2, x[i], x[i + 1]);
      swapped += first;
    }
    cr_expect(fabs(swapped - N / 4) <= 2.5 * sqrt(N / 2), "%s: large first in %g of %d pairs",
              fold_dtype_name(source.dtype), swapped, N / 2);
    expect_means(source.dtype, spread, N);
    free(x);
  }
}

Test(generators_values, zeros_have_the_signs_of_their_names) {
  for (int d = 0; d < FOLD_E4M3; d++) {
    uint64_t sign = fold_format_of((enum fold_dtype)d).sign, negative = 0;
    struct fold_source plus = source_of("zeros_positive", d, 7, N), minus = source_of("zeros_negative", d, 7, N),
                       both = source_of("zeros_mixed", d, 7, N);
    uint64_t *p = patterns_of(&plus, 0, N), *m = patterns_of(&minus, 0, N), *b = patterns_of(&both, 0, N);
    int wrong = 0;
    for (size_t i = 0; i < N; i++) {
      if (p[i] != 0 || m[i] != sign || (b[i] & ~sign) != 0)
        TELL(wrong, "%s %zu", fold_dtype_name((enum fold_dtype)d), i);
      negative += b[i] != 0;
    }
    cr_expect(fabs((double)negative - N / 2) <= 2.5 * sqrt(N), "%zu of %d negative", (size_t)negative, N);
    free(p), free(m), free(b);
  }
}

Test(generators_values, constant_is_a_tenth_rounded) {
  const uint64_t tenth[] = {0x2e66, 0x3dcd, 0x3dcccccd, 0x3fb999999999999a};
  for (int d = 0; d < FOLD_E4M3; d++) {
    struct fold_source source = source_of("constant", d, 8, N);
    uint64_t *x = patterns_of(&source, 0, N);
    int wrong = 0;
    for (size_t i = 0; i < N; i++)
      if (x[i] != tenth[d]) TELL(wrong, "%s %zu", fold_dtype_name(source.dtype), i);
    free(x);
  }
}

Test(generators_values, integers_are_even_chances_from_minus_8_to_8) {
  for (int d = 0; d < FOLD_E4M3; d++) {
    struct fold_source source = source_of("integers", d, 9, N);
    double *x = values_of(&source, N);
    int wrong = 0, count[17] = {0};
    for (size_t i = 0; i < N; i++) {
      if (!(fabs(x[i]) <= 8 && x[i] == rint(x[i])))
        TELL(wrong, "%s %zu: %g", fold_dtype_name(source.dtype), i, x[i]);
      else
        count[(int)x[i] + 8]++;
    }
    for (int v = 0; v < 17; v++)
      cr_expect(fabs(count[v] - N / 17.0) <= 5 * sqrt(N / 17.0), "%d: %d times", v - 8, count[v]);
    free(x);
  }
}

/* A power of two in each of the last eight columns: whichever are lost, the sum tells. */
Test(generators_values, sparse_has_few_integers_and_powers_of_two_at_the_end) {
  for (int d = 0; d < FOLD_E4M3; d++) {
    struct fold_source source = source_of("sparse", d, 9, N);
    double *x = values_of(&source, N);
    size_t others = 0;
    for (size_t k = 0; k < 8; k++)
      cr_expect_eq(x[N - 1 - k], (double)(1 << k), "%zu from the end: %g", k, x[N - 1 - k]);
    for (size_t i = 0; i < N - 8; i++) {
      cr_expect(fabs(x[i]) <= 8 && x[i] == rint(x[i]), "%zu: %g", i, x[i]);
      others += x[i] != 0;
    }
    double expected = N / 64.0 * 16 / 17;
    cr_expect(fabs((double)others - expected) <= 5 * sqrt(expected), "%zu integers", others);
    free(x);
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

/* 2^32 terms of the largest stay below 2^emax, in every order. */
Test(generators_values, full_range_cannot_overflow) {
  for (int d = FOLD_BF16; d < FOLD_E4M3; d++) {
    struct fold_format f = fold_format_of((enum fold_dtype)d);
    int largest = (2 * f.emax - 32 - 1) - f.emax; /* the exponent of the last field */
    cr_expect(largest + 1 + 32 <= f.emax, "%s: 2^%d", fold_dtype_name((enum fold_dtype)d), largest);
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
