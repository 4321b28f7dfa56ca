/* test_outcomes.c: what bounds leave possible, against random trees of real additions and multiplications: none may give
 * another result; and at each edge the neighbour beyond it is told from the one before. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "arithmetics.h"
#include "bound.h"
#include "integers.h"
#include "order.h"

enum { MOST = 24, TREES = 12 };

/* One rounding to the accumulator: exact in double for 16-bit formats and products of f32, innocuous for sums of f32. */
static double join(enum fold_dtype accumulator, enum fold_op op, double a, double b) {
  double c = op == FOLD_SUM ? a + b : a * b;
  return accumulator == FOLD_F64 ? c : fold_bits_to_double(accumulator, fold_bits_from_double(accumulator, c));
}

/* Terms joined in turn, or two at a time wherever they stand. */
static double fold_tree(enum fold_dtype accumulator, enum fold_op op, const double *x, size_t n, bool turn,
                        uint64_t *state) {
  double v[MOST];
  memcpy(v, x, n * sizeof *v);
  for (size_t i = 1; turn && i < n; i++) v[0] = join(accumulator, op, v[0], v[i]);
  for (; !turn && n > 1; n--) {
    size_t a = next_word(state) % n, b = next_word(state) % (n - 1);
    b += b >= a;
    double both = join(accumulator, op, v[a], v[b]);
    v[a < b ? a : b] = both;
    v[a < b ? b : a] = v[n - 1];
  }
  return v[0];
}

static double kahan_of(enum fold_dtype acc, const double *x, size_t n) {
  double s = 0, c = 0;
  for (size_t i = 0; i < n; i++) {
    double y = join(acc, FOLD_SUM, x[i], -c), t = join(acc, FOLD_SUM, s, y);
    c = join(acc, FOLD_SUM, join(acc, FOLD_SUM, t, -s), -y);
    s = t;
  }
  return s;
}

static double neumaier_of(enum fold_dtype acc, const double *x, size_t n) {
  double s = 0, c = 0;
  for (size_t i = 0; i < n; i++) {
    double t = join(acc, FOLD_SUM, s, x[i]), large = fabs(s) >= fabs(x[i]) ? s : x[i], small = large == s ? x[i] : s;
    c = join(acc, FOLD_SUM, c, join(acc, FOLD_SUM, join(acc, FOLD_SUM, large, -t), small));
    s = t;
  }
  return join(acc, FOLD_SUM, s, c);
}

/* What was seen, so that a test that tries nothing fails. */
struct seen {
  size_t exact, rounded, finite, infinite, nan, demanded, either;
};

static bool is_possible(const struct fold_truth *truth, enum fold_dtype dtype, mpfr_srcptr bound,
                        const struct fold_outcomes *may, uint64_t got) {
  enum fold_class class = fold_bits_class(dtype, got);
  if (class == FOLD_NAN) return may->nan;
  if (class == FOLD_INFINITE) return may->infinite[got & fold_format_of(dtype).sign ? 1 : 0];
  mpfr_t error;
  mpfr_init2(error, 256);
  fold_truth_error(error, truth, dtype, got);
  bool possible = may->finite && mpfr_lessequal_p(error, bound);
  mpfr_clear(error);
  uint64_t magnitude = ~fold_format_of(dtype).sign, want = truth->rounded[dtype];
  return possible && (!may->exact || got == want || !((got | want) & magnitude));
}

static void count(struct seen *seen, enum fold_dtype dtype, const struct fold_outcomes *may, uint64_t got) {
  enum fold_class class = fold_bits_class(dtype, got);
  bool overflow = may->infinite[0] || may->infinite[1];
  if (!fold_format_of(dtype).infinities) overflow = may->nan, seen->infinite += class == FOLD_NAN;
  seen->exact += may->exact && class < FOLD_INFINITE;
  seen->rounded += !may->exact && class < FOLD_INFINITE;
  seen->finite += class < FOLD_INFINITE && overflow;
  seen->infinite += class == FOLD_INFINITE;
  seen->nan += class == FOLD_NAN;
  seen->demanded += !may->finite && (!may->nan || !fold_format_of(dtype).infinities);
  seen->either += may->finite && overflow;
}

