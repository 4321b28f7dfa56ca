/* test_exact.c: the exact oracle against MPFR alone, its rounding against integer division, special values, products,
 * decimals.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "cleanup.h"
#include "fixtures/generator.h"
#include "integers.h"
#include "oracles/exact.h"
#include "same_truth.h"

#define MOST_TERMS 6000

/* The one number without the rest of the truth, in each dtype. */
static void expect_one_number(const struct fold_truth *truth, const void *in, const char *where) {
  const struct fold_call call = {
      .dtype = truth->dtype, .problem = fold_rows_problem(truth->op), .rows = 1, .cols = truth->n, .in = {in}};
  for (int to = 0; to < FOLD_FLOATS; to++) {
    uint64_t out = 0;
    cr_expect(fold_oracle_results(&call, to, 1, &out).code == FOLD_OK, "%s", where);
    cr_expect(fold_bits_load(to, &out, 0) == truth->rounded[to], "%s to %s: one number: got %llx, want %llx", where,
              fold_dtype_name(to), (unsigned long long)out, (unsigned long long)truth->rounded[to]);
  }
}

/* Every field of the two oracles' answers. */
static void compare(enum fold_dtype dtype, enum fold_op op, const void *in, size_t n, const char *what) {
  struct fold_truth fast, slow;
  fold_truth_init(&fast);
  fold_truth_init(&slow);
  memset(fast.rounded, 0xa5, sizeof fast.rounded);
  fold_status a = fold_oracle_exact(dtype, op, in, n, 1, &fast), b = fold_oracle_mpfr(dtype, op, in, n, &slow);
  char where[160];
  snprintf(where, sizeof where, "%s %s %s n=%zu", what, fold_dtype_name(dtype), fold_op_name(op), n);
  cr_expect(a.code == FOLD_OK && b.code == FOLD_OK, "%s: %s%s", where, a.text, b.text);
  expect_same_truth(&fast, &slow, where);
  expect_one_number(&slow, in, where);
  cr_expect(fast.n == n && fast.dtype == dtype && fast.op == op, "%s", where);
  fold_truth_free(&fast);
  fold_truth_free(&slow);
}

Test(exact, equals_mpfr_on_random_patterns) {
  static uint64_t data[MOST_TERMS];
  for (int dtype = 0; dtype < FOLD_FLOATS; dtype++)
    for (int op = 0; op < FOLD_OPS; op++)
      for (int finite = 0; finite < 2; finite++) {
        uint64_t state = 100 + (uint64_t)dtype;
        for (size_t i = 0; i < MOST_TERMS; i++) fold_bits_store(dtype, data, i, random_pattern(dtype, finite, &state));
        const char *what = finite ? "finite patterns" : "all patterns";
        for (size_t n = 0; n <= 70; n++)
          compare(dtype, op, (unsigned char *)data + n * fold_dtype_size(dtype), n, what);
        compare(dtype, op, data, 1000, what);
        compare(dtype, op, data, MOST_TERMS, what);
      }
  mpfr_free_cache();
}

/* Small patterns meet zeros, infinities and NaN, and cancel, far more often. */
Test(exact, equals_mpfr_among_special_values) {
  uint64_t state = 4, data[8];
  for (int dtype = 0; dtype < FOLD_FLOATS; dtype++) {
    struct fold_format f = fold_format_of(dtype);
    uint64_t one = fold_bits_from_double(dtype, 1);
    uint64_t values[] = {0, f.sign,     one,          one | f.sign,           f.beyond, f.beyond | f.sign, f.nan,
                         1, f.sign | 1, f.beyond - 1, (f.beyond - 1) | f.sign};
    for (int trial = 0; trial < 4000; trial++) {
      size_t n = next_word(&state) % 6, kinds = 2 + next_word(&state) % 10;
      for (size_t i = 0; i < n; i++) fold_bits_store(dtype, data, i, values[next_word(&state) % kinds]);
      compare(dtype, trial % FOLD_OPS, data, n, "special values");
    }
  }
  mpfr_free_cache();
}

