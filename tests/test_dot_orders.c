/* test_dot_orders.c: dot products in declared orders: the native replay against the wide one and against plain loops, and the errors
 * of all of them against their bounds. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "base/bits.h"
#include "cleanup.h"
#include "integers.h"
#include "oracles/bound.h"
#include "oracles/exact.h"
#include "oracles/order.h"
#include "oracles/split.h"
#include "sample.h"

enum { MOST_TERMS = 20000 };

static const char *const names[] = {"dot/sequential", "dot/sequential_fma", "dot/pairwise", "dot/canonical"};
enum { NAMES = sizeof names / sizeof *names };

enum kind { ANY, FINITE, NEAR, TINY, KINDS };

/* NEAR: of similar size, so that roundings show; TINY: products around the smallest numbers. */
static uint64_t draw(enum fold_dtype dtype, enum kind kind, uint64_t *state) {
  struct fold_format f = fold_format_of(dtype);
  uint64_t bits = random_pattern(dtype, kind != ANY, state);
  if (kind < NEAR) return bits;
  int exponent = kind == NEAR ? 0 : f.emin / 2 - 3 + (int)(next_word(state) % 6);
  uint64_t field = (uint64_t)(exponent - f.emin + 1);
  return (bits & (f.sign | f.fraction)) | field << (f.precision - 1);
}

struct factors {
  uint64_t x[MOST_TERMS], y[MOST_TERMS];
};

static struct factors *make(enum fold_dtype dtype, enum kind kind) {
  struct factors *f = malloc(sizeof *f);
  uint64_t state = 77 + 10 * (uint64_t)dtype + (uint64_t)kind;
  for (size_t i = 0; i < MOST_TERMS; i++) {
    fold_bits_store(dtype, f->x, i, draw(dtype, kind, &state));
    fold_bits_store(dtype, f->y, i, draw(dtype, kind, &state));
  }
  return f;
}

static uint64_t replay(fold_status (*run)(const struct fold_order *, const struct fold_call *), const char *name,
                       enum fold_dtype dtype, const struct factors *f, size_t n) {
  uint64_t out = 0;
  struct fold_call call = {.dtype = dtype,
                           .problem = fold_problem(FOLD_DOT),
                           .rows = 1,
                           .cols = n,
                           .in = {f->x, f->y},
                           .out = &out,
                           .launch = {.threads = 2}};
  fold_status status = run(fold_order_find(name), &call);
  cr_assert(status.code == FOLD_OK, "%s: %s", name, status.text);
  return fold_bits_load(dtype, &out, 0);
}

static const size_t lengths[] = {0, 1, 2, 3, 5, 8, 63, 64, 65, 255, 256, 257, 1000, 4095, 4096, 4097, 8193, MOST_TERMS};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

Test(dot_orders, native_and_wide_replay_give_the_same_bits) {
  for (int dtype = 0; dtype < FOLD_FLOATS; dtype++)
    for (int kind = 0; kind < KINDS; kind++) {
      struct factors *f = make(dtype, kind);
      for (size_t o = 0; o < NAMES; o++)
        for (size_t l = 0; l < LENGTHS; l++) {
          uint64_t got = replay(fold_order_replay, names[o], dtype, f, lengths[l]),
                   want = replay(fold_order_replay_wide, names[o], dtype, f, lengths[l]);
          cr_expect(fold_bits_same(dtype, got, want), "%s %s kind %d n=%zu: %llx, wide %llx", names[o],
                    fold_dtype_name(dtype), kind, lengths[l], (unsigned long long)got, (unsigned long long)want);
        }
      free(f);
    }
}

static fold_status replay_by_library(const struct fold_order *order, const struct fold_call *call) {
  return fold_rows_replay(order, fold_arithmetic_of(FOLD_PLAIN, call->dtype), call, fold_rows_fused[call->dtype], 1);
}