/* Every tree that is tried gives what is possible. */
static void try_row(struct way way, enum fold_dtype dtype, enum fold_op op, const double *x, size_t n, uint64_t *state,
                    struct seen *seen) {
  const struct fold_arithmetic how = way_of(way, dtype);
  const enum fold_dtype accumulator = how.accumulator;
  const enum fold_method method = how.method;
  uint64_t in[MOST];
  struct fold_truth truth;
  struct fold_outcomes may;
  mpfr_t bound;
  mpfr_init2(bound, 128);
  fold_truth_init(&truth);
  for (size_t i = 0; i < n; i++) fold_bits_store(dtype, in, i, fold_bits_from_double(dtype, x[i]));
  cr_assert_eq(fold_oracle_exact(dtype, op, in, n, 1, &truth).code, FOLD_OK);
  fold_status status = fold_bound_outcomes(how, &truth, n - 1, NULL, bound, &may);
  cr_assert_eq(status.code, FOLD_OK, "%s", status.text);
  for (int k = 0; k < TREES; k++) {
    double value = method == FOLD_KAHAN      ? kahan_of(accumulator, x, n)
                   : method == FOLD_NEUMAIER ? neumaier_of(accumulator, x, n)
                                             : fold_tree(accumulator, op, x, n, k == 0, state);
    uint64_t got = fold_bits_from_double(how.result, value);
    bool possible = is_possible(&truth, how.result, bound, &may, got);
    cr_expect(possible, "method %d in %s, %s to %s, %s, n=%zu (%a, %a, %a): %a, want %a", method,
              fold_dtype_name(accumulator), fold_dtype_name(dtype), fold_dtype_name(how.result), fold_op_name(op), n,
              x[0], n > 1 ? x[1] : 0, n > 2 ? x[2] : 0, value, mpfr_get_d(truth.exact, MPFR_RNDN));
    count(seen, how.result, &may, got);
    if (method == FOLD_KAHAN || method == FOLD_NEUMAIER) break;
  }
  fold_truth_free(&truth);
  mpfr_clear(bound);
}

static double round_to(enum fold_dtype dtype, double x) {
  return fold_bits_to_double(dtype, fold_bits_from_double(dtype, x));
}

/* A number of the format that is finite. */
static double any(enum fold_dtype dtype, uint64_t *state) {
  return fold_bits_to_double(dtype, random_pattern(dtype, true, state));
}

/* Rows about an edge: integers about 2^precision, numbers about the largest, those that cancel. */
static size_t make_sum(enum fold_dtype dtype, int kind, double *x, uint64_t *state) {
  struct fold_format f = fold_format_of(dtype);
  size_t n = 2 + next_word(state) % (MOST - 3);
  int shift = (int)(next_word(state) % 20) - 10;
  for (size_t i = 0; i < n; i++) {
    uint64_t word = next_word(state);
    double integer = (double)(word >> 11) * ldexp(1, f.precision - 53 - (int)(word % 6));
    double sign = word & 64 ? -1 : 1;
    if (kind == 0) x[i] = ldexp(floor(integer / 2), shift) * sign;
    if (kind == 1) x[i] = ldexp(floor(integer / 4), shift);
    if (kind == 2)
      x[i] = round_to(dtype, ldexp(1 - (double)(word >> 40) * 0x1p-24, f.emax + 1 - (int)(word % 8)) * sign);
    if (kind == 3) x[i] = any(dtype, state);
    if (kind == 4) x[i] = round_to(dtype, ldexp(1 - (double)(word >> 40) * 0x1p-24, f.emax + 1 - (int)(word % 8)));
    if (kind == 5) x[i] = round_to(dtype, ldexp((double)(word >> 40), f.emin - 40));
    x[i] = isfinite(round_to(dtype, x[i])) ? round_to(dtype, x[i]) : ldexp(sign, f.emax);
  }
  if (next_word(state) % 3 == 0 && n > 2) x[n - 1] = -x[0];
  return n;
}

