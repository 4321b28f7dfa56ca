/* lowest.c: the lowest bit that is set in any term of a row: the terms are multiples of it.
 *
 * By the patterns alone: a significand's trailing zeros, added to the weight of its unit. Once 2^lowest is found, no number from
 * 2^(lowest + precision - 1) on has a lower bit, so that one comparison is enough for most terms. Inputs of a gigabyte are read
 * here. exact_mpfr.c asks MPFR instead.
 */
#include <omp.h>

#include "base/bits.h"
#include "oracles/exact.h"
#include "oracles/integers.h"

/* With fewer terms a parallel region costs more than it saves. */
#define BLOCK_TERMS 65536
/* Terms that are looked at together. */
#define LOOK 64

/* The pattern of 2^(lowest + precision - 1); if that is beyond the largest number, the pattern after the largest
 * number. */
static uint64_t limit_of(struct fold_format f, long lowest) {
  long exponent = lowest == FOLD_NO_BIT ? f.emax + 1 : lowest + f.precision - 1; /* unseen: + */
  return exponent > f.emax ? f.beyond : (uint64_t)(exponent - f.emin + 1) << (f.precision - 1);
}

/* The lowest bit of one magnitude that is neither zero nor infinity nor NaN. */
static long lowest_of(struct fold_format f, uint64_t magnitude) {
  uint64_t field = magnitude >> (f.precision - 1), fraction = magnitude & f.fraction;
  return f.emin - f.precision + 1 + (field ? (long)field - 1 : 0) +
         __builtin_ctzll(field ? fraction | (f.fraction + 1) : fraction);
}

/* Whether one of LOOK magnitudes may lower the limit. A difference of numbers below half of the word's range is negative where its
 * top bit is set, and only a zero less one is. Without a comparison, vectors of any machine do it. */
#define MAY_LOWER(name, word)                                                                      \
  static bool may_lower_##name(const word __attribute__((may_alias)) * x, word limit, word sign) { \
    word below = 0;                                                                                \
    for (size_t i = 0; i < LOOK; i++) {                                                            \
      const word magnitude = x[i] & (word)~sign;                                                   \
      below |= (word)(magnitude - limit) & (word) ~(word)(magnitude - 1);                          \
    }                                                                                              \
    return below & sign;                                                                           \
  }

/* A zero less one wraps around, above every limit, so that zeros are passed over. */
#define LOWEST(name, word)                                                      \
  MAY_LOWER(name, word)                                                         \
  static long lowest_##name(struct fold_format f, const void *in, size_t n) {   \
    const word __attribute__((may_alias)) *x = in;                              \
    long lowest = FOLD_NO_BIT;                                                  \
    word limit = (word)limit_of(f, lowest), sign = (word)f.sign;                \
    for (size_t done = 0, length; done < n; done += length) {                   \
      length = n - done < LOOK ? n - done : LOOK;                               \
      if (length == LOOK && !may_lower_##name(x + done, limit, sign)) continue; \
      for (size_t i = done; i < done + length; i++) {                           \
        word magnitude = x[i] & (word)~sign;                                    \
        if ((word)(magnitude - 1) >= (word)(limit - 1)) continue;               \
        long one = lowest_of(f, magnitude);                                     \
        if (one < lowest) lowest = one, limit = (word)limit_of(f, lowest);      \
      }                                                                         \
    }                                                                           \
    return lowest;                                                              \
  }
LOWEST(8, uint8_t)
LOWEST(16, uint16_t)
LOWEST(32, uint32_t)
LOWEST(64, uint64_t)

static long find(enum fold_dtype dtype, const void *in, size_t n) {
  struct fold_format f = fold_format_of(dtype);
  switch (f.bits) {
    case 8: return lowest_8(f, in, n);
    case 16: return lowest_16(f, in, n);
    case 32: return lowest_32(f, in, n);
    default: return lowest_64(f, in, n);
  }
}

long fold_lowest_bit(enum fold_dtype dtype, const void *in, size_t n, unsigned threads) {
  size_t team = threads ? threads : (size_t)omp_get_max_threads(), blocks = n / BLOCK_TERMS + 1;
  const unsigned char *at = in;
  const struct fold_terms terms = fold_terms_of(dtype, FOLD_SUM, in, n);
  if (fold_dtype_is_integer(dtype)) return fold_integers_lowest(&terms);
  if (team == 1 || blocks == 1) return find(dtype, in, n); /* unseen: 2 | && */
  long lowest = FOLD_NO_BIT;
#pragma omp parallel for num_threads((int)team) reduction(min : lowest)
  for (size_t b = 0; b < blocks; b++) {
    size_t first = b * BLOCK_TERMS, length = b + 1 < blocks ? BLOCK_TERMS : n - first;
    long one = find(dtype, at + first * fold_dtype_size(dtype), length);
    if (one < lowest) lowest = one;
  }
  return lowest;
}
