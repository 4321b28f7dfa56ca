/* sample.h: makes inputs for the tests of orders and host subjects, from a seed alone.
 *
 * The kinds are chosen so that another order gives other bits: a cancelling sum leaves only rounding errors, which even
 * a last rounding to 16 bits can't hide.
 */
#ifndef SAMPLE_H
#define SAMPLE_H

#include <math.h>
#include <stdlib.h>

#include "base/bits.h"

enum sample_kind {
  SAMPLE_CANCELLING, /* wide exponents; the second half subtracts the first half again, in another order */
  SAMPLE_NEAR_ONE,   /* products stay in range */
  SAMPLE_TINY,       /* subnormals and the smallest normal numbers */
  SAMPLE_HUGE,       /* partial results overflow */
  SAMPLE_ZEROS,      /* +0, -0 and, seldom, a small number */
  SAMPLE_KINDS,
};

static inline uint64_t sample_bits(uint64_t seed, uint64_t i) {
  uint64_t x = (seed * 0xd1342543de82ef95u + i + 1) * 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 32) * 0xbea225f9eb34556du;
  x = (x ^ x >> 29) * 0xbea225f9eb34556du;
  return x ^ x >> 32;
}

/* A number of that exponent, with random fraction and sign. */
static inline double sample_number(uint64_t bits, int exponent) {
  double magnitude = ldexp(1 + (double)(bits >> 12) * 0x1p-52, exponent);
  return bits & 1 ? -magnitude : magnitude;
}

static inline double sample_value(enum sample_kind kind, enum fold_dtype dtype, uint64_t seed, size_t i, size_t n) {
  struct fold_format f = fold_format_of(dtype);
  uint64_t bits = sample_bits(seed, i), other = sample_bits(seed + 1, i);
  switch (kind) {
    case SAMPLE_CANCELLING: {
      if (i >= n / 2 && n / 2 > 0 && i < n / 2 * 2)
        return -sample_value(kind, dtype, seed, (i - n / 2) * 7919 % (n / 2), 0);
      int spread = dtype == FOLD_F16 ? 29 : 40;
      return sample_number(bits, (int)(other % (unsigned)spread) - spread / 2);
    }
    case SAMPLE_NEAR_ONE: return 1 + ((double)(bits >> 11) * 0x1p-53 - 0.5) * 0x1p-5;
    case SAMPLE_TINY: return sample_number(bits, f.emin - f.precision + (int)(other % (unsigned)(f.precision + 2)));
    case SAMPLE_HUGE: return sample_number(bits, f.emax - (int)(other % 4));
    case SAMPLE_ZEROS: return other % 64 == 0 ? sample_number(bits, -3) : bits & 1 ? -0.0 : 0.0;
    case SAMPLE_KINDS: break;
  }
  return 0;
}

/* n terms, malloc'ed with room for one. */
static inline void *sample_row(enum sample_kind kind, enum fold_dtype dtype, uint64_t seed, size_t n) {
  void *row = malloc((n + 1) * fold_dtype_size(dtype));
  for (size_t i = 0; row && i < n; i++)
    fold_bits_store(dtype, row, i, fold_bits_from_double(dtype, sample_value(kind, dtype, seed, i, n)));
  return row;
}

/* Lengths around every boundary of every order. */
static const size_t sample_lengths[] = {0,     1,     2,     3,     4,      5,      6,      7,      8,     9,     15,
                                        16,    17,    31,    32,    33,     63,     64,     65,     127,   128,   129,
                                        130,   137,   255,   256,   257,    300,    511,    512,    513,   1000,  1023,
                                        1024,  1025,  4095,  4096,  4097,   5000,   8191,   8192,   8193,  16383, 16384,
                                        16385, 65535, 65536, 65537, 100003, 262143, 262144, 262145, 300000};
#define SAMPLE_LENGTHS (sizeof sample_lengths / sizeof *sample_lengths)

#endif