static const struct way sums[] = {
    NARROWLY, PLAINLY, IN_F64, {FOLD_KAHAN, FOLD_USUAL, FOLD_USUAL}, {FOLD_NEUMAIER, FOLD_USUAL, FOLD_USUAL}};

/* In their own format sums meet every edge; 16-bit terms in f32 hardly round, and f16 ones never overflow there. A compensated
 * sum that overflowed need not be an infinity; with 8 bits' unit no bound demands an overflow. */
static void expect_seen(struct way way, enum fold_dtype dtype, const struct seen *seen) {
  const enum fold_method method = way.method;
  bool own = is_narrow(way) && fold_dtype_size(dtype) > 1,
       compensated = method == FOLD_KAHAN || method == FOLD_NEUMAIER;
  cr_expect(seen->exact, "method %d, %s", method, fold_dtype_name(dtype));
  cr_expect(!own || (seen->rounded && seen->demanded && seen->either && seen->finite && seen->nan),
            "%s: %zu, %zu, %zu, %zu, %zu", fold_dtype_name(dtype), seen->rounded, seen->demanded, seen->either,
            seen->finite, seen->nan);
  cr_expect(compensated ? seen->infinite + seen->nan : seen->infinite, "method %d, %s", method, fold_dtype_name(dtype));
}

Test(outcomes, of_sums_hold_in_any_order) {
  for (size_t m = 0; m < sizeof sums / sizeof *sums; m++)
    for (int dtype = 0; dtype < FOLD_DTYPES; dtype++) {
      struct seen seen = {0};
      uint64_t state = 700 + m * 10 + (uint64_t)dtype;
      double x[MOST];
      for (int trial = 0; trial < 4000; trial++) {
        size_t n = make_sum((enum fold_dtype)dtype, trial % 6, x, &state);
        try_row(sums[m], (enum fold_dtype)dtype, FOLD_SUM, x, n, &state, &seen);
      }
      expect_seen(sums[m], (enum fold_dtype)dtype, &seen);
    }
  mpfr_free_cache();
}

/* Factors about 1, far from it, and few bits. */
static size_t make_product(enum fold_dtype dtype, int kind, double *x, uint64_t *state) {
  struct fold_format f = fold_format_of(dtype);
  size_t n = 2 + next_word(state) % (MOST - 3);
  for (size_t i = 0; i < n; i++) {
    uint64_t word = next_word(state);
    double sign = word & 64 ? -1 : 1, significand = 1 + (double)(word >> 12) * 0x1p-52;
    int reach = kind == 0 ? 2 : (kind == 1 ? f.emax / 4 : f.emax / 2);
    if (kind == 3) significand = (double)(1 + 2 * (word >> 62)), reach = f.emax / 12 + 1;
    x[i] = round_to(dtype, ldexp(significand * sign, (int)(word >> 8 & 0xffff) % (2 * reach) - reach));
    if (kind == 4) x[i] = any(dtype, state);
    if (!isfinite(x[i])) x[i] = sign;
    if (word % 50 == 0) x[i] = 0;
  }
  return n;
}

Test(outcomes, of_products_hold_in_any_order) {
  static const struct way ways[] = {NARROWLY, PLAINLY};
  for (size_t m = 0; m < 2; m++)
    for (int dtype = 0; dtype < FOLD_DTYPES; dtype++) {
      if (is_narrow(ways[m]) && fold_dtype_size((enum fold_dtype)dtype) == 1) continue; /* n u is no less than 1/2 */
      struct seen seen = {0};
      uint64_t state = 800 + m * 10 + (uint64_t)dtype;
      double x[MOST];
      for (int trial = 0; trial < 6000; trial++) {
        size_t n = make_product((enum fold_dtype)dtype, trial % 5, x, &state);
        try_row(ways[m], (enum fold_dtype)dtype, FOLD_PROD, x, n, &state, &seen);
      }
      bool nan = seen.nan || (!is_narrow(ways[m]) && fold_format_of(dtype).emax < 33); /* f32 holds such products */
      cr_expect(seen.exact && seen.rounded && seen.infinite && nan, "way %zu, %s: %zu, %zu, %zu, %zu", m,
                fold_dtype_name((enum fold_dtype)dtype), seen.exact, seen.rounded, seen.infinite, seen.nan);
    }
  mpfr_free_cache();
}

