/* test_outcomes.c: what bounds leave possible, compared with random trees of real additions and multiplications: none
 * of these may give another result.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "arithmetics.h"
#include "integers.h"
#include "possible.h"

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
    for (int dtype = 0; dtype < FOLD_FLOATS; dtype++) {
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
    for (int dtype = 0; dtype < FOLD_FLOATS; dtype++) {
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
  for (int terms = 0; terms < FOLD_FLOATS; terms++)
    for (int result = 0; result < FOLD_FLOATS; result++)
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
    for (int d = 0; d < FOLD_FLOATS; d++)
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