/* Terms of one kind alone, as many as either oracle takes at a time, and one more or less. */
Test(exact, equals_mpfr_on_equal_terms_of_any_number) {
  static const size_t lengths[] = {0, 1, 2, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025, 1536, 2048, 4096};
  static const double terms[] = {-0.0, 0.0, 1, -0x1p-14, INFINITY, -INFINITY, NAN};
  uint64_t in[4096];
  for (int dtype = 0; dtype < FOLD_FLOATS; dtype++)
    for (size_t t = 0; t < sizeof terms / sizeof *terms; t++) {
      uint64_t bits = fold_bits_from_double((enum fold_dtype)dtype, terms[t]);
      for (size_t i = 0; i < 4096; i++) fold_bits_store((enum fold_dtype)dtype, in, i, bits);
      for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
        for (int op = 0; op < FOLD_OPS; op++)
          compare((enum fold_dtype)dtype, (enum fold_op)op, in, lengths[l], "equal terms");
    }
}

Test(exact, equals_mpfr_on_every_generator) {
  static uint64_t data[MOST_TERMS];
  size_t generators, used = 0;
  const struct fold_generator *table = fold_generators(&generators);
  for (size_t g = 0; g < generators; g++)
    for (int dtype = 0; dtype < FOLD_FLOATS; dtype++) {
      struct fold_source source = {&table[g], dtype, 42, 1537, table[g].takes_condition ? 100 : 0};
      if (!(table[g].dtypes >> dtype & 1) || fold_source_check(&source).code != FOLD_OK) continue;
      fold_generate(&source, 0, 1537, data);
      used++;
      for (int op = 0; op < FOLD_OPS; op++) compare(dtype, op, data, 1537, table[g].name);
    }
  cr_expect(used >= generators, "only %zu pairs of generator and dtype", used);
  mpfr_free_cache();
}

/* magnitude 2^exponent in each dtype: through MPFR, and where a state can hold it through the limbs. */
static void check_rounding(const mpz_t integer, long exponent) {
  mpfr_t value;
  mpfr_init2(value, (mpfr_prec_t)mpz_sizeinbase(integer, 2) + 1);
  mpfr_set_z_2exp(value, integer, exponent, MPFR_RNDN);
  for (int to = 0; to < FOLD_FLOATS; to++) {
    uint64_t got = fold_mpfr_round(to, value), want = round_integer(to, integer, exponent);
    cr_expect(got == want, "to %s, %zu bits at 2^%ld: got %llx, want %llx", fold_dtype_name(to),
              mpz_sizeinbase(integer, 2), exponent, (unsigned long long)got, (unsigned long long)want);
  }
  mpfr_clear(value);
}

/* At each bit that may be the last kept one: the tie, and just beside it, near and far below, even and odd, both signs.
 */
Test(exact, rounds_once_at_every_place) {
  mpz_t integer;
  mpz_init(integer);
  uint64_t state = 8;
  for (int dtype = 0; dtype < FOLD_FLOATS; dtype++) {
    struct fold_format f = fold_format_of(dtype);
    for (int e = f.emin - f.precision - 3; e <= f.emax + 2; e++)
      for (int kind = 0; kind < 16; kind++) {
        /* The leading bits, then the half bit, then 200 places. */
        mpz_set_ui(integer, (1 + (next_word(&state) & f.fraction)) | (unsigned)(kind & 1));
        if (kind >= 8) mpz_set_ui(integer, f.fraction * 2 + (unsigned)(kind & 1));
        mpz_mul_2exp(integer, integer, 1);
        mpz_add_ui(integer, integer, kind >> 1 & 1 || kind % 8 < 4);
        mpz_mul_2exp(integer, integer, 200);
        if ((kind & 3) == 2) mpz_add_ui(integer, integer, 1);
        if ((kind & 3) == 3) mpz_sub_ui(integer, integer, 1);
        if (kind & 4) mpz_neg(integer, integer);
        check_rounding(integer, e - (long)mpz_sizeinbase(integer, 2) + 1);
      }
  }
  mpz_clear(integer);
  mpfr_free_cache();
}

