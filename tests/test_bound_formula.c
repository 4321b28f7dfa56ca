/* test_bound_formula.c: bounds are what bound.c's head says, by exact rational arithmetic: never below that, and above
 * it by no more than rounding to 128 bits. A part of the formula that is left out, or too small by 1 in 10^9, would
 * break no bound that a random row can reach; it shows here. */
#include <criterion/criterion.h>
#include <math.h>

#include "arithmetics.h"
#include "integers.h"
#include "oracles/bound.h"

enum { MOST = 40 };

/* x 2^e */
static void scale(mpq_t x, long e) {
  if (e < 0)
    mpq_div_2exp(x, x, (mp_bitcnt_t)-e);
  else
    mpq_mul_2exp(x, x, (mp_bitcnt_t)e);
}

/* k 2^e */
static void set(mpq_t x, uint64_t k, long e) {
  mpq_set_ui(x, k, 1);
  scale(x, e);
}

/* floor(log2 x) of x > 0 */
static long log2_of(const mpq_t x) {
  mpq_t power;
  mpq_init(power);
  long e = (long)mpz_sizeinbase(mpq_numref(x), 2) - (long)mpz_sizeinbase(mpq_denref(x), 2);
  set(power, 1, e);
  if (mpq_cmp(x, power) < 0) e--;
  mpq_clear(power);
  return e;
}

/* What the theorems are of. */
struct row {
  size_t n;
  mpq_t exact, magnitude, sum_abs; /* the exact result, its magnitude, and the sum of the terms' */
  mpq_t largest;                   /* of the partial products */
  long least;                      /* which are 2^least and more */
};

static void row_init(struct row *row) { mpq_inits(row->exact, row->magnitude, row->sum_abs, row->largest, (mpq_ptr)0); }
static void row_clear(struct row *row) {
  mpq_clears(row->exact, row->magnitude, row->sum_abs, row->largest, (mpq_ptr)0);
}

static void take_row(struct row *row, enum fold_op op, const double *x, size_t n) {
  mpq_t term, size, one, small;
  mpq_inits(term, size, one, small, (mpq_ptr)0);
  set(one, 1, 0);
  set(row->largest, 1, 0);
  set(small, 1, 0);
  set(row->exact, op == FOLD_PROD, 0);
  set(row->sum_abs, 0, 0);
  row->n = n;
  for (size_t i = 0; i < n; i++) {
    mpq_set_d(term, x[i]);
    mpq_abs(size, term);
    mpq_add(row->sum_abs, row->sum_abs, size);
    (op == FOLD_PROD ? mpq_mul : mpq_add)(row->exact, row->exact, term);
    if (mpq_cmp(size, one) > 0) mpq_mul(row->largest, row->largest, size);
    if (mpq_sgn(size) && mpq_cmp(size, one) < 0) mpq_mul(small, small, size);
  }
  mpq_abs(row->magnitude, row->exact);
  row->least = log2_of(small);
  mpq_clears(term, size, one, small, (mpq_ptr)0);
}

/* gamma_k, or (n - 1) u where that says nothing */
static void set_gamma(mpq_t gamma, uint64_t k, uint64_t n, int u) {
  mpq_t below, half;
  mpq_inits(below, half, (mpq_ptr)0);
  set(half, 1, -1);
  set(gamma, k, u);
  set(below, 1, 0);
  mpq_sub(below, below, gamma);
  if (mpq_cmp(gamma, half) < 0)
    mpq_div(gamma, gamma, below);
  else
    set(gamma, n - 1, u);
  mpq_clears(below, half, (mpq_ptr)0);
}

/* (u |s| + (2 u + 8 n u^2) S) / (1 - u) */
static void set_kahan(mpq_t a, const struct row *row, int u) {
  mpq_t part;
  mpq_init(part);
  set(a, 2, u);
  set(part, 8 * row->n, 2 * u);
  mpq_add(a, a, part);
  mpq_mul(a, a, row->sum_abs);
  set(part, 1, u);
  mpq_mul(part, part, row->magnitude);
  mpq_add(a, a, part);
  set(part, (UINT64_C(1) << -u) - 1, u);
  mpq_div(a, a, part);
  mpq_clear(part);
}

