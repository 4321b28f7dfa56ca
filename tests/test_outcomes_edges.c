/* test_outcomes_edges.c: at each edge of what a bound leaves possible, the last result before the edge is accepted and
 * its neighbour beyond it refused. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "arithmetics.h"
#include "base/bits.h"
#include "cleanup.h"
#include "oracles/bound.h"
#include "oracles/bound_terms.h"

/* The sum's outcomes for n terms of dtype. */
static struct fold_outcomes outcomes_of(struct way way, enum fold_dtype dtype, enum fold_op op, const double *x,
                                        size_t n, double *bound) {
  uint64_t in[80];
  TRUTH(truth);
  struct fold_outcomes may;
  mpfr_t limit;
  mpfr_init2(limit, 128);
  for (size_t i = 0; i < n; i++) {
    fold_bits_store(dtype, in, i, fold_bits_from_double(dtype, x[i]));
    cr_assert_eq(fold_bits_to_double(dtype, fold_bits_load(dtype, in, i)), x[i], "%a is no %s", x[i],
                 fold_dtype_name(dtype));
  }
  cr_assert_eq(fold_oracle_exact(dtype, op, in, n, 1, &truth).code, FOLD_OK);
  cr_assert_eq(fold_bound_outcomes(way_of(way, dtype), &truth, n - 1, NULL, limit, &may).code, FOLD_OK);
  *bound = mpfr_get_d(limit, MPFR_RNDU);
  mpfr_clear(limit);
  return may;
}

/* About half a place above the largest number: what is not rounded to a number any more. */
Test(outcomes, overflow_begins_where_the_nearest_is_no_number) {
  mpfr_t value, place;
  mpfr_inits2(128, value, place, (mpfr_ptr)0);
  for (int d = 0; d < FOLD_FLOATS; d++) {
    const enum fold_dtype dtype = (enum fold_dtype)d;
    const struct fold_format f = fold_format_of(dtype);
    const uint64_t largest = f.beyond - 1;
    const double last = fold_bits_to_double(dtype, largest), before = fold_bits_to_double(dtype, largest - 1);
    int overflows = 0;
    for (int quarters = 0; quarters <= 4; quarters++)
      for (int side = -1; side <= 1; side++) {
        mpfr_set_d(place, last - before, MPFR_RNDN);
        mpfr_mul_ui(value, place, (unsigned)quarters, MPFR_RNDN);
        mpfr_div_2ui(value, value, 2, MPFR_RNDN);
        mpfr_div_2ui(place, place, 60, MPFR_RNDN);
        mpfr_mul_si(place, place, side, MPFR_RNDN);
        mpfr_add(value, value, place, MPFR_RNDN);
        mpfr_add_d(value, value, last, MPFR_RNDN);
        const bool is_number = fold_bits_class(dtype, fold_mpfr_round(dtype, value)) < FOLD_INFINITE;
        cr_expect_eq(fold_reaches_overflow(f, value), !is_number, "%s, %d quarters of a place and %d bits",
                     fold_dtype_name(dtype), quarters, side);
        overflows += !is_number;
      }
    cr_expect(overflows > 3 && overflows < 9, "%s: %d of 15", fold_dtype_name(dtype), overflows);
  }
  mpfr_clears(value, place, (mpfr_ptr)0);
}

/* What leaves a narrow accumulator's range is lost, whatever the result could hold, also where no join rounds; an exact sum has no
 * accumulator. */
Test(outcomes, an_overflow_of_the_accumulator_is_demanded_of_a_wider_result) {
  static const struct {
    enum fold_method method;
    double term;
    bool finite;
  } rows[] = {
      {FOLD_PLAIN, 65504, false}, {FOLD_PLAIN, 32768, false}, {FOLD_PLAIN, 16384, true}, {FOLD_EXACT, 65504, true}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const struct way way = {rows[i].method, FOLD_OF_TERMS, FOLD_ALWAYS(FOLD_F32)};
    const double x[] = {rows[i].term, rows[i].term};
    double bound;
    struct fold_outcomes may = outcomes_of(way, FOLD_F16, FOLD_SUM, x, 2, &bound);
    cr_expect(may.finite == rows[i].finite && may.infinite[0] != rows[i].finite && !may.infinite[1] && !may.nan,
              "%a twice", rows[i].term);
  }
}

/* So many terms of one sign that gamma of their sum reaches the threshold by itself: partial sums are wrong by that, and still none
 * has the other sign. A small term of that sign does not help. */
