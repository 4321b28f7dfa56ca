/* exact.c: rounds exact numbers to bit patterns, once.
 *
 * Policy for special values, the one table:
 *
 *   sum   NaN if a term is NaN or both infinities occur; else the infinity; else the exact sum rounded once, overflow
 *         by the format's rule; exact zero is +0, but -0 where every term is -0; the empty sum is +0
 *   prod  NaN if a term is NaN or a zero meets an infinity; else infinity, zero or the exact product rounded once, its
 *         sign the parity of the terms' signs; the empty product is 1
 *   max   NaN if a term is NaN; -0 < +0; the empty maximum is -infinity
 *   min   NaN if a term is NaN; -0 < +0; the empty minimum is +infinity
 *
 * An integer has no NaN, no infinity and no -0: the empty maximum is its least number, the empty minimum its greatest, and
 * what leaves its range wraps.
 *
 * Where a format has no infinities (e4m3) each of these infinities is NaN, and so is a sum that overflows: it rounds to the number that
 * would follow the largest one.
 *
 * A NaN that comes out is the format's positive quiet NaN without payload. abs_sum adds up the finite terms only. The
 * condition number of a sum without a term other than zero is 1.
 *
 * Memory beside the input: some superaccumulators and their bins (fold_super_add_parallel), whatever n is.
 */
#include "oracles/exact.h"

#include <math.h>
#include <string.h>

#include "base/bits.h"
#include "oracles/integers.h"
#include "oracles/truth.h"

void fold_truth_init(struct fold_truth *truth) {
  memset(truth, 0, sizeof *truth);
  mpfr_init2(truth->exact, 53);
  mpfr_init2(truth->exact_up, 53);
  mpfr_init2(truth->abs_sum, 53);
  mpfr_init2(truth->finite, 53);
  mpfr_init2(truth->largest, 128);
}

void fold_truth_free(struct fold_truth *truth) {
  mpfr_clear(truth->exact);
  mpfr_clear(truth->exact_up);
  mpfr_clear(truth->abs_sum);
  mpfr_clear(truth->finite);
  mpfr_clear(truth->largest);
}

static void raise_precision(mpfr_t value, mpfr_prec_t bits) {
  if (mpfr_get_prec(value) < bits) mpfr_set_prec(value, bits); /* unseen: <= */
}

void fold_mpfr_set_bits(mpfr_t value, enum fold_dtype dtype, uint64_t bits) {
  if (fold_dtype_is_integer(dtype)) {
    raise_precision(value, 64);
    mpfr_set_sj(value, fold_integer_value(fold_format_of(dtype), bits), MPFR_RNDN);
    return;
  }
  raise_precision(value, 53);
  mpfr_set_d(value, fold_bits_to_double(dtype, bits), MPFR_RNDN);
}

/* |value| in units of 2^unit, rounded to an integer, which has at most 53 bits and a carry. Its leading bit weighs 2^exponent, half a unit or
 * more: rounding to so many bits as lie above the unit is that rounding. No memory is asked for, since truths need this for each format. */
static uint64_t round_to_unit(mpfr_srcptr value, long exponent, long unit) {
  const long bits = exponent - unit + 1;
  mp_limb_t room[1];
  mpfr_t near;
  if (bits < 1) return mpfr_min_prec(value) > 1; /* half a unit is a tie with 0, which is even */
  mpfr_custom_init(room, (mpfr_prec_t)bits);
  mpfr_custom_init_set(near, MPFR_ZERO_KIND, 0, (mpfr_prec_t)bits, room);
  mpfr_abs(near, value, MPFR_RNDN);
  mpfr_mul_2si(near, near, -unit, MPFR_RNDN); /* exact, as the next is */
  return (uint64_t)mpfr_get_d(near, MPFR_RNDN);
}

/* Rounds a finite number to a multiple of the unit of its last place. Its leading bit weighs 2^exponent, which the
 * format has. The rounding is one rounding to an integer, which is at most 2^precision. */
static uint64_t round_finite(struct fold_format format, mpfr_srcptr value, long exponent) {
  long field = exponent < format.emin ? 0 : exponent - format.emin;
  long unit = format.emin + field - format.precision + 1;
  const uint64_t kept = round_to_unit(value, exponent, unit);
  /* A carry out of the significand goes into the exponent field by itself, from the largest subnormal and beyond the
   * largest number too. */
  uint64_t pattern = ((uint64_t)field << (format.precision - 1)) + kept;
  return pattern < format.beyond ? pattern : format.beyond;
}

/* The nearest integer modulo 2^bits; the greatest or least number for an infinity. */
static uint64_t round_integer(enum fold_dtype dtype, mpfr_srcptr value) {
  const struct fold_format format = fold_format_of(dtype);
  if (mpfr_inf_p(value)) return mpfr_signbit(value) ? format.sign : format.sign - 1;
  if (!mpfr_regular_p(value)) return 0;
  mpz_t integer;
  mpz_init(integer);
  mpfr_get_z(integer, value, MPFR_RNDN);
  mpz_fdiv_r_2exp(integer, integer, (mp_bitcnt_t)format.bits);
  const uint64_t bits = mpz_get_ui(integer);
  mpz_clear(integer);
  return bits;
}