/* u |s| + gamma^2 S */
static void set_neumaier(mpq_t a, const struct row *row, const mpq_t gamma, int u) {
  mpq_t part;
  mpq_init(part);
  mpq_mul(a, gamma, gamma);
  mpq_mul(a, a, row->sum_abs);
  set(part, 1, u);
  mpq_mul(part, part, row->magnitude);
  mpq_add(a, a, part);
  mpq_clear(part);
}

/* B (1 + gamma) */
static void set_largest(mpq_t largest, const struct row *row, const mpq_t gamma) {
  set(largest, 1, 0);
  mpq_add(largest, largest, gamma);
  mpq_mul(largest, largest, row->largest);
}

/* From where on a format with infinities rounds to one. */
static bool overflows(const mpq_t value, struct fold_format f) {
  mpq_t threshold;
  mpq_init(threshold);
  set(threshold, (UINT64_C(1) << (f.precision + 1)) - 1, f.emax - f.precision);
  const bool reaches = mpq_cmp(value, threshold) >= 0;
  mpq_clear(threshold);
  return reaches;
}

/* gamma |p|, and (n - 1) tau B (1 + gamma) where a partial product may be below the normal range */
static void set_product(mpq_t a, const struct row *row, const mpq_t gamma, struct fold_format f) {
  mpq_t part, each;
  mpq_inits(part, each, (mpq_ptr)0);
  mpq_mul(a, gamma, row->magnitude);
  if (row->least < f.emin + 1) {
    set_largest(part, row, gamma);
    set(each, row->n - 1, f.emin - f.precision);
    mpq_mul(part, part, each);
    mpq_add(a, a, part);
  }
  mpq_clears(part, each, (mpq_ptr)0);
}

/* Of a narrower result: v (|s| + A), or eta / 2 where a product, or a sum of terms with bits below eta, is below the normal range. */
static void add_last(mpq_t a, const struct row *row, bool below, struct fold_format result) {
  mpq_t half, least;
  mpq_inits(half, least, (mpq_ptr)0);
  mpq_add(half, row->magnitude, a);
  scale(half, -result.precision);
  set(least, 1, result.emin - result.precision);
  if (below && mpq_cmp(half, least) < 0) mpq_set(half, least);
  mpq_add(a, a, half);
  mpq_clears(half, least, (mpq_ptr)0);
}

static void set_bound(mpq_t a, struct fold_arithmetic how, enum fold_dtype terms, enum fold_op op,
                      const struct row *row, uint64_t height) {
  const struct fold_format f = fold_format_of(how.accumulator), result = fold_format_of(how.result);
  const enum fold_method method = how.method;
  const bool by_height = op == FOLD_SUM && method == FOLD_PLAIN;
  mpq_t gamma;
  mpq_init(gamma);
  set_gamma(gamma, by_height ? height : row->n - 1, row->n, -f.precision);
  if (op == FOLD_PROD) {
    set_product(a, row, gamma, f);
  } else if (method == FOLD_KAHAN) {
    set_kahan(a, row, -f.precision);
  } else if (method == FOLD_NEUMAIER) {
    set_neumaier(a, row, gamma, -f.precision);
  } else {
    mpq_mul(a, gamma, row->sum_abs);
  }
  const struct fold_format each = fold_format_of(terms);
  const bool below = op == FOLD_PROD || each.emin - each.precision < result.emin - result.precision;
  if (f.precision > result.precision) add_last(a, row, below, result);
  mpq_clear(gamma);
}

/* The nearest number of the format is as far as this. */
static void set_nearest(mpq_t a, enum fold_dtype dtype, const struct row *row, const struct fold_truth *truth) {
  mpq_set_d(a, fold_bits_to_double(dtype, truth->rounded[dtype]));
  mpq_sub(a, a, row->exact);
  mpq_abs(a, a);
}

struct tried {
  size_t exact, rounded, underflows, nan;
};

