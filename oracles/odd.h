/* odd.h: sums and products in binary128, rounded once to an accumulator, by way of numbers that are rounded to odd.
 *
 * Rounded to odd, a number that is not in a format becomes the neighbour whose last bit is odd. A second rounding, to a format
 * of at least two bits less, is then the same as one (Boldo, Melquiond, IEEE Trans. Computers 57 (2008), 462).
 */
#ifndef FOLD_ODD_H
#define FOLD_ODD_H

#include <math.h>
#include <string.h>

#include "base/bits.h"

/* a + b: by TwoSum (Knuth), whose error is exact. */
static inline __float128 fold_odd_sum(__float128 a, __float128 b) {
  const __float128 s = a + b, c = s - a, error = (a - (s - c)) + (b - c);
  unsigned __int128 bits;
  memcpy(&bits, &s, sizeof bits);
  if (error == 0 || error != error || (bits & 1)) return s;
  bits += (error > 0) == (s > 0) ? 1 : -(unsigned __int128)1; /* unseen: >= */
  __float128 odd;
  memcpy(&odd, &bits, sizeof odd);
  return odd;
}

static inline double fold_odd_double(__float128 x) {
  const double near = (double)x;
  uint64_t bits;
  if (near == x || isnan(near)) return near;
  memcpy(&bits, &near, sizeof bits);
  if ((x > 0) == (near > x)) bits--; /* away from zero: the one before is the lesser neighbour */
  bits |= 1;
  double odd;
  memcpy(&odd, &bits, sizeof odd);
  return odd;
}

/* x in the accumulator, rounded to nearest. */
static inline double fold_odd_round(enum fold_dtype accumulator, __float128 x) {
  if (accumulator == FOLD_F64) return (double)x;
  if (accumulator == FOLD_F32) return (float)x;
  return fold_bits_round(accumulator, fold_odd_double(x));
}

#endif
