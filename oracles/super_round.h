/* super_round.h: closing a superaccumulator by integer arithmetic alone, on the host and on a device.
 *
 * Promised: for a normalised state, the very bits of fold_super_close (exact.h): one rounding to nearest even,
 * subnormals and overflow included, and the policy for special values of exact.c. Needs no MPFR, no floating point,
 * no memory but the state. The CUDA kernels close with it; tests hold it against fold_super_close.
 */
#ifndef FOLD_SUPER_ROUND_H
#define FOLD_SUPER_ROUND_H

#include "base/bits.h"
#include "oracles/super.h"

/* Loops over limbs have no early exit, so that a device loads many limbs at a time. */
#ifdef __CUDA_ARCH__
#define FOLD_UNROLL _Pragma("unroll 10")
#else
#define FOLD_UNROLL
#endif

/* A normalised state as one integer in two's complement, in 32-bit words; the last limb gives two of them. `low` is the
 * lowest word that is not 0. To negate: words below `low` stay 0, `low` is negated, the words above it are inverted. */
struct fold_super_integer {
  const int64_t *limb;
  int last; /* the limb that holds the sign */
  int low;
  bool negative;
};

static inline FOLD_HD uint32_t fold_super_word(const struct fold_super_integer *words, int k) {
  if (k < words->low || k > words->last + 1) return 0;
  uint32_t word = (uint32_t)(k <= words->last ? words->limb[k] : words->limb[words->last] >> 32);
  if (!words->negative) return word;
  return k == words->low ? 0 - word : ~word;
}

/* 64 bits of the magnitude, from bit `place` upwards. */
static inline FOLD_HD uint64_t fold_super_field(const struct fold_super_integer *words, int place) {
  int k = place >> 5, offset = place & 31;
  uint64_t below = fold_super_word(words, k), above = fold_super_word(words, k + 2);
  below |= (uint64_t)fold_super_word(words, k + 1) << 32;
  return offset ? below >> offset | above << (64 - offset) : below;
}

static inline FOLD_HD int fold_leading_bit(uint32_t word) {
#ifdef __CUDA_ARCH__
  return 31 - __clz((int)word);
#else
  return 31 - __builtin_clz(word);
#endif
}

/* Rounds to `to` a magnitude whose lowest and highest set bits are `lowest` and `leading`, counted from 2^base. */
static inline FOLD_HD uint64_t fold_super_round_magnitude(const struct fold_super_integer *words, int base, int lowest,
                                                          int leading, struct fold_format to) {
  int exponent = base + leading;
  if (exponent > to.emax) return to.beyond;
  int field = exponent < to.emin ? 0 : exponent - to.emin;
  int drop = to.emin + field - to.precision + 1 - base; /* the bits below the unit of the last place */
  if (drop > leading + 1) return 0;                     /* less than half of the smallest subnormal */
  uint64_t kept;
  if (drop <= 0) {
    kept = fold_super_field(words, 0) << -drop;
  } else {
    kept = fold_super_field(words, drop);
    bool half = fold_super_field(words, drop - 1) & 1, sticky = lowest < drop - 1;
    kept += half && (sticky || (kept & 1));
  }
  /* The hidden bit carries into the exponent field by itself, from the largest subnormal and to infinity too. */
  const uint64_t pattern = ((uint64_t)field << (to.precision - 1)) + kept;
  return !to.infinities && pattern > to.beyond ? to.beyond : pattern;
}

/* The low bits of an integer, in two's complement. Sums of fractions have none. */
static inline FOLD_HD uint64_t fold_super_wrap(const struct fold_super_integer *integer, int base,
                                               struct fold_format to) {
  const uint64_t low = base == 0 ? fold_super_field(integer, 0) : 0;
  return (integer->negative ? 0 - low : low) & fold_format_mask(to);
}