/* Where the machine has an instruction for it, nothing else runs the C library's. */
Test(dot_orders, an_fma_of_the_c_library_gives_the_same_bits) {
  for (int dtype = 0; dtype < FOLD_FLOATS; dtype++)
    for (int kind = 0; kind < KINDS; kind++) {
      struct factors *f = make(dtype, kind);
      for (size_t l = 0; l < LENGTHS; l++) {
        uint64_t got = replay(replay_by_library, "dot/sequential_fma", dtype, f, lengths[l]),
                 want = replay(fold_order_replay_wide, "dot/sequential_fma", dtype, f, lengths[l]);
        cr_expect(fold_bits_same(dtype, got, want), "%s kind %d n=%zu: %llx, wide %llx", fold_dtype_name(dtype), kind,
                  lengths[l], (unsigned long long)got, (unsigned long long)want);
      }
      free(f);
    }
}

static double plainly(const struct factors *f, size_t n, bool fused) {
  double sum = 0;
  for (size_t i = 0; i < n; i++) {
    const double x = fold_bits_f64(f->x[i]), y = fold_bits_f64(f->y[i]);
    const volatile double product = x * y;
    sum = fused ? fma(x, y, sum) : sum + product;
  }
  return sum;
}

Test(dot_orders, sequential_is_a_plain_loop) {
  struct factors *f = make(FOLD_F64, NEAR);
  size_t apart = 0;
  for (size_t l = 0; l < LENGTHS; l++) {
    const uint64_t rounded = replay(fold_order_replay, names[0], FOLD_F64, f, lengths[l]);
    const uint64_t fused = replay(fold_order_replay, names[1], FOLD_F64, f, lengths[l]);
    cr_expect_eq(rounded, fold_f64_bits(plainly(f, lengths[l], false)), "n=%zu", lengths[l]);
    cr_expect_eq(fused, fold_f64_bits(plainly(f, lengths[l], true)), "n=%zu, fused", lengths[l]);
    apart += rounded != fused;
  }
  cr_expect_gt(apart, LENGTHS / 2, "a rounded product and an FMA are told apart");
  free(f);
}

/* One and its neighbour plus half of the last place, and a bit of 2^-104 more or less: where rounding twice goes wrong, and where nothing
 * is to be rounded but the result. The last lies by two places of binary128 and a bit beside the tie, for 1 - z^2 with
 * z^2 = 2^-58 - 2^-62 + 2^-68. */
Test(dot_orders, an_fma_rounds_once_at_ties) {
  static struct factors f;
  for (int dtype = FOLD_F32; dtype <= FOLD_F64; dtype++)
    for (int k = 0; k < 2 * 2 * 2 * 5; k++) {
      const int p = fold_format_of((enum fold_dtype)dtype).precision;
      const double ulp = ldexp(1, 1 - p), sign = k & 1 ? -1 : 1, other = k & 2 ? -1 : 1, one = k & 4 ? 1 + ulp : 1;
      const double z = 0x1p-29 - 0x1p-34;
      const double near[5][2] = {{1, 1}, {1 + ulp, 1 - ulp}, {1 + ulp, 1 + ulp}, {1 - ulp, 1 - ulp}, {1 - z, 1 + z}};
      const double x[2] = {sign * one, other * ldexp(near[k / 8][0], -p)}, y[2] = {1, near[k / 8][1]};
      for (size_t i = 0; i < 2; i++) {
        fold_bits_store((enum fold_dtype)dtype, f.x, i, fold_bits_from_double((enum fold_dtype)dtype, x[i]));
        fold_bits_store((enum fold_dtype)dtype, f.y, i, fold_bits_from_double((enum fold_dtype)dtype, y[i]));
      }
      const double want = dtype == FOLD_F64 ? fma(x[1], y[1], x[0]) : fmaf((float)x[1], (float)y[1], (float)x[0]);
      const uint64_t bits = fold_bits_from_double((enum fold_dtype)dtype, want);
      cr_expect_eq(replay(fold_order_replay, names[1], (enum fold_dtype)dtype, &f, 2), bits, "%d, %d", dtype, k);
      cr_expect_eq(replay(fold_order_replay_wide, names[1], (enum fold_dtype)dtype, &f, 2), bits, "%d, %d: wide", dtype,
                   k);
    }
}