/* The other route to one rounding, MPFR's own: check_range and subnormalize in the format's exponent range. */
static uint64_t round_by_mpfr(enum fold_dtype dtype, mpfr_srcptr value) {
  struct fold_format f = fold_format_of(dtype);
  mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
  mpfr_t rounded;
  mpfr_init2(rounded, f.precision);
  mpfr_set_emin(f.emin - f.precision + 2);
  mpfr_set_emax(f.emax + 1);
  int ternary = mpfr_set(rounded, value, MPFR_RNDN);
  ternary = mpfr_check_range(rounded, ternary, MPFR_RNDN);
  mpfr_subnormalize(rounded, ternary, MPFR_RNDN);
  mpfr_set_emin(emin);
  mpfr_set_emax(emax);
  double result = mpfr_get_d(rounded, MPFR_RNDN);
  mpfr_clear(rounded);
  return fold_bits_from_double(dtype, result);
}

Test(exact, closes_random_states_like_integers_and_like_mpfr_subnormalize) {
  uint64_t seed = 31;
  mpz_t integer;
  mpfr_t value;
  mpz_init(integer);
  mpfr_init2(value, 53);
  for (int dtype = 0; dtype < FOLD_FLOATS; dtype++)
    for (int trial = 0; trial < 3000; trial++) {
      struct fold_super state;
      memset(&state, 0, sizeof state);
      int limbs = fold_super_limbs(dtype), top = (int)(next_word(&seed) % (unsigned)limbs);
      for (int k = 0; k <= top; k++) /* full, empty or sparse words, and negative ones, not normalised */
        state.limb[k] = (int64_t)next_word(&seed) >> (next_word(&seed) % 64);
      state.limb[limbs - 1] %= (int64_t)1 << 32;
      state.terms = state.other_than_negative_zero = 1;
      integer_of_limbs(integer, dtype, &state);
      fold_super_value(dtype, &state, value);
      for (int to = 0; to < FOLD_FLOATS; to++) {
        uint64_t got = fold_super_close(dtype, &state, to), want = round_integer(to, integer, fold_super_base(dtype));
        uint64_t other = round_by_mpfr(to, value);
        cr_expect(got == want && got == other, "%s to %s trial %d: got %llx, integers %llx, MPFR %llx",
                  fold_dtype_name(dtype), fold_dtype_name(to), trial, (unsigned long long)got, (unsigned long long)want,
                  (unsigned long long)other);
      }
    }
  mpz_clear(integer);
  mpfr_clear(value);
  mpfr_free_cache();
}

static uint64_t sum_of(enum fold_dtype dtype, const double *terms, size_t n, enum fold_dtype to) {
  uint64_t data[16];
  for (size_t i = 0; i < n; i++) fold_bits_store(dtype, data, i, fold_bits_from_double(dtype, terms[i]));
  TRUTH(truth);
  cr_assert(fold_oracle_exact(dtype, FOLD_SUM, data, n, 1, &truth).code == FOLD_OK);
  uint64_t bits = truth.rounded[to];
  return bits;
}

/* 24 bits first would make the tie that the last term breaks. */
Test(exact, rounds_a_subnormal_result_once) {
  cr_expect(sum_of(FOLD_F64, (double[]){0x1p-130, 0x1p-150, 0x1p-160}, 3, FOLD_F32) == 0x00080001);
  cr_expect(sum_of(FOLD_F64, (double[]){0x1p-130, 0x1p-150}, 2, FOLD_F32) == 0x00080000);
  cr_expect(sum_of(FOLD_F64, (double[]){0x1p-130, 0x1p-150, -0x1p-160}, 3, FOLD_F32) == 0x00080000);
  cr_expect(sum_of(FOLD_F64, (double[]){0x1p-15, 0x1p-25, 0x1p-30}, 3, FOLD_F16) == 0x0201);
  cr_expect(sum_of(FOLD_F64, (double[]){0x1p-127, 0x1p-134, 0x1p-140}, 3, FOLD_BF16) == 0x0041);
  cr_expect(sum_of(FOLD_F64, (double[]){0x1p-150}, 1, FOLD_F32) == 0);
  cr_expect(sum_of(FOLD_F64, (double[]){-0x1p-150, -0x1p-200}, 2, FOLD_F32) == 0x80000001);
}

