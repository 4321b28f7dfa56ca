/* super_round.h: closing a superaccumulator by integer arithmetic alone, on the host and on a device.
 *
 * Promised: for a normalised state, the very bits of fold_super_close (exact.h): one rounding to nearest even,
 * subnormals and overflow included, and the policy for special values of exact.c. Needs no MPFR, no floating point,
 * no memory but the state. The CUDA kernels close with it; tests hold it against fold_super_close.
 */
#ifndef FOLD_SUPER_ROUND_H
#define FOLD_SUPER_ROUND_H

#include "bits.h"
#include "super.h"

/* Loops over limbs without an early end, so that a device loads many limbs at a time. */
#ifdef __CUDA_ARCH__
#define FOLD_UNROLL _Pragma("unroll 10")
#else
#define FOLD_UNROLL
#endif

/* A normalised state as one integer in 32-bit words, two's complement, of which `low` is the lowest that is not 0: the
 * last limb gives two words. Negating turns words below `low` into 0, `low` into its negative, the rest over. */
struct fold_super_words {
  const int64_t *limb;
  int stride; /* from limb to limb, in words */
  int last;   /* the limb that holds the sign */
  int low;
  bool negative;
};

static inline FOLD_HD uint32_t fold_super_word(const struct fold_super_words *words, int k) {
  if (k < words->low || k > words->last + 1) return 0;
  uint32_t word =
      (uint32_t)(k <= words->last ? words->limb[k * words->stride] : words->limb[words->last * words->stride] >> 32);
  if (!words->negative) return word;
  return k == words->low ? 0 - word : ~word;
}

/* The 64 bits of the magnitude from bit `place` on. */
static inline FOLD_HD uint64_t fold_super_field(const struct fold_super_words *words, int place) {
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

/* The magnitude, whose bits `lowest` to `leading` (counted from 2^base) hold its first and last one, in `to`. */
static inline FOLD_HD uint64_t fold_super_round_magnitude(const struct fold_super_words *words, int base, int lowest,
                                                          int leading, struct fold_format to) {
  int exponent = base + leading;
  if (exponent > to.emax) return to.exponent;
  int field = exponent < to.emin ? 0 : exponent - to.emin;
  int drop = to.emin + field - to.precision + 1 - base; /* the bits below the unit of the last place */
  if (drop > leading + 1) return 0;                     /* below half of the smallest subnormal */
  uint64_t kept;
  if (drop <= 0) {
    kept = fold_super_field(words, 0) << -drop;
  } else {
    kept = fold_super_field(words, drop);
    bool half = fold_super_field(words, drop - 1) & 1, sticky = lowest < drop - 1;
    kept += half && (sticky || (kept & 1));
  }
  /* The hidden bit carries into the exponent field by itself, from the largest subnormal and to infinity too. */
  return ((uint64_t)field << (to.precision - 1)) + kept;
}

/* Normalised limbs, `stride` words apart; what sums to zero gives -0 if `negative_zero`. */
static inline FOLD_HD uint64_t fold_limbs_round(enum fold_dtype dtype, const int64_t *limb, int stride,
                                                bool negative_zero, enum fold_dtype to) {
  struct fold_format format = fold_format_of(to);
  struct fold_super_words words = {limb, stride, fold_super_limbs(dtype) - 1, 0, false};
  words.low = words.last;
  FOLD_UNROLL
  for (int k = words.last - 1; k >= 0; k--)
    if (limb[k * stride]) words.low = k;
  int64_t top = limb[words.last * stride];
  if (words.low == words.last && (uint32_t)top == 0) words.low++;
  if (words.low > words.last && top == 0) return negative_zero ? format.sign : 0;
  words.negative = top < 0;
  int high = words.low;
  FOLD_UNROLL
  for (int k = 0; k <= words.last + 1; k++)
    if (fold_super_word(&words, k)) high = k;
  uint32_t lowest = fold_super_word(&words, words.low);
  int first = 32 * words.low + fold_leading_bit(lowest & (0 - lowest));
  int leading = 32 * high + fold_leading_bit(fold_super_word(&words, high));
  return (words.negative ? format.sign : 0) |
         fold_super_round_magnitude(&words, fold_super_base(dtype), first, leading, format);
}

/* `state` is normalised (fold_super_normalise, fold_super_normalise_inline). */
static inline FOLD_HD uint64_t fold_super_round(enum fold_dtype dtype, const struct fold_super *state,
                                                enum fold_dtype to) {
  struct fold_format format = fold_format_of(to);
  if (state->nan || (state->positive_infinity && state->negative_infinity))
    return format.exponent | (format.fraction + 1) >> 1;
  if (state->positive_infinity) return format.exponent;
  if (state->negative_infinity) return format.sign | format.exponent;
  return fold_limbs_round(dtype, state->limb, 1, state->terms && !state->other_than_negative_zero, to);
}

/* fold_super_normalise for a device: carries propagated, the same words. */
static inline FOLD_HD void fold_super_normalise_inline(enum fold_dtype dtype, struct fold_super *state) {
  int last = fold_super_limbs(dtype) - 1;
  int64_t carry = 0;
  FOLD_UNROLL
  for (int k = 0; k < last; k++) {
    int64_t word = state->limb[k] + carry;
    carry = word >> 32;
    state->limb[k] = word & 0xffffffff;
  }
  state->limb[last] += carry;
  state->other_than_negative_zero = state->other_than_negative_zero != 0;
}

#endif