Test(outcomes, of_large_terms_of_one_sign_are_no_infinity_of_the_other) {
  enum { N = 1 << 14 };
  static float in[N];
  TRUTH(truth);
  mpfr_t bound;
  mpfr_init2(bound, 128);
  for (int sign = 0; sign < 2; sign++)
    for (int small = 0; small < 2; small++) {
      struct fold_outcomes may;
      for (size_t i = 0; i < N; i++) in[i] = sign ? -0x1.fffffep127f : 0x1.fffffep127f;
      if (small) in[N / 2] = sign ? 1 : -1;
      cr_assert_eq(fold_oracle_exact(FOLD_F32, FOLD_SUM, in, N, 1, &truth).code, FOLD_OK);
      cr_assert_eq(fold_bound_outcomes(way_of((struct way)PLAINLY, FOLD_F32), &truth, N - 1, NULL, bound, &may).code,
                   FOLD_OK);
      cr_expect(may.infinite[sign] && !may.infinite[!sign] && !may.nan && !may.finite, "sign %d", sign);
    }
  mpfr_clear(bound);
}

/* +-65504 in pairs, and one smallest subnormal, so that sums may round: S = 65504 n and s = 2^-24, as f16, added up in f32. The error
 * reaches the overflow threshold at n^2 65504 2^-24 = 65520, n about 4096, on both sides of zero at once. */
Test(outcomes, of_a_sum_that_cancels_is_an_infinity_only_where_the_error_reaches_it) {
  static const struct {
    size_t n;
    bool possible;
  } rows[] = {{1001, false}, {2501, false}, {3001, false}, {4001, false}, {4201, true}, {6001, true}};
  uint16_t *in = malloc(6001 * sizeof *in);
  TRUTH(truth);
  mpfr_t bound;
  cr_assert_not_null(in);
  mpfr_init2(bound, 128);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    for (int sign = 0; sign < 2; sign++) {
      struct fold_outcomes may;
      for (size_t k = 0; k < rows[i].n; k++) in[k] = k % 2 ? 0xfbff : 0x7bff;
      in[rows[i].n - 1] = sign ? 0x8001 : 1;
      cr_assert_eq(fold_oracle_exact(FOLD_F16, FOLD_SUM, in, rows[i].n, 1, &truth).code, FOLD_OK);
      cr_assert_eq(
          fold_bound_outcomes(fold_arithmetic_of(FOLD_PLAIN, FOLD_F16), &truth, rows[i].n - 1, NULL, bound, &may).code,
          FOLD_OK);
      cr_expect(may.finite && !may.exact && !may.nan && may.infinite[0] == rows[i].possible &&
                    may.infinite[1] == rows[i].possible,
                "%zu terms, sign %d: +inf %d, -inf %d", rows[i].n, sign, may.infinite[0], may.infinite[1]);
    }
  free(in);
  mpfr_clear(bound);
}

static const struct way sums[] = {
    NARROWLY, PLAINLY, IN_F64, {FOLD_KAHAN, FOLD_USUAL, FOLD_USUAL}, {FOLD_NEUMAIER, FOLD_USUAL, FOLD_USUAL}};

/* 2^(p-1) + ... + 2 + 1 + 1 units are 2^p units, all of them numbers of the accumulator; one more unit is one too many: 2^p + 1 is
 * rounded. At any place of the range, with either sign; negative terms beside positive ones take no room. */
Test(outcomes, sums_are_exact_up_to_two_to_the_precision_and_no_further) {
  for (size_t m = 0; m < sizeof sums / sizeof *sums; m++)
    for (int d = 0; d < FOLD_FLOATS; d++) {
      enum fold_dtype dtype = (enum fold_dtype)d, accumulator = way_of(sums[m], dtype).accumulator;
      struct fold_format f = fold_format_of(dtype);
      int p = fold_format_of(accumulator).precision, least = f.emin - f.precision + 1;
      if (f.emax - p < least) continue; /* f16 in f64: its whole range is exact */
      for (int place = least; place <= f.emax - p; place += f.emax - p - least ? f.emax - p - least : 1)
        for (int negative = 0; negative < 2; negative++) {
          double x[80], unit = ldexp(negative ? -1 : 1, place), bound;
          for (int k = 0; k < p; k++) x[k] = ldexp(unit, p - 1 - k);
          x[p] = unit;
          struct fold_outcomes at = outcomes_of(sums[m], dtype, FOLD_SUM, x, (size_t)p + 1, &bound);
          cr_expect(at.exact && bound == 0 && at.finite && !at.infinite[0] && !at.infinite[1], "way %zu, %s at 2^%d", m,
                    fold_dtype_name(dtype), place);
          x[p + 1] = -unit * 2;
          cr_expect(outcomes_of(sums[m], dtype, FOLD_SUM, x, (size_t)p + 2, &bound).exact,
                    "with a term of the other sign");
          x[p + 1] = unit;
          struct fold_outcomes beyond = outcomes_of(sums[m], dtype, FOLD_SUM, x, (size_t)p + 2, &bound);
          cr_expect(!beyond.exact && bound > 0, "way %zu, %s at 2^%d, one unit more", m, fold_dtype_name(dtype), place);
          const uint64_t whole = fold_bits_from_double(accumulator, ldexp(unit, p) + unit);
          cr_expect_eq(fold_bits_to_double(accumulator, whole), ldexp(unit, p), "that unit is lost");
        }
    }
  mpfr_free_cache();
}