/* max + ulp / 2 is the tie that goes to infinity; anything less is max. The partial sums leave the range. */
Test(exact, overflows_from_half_an_ulp_past_the_largest) {
  for (int dtype = 0; dtype < FOLD_FLOATS; dtype++) {
    struct fold_format f = fold_format_of(dtype);
    double most = fold_bits_to_double(dtype, f.beyond - 1), half = ldexp(1, f.emax - f.precision);
    double tiny = ldexp(1, f.emin - f.precision + 1);
    for (int sign = -1; sign <= 1; sign += 2) {
      uint64_t s = sign < 0 ? f.sign : 0;
      double at[] = {sign * most, sign * half}, under[] = {sign * most, sign * half, -sign * tiny};
      double far[] = {sign * most, sign * most, sign * half, -sign * most, -sign * tiny};
      double past[] = {sign * most, sign * half, sign * tiny};
      /* Where the pattern of all ones is NaN the largest number is even, and has the tie. */
      const uint64_t tie = f.infinities ? f.beyond : f.beyond - 1;
      cr_expect(sum_of(dtype, at, 2, dtype) == (s | tie), "%s: tie", fold_dtype_name(dtype));
      cr_expect(sum_of(dtype, past, 3, dtype) == (s | f.beyond), "%s: past", fold_dtype_name(dtype));
      cr_expect(sum_of(dtype, under, 3, dtype) == (s | (f.beyond - 1)), "%s: under", fold_dtype_name(dtype));
      cr_expect(sum_of(dtype, far, 5, dtype) == (s | (f.beyond - 1)), "%s: far", fold_dtype_name(dtype));
    }
  }
}

/* A row of the policy: op, terms, want; for every dtype. */
struct policy {
  enum fold_op op;
  size_t n;
  double terms[3], want;
};
#define INF __builtin_inf()
#define QNAN __builtin_nan("")
static const struct policy policy[] = {
    {FOLD_SUM, 0, {0}, 0.0},
    {FOLD_SUM, 3, {-0.0, -0.0, -0.0}, -0.0},
    {FOLD_SUM, 3, {-0.0, 0.0, -0.0}, 0.0},
    {FOLD_SUM, 2, {1, -1}, 0.0},
    {FOLD_SUM, 3, {-0.0, -1, 1}, 0.0},
    {FOLD_SUM, 2, {INF, -1}, INF},
    {FOLD_SUM, 3, {1, -INF, -INF}, -INF},
    {FOLD_SUM, 3, {INF, 1, -INF}, QNAN},
    {FOLD_SUM, 3, {INF, QNAN, 1}, QNAN},
    {FOLD_PROD, 0, {0}, 1},
    {FOLD_PROD, 2, {-0.0, 3}, -0.0},
    {FOLD_PROD, 3, {-0.0, -3, 1}, 0.0},
    {FOLD_PROD, 2, {0.0, -3}, -0.0},
    {FOLD_PROD, 2, {INF, -3}, -INF},
    {FOLD_PROD, 2, {-INF, -3}, INF},
    {FOLD_PROD, 3, {0.0, 2, INF}, QNAN},
    {FOLD_PROD, 3, {INF, 2, -0.0}, QNAN},
    {FOLD_PROD, 3, {0.0, 2, QNAN}, QNAN},
    {FOLD_MAX, 0, {0}, -INF},
    {FOLD_MIN, 0, {0}, INF},
    {FOLD_MAX, 2, {-0.0, 0.0}, 0.0},
    {FOLD_MAX, 2, {0.0, -0.0}, 0.0},
    {FOLD_MIN, 2, {0.0, -0.0}, -0.0},
    {FOLD_MIN, 2, {-0.0, 0.0}, -0.0},
    {FOLD_MAX, 3, {-INF, -INF, -INF}, -INF},
    {FOLD_MIN, 3, {INF, INF, INF}, INF},
    {FOLD_MAX, 3, {INF, QNAN, 1}, QNAN},
    {FOLD_MIN, 3, {-INF, 1, QNAN}, QNAN},
    {FOLD_MAX, 3, {-3, -1, -2}, -1},
    {FOLD_MIN, 3, {3, 1, 2}, 1},
};