/* Terms, accumulators and results of every dtype. A lone term is rounded too where the result does not hold it; what overflows the
 * accumulator does not come back in a result that holds more. */
Test(outcomes, of_other_results_hold_in_any_order) {
  struct seen seen[2] = {{0}};
  for (int terms = 0; terms < FOLD_DTYPES; terms++)
    for (int result = 0; result < FOLD_DTYPES; result++)
      for (int own = 0; own < 2; own++)
        for (int op = FOLD_SUM; op <= FOLD_PROD; op++) {
          const struct way way = {FOLD_PLAIN, own ? FOLD_OF_TERMS : FOLD_USUAL, FOLD_ALWAYS((unsigned)result)};
          const enum fold_dtype dtype = (enum fold_dtype)terms;
          uint64_t state = 1000 + (uint64_t)(terms * 100 + result * 10 + own);
          double x[MOST];
          if (op == FOLD_PROD && own && fold_dtype_size(dtype) == 1) continue; /* n u is no less than 1/2 */
          for (int trial = 0; trial < 400; trial++) {
            size_t n =
                op == FOLD_SUM ? make_sum(dtype, trial % 6, x, &state) : make_product(dtype, trial % 5, x, &state);
            if (trial % 7 == 0) n = 1;
            if (trial % 31 == 0 && fold_format_of(dtype).infinities) x[n - 1] = INFINITY;
            try_row(way, dtype, (enum fold_op)op, x, n, &state, &seen[own]);
          }
        }
  for (int own = 0; own < 2; own++)
    cr_expect(seen[own].exact && seen[own].rounded && seen[own].finite && seen[own].infinite && seen[own].nan &&
              seen[own].demanded && seen[own].either);
  mpfr_free_cache();
}

/* An infinity, or two of one sign, among numbers whose own sums overflow and whose products vanish, or that are far from both. */
Test(outcomes, of_rows_with_infinities_hold_in_any_order) {
  static const struct way ways[] = {NARROWLY, PLAINLY};
  for (size_t m = 0; m < 2; m++)
    for (int d = 0; d < FOLD_DTYPES; d++)
      for (int op = FOLD_SUM; op <= FOLD_PROD; op++) {
        enum fold_dtype dtype = (enum fold_dtype)d;
        if (!fold_format_of(dtype).infinities) continue;
        struct seen seen = {0};
        uint64_t state = 900 + m * 10 + (uint64_t)d;
        double x[MOST];
        for (int trial = 0; trial < 3000; trial++) {
          size_t n = op == FOLD_SUM ? make_sum(dtype, trial % 6, x, &state) : make_product(dtype, trial % 5, x, &state);
          double infinity = trial & 1 ? INFINITY : -INFINITY;
          x[next_word(&state) % n] = infinity;
          if (trial % 3 == 0) x[next_word(&state) % n] = infinity;
          try_row(ways[m], dtype, (enum fold_op)op, x, n, &state, &seen);
        }
        bool nan = seen.nan || (!is_narrow(ways[m]) && fold_format_of(dtype).emax < 33); /* f32 holds such numbers */
        cr_expect(seen.infinite && seen.demanded && nan, "way %zu, %s, %s: %zu, %zu, %zu", m, fold_dtype_name(dtype),
                  fold_op_name((enum fold_op)op), seen.infinite, seen.demanded, seen.nan);
      }
  mpfr_free_cache();
}