uint64_t fold_mpfr_round(enum fold_dtype dtype, mpfr_srcptr value) {
  struct fold_format format = fold_format_of(dtype);
  if (format.integer) return round_integer(dtype, value);
  if (mpfr_nan_p(value)) return format.nan;
  uint64_t sign = mpfr_signbit(value) ? format.sign : 0;
  if (mpfr_inf_p(value)) return sign | format.beyond;
  if (mpfr_zero_p(value)) return sign;
  mpfr_exp_t exponent = mpfr_get_exp(value) - 1;
  if (exponent > format.emax) return sign | format.beyond;
  /* below half of the smallest subnormal; the half itself is a tie, which round_finite rounds to even */
  if (exponent < format.emin - format.precision) return sign;
  return sign | round_finite(format, value, exponent);
}

/* The limbs as one integer. GMP copies words that are as large as its own at once. */
static void import_limbs(enum fold_dtype dtype, const struct fold_super *state, mpz_t integer) {
  struct fold_super copy = *state;
  fold_super_normalise(dtype, &copy);
  int last = fold_super_limbs(dtype) - 1;
  uint64_t words[(FOLD_SUPER_LIMBS + 1) / 2] = {0};
  for (int k = 0; k < last; k++) words[k / 2] |= (uint64_t)(uint32_t)copy.limb[k] << k % 2 * 32;
  mpz_t low;
  mpz_init2(low, 32 * (unsigned long)last);
  mpz_import(low, ((size_t)last + 1) / 2, -1, sizeof *words, 0, 0, words);
  mpz_set_si(integer, copy.limb[last]);
  mpz_mul_2exp(integer, integer, 32 * (unsigned long)last);
  mpz_add(integer, integer, low);
  mpz_clear(low);
}

void fold_super_value(enum fold_dtype dtype, const struct fold_super *state, mpfr_t value) {
  if (state->nan || (state->positive_infinity && state->negative_infinity)) {
    mpfr_set_nan(value);
  } else if (state->positive_infinity || state->negative_infinity) {
    mpfr_set_inf(value, state->positive_infinity ? 1 : -1);
  } else {
    mpz_t integer;
    /* Never grows: the last limb has 64 bits, and GMP wants one of its own for carries. */
    mpz_init2(integer, 32 * FOLD_SUPER_LIMBS + 128);
    import_limbs(dtype, state, integer);
    raise_precision(value, (mpfr_prec_t)mpz_sizeinbase(integer, 2));
    if (mpz_sgn(integer))
      mpfr_set_z_2exp(value, integer, fold_super_base(dtype), MPFR_RNDN);
    else
      mpfr_set_zero(value, state->terms && !state->other_than_negative_zero ? -1 : 1); /* unseen: 2 */
    mpz_clear(integer);
  }
}

uint64_t fold_super_close(enum fold_dtype dtype, const struct fold_super *state, enum fold_dtype to) {
  mpfr_t value;
  mpfr_init2(value, 53);
  fold_super_value(dtype, state, value);
  uint64_t bits = fold_mpfr_round(to, value);
  mpfr_clear(value);
  return bits;
}

/* Sets abs_sum. The counts of special terms are dropped, so that the value is that of the finite terms. */
static void close_abs(enum fold_dtype dtype, struct fold_super abs, struct fold_truth *truth) {
  truth->finite_terms = !abs.nan && !abs.positive_infinity;
  abs.nan = abs.positive_infinity = 0;
  fold_super_value(dtype, &abs, truth->abs_sum);
}

void fold_truth_all_finite(struct fold_truth *truth) {
  mpfr_set_prec(truth->finite, mpfr_get_prec(truth->exact));
  mpfr_set(truth->finite, truth->exact, MPFR_RNDN);
}

/* Must be called after close_abs, which finds out whether all terms are finite. */
static void close_sum(enum fold_dtype dtype, const struct fold_super *sum, struct fold_truth *truth) {
  fold_super_value(dtype, sum, truth->exact);
  if (truth->finite_terms) {
    fold_truth_all_finite(truth);
    return;
  }
  struct fold_super finite = *sum;
  finite.nan = finite.positive_infinity = finite.negative_infinity = 0;
  fold_super_value(dtype, &finite, truth->finite);
}

static double condition_of(const struct fold_truth *truth) {
  if (truth->op != FOLD_SUM) return 1;
  if (!truth->finite_terms) return NAN;
  if (mpfr_zero_p(truth->exact)) return mpfr_zero_p(truth->abs_sum) ? 1 : INFINITY;
  MPFR_DECL_INIT(ratio, 53);
  mpfr_div(ratio, truth->abs_sum, truth->exact, MPFR_RNDN);
  return fabs(mpfr_get_d(ratio, MPFR_RNDN));
}

