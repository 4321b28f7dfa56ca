/* lowest.c: the lowest bit that is set in any term of a row: the terms are multiples of it.
 *
 * By the patterns alone: a significand's trailing zeros, added to the weight of its unit. exact_mpfr.c asks MPFR instead.
 */
#include <omp.h>

#include "bits.h"
#include "exact.h"

/* Below this many terms a parallel region costs more than it saves. */
#define SERIAL_TERMS 65536

static inline long lowest_of(struct fold_format f, uint64_t bits) {
  uint64_t exponent = bits & f.exponent, significand = (bits & f.fraction) | (exponent ? f.fraction + 1 : 0);
  if (significand == 0 || exponent == f.exponent) return FOLD_NO_BIT;
  long field = (long)(exponent >> (f.precision - 1));
  return f.emin - f.precision + 1 + (field ? field - 1 : 0) + __builtin_ctzll(significand);
}

static long find(enum fold_dtype dtype, const void *in, size_t first, size_t last) {
  struct fold_format format = fold_format_of(dtype);
  long lowest = FOLD_NO_BIT;
  for (size_t i = first; i < last; i++) {
    long one = lowest_of(format, fold_bits_load(dtype, in, i));
    if (one < lowest) lowest = one;
  }
  return lowest;
}

long fold_lowest_bit(enum fold_dtype dtype, const void *in, size_t n, unsigned threads) {
  size_t team = threads ? threads : (size_t)omp_get_max_threads(), blocks = n / SERIAL_TERMS + 1;
  if (team == 1 || blocks == 1) return find(dtype, in, 0, n);
  long lowest = FOLD_NO_BIT;
#pragma omp parallel for num_threads((int)team) reduction(min : lowest)
  for (size_t b = 0; b < blocks; b++) {
    size_t last = b + 1 < blocks ? (b + 1) * SERIAL_TERMS : n;
    long one = find(dtype, in, b * SERIAL_TERMS, last);
    if (one < lowest) lowest = one;
  }
  return lowest;
}