/* Rounds an integer whose lowest word that is not 0 is integer->low and whose highest one is `high`. */
static inline FOLD_HD uint64_t fold_super_round_between(const struct fold_super_integer *integer, int base, int high,
                                                        enum fold_dtype to) {
  struct fold_format format = fold_format_of(to);
  if (format.integer) return fold_super_wrap(integer, base, format);
  uint32_t lowest = fold_super_word(integer, integer->low);
  int first = 32 * integer->low + fold_leading_bit(lowest & (0 - lowest));
  int leading = 32 * high + fold_leading_bit(fold_super_word(integer, high));
  return (integer->negative ? format.sign : 0) | fold_super_round_magnitude(integer, base, first, leading, format);
}

/* Completes an integer; on entry `low` is the lowest limb that is not 0 below the last one, or the last. False if the
 * integer is zero. */
static inline FOLD_HD bool fold_super_integer_start(struct fold_super_integer *integer) {
  int64_t top = integer->limb[integer->last];
  if (integer->low == integer->last && (uint32_t)top == 0) integer->low++;
  integer->negative = top < 0;
  return integer->low <= integer->last || top != 0;
}

/* Rounds normalised limbs, the lowest in units of 2^base. A zero is -0 if `negative_zero`. */
static inline FOLD_HD uint64_t fold_limbs_round(const int64_t *limb, int limbs, int base, bool negative_zero,
                                                enum fold_dtype to) {
  struct fold_super_integer integer = {limb, limbs - 1, limbs - 1, false};
  FOLD_UNROLL
  for (int k = integer.last - 1; k >= 0; k--)
    if (limb[k]) integer.low = k;
  if (!fold_super_integer_start(&integer)) return negative_zero ? fold_format_of(to).sign : 0;
  int high = integer.low;
  FOLD_UNROLL
  for (int k = 0; k <= integer.last + 1; k++)
    if (fold_super_word(&integer, k)) high = k;
  return fold_super_round_between(&integer, base, high, to);
}

/* Applies the policy for special values to the five counts of a state, in the order of super.h. Returns whether they
 * alone decide the result. */
static inline FOLD_HD bool fold_super_special(const int64_t *counts, enum fold_dtype to, uint64_t *bits) {
  struct fold_format format = fold_format_of(to);
  const int64_t nan = counts[0], positive = counts[1], negative = counts[2];
  *bits = nan || (positive && negative) ? format.nan : negative ? format.sign | format.beyond : format.beyond;
  return nan || positive || negative;
}
static inline FOLD_HD bool fold_super_negative_zero(const int64_t *counts) { return counts[4] && !counts[3]; }

/* The result of normalised limbs and those counts. */
static inline FOLD_HD uint64_t fold_limbs_close(const int64_t *limb, int limbs, int base, const int64_t *counts,
                                                enum fold_dtype to) {
  uint64_t bits;
  if (fold_super_special(counts, to, &bits)) return bits;
  return fold_limbs_round(limb, limbs, base, fold_super_negative_zero(counts), to);
}

/* `state` is normalised (fold_super_normalise, fold_super_normalise_inline). */
static inline FOLD_HD uint64_t fold_super_round(enum fold_dtype dtype, const struct fold_super *state,
                                                enum fold_dtype to) {
  return fold_limbs_close(state->limb, fold_super_limbs(dtype), fold_super_base(dtype),
                          (const int64_t *)state + FOLD_SUPER_LIMBS, to);
}

/* Propagates the carries. */
static inline FOLD_HD void fold_limbs_normalise(int64_t *limb, int limbs) {
  const int last = limbs - 1;
  int64_t carry = 0;
  FOLD_UNROLL
  for (int k = 0; k < last; k++) {
    int64_t word = limb[k] + carry;
    carry = word >> 32;
    limb[k] = word & 0xffffffff;
  }
  limb[last] += carry;
}

/* fold_super_normalise for a device: the same words. */
static inline FOLD_HD void fold_super_normalise_inline(enum fold_dtype dtype, struct fold_super *state) {
  fold_limbs_normalise(state->limb, fold_super_limbs(dtype));
  state->other_than_negative_zero = state->other_than_negative_zero != 0;
}

#endif