/* f32 rounds to infinity from 2^128 (1 - u / 2) on. The sum of two terms, (1 - k u) 2^128 and one so small that the sum is rounded, may
 * be beyond itself by u of it in plain additions, by 2 gamma_1 + 16 u = 18 u in Neumaier's, by 16 u in Kahan's: so k - 1/2 is at most
 * that wherever it may overflow. */
Test(outcomes, a_partial_sum_may_overflow_where_its_error_reaches_the_threshold) {
  static const struct {
    enum fold_method method;
    int last; /* greatest k */
  } rows[] = {{FOLD_PLAIN, 1}, {FOLD_NEUMAIER, 18}, {FOLD_KAHAN, 16}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    for (int k = rows[i].last; k <= rows[i].last + 1; k++)
      for (int sign = -1; sign <= 1; sign += 2) {
        const struct way way = {rows[i].method, FOLD_USUAL, FOLD_ALWAYS(FOLD_F64)};
        const double x[] = {sign * ldexp(1 - k * 0x1p-24, 128), sign * 0x1p60};
        double bound;
        struct fold_outcomes may = outcomes_of(way, FOLD_F32, FOLD_SUM, x, 2, &bound);
        bool overflows = k == rows[i].last, both = rows[i].method != FOLD_PLAIN;
        cr_expect(!may.exact && may.finite && may.infinite[sign < 0] == overflows &&
                      may.infinite[sign > 0] == (overflows && both) && may.nan == (overflows && both),
                  "method %d, k = %d, sign %d: infinities %d and %d, NaN %d", (int)rows[i].method, k, sign,
                  may.infinite[0], may.infinite[1], may.nan);
      }
  mpfr_free_cache();
}

/* Of three f32, two below 1, so that only one could overflow: by no more than both roundings, from 2^128 (1 - 2^-25) / (1 + gamma_2) on. */
Test(outcomes, a_product_that_no_order_can_overflow_is_finite) {
  static const struct {
    double largest;
    bool overflows;
  } rows[] = {{0x1p126, false},        {0x1p127, false},       {0x1.fffff8p127, false},
              {0x1.fffffap127, false}, {0x1.fffffcp127, true}, {0x1.fffffep127, true}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    for (int sign = -1; sign <= 1; sign += 2) {
      const double x[] = {0x1.fffffep-1, sign * rows[i].largest, 0x1.fffffep-1};
      double bound;
      const struct fold_outcomes may =
          outcomes_of((struct way){FOLD_PLAIN, FOLD_USUAL, FOLD_USUAL}, FOLD_F32, FOLD_PROD, x, 3, &bound);
      cr_expect(!may.exact && may.finite && !may.nan && !may.infinite[sign > 0], "%a", x[1]);
      cr_expect_eq(may.infinite[sign < 0], rows[i].overflows, "%a", x[1]);
    }
  mpfr_free_cache();
}

/* 4095 * 4095 has 24 bits, 4097 * 4097 has 25; powers of two none, while they stay in the normal range. */
Test(outcomes, products_are_exact_while_their_bits_fit) {
  static const struct {
    double x[3];
    bool exact;
  } rows[] = {{{4095, 4095, 0x1p-20}, true},
              {{4097, 4097, 1}, false},
              {{0x1p-60, 0x1p-60, -0x1p-6}, true},
              {{0x1p-60, 0x1p-60, 0x1p-7}, false},
              {{0x1p60, 0x1p60, 0x1.8p7}, true},
              {{0x1p60, 0x1p60, 0x1p8}, false},
              {{3, 5, 7}, true},
              {{0, 0x1.234p0, 0x1.234568p0}, true},
              {{0, 0x1p100, 0x1p100}, true}, /* NaN, or an exact 0 */
              {{0x1p-100, -0x1p-100, 0}, true}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    double bound;
    struct fold_outcomes may =
        outcomes_of((struct way){FOLD_PLAIN, FOLD_USUAL, FOLD_USUAL}, FOLD_F32, FOLD_PROD, rows[i].x, 3, &bound);
    cr_expect_eq(may.exact, rows[i].exact, "row %zu", i);
    cr_expect(bound == 0 || !may.exact, "row %zu: %g", i, bound);
  }
  mpfr_free_cache();
}

/* Beside an infinity the other terms decide whether it may become NaN: by a partial sum that overflows the other way, or a partial
 * product that vanishes, below the normal range. */
Test(outcomes, of_an_infinity_is_nan_only_where_the_others_leave_the_range) {
  static const struct {
    enum fold_op op;
    double x[4];
    bool nan;
  } rows[] = {{FOLD_SUM, {INFINITY, -0x1.8p125, -0x1p124, 0}, false},
              {FOLD_SUM, {INFINITY, -0x1p127, -0x1p127, 0}, true},
              {FOLD_SUM, {INFINITY, -0x1.ffffp127, -0x1p102, 0}, false},
              {FOLD_SUM, {INFINITY, -0x1.fffffep127, -0x1p103, 0}, true},
              {FOLD_SUM, {INFINITY, 0x1p127, 0x1p127, -0x1p127}, false}, /* to the infinity that is there already */
              {FOLD_SUM, {-INFINITY, -0x1p127, -0x1p127, 0x1p127}, false},
              {FOLD_SUM, {-INFINITY, 0x1p127, -0x1p127, 0x1p127}, true},
              {FOLD_SUM, {-INFINITY, 1, 1, 0}, false},
              {FOLD_PROD, {INFINITY, 0x1p100, 0x1p100, 1}, false},
              {FOLD_PROD, {-INFINITY, 0x1p-60, 0x1p-60, 1}, false},
              {FOLD_PROD, {INFINITY, 0x1p-60, -0x1p-64, 1.5}, false},
              {FOLD_PROD, {INFINITY, 0x1p-62, 0x1p-63, 1}, false},
              {FOLD_PROD, {INFINITY, 0x1p-63, 0x1p-63, 1}, true}, /* one of that binade may be rounded to below it */
              {FOLD_PROD, {INFINITY, 0x1p-75, 0x1p-75, 1}, true},
              {FOLD_PROD, {INFINITY, 0x1p-75, 0x1p-75, 0x1p100}, true}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    double bound;
    struct fold_outcomes may =
        outcomes_of((struct way){FOLD_PLAIN, FOLD_USUAL, FOLD_USUAL}, FOLD_F32, rows[i].op, rows[i].x, 4, &bound);
    bool negative = rows[i].op == FOLD_SUM ? rows[i].x[0] < 0 : signbit(rows[i].x[0] * rows[i].x[1] * rows[i].x[2]);
    cr_expect(may.nan == rows[i].nan && may.infinite[negative] && !may.infinite[!negative] && !may.finite,
              "row %zu: NaN %d, infinities %d and %d, finite %d", i, may.nan, may.infinite[0], may.infinite[1],
              may.finite);
  }
  mpfr_free_cache();
}

/* Long rows are looked at by several threads. */
Test(outcomes, the_lowest_bit_does_not_depend_on_threads) {
  enum { LONG = 300000 };
  float *x = malloc(LONG * sizeof *x);
  cr_assert_not_null(x);
  for (size_t at = 0; at < LONG; at += LONG - 1) {
    for (size_t i = 0; i < LONG; i++) x[i] = i % 3 ? 0x1.8p10f : -0.0f;
    cr_expect_eq(fold_lowest_bit(FOLD_F32, x, LONG, 4), 9);
    x[at] = -0x1.000002p-60f;
    for (unsigned threads = 0; threads < 5; threads++)
      cr_expect_eq(fold_lowest_bit(FOLD_F32, x, LONG, threads), -83, "%u threads", threads);
    x[at] = NAN;
    x[LONG / 2] = INFINITY;
    cr_expect_eq(fold_lowest_bit(FOLD_F32, x, LONG, 4), 9, "NaN has no bit");
  }
  /* A NaN whose payload has the lowest place that it can, beside the largest power of two. */
  for (size_t i = 0; i < LONG; i++) x[i] = i % 2 ? 0x1p127f : fold_bits_f32(0x7f800001);
  cr_expect_eq(fold_lowest_bit(FOLD_F32, x, 10, 1), 127);
  cr_expect_eq(fold_lowest_bit(FOLD_F32, x, LONG, 4), 127);
  memset(x, 0, LONG * sizeof *x);
  cr_expect_eq(fold_lowest_bit(FOLD_F32, x, LONG, 4), FOLD_NO_BIT);
  free(x);
}