/* The sum's outcomes for n terms of dtype. */
static struct fold_outcomes outcomes_of(struct way way, enum fold_dtype dtype, enum fold_op op, const double *x,
                                        size_t n, double *bound) {
  uint64_t in[80];
  struct fold_truth truth;
  struct fold_outcomes may;
  mpfr_t limit;
  mpfr_init2(limit, 128);
  fold_truth_init(&truth);
  for (size_t i = 0; i < n; i++) {
    fold_bits_store(dtype, in, i, fold_bits_from_double(dtype, x[i]));
    cr_assert_eq(round_to(dtype, x[i]), x[i], "%a is no %s", x[i], fold_dtype_name(dtype));
  }
  cr_assert_eq(fold_oracle_exact(dtype, op, in, n, 1, &truth).code, FOLD_OK);
  cr_assert_eq(fold_bound_outcomes(way_of(way, dtype), &truth, n - 1, NULL, limit, &may).code, FOLD_OK);
  *bound = mpfr_get_d(limit, MPFR_RNDU);
  fold_truth_free(&truth);
  mpfr_clear(limit);
  return may;
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
  struct fold_truth truth;
  mpfr_t bound;
  mpfr_init2(bound, 128);
  fold_truth_init(&truth);
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
  fold_truth_free(&truth);
  mpfr_clear(bound);
}

/* 2^(p-1) + ... + 2 + 1 + 1 units are 2^p units, all of them numbers of the accumulator; one more unit is one too many: 2^p + 1 is
 * rounded. At any place of the range, with either sign; negative terms beside positive ones take no room. */
/* +-65504 in pairs, and one smallest subnormal, so that sums may round: S = 65504 n and s = 2^-24, as f16, added up in f32. The error
 * reaches the overflow threshold at n^2 65504 2^-24 = 65520, n about 4096, on both sides of zero at once. */
Test(outcomes, of_a_sum_that_cancels_is_an_infinity_only_where_the_error_reaches_it) {
  static const struct {
    size_t n;
    bool possible;
  } rows[] = {{1001, false}, {2501, false}, {3001, false}, {4001, false}, {4201, true}, {6001, true}};
  uint16_t *in = malloc(6001 * sizeof *in);
  struct fold_truth truth;
  mpfr_t bound;
  cr_assert_not_null(in);
  mpfr_init2(bound, 128);
  fold_truth_init(&truth);
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
  fold_truth_free(&truth);
  mpfr_clear(bound);
}

Test(outcomes, sums_are_exact_up_to_two_to_the_precision_and_no_further) {
  for (size_t m = 0; m < sizeof sums / sizeof *sums; m++)
    for (int d = 0; d < FOLD_DTYPES; d++) {
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
          cr_expect_eq(join(accumulator, FOLD_SUM, ldexp(unit, p), unit), ldexp(unit, p), "that unit is lost");
        }
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
              {{0, 0x1.234p0, 0x1.234568p0}, true}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    double bound;
    struct fold_outcomes may =
        outcomes_of((struct way){FOLD_PLAIN, FOLD_USUAL, FOLD_USUAL}, FOLD_F32, FOLD_PROD, rows[i].x, 3, &bound);
    cr_expect_eq(may.exact, rows[i].exact, "row %zu", i);
    cr_expect(bound == 0 || !may.exact, "row %zu: %g", i, bound);
  }
  mpfr_free_cache();
}

/* Beside an infinity the other terms decide whether it may become NaN: by a partial sum that overflows the other way, at half of the
 * range, or a partial product that vanishes, below the normal range. */
