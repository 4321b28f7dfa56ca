/* test_outcomes_orders.c: the possible results of a product in a known order, whose partial products are known to be
 * large or small. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "cleanup.h"
#include "integers.h"
#include "oracles/order.h"
#include "possible.h"

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
                      const struct fold_truth *truth, struct seen *seen) {
  struct fold_running_product running;
  struct fold_outcomes may;
  uint64_t got = 0;
  mpfr_t error, limit;
  struct fold_call call = {
      .dtype = dtype, .problem = fold_rows_problem(FOLD_PROD), .rows = 1, .cols = n, .in = {in}, .out = &got};
  mpfr_inits2(256, error, limit, (mpfr_ptr)0);
  cr_assert_eq(fold_order_running_product(order, dtype, in, n, &running).code, FOLD_OK);
  cr_assert_eq(fold_order_replay(order, &call).code, FOLD_OK);
  got = fold_bits_load(dtype, &got, 0);
  cr_expect(fold_bits_same(dtype, got, fold_bits_from_double(dtype, running.value)), "%s %s n=%zu: %a", order->name,
            fold_dtype_name(dtype), n, running.value);
  if (isfinite(running.value)) {
    enum fold_dtype accumulator = dtype == FOLD_F64 ? FOLD_F64 : FOLD_F32;
    fold_truth_error(error, truth, accumulator, fold_bits_from_double(accumulator, running.value));
    mpfr_set_ld(limit, running.error, MPFR_RNDU);
    cr_expect(mpfr_lessequal_p(error, limit), "%s %s n=%zu: off by %Lg, not %Lg", order->name, fold_dtype_name(dtype),
              n, mpfr_get_ld(error, MPFR_RNDU), running.error);
  }
  fold_status status = fold_bound_outcomes(fold_arithmetic_of(FOLD_PLAIN, dtype), truth, n - 1, &running, limit, &may);
  if (status.code == FOLD_OK) {
    cr_expect(is_possible(truth, dtype, limit, &may, got), "%s %s n=%zu: %a", order->name, fold_dtype_name(dtype), n,
              running.value);
    count(seen, dtype, &may, got);
  }
  mpfr_clears(error, limit, (mpfr_ptr)0);
}

static void try_orders(enum fold_dtype dtype, const void *in, size_t n, struct seen *seen) {
  TRUTH(truth);
  size_t n_orders;
  const struct fold_order *orders = fold_orders(&n_orders);
  cr_assert_eq(fold_oracle_exact(dtype, FOLD_PROD, in, n, 1, &truth).code, FOLD_OK);
  for (size_t k = 0; k < n_orders; k++) try_order(&orders[k], dtype, in, n, &truth, seen);
}

Test(outcomes, of_products_in_an_order_hold) {
  static const size_t lengths[] = {2, 3, 31, 257, 300, 1023, 5000};
  uint64_t state = 900;
  static uint64_t in[5000];
  for (int dtype = 0; dtype < FOLD_FLOATS; dtype++) {
    struct seen seen = {0};
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
      for (int kind = 0; kind < 10; kind++) {
        make_long((enum fold_dtype)dtype, kind % 5, lengths[l], in, &state);
        try_orders((enum fold_dtype)dtype, in, lengths[l], &seen);
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
    TRUTH(truth);
    struct fold_outcomes known, any;
    mpfr_t bound;
    mpfr_init2(bound, 128);
    cr_assert_eq(fold_order_running_product(order, FOLD_F32, in[k], 3, &running).code, FOLD_OK);
    cr_assert_eq(fold_oracle_exact(FOLD_F32, FOLD_PROD, in[k], 3, 1, &truth).code, FOLD_OK);
    const struct fold_arithmetic plain = fold_arithmetic_of(FOLD_PLAIN, FOLD_F32);
    cr_assert_eq(fold_bound_outcomes(plain, &truth, 2, NULL, bound, &any).code, FOLD_OK);
    cr_assert_eq(fold_bound_outcomes(plain, &truth, 2, &running, bound, &known).code, FOLD_OK);
    cr_expect(any.nan && known.nan == k, "row %d: NaN %d in any order, %d in turn", k, any.nan, known.nan);
    mpfr_clear(bound);
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
    TRUTH(truth);
    struct fold_outcomes may;
    mpfr_t bound;
    mpfr_init2(bound, 128);
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