bool fold_truth_reaches(const struct fold_truth *truth, enum fold_dtype to) {
  return fold_dtype_is_integer(truth->dtype) || !fold_dtype_is_integer(to);
}

bool fold_truth_is_within(const struct fold_truth *truth, int bits) {
  if (truth->enclosed || !mpfr_number_p(truth->exact)) return !truth->enclosed;
  if (mpfr_sgn(truth->exact) >= 0) return mpfr_cmp_ui_2exp(truth->exact, 1, bits - 1) < 0;
  return mpfr_cmp_si_2exp(truth->exact, -1, bits - 1) >= 0;
}

void fold_truth_close(struct fold_truth *truth) {
  if (!truth->enclosed) {
    mpfr_set_prec(truth->exact_up, mpfr_get_prec(truth->exact));
    mpfr_set(truth->exact_up, truth->exact, MPFR_RNDN);
  }
  for (int to = 0; to < FOLD_DTYPES; to++)
    if (fold_truth_reaches(truth, to)) truth->rounded[to] = fold_mpfr_round(to, truth->exact);
  truth->condition = condition_of(truth);
}

fold_status fold_truth_start(struct fold_truth *truth, enum fold_dtype dtype, enum fold_op op, size_t n) {
  if (dtype >= FOLD_DTYPES || op >= FOLD_OPS) return fold_error(FOLD_BAD_INPUT, "the oracle has no such dtype or op");
  truth->dtype = dtype;
  truth->op = op;
  truth->n = n;
  truth->factors = 1;
  truth->enclosed = false;
  truth->least_exponent = 0; /* unseen: 1 */
  truth->lowest = FOLD_NO_BIT;
  mpfr_set_prec(truth->exact, 53);
  mpfr_set_prec(truth->exact_up, 53); /* unseen: 54 */
  mpfr_set_prec(truth->abs_sum, 53);  /* unseen: drop */
  mpfr_set_prec(truth->finite, 53);
  return fold_ok();
}

fold_status fold_truth_start_terms(struct fold_truth *truth, const struct fold_terms *terms) {
  if (terms->factors > 1 && terms->op != FOLD_SUM)
    return fold_error(FOLD_BAD_INPUT, "the oracle has no terms of %u factors joined by %s", terms->factors,
                      fold_op_name(terms->op));
  FOLD_TRY(fold_truth_start(truth, terms->dtype, terms->op, terms->n));
  truth->factors = terms->factors;
  return fold_ok();
}

void fold_truth_of_sum(struct fold_truth *truth, const struct fold_super *sum, const struct fold_super *abs,
                       long lowest) {
  close_abs(truth->dtype, *abs, truth);
  close_sum(truth->dtype, sum, truth);
  truth->lowest = lowest;
  fold_truth_close(truth);
}

void fold_truth_of_extreme(struct fold_truth *truth, const struct fold_super *abs, uint64_t bits) {
  close_abs(truth->dtype, *abs, truth);
  if (truth->n == 0)
    mpfr_set_inf(truth->exact, truth->op == FOLD_MAX ? -1 : 1);
  else
    fold_mpfr_set_bits(truth->exact, truth->dtype, bits);
  fold_truth_close(truth);
}

static void product_of(const void *in, const struct fold_super *abs, struct fold_truth *truth) {
  close_abs(truth->dtype, *abs, truth);
  fold_product_enclose(in, truth);
  fold_product_range(in, truth);
  fold_truth_close(truth);
  const struct fold_terms terms = fold_terms_of(truth->dtype, FOLD_PROD, in, truth->n);
  if (fold_dtype_is_integer(truth->dtype)) fold_product_wrap(truth, fold_integers_fold(&terms));
}

fold_status fold_oracle_close(enum fold_dtype dtype, const struct fold_super *sum, const struct fold_super *abs,
                              size_t n, struct fold_truth *truth) {
  FOLD_TRY(fold_truth_start(truth, dtype, FOLD_SUM, n));
  fold_truth_of_sum(truth, sum, abs, FOLD_NO_BIT);
  if (!mpfr_zero_p(truth->abs_sum)) truth->lowest = fold_super_base(dtype);
  return fold_ok();
}

fold_status fold_oracle_exact(enum fold_dtype dtype, enum fold_op op, const void *in, size_t n, unsigned threads,
                              struct fold_truth *truth) {
  FOLD_TRY(fold_truth_start(truth, dtype, op, n));
  struct fold_super sum, abs;
  memset(&sum, 0, sizeof sum);
  memset(&abs, 0, sizeof abs);
  fold_super_add_parallel(dtype, in, n, &sum, &abs, threads);
  switch (op) {
    case FOLD_SUM: fold_truth_of_sum(truth, &sum, &abs, fold_lowest_bit(dtype, in, n, threads)); break;
    case FOLD_PROD: product_of(in, &abs, truth); break;
    case FOLD_MAX:
    case FOLD_MIN: fold_truth_of_extreme(truth, &abs, n > 0 ? fold_extreme(dtype, op, in, n) : 0); break;
    case FOLD_OPS: break;
  }
  return fold_ok();
}