static void try_row(struct way way, enum fold_dtype dtype, enum fold_op op, const double *x, size_t n, uint64_t height,
                    struct tried *tried) {
  const struct fold_arithmetic how = way_of(way, dtype);
  uint64_t in[MOST];
  struct fold_truth truth;
  struct fold_outcomes may;
  struct row row;
  mpfr_t bound;
  mpq_t got, want, above;
  mpq_inits(got, want, above, (mpq_ptr)0);
  mpfr_init2(bound, 200); /* more than it is computed with: its own rounding shows */
  fold_truth_init(&truth);
  row_init(&row);
  for (size_t i = 0; i < n; i++) fold_bits_store(dtype, in, i, fold_bits_from_double(dtype, x[i]));
  cr_assert_eq(fold_oracle_exact(dtype, op, in, n, 1, &truth).code, FOLD_OK);
  cr_assert_eq(fold_bound_outcomes(how, &truth, height, NULL, bound, &may).code, FOLD_OK);
  take_row(&row, op, x, n);
  bool infinite = fold_bits_class(how.result, truth.rounded[how.result]) >= FOLD_INFINITE;
  if (may.exact && !infinite)
    set_nearest(want, how.result, &row, &truth);
  else
    set_bound(want, how, dtype, op, &row, height);
  if (!infinite || !may.exact) {
    mpfr_get_q(got, bound);
    set(above, 1, -90);
    mpq_mul(above, above, want);
    mpq_add(above, above, want);
    cr_expect(mpq_cmp(got, want) >= 0 && mpq_cmp(got, above) <= 0,
              "method %d, %s, %s, n=%zu, h=%lu, exact %d: %g, want %g", (int)how.method, fold_dtype_name(dtype),
              fold_op_name(op), n, height, may.exact, mpq_get_d(got), mpq_get_d(want));
  }
  tried->exact += may.exact;
  tried->rounded += !may.exact;
  const struct fold_format f = fold_format_of(how.accumulator);
  if (op == FOLD_PROD && !may.exact) {
    set_gamma(got, n - 1, n, -f.precision);
    set_largest(want, &row, got);
    const bool beyond = overflows(want, f), nan = beyond && row.least < f.emin + 1;
    cr_expect_eq(may.nan, nan, "%s, products from 2^%ld to %g", fold_dtype_name(dtype), row.least,
                 mpq_get_d(row.largest));
    if (how.result == how.accumulator && !infinite)
      cr_expect_eq(may.infinite[mpq_sgn(row.exact) < 0], beyond, "%s to %g", fold_dtype_name(dtype),
                   mpq_get_d(row.largest));
    tried->underflows += row.least < f.emin + 1;
    tried->nan += nan;
  }
  row_clear(&row);
  fold_truth_free(&truth);
  mpfr_clear(bound);
  mpq_clears(got, want, above, (mpq_ptr)0);
}

/* A number of the format with some of its bits, around 2^exponent; not 0. */
static double number(enum fold_dtype dtype, int exponent, uint64_t *state) {
  uint64_t word = next_word(state);
  double x = ldexp(1 + (double)(word >> 12) * 0x1p-52, exponent);
  x = fold_bits_to_double(dtype, fold_bits_from_double(dtype, word & 1 ? -x : x));
  return x != 0 ? x : 1;
}

Test(bound_formula, of_sums) {
  static const struct way ways[] = {
      PLAINLY, NARROWLY, IN_F64, {FOLD_KAHAN, FOLD_USUAL, FOLD_USUAL}, {FOLD_NEUMAIER, FOLD_USUAL, FOLD_USUAL}};
  for (size_t m = 0; m < sizeof ways / sizeof *ways; m++)
    for (int d = 0; d < FOLD_E4M3; d++) {
      enum fold_dtype dtype = (enum fold_dtype)d;
      const struct fold_format f = fold_format_of(dtype);
      struct tried tried = {0};
      uint64_t state = 60 + m * 10 + (uint64_t)d;
      for (int trial = 0; trial < 400; trial++) {
        double x[MOST];
        size_t n = 2 + next_word(&state) % (MOST - 1);
        int centre = trial % 3 ? (int)(next_word(&state) % 8) : f.emin + 2, spread = trial % 5 ? 8 : 2;
        if (ways[m].method == FOLD_KAHAN) n = n % 20 + 2; /* n u <= 1/10 in any of these */
        for (size_t i = 0; i < n; i++)
          x[i] = number(dtype, centre - (int)(next_word(&state) % (uint64_t)spread), &state);
        if (trial % 4 == 0) x[n - 1] = -x[0];
        static const uint64_t heights[] = {1, 2, 7, 39, 127, 128, 1000, 4194303, 8388608};
        try_row(ways[m], dtype, FOLD_SUM, x, n, heights[next_word(&state) % 9], &tried);
      }
      cr_expect(tried.exact > 0 && (tried.rounded > 0 || ways[m].accumulator == FOLD_ALWAYS(FOLD_F64) || f.bits == 16),
                "method %zu, %s: %zu, %zu", m, fold_dtype_name(dtype), tried.exact, tried.rounded);
    }
  mpfr_free_cache();
}