/* x y + s, in numbers of the dtype, rounded to it by MPFR's hand. */
static uint64_t joined(enum fold_dtype dtype, uint64_t x, uint64_t y, uint64_t s) {
  uint64_t in[2] = {0}, other[2] = {0};
  const uint64_t first[2] = {x, s}, second[2] = {y, fold_bits_from_double(dtype, 1)};
  for (size_t i = 0; i < 2; i++) {
    fold_bits_store(dtype, in, i, first[i]);
    fold_bits_store(dtype, other, i, second[i]);
  }
  const struct fold_terms terms = {dtype, FOLD_SUM, 2, {in, other}, {1, 1}, 2, NULL, false};
  TRUTH(truth);
  const fold_status status = fold_oracle_mpfr_terms(&terms, &truth);
  cr_assert_eq(status.code, FOLD_OK, "%s", status.text);
  const uint64_t bits = truth.rounded[dtype];
  return bits;
}

static uint64_t replay_narrowly(const char *name, enum fold_dtype dtype, const struct factors *f, size_t n) {
  uint64_t out = 0;
  const struct fold_call call = {
      .dtype = dtype, .problem = fold_problem(FOLD_DOT), .rows = 1, .cols = n, .in = {f->x, f->y}, .out = &out};
  const fold_status status = fold_method_replay(
      fold_order_find(name), (struct fold_arithmetic){FOLD_PLAIN, dtype, dtype, FOLD_FACTORS_KEPT}, &call);
  cr_assert_eq(status.code, FOLD_OK, "%s", status.text);
  return fold_bits_load(dtype, &out, 0);
}

/* Where products are accumulated in no more bits than the terms have, each operation still rounds once. */
Test(dot_orders, a_replay_in_a_narrow_accumulator_rounds_once) {
  static const enum fold_dtype narrow[] = {FOLD_F16, FOLD_BF16};
  size_t apart = 0;
  for (size_t d = 0; d < 2; d++)
    for (int kind = FINITE; kind < KINDS; kind++) {
      const enum fold_dtype dtype = narrow[d];
      struct factors *f = make(dtype, (enum kind)kind);
      uint64_t rounded = 0, fused = 0, zero = 0, one = fold_bits_from_double(dtype, 1);
      for (size_t i = 0; i < 300; i++) {
        const uint64_t x = fold_bits_load(dtype, f->x, i), y = fold_bits_load(dtype, f->y, i);
        rounded = joined(dtype, joined(dtype, x, y, zero), one, rounded);
        fused = joined(dtype, x, y, fused);
        apart += rounded != fused;
        for (size_t k = 0; k < 2; k++) {
          const uint64_t want = k ? fused : rounded, got = replay_narrowly(names[k], dtype, f, i + 1);
          const bool zeros = (got | want) == fold_format_of(dtype).sign; /* an exact sum of zero has no sign */
          cr_expect(fold_bits_same(dtype, got, want) || zeros, "%s, %s, kind %d, %zu terms: %llx, and not %llx",
                    names[k], fold_dtype_name(dtype), kind, i + 1, (unsigned long long)got, (unsigned long long)want);
        }
        if (kind == FINITE && i % 8 == 7) break; /* then it is infinite, or no number */
      }
      free(f);
    }
  cr_expect_gt(apart, 300, "a rounded product and an FMA are told apart");
  mpfr_free_cache();
}

/* Products in the middle between two numbers of bf16, the even one below or above, and what decides: 30 to 120 places below. */
Test(dot_orders, what_is_far_below_decides_a_tie_in_a_narrow_accumulator) {
  static const double ties[][2] = {{1 + 0x1p-4, 1 + 0x1p-4}, {1 + 0x1p-7, 1.5}};
  static const int below[] = {-30, -60, -100, -120};
  static struct factors f;
  for (size_t t = 0; t < 2; t++)
    for (size_t b = 0; b < 4; b++)
      for (int signs = 0; signs < 4; signs++) {
        const double x = signs & 1 ? -ties[t][0] : ties[t][0], s = ldexp(signs & 2 ? -1 : 1, below[b]);
        const double in[2] = {s, x}, other[2] = {1, ties[t][1]};
        uint64_t bits[4];
        for (size_t i = 0; i < 2; i++) {
          bits[i] = fold_bits_from_double(FOLD_BF16, in[i]);
          bits[2 + i] = fold_bits_from_double(FOLD_BF16, other[i]);
          fold_bits_store(FOLD_BF16, f.x, i, bits[i]);
          fold_bits_store(FOLD_BF16, f.y, i, bits[2 + i]);
        }
        const uint64_t want = joined(FOLD_BF16, bits[1], bits[3], bits[0]),
                       got = replay_narrowly(names[1], FOLD_BF16, &f, 2);
        cr_expect_eq(got, want, "%g * %g + %g: %llx, and not %llx", x, ties[t][1], s, (unsigned long long)got,
                     (unsigned long long)want);
      }
  mpfr_free_cache();
}