Test(exact, follows_the_policy_for_special_values) {
  for (int dtype = 0; dtype < FOLD_FLOATS; dtype++)
    for (size_t p = 0; p < sizeof policy / sizeof *policy; p++) {
      uint64_t data[3], want = fold_bits_from_double(dtype, policy[p].want);
      for (size_t i = 0; i < policy[p].n; i++)
        fold_bits_store(dtype, data, i, fold_bits_from_double(dtype, policy[p].terms[i]));
      struct fold_truth fast, slow;
      fold_truth_init(&fast);
      fold_truth_init(&slow);
      cr_expect(fold_oracle_exact(dtype, policy[p].op, data, policy[p].n, 1, &fast).code == FOLD_OK);
      cr_expect(fold_oracle_mpfr(dtype, policy[p].op, data, policy[p].n, &slow).code == FOLD_OK);
      cr_expect(fold_bits_same(dtype, fast.rounded[dtype], want), "%s row %zu", fold_dtype_name(dtype), p);
      cr_expect(fold_bits_same(dtype, slow.rounded[dtype], want), "%s row %zu by MPFR", fold_dtype_name(dtype), p);
      fold_truth_free(&fast);
      fold_truth_free(&slow);
    }
}

Test(exact, states_the_condition_number) {
  double terms[] = {1e8, 1, -1e8};
  TRUTH(truth);
  cr_expect(fold_oracle_exact(FOLD_F64, FOLD_SUM, terms, 3, 1, &truth).code == FOLD_OK);
  cr_expect(truth.condition == 200000001.0 && mpfr_cmp_d(truth.abs_sum, 200000001.0) == 0, "%g", truth.condition);
  terms[1] = 0;
  cr_expect(fold_oracle_exact(FOLD_F64, FOLD_SUM, terms, 3, 1, &truth).code == FOLD_OK);
  cr_expect(truth.condition == INF);
  cr_expect(fold_oracle_exact(FOLD_F64, FOLD_SUM, terms, 0, 1, &truth).code == FOLD_OK);
  cr_expect(truth.condition == 1);
  terms[1] = INF;
  cr_expect(fold_oracle_exact(FOLD_F64, FOLD_SUM, terms, 3, 1, &truth).code == FOLD_OK);
  cr_expect(truth.condition != truth.condition && !truth.finite_terms);
  cr_expect(mpfr_cmp_d(truth.abs_sum, 2e8) == 0, "abs_sum is of the finite terms");
}

/* Who closes states has seen no terms: of their lowest bit it knows the dtype's alone, and of sums of zeros that there is none. */
Test(exact, closes_states_to_a_truth_without_terms) {
  for (int d = 0; d < FOLD_FLOATS; d++) {
    const enum fold_dtype dtype = (enum fold_dtype)d;
    uint64_t data[9] = {0};
    struct fold_truth of_terms, of_states;
    fold_truth_init(&of_terms);
    fold_truth_init(&of_states);
    for (size_t n = 0; n <= 9; n += 3) { /* nothing, zeros, and numbers */
      struct fold_super sum = {0}, abs = {0};
      for (size_t i = 3; i < n; i++) fold_bits_store(dtype, data, i, fold_bits_from_double(dtype, (double)i - 5.5));
      fold_super_add(dtype, data, n, &sum, &abs);
      cr_expect_eq(fold_oracle_exact(dtype, FOLD_SUM, data, n, 1, &of_terms).code, FOLD_OK);
      cr_expect_eq(fold_oracle_close(dtype, &sum, &abs, n, &of_states).code, FOLD_OK);
      cr_expect(same_number(of_terms.exact, of_states.exact) && same_number(of_terms.abs_sum, of_states.abs_sum));
      cr_expect(
          of_states.lowest == (n > 3 ? fold_super_base(dtype) : FOLD_NO_BIT) && of_states.lowest <= of_terms.lowest,
          "%s n=%zu: lowest bit 2^%ld", fold_dtype_name(dtype), n, of_states.lowest);
    }
    fold_truth_free(&of_terms);
    fold_truth_free(&of_states);
  }
}