Test(bound_formula, of_sums_with_other_results) {
  static const struct way ways[] = {{FOLD_PLAIN, FOLD_OF_TERMS, FOLD_ALWAYS(FOLD_F64)},
                                    {FOLD_PLAIN, FOLD_USUAL, FOLD_OF_ACCUMULATOR},
                                    {FOLD_PLAIN, FOLD_USUAL, FOLD_ALWAYS(FOLD_BF16)},
                                    {FOLD_PLAIN, FOLD_USUAL, FOLD_ALWAYS(FOLD_F16)},
                                    {FOLD_NEUMAIER, FOLD_USUAL, FOLD_ALWAYS(FOLD_E5M2)}};
  for (size_t m = 0; m < sizeof ways / sizeof *ways; m++)
    for (int d = 0; d < FOLD_E4M3; d++) {
      const enum fold_dtype dtype = (enum fold_dtype)d;
      struct tried tried = {0};
      uint64_t state = 260 + m * 10 + (uint64_t)d;
      for (int trial = 0; trial < 200; trial++) {
        double x[MOST];
        size_t n = 2 + next_word(&state) % (MOST - 1);
        int centre = trial % 3 ? (int)(next_word(&state) % 8) : fold_format_of(dtype).emin + 2;
        for (size_t i = 0; i < n; i++) x[i] = number(dtype, centre - (int)(next_word(&state) % 8), &state);
        try_row(ways[m], dtype, FOLD_SUM, x, n, 1 + next_word(&state) % 100, &tried);
      }
      cr_expect(tried.exact + tried.rounded == 200);
    }
  mpfr_free_cache();
}

/* Also from just within the normal range to just beyond it. */
Test(bound_formula, of_products) {
  static const struct way ways[] = {PLAINLY, NARROWLY};
  for (size_t m = 0; m < 2; m++)
    for (int d = 0; d < FOLD_E4M3; d++) {
      enum fold_dtype dtype = (enum fold_dtype)d;
      const struct fold_format f = fold_format_of(way_of(ways[m], dtype).accumulator);
      struct tried tried = {0};
      uint64_t state = 160 + m * 10 + (uint64_t)d;
      for (int trial = 0; trial < 1500; trial++) {
        double x[MOST];
        size_t n = 3 + next_word(&state) % 6;
        int low = 0, high = 0, edge = (int)(next_word(&state) % 6) - 3;
        for (size_t i = 0; i < n; i++) {
          int left = (i % 2 ? f.emin - low : f.emax - high) + edge, reach = fold_format_of(dtype).emax - 1;
          int e = trial % 3 ? (left > reach ? reach : left < -reach ? -reach : left) : (int)(next_word(&state) % 5) - 2;
          x[i] = number(dtype, e, &state);
          (i % 2 ? (low += e) : (high += e));
        }
        try_row(ways[m], dtype, FOLD_PROD, x, n, n - 1, &tried);
      }
      bool wide = is_narrow(ways[m]) || f.precision == fold_format_of(dtype).precision;
      cr_expect(tried.rounded && (!wide || (tried.underflows && tried.nan)), "method %zu, %s: %zu, %zu, %zu", m,
                fold_dtype_name(dtype), tried.rounded, tried.underflows, tried.nan);
    }
  mpfr_free_cache();
}