/* Multiplied by one, in whichever way, an element is itself. */
Test(dot_orders, with_ones_they_are_the_orders_of_elements) {
  static const char *const elements[NAMES] = {"host/sequential", "host/sequential", "host/pairwise", "flat/canonical"};
  for (int dtype = 0; dtype < FOLD_FLOATS; dtype++) {
    struct factors *f = make(dtype, NEAR);
    for (size_t i = 0; i < MOST_TERMS; i++) fold_bits_store(dtype, f->y, i, fold_bits_from_double(dtype, 1));
    for (size_t o = 0; o < NAMES; o++)
      for (size_t l = 0; l < LENGTHS; l++) {
        uint64_t want = 0;
        struct fold_call call = {.dtype = dtype,
                                 .problem = fold_rows_problem(FOLD_SUM),
                                 .rows = 1,
                                 .cols = lengths[l],
                                 .in = {f->x},
                                 .out = &want};
        cr_assert_eq(fold_order_replay(fold_order_find(elements[o]), &call).code, FOLD_OK);
        cr_expect_eq(replay(fold_order_replay, names[o], dtype, f, lengths[l]), fold_bits_load(dtype, &want, 0),
                     "%s %s n=%zu", names[o], fold_dtype_name(dtype), lengths[l]);
      }
    free(f);
  }
}

static void check_bound(const char *name, enum fold_dtype dtype, int kind, const struct factors *f, size_t n,
                        size_t *bounded) {
  struct fold_terms terms = {
      .dtype = dtype, .op = FOLD_SUM, .factors = 2, .factor = {f->x, f->y}, .step = {1, 1}, .n = n};
  TRUTH(truth);
  struct fold_outcomes may;
  uint64_t height, got = replay(fold_order_replay, name, dtype, f, n);
  mpfr_t bound, error;
  mpfr_inits2(256, bound, error, (mpfr_ptr)0);
  cr_assert_eq(fold_oracle_terms(&terms, 2, &truth).code, FOLD_OK);
  cr_assert_eq(fold_order_height(fold_order_find(name), dtype, NULL, n, &height).code, FOLD_OK);
  fold_status status = fold_bound_outcomes(fold_arithmetic_of(FOLD_PLAIN, dtype), &truth, height, NULL, bound, &may);
  cr_assert(status.code == FOLD_OK, "%s", status.text);
  enum fold_class class = fold_bits_class(dtype, got);
  bool negative = fold_bits_negative(dtype, got), finite = class < FOLD_INFINITE;
  cr_expect(finite              ? may.finite
            : class == FOLD_NAN ? may.nan
                                : may.infinite[negative],
            "%s %s kind %d n=%zu: %llx", name, fold_dtype_name(dtype), kind, n, (unsigned long long)got);
  if (finite && truth.finite_terms) {
    fold_truth_error(error, &truth, dtype, got);
    cr_expect(mpfr_lessequal_p(error, bound), "%s %s kind %d n=%zu: above its bound", name, fold_dtype_name(dtype),
              kind, n);
    if (may.exact) cr_expect(fold_bits_same(dtype, got, truth.rounded[dtype]) || class == FOLD_ZERO);
    ++*bounded;
  }
  mpfr_clears(bound, error, (mpfr_ptr)0);
}