Test(outcomes, of_an_infinity_is_nan_only_where_the_others_leave_the_range) {
  static const struct {
    enum fold_op op;
    double x[4];
    bool nan;
  } rows[] = {{FOLD_SUM, {INFINITY, -0x1.8p125, -0x1p124, 0}, false},
              {FOLD_SUM, {INFINITY, -0x1p127, -0x1p127, 0}, true},
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

/* Rows that wander to both ends of the range and back, and real data. */
static void make_long(enum fold_dtype dtype, int kind, size_t n, void *in, uint64_t *state) {
  struct fold_format f = fold_format_of(dtype);
  int wide = dtype == FOLD_F64 ? 1023 : 127, reach = f.emax < 60 ? 14 : 60;
  double walk = 0;
  for (size_t i = 0; i < n; i++) {
    uint64_t word = next_word(state);
    double significand = 1 + (double)(word >> 12) * 0x1p-52, x;
    int step = (int)(word % (unsigned)(2 * reach + 1)) - reach;
    /* Kinds 0 and 1 turn back before they overflow, 0 before they underflow too; 2 goes where it goes. */
    if (kind < 2 && walk + step > wide - 4) step = -abs(step);
    if (kind < 1 && walk + step < 8 - wide) step = abs(step);
    if (kind == 3) significand = 0.9 + (double)(word >> 12) * 0x1p-54, step = 0; /* drifts slowly below 1 */
    x = ldexp(word & 1 << 20 ? -significand : significand, step);
    if (kind == 4 && word % 97 == 0) x = 0;
    walk += log2(fabs(x == 0 ? 1 : x));
    fold_bits_store(dtype, in, i, fold_bits_from_double(dtype, x));
  }
}

/* The product of that order is what its replay gives, within the error that is said; and a result is judged by it. */
static void try_order(const struct fold_order *order, enum fold_dtype dtype, const void *in, size_t n,
                      struct seen *seen) {
  struct fold_running_product running;
  struct fold_truth truth;
  struct fold_outcomes may;
  uint64_t got = 0;
  mpfr_t error, limit;
  struct fold_call call = {.dtype = dtype, .op = FOLD_PROD, .rows = 1, .cols = n, .in = in, .out = &got};
  mpfr_inits2(256, error, limit, (mpfr_ptr)0);
  fold_truth_init(&truth);
  cr_assert_eq(fold_order_running_product(order, dtype, in, n, &running).code, FOLD_OK);
  cr_assert_eq(fold_order_replay(order, &call).code, FOLD_OK);
  cr_assert_eq(fold_oracle_exact(dtype, FOLD_PROD, in, n, 1, &truth).code, FOLD_OK);
  got = fold_bits_load(dtype, &got, 0);
  cr_expect(fold_bits_same(dtype, got, fold_bits_from_double(dtype, running.value)), "%s %s n=%zu: %a", order->name,
            fold_dtype_name(dtype), n, running.value);
  if (isfinite(running.value)) {
    enum fold_dtype accumulator = dtype == FOLD_F64 ? FOLD_F64 : FOLD_F32;
    fold_truth_error(error, &truth, accumulator, fold_bits_from_double(accumulator, running.value));
    mpfr_set_ld(limit, running.error, MPFR_RNDU);
    cr_expect(mpfr_lessequal_p(error, limit), "%s %s n=%zu: off by %Lg, not %Lg", order->name, fold_dtype_name(dtype),
              n, mpfr_get_ld(error, MPFR_RNDU), running.error);
  }
  fold_status status = fold_bound_outcomes(fold_arithmetic_of(FOLD_PLAIN, dtype), &truth, n - 1, &running, limit, &may);
  if (status.code == FOLD_OK) {
    cr_expect(is_possible(&truth, dtype, limit, &may, got), "%s %s n=%zu: %a", order->name, fold_dtype_name(dtype), n,
              running.value);
    count(seen, dtype, &may, got);
  }
  mpfr_clears(error, limit, (mpfr_ptr)0);
  fold_truth_free(&truth);
}

Test(outcomes, of_products_in_an_order_hold) {
  static const size_t lengths[] = {2, 3, 31, 257, 300, 1023, 5000};
  size_t n_orders;
  const struct fold_order *orders = fold_orders(&n_orders);
  uint64_t state = 900;
  static uint64_t in[5000];
  for (int dtype = 0; dtype < FOLD_DTYPES; dtype++) {
    struct seen seen = {0};
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
      for (int kind = 0; kind < 10; kind++) {
        make_long((enum fold_dtype)dtype, kind % 5, lengths[l], in, &state);
        for (size_t k = 0; k < n_orders; k++) try_order(&orders[k], (enum fold_dtype)dtype, in, lengths[l], &seen);
      }
    cr_expect(seen.rounded && seen.infinite && seen.nan, "%s: %zu rounded, %zu infinite, %zu NaN",
              fold_dtype_name((enum fold_dtype)dtype), seen.rounded, seen.infinite, seen.nan);
  }
  mpfr_free_cache();
}

/* 0 x 2^100 x 2^100 is 0 in turn, and NaN in pairs from the end: in a known order it is what that order gives. */
Test(outcomes, of_a_product_in_an_order_nan_is_what_the_order_gives) {
  const float in[2][3] = {{0, 0x1p100f, 0x1p100f}, {0x1p100f, 0x1p100f, 0}};
  const struct fold_order *order = fold_order_find("host/sequential");
  for (int k = 0; k < 2; k++) {
    struct fold_running_product running;
    struct fold_truth truth;
    struct fold_outcomes known, any;
    mpfr_t bound;
    mpfr_init2(bound, 128);
    fold_truth_init(&truth);
    cr_assert_eq(fold_order_running_product(order, FOLD_F32, in[k], 3, &running).code, FOLD_OK);
    cr_assert_eq(fold_oracle_exact(FOLD_F32, FOLD_PROD, in[k], 3, 1, &truth).code, FOLD_OK);
    const struct fold_arithmetic plain = fold_arithmetic_of(FOLD_PLAIN, FOLD_F32);
    cr_assert_eq(fold_bound_outcomes(plain, &truth, 2, NULL, bound, &any).code, FOLD_OK);
    cr_assert_eq(fold_bound_outcomes(plain, &truth, 2, &running, bound, &known).code, FOLD_OK);
    cr_expect(any.nan && known.nan == k, "row %d: NaN %d in any order, %d in turn", k, any.nan, known.nan);
    mpfr_clear(bound);
    fold_truth_free(&truth);
  }
}

/* A long product that is not far from 1 has a bound in its order's own ulps: about one for each factor, at 10,000 of them too;
 * and one that underflows is zero, and no subnormal number. */
Test(outcomes, long_products_have_a_bound_that_says_something) {
  enum { N = 10000 };
  const struct fold_order *order = fold_order_find("host/sequential");
  static float in[N];
  for (int k = 0; k < 2; k++) {
    for (size_t i = 0; i < N; i++) in[i] = i % 2 ? 0x1.000246p0f / (k ? 4 : 1) : 0x1.fffc22p-1f;
    struct fold_running_product running;
    struct fold_truth truth;
    struct fold_outcomes may;
    mpfr_t bound;
    mpfr_init2(bound, 128);
    fold_truth_init(&truth);
    cr_assert_eq(fold_order_running_product(order, FOLD_F32, in, N, &running).code, FOLD_OK);
    cr_assert_eq(fold_oracle_exact(FOLD_F32, FOLD_PROD, in, N, 1, &truth).code, FOLD_OK);
    cr_assert_eq(
        fold_bound_outcomes(fold_arithmetic_of(FOLD_PLAIN, FOLD_F32), &truth, N - 1, &running, bound, &may).code,
        FOLD_OK);
    double limit = mpfr_get_d(bound, MPFR_RNDU), magnitude = fabs(mpfr_get_d(truth.exact, MPFR_RNDN));
    cr_expect(may.finite && !may.nan && !may.infinite[0] && !may.infinite[1]);
    cr_expect(k ? limit < 0x1p-150 : limit <= magnitude * 1.01 * N * 0x1p-24 && limit > 0, "%g of %g", limit,
              magnitude);
    mpfr_clear(bound);
    fold_truth_free(&truth);
  }
  mpfr_free_cache();
}

/* What never rounds has no error, in any order: not the least one either. */
Test(outcomes, of_a_product_in_an_order_that_never_rounds_the_error_is_0) {
  static const double terms[] = {3, 0x1p-20, 5, 0x1p30, 7};
  uint64_t in[5];
  size_t n;
  const struct fold_order *orders = fold_orders(&n);
  for (size_t i = 0; i < 5; i++) fold_bits_store(FOLD_F32, in, i, fold_bits_from_double(FOLD_F32, terms[i]));
  for (size_t k = 0; k < n; k++) {
    struct fold_running_product running;
    cr_assert_eq(fold_order_running_product(&orders[k], FOLD_F32, in, 5, &running).code, FOLD_OK);
    cr_expect(running.value == 105 * 0x1p10 && running.error == 0, "%s: %a", orders[k].name, (double)running.error);
  }
}
