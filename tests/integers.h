/* integers.h: an independent, plain exact sum for the oracles' tests: terms are GMP integers in units of the format's
 * smallest subnormal, and rounding is an integer division. It shares nothing with oracles/ but the table of formats. */
#ifndef INTEGERS_H
#define INTEGERS_H

#include <gmp.h>
#include <stdio.h>
#include <string.h>

#include "base/bits.h"
#include "oracles/super.h"

static inline uint64_t next_word(uint64_t *state) { /* SplitMix64 (Steele, Lea, Flood 2014) */
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

/* Any pattern; with `finite`, no NaN and no infinity. */
static inline uint64_t random_pattern(enum fold_dtype dtype, bool finite, uint64_t *state) {
  struct fold_format format = fold_format_of(dtype);
  uint64_t bits;
  do {
    bits = next_word(state) >> (64 - format.bits);
  } while (finite && fold_bits_class(dtype, bits) >= FOLD_INFINITE);
  return bits;
}

static inline int unit_exponent(enum fold_dtype dtype) {
  struct fold_format format = fold_format_of(dtype);
  return format.emin - format.precision + 1;
}

/* The finite pattern's value in units of 2^unit_exponent. */
static inline void integer_of(mpz_t integer, enum fold_dtype dtype, uint64_t bits) {
  struct fold_format format = fold_format_of(dtype);
  uint64_t field = (bits & format.exponent) >> (format.precision - 1);
  mpz_set_ui(integer, (bits & format.fraction) + (field ? format.fraction + 1 : 0));
  mpz_mul_2exp(integer, integer, field ? field - 1 : 0);
  if (bits & format.sign) mpz_neg(integer, integer);
}

/* sum += (or abs: += magnitudes of) the finite terms. */
static inline void add_integers(mpz_t sum, enum fold_dtype dtype, const void *in, size_t n, bool abs) {
  struct fold_format format = fold_format_of(dtype);
  mpz_t term;
  mpz_init(term);
  for (size_t i = 0; i < n; i++) {
    uint64_t bits = fold_bits_load(dtype, in, i);
    if (fold_bits_class(dtype, bits) >= FOLD_INFINITE) continue;
    integer_of(term, dtype, abs ? bits & ~format.sign : bits);
    mpz_add(sum, sum, term);
  }
  mpz_clear(term);
}

/* The state's limbs as they stand, normalised or not. */
static inline void integer_of_limbs(mpz_t integer, enum fold_dtype dtype, const struct fold_super *state) {
  mpz_set_ui(integer, 0);
  for (int k = fold_super_limbs(dtype) - 1; k >= 0; k--) {
    mpz_mul_2exp(integer, integer, 32);
    if (state->limb[k] >= 0)
      mpz_add_ui(integer, integer, (unsigned long)state->limb[k]);
    else
      mpz_sub_ui(integer, integer, (unsigned long)-(state->limb[k] + 1) + 1);
  }
}

/* integer * 2^exponent rounded to dtype, nearest even: a quotient and a remainder compared with half of the divisor.
 * Zero is +0. */
static inline uint64_t round_integer(enum fold_dtype dtype, const mpz_t integer, long exponent) {
  struct fold_format format = fold_format_of(dtype);
  mpz_t magnitude, quotient, rest;
  mpz_inits(magnitude, quotient, rest, (mpz_ptr)0);
  mpz_abs(magnitude, integer);
  uint64_t pattern = 0;
  if (mpz_sgn(integer)) {
    long leading = (long)mpz_sizeinbase(magnitude, 2) - 1 + exponent;
    long unit = (leading < format.emin ? format.emin : leading) - format.precision + 1;
    if (exponent >= unit) {
      mpz_mul_2exp(quotient, magnitude, (mp_bitcnt_t)(leading > format.emax ? 0 : exponent - unit));
    } else {
      mp_bitcnt_t drop = (mp_bitcnt_t)(unit - exponent);
      mpz_fdiv_q_2exp(quotient, magnitude, drop);
      mpz_fdiv_r_2exp(rest, magnitude, drop);
      mpz_t half;
      mpz_init(half);
      mpz_setbit(half, drop - 1);
      int side = mpz_cmp(rest, half);
      if (side > 0 || (side == 0 && mpz_odd_p(quotient))) mpz_add_ui(quotient, quotient, 1);
      mpz_clear(half);
    }
    uint64_t field = leading < format.emin ? 0 : (uint64_t)(leading - format.emin);
    pattern = (field << (format.precision - 1)) + mpz_get_ui(quotient);
    if (leading > format.emax || pattern > format.beyond) pattern = format.beyond;
    if (mpz_sgn(integer) < 0) pattern |= format.sign;
  }
  mpz_clears(magnitude, quotient, rest, (mpz_ptr)0);
  return pattern;
}

#endif