Test(dot_orders, no_error_is_above_its_bound) {
  size_t bounded = 0;
  for (int dtype = 0; dtype < FOLD_FLOATS; dtype++)
    for (int kind = 0; kind < KINDS; kind++) {
      struct factors *f = make(dtype, kind);
      for (size_t o = 0; o < NAMES; o++)
        for (size_t l = 0; l < LENGTHS; l++) check_bound(names[o], dtype, kind, f, lengths[l], &bounded);
      free(f);
    }
  cr_expect_gt(bounded, 500, "only %zu results were compared", bounded);
}

/* 1.5 eta + 2^-48 is 1.5 eta in f32 and 2 eta in f16: products have bits below eta, and their sum loses half of it at the end. */
Test(dot_orders, the_bound_has_the_last_rounding_below_the_normal_range) {
  static struct factors f;
  const double x[] = {0x1.8p-12, 0x1p-24}, y[] = {0x1p-12, 0x1p-24};
  size_t bounded = 0;
  for (size_t i = 0; i < 2; i++) {
    fold_bits_store(FOLD_F16, f.x, i, fold_bits_from_double(FOLD_F16, x[i]));
    fold_bits_store(FOLD_F16, f.y, i, fold_bits_from_double(FOLD_F16, y[i]));
  }
  cr_expect_eq(replay(fold_order_replay, names[0], FOLD_F16, &f, 2), 2, "2 eta");
  check_bound(names[0], FOLD_F16, 0, &f, 2, &bounded);
  cr_expect_eq(bounded, 1);
}

/* One product: rounded once, or not at all where the accumulator holds it; below its normal range too. */
Test(dot_orders, the_bound_of_one_product_is_one_rounding) {
  static const struct {
    enum fold_dtype dtype;
    double x, y;
    bool exact;
  } one[] = {{FOLD_F64, 1 + 0x1p-52, 1 + 0x1p-52, false}, {FOLD_F64, 3, 5, true},
             {FOLD_F32, 1 + 0x1p-23, 1 + 0x1p-23, false}, {FOLD_F32, 0x1p-100, 0x1p-100, false},
             {FOLD_F32, 0x1p-70, 0x1p-79, true},          {FOLD_BF16, 0x1p-100, 0x1p-100, false},
             {FOLD_F16, 0x1.ffcp0, 0x1.ffcp0, true}};
  for (size_t k = 0; k < sizeof one / sizeof *one; k++) {
    uint64_t x = 0, y = 0;
    fold_bits_store(one[k].dtype, &x, 0, fold_bits_from_double(one[k].dtype, one[k].x));
    fold_bits_store(one[k].dtype, &y, 0, fold_bits_from_double(one[k].dtype, one[k].y));
    struct fold_terms terms = {
        .dtype = one[k].dtype, .op = FOLD_SUM, .factors = 2, .factor = {&x, &y}, .step = {1, 1}, .n = 1};
    TRUTH(truth);
    struct fold_outcomes may;
    mpfr_t bound, most;
    mpfr_inits2(128, bound, most, (mpfr_ptr)0);
    cr_assert_eq(fold_oracle_terms(&terms, 1, &truth).code, FOLD_OK);
    cr_assert_eq(fold_bound_outcomes(fold_arithmetic_of(FOLD_PLAIN, one[k].dtype), &truth, 0, NULL, bound, &may).code,
                 FOLD_OK);
    cr_expect_eq(may.exact, one[k].exact, "%zu", k);
    mpfr_mul_d(most, truth.abs_sum, 0x1p-22, MPFR_RNDU);
    mpfr_add_d(most, most, 0x1p-149, MPFR_RNDU);
    if (one[k].dtype == FOLD_F32)
      cr_expect(mpfr_lessequal_p(bound, most), "%zu: a bound of more than two roundings", k);
    if (one[k].exact && one[k].dtype != FOLD_F16) cr_expect(mpfr_zero_p(bound), "%zu", k);
    mpfr_clears(bound, most, (mpfr_ptr)0);
  }
}

static enum fold_code bound_of(const struct fold_terms *terms, struct fold_arithmetic how, uint64_t height,
                               mpfr_t bound, struct fold_outcomes *may) {
  TRUTH(truth);
  cr_assert_eq(fold_oracle_terms(terms, 1, &truth).code, FOLD_OK);
  const enum fold_code code = fold_bound_outcomes(how, &truth, height, NULL, bound, may).code;
  return code;
}

/* By hand, in f32 to f32, of two products in turn. A rounded product passes through two roundings, an exact one through one; what is
 * below the accumulator's smallest subnormal e loses e / 2 a product, and that is rounded too: gamma_2 S, gamma_1 S, e (1 + gamma_2),
 * where gamma_k = k u (1 + k u + ...). */
Test(dot_orders, the_bound_is_neither_too_narrow_nor_too_wide) {
  static const struct {
    enum fold_dtype dtype;
    double x[2], y[2], least;
  } rows[] = {{FOLD_F32, {1 + 0x1p-23, 1}, {1 + 0x1p-23, 1}, 0x1p-22 * (1 + 0x1p-22)},
              {FOLD_BF16, {1, 1}, {1, 0x1p-100}, 0x1p-24 * (1 + 0x1p-24)},
              {FOLD_F16, {0x1p15, 0x1p-12}, {1, 0x1p-24}, 0x1p-9 * (1 + 0x1p-24)},
              {FOLD_F32, {0x1p-100, 0x1p-100}, {0x1p-100, 0x1p-101}, 0x1p-149 * (1 + 0x1p-23)}};
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    uint64_t x[2] = {0}, y[2] = {0};
    for (size_t i = 0; i < 2; i++) {
      fold_bits_store(rows[k].dtype, x, i, fold_bits_from_double(rows[k].dtype, rows[k].x[i]));
      fold_bits_store(rows[k].dtype, y, i, fold_bits_from_double(rows[k].dtype, rows[k].y[i]));
    }
    const struct fold_terms terms = {
        .dtype = rows[k].dtype, .op = FOLD_SUM, .factors = 2, .factor = {x, y}, .step = {1, 1}, .n = 2};
    struct fold_outcomes may;
    mpfr_t bound;
    mpfr_init2(bound, 128);
    cr_assert_eq(bound_of(&terms, fold_arithmetic_of(FOLD_PLAIN, FOLD_F32), 1, bound, &may), FOLD_OK);
    cr_expect(
        !may.exact && mpfr_cmp_d(bound, rows[k].least) >= 0 && mpfr_cmp_d(bound, rows[k].least * (1 + 0x1p-40)) <= 0,
        "row %zu: %a, want %a", k, mpfr_get_d(bound, MPFR_RNDU), rows[k].least);
    mpfr_clear(bound);
  }
}

/* No theorem is known here for compensated sums of products. */
Test(dot_orders, compensated_methods_have_no_bound) {
  static const enum fold_method methods[] = {FOLD_KAHAN, FOLD_NEUMAIER, FOLD_PLAIN, FOLD_EXACT};
  double x[] = {0.1, 0.3, 0.7}, y[] = {0.3, -0.7, 0.9};
  struct fold_terms terms = {.dtype = FOLD_F64, .op = FOLD_SUM, .factors = 2, .factor = {x, y}, .step = {1, 1}, .n = 3};
  struct fold_outcomes may;
  mpfr_t bound;
  mpfr_init2(bound, 128);
  for (size_t m = 0; m < 4; m++)
    cr_expect_eq(bound_of(&terms, fold_arithmetic_of(methods[m], FOLD_F64), 2, bound, &may),
                 m < 2 ? FOLD_UNSUPPORTED : FOLD_OK);
  mpfr_clear(bound);
}

Test(dot_orders, an_order_of_elements_takes_no_products) {
  double x = 1, y = 2, out = 0;
  struct fold_call call = {
      .dtype = FOLD_F64, .problem = fold_problem(FOLD_DOT), .rows = 1, .cols = 1, .in = {&x, &y}, .out = &out};
  cr_expect_eq(fold_order_replay(fold_order_find("host/pairwise"), &call).code, FOLD_UNSUPPORTED);
  cr_expect_eq(fold_order_replay_wide(fold_order_find("host/pairwise"), &call).code, FOLD_UNSUPPORTED);
}
