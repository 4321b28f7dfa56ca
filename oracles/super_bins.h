/* super_bins.h: the inside of the superaccumulator: how terms reach the limbs. Only super.c and super_bins.c include
 * it. */
#ifndef FOLD_SUPER_BINS_H
#define FOLD_SUPER_BINS_H

#include "super.h"

/* The most terms that one call may bin: super_bins.c derives it. */
#define FOLD_BINS_BLOCK ((size_t)1 << 18)

/* limb += or -= magnitude * 2^shift units. Each limb changes by less than 2^32 in absolute value: 2^30 calls between
 * two normalisations are safe. */
static inline void fold_limbs_add(int64_t *limb, unsigned shift, unsigned __int128 magnitude, bool negative) {
  unsigned first = shift / 32, offset = shift % 32;
  int64_t sign = negative ? -1 : 1;
  limb[first] += sign * (int64_t)(uint32_t)(magnitude << offset);
  magnitude >>= 32 - offset;
  limb[first + 1] += sign * (int64_t)(uint32_t)magnitude;
  limb[first + 2] += sign * (int64_t)(uint32_t)(magnitude >> 32);
  limb[first + 3] += sign * (int64_t)(uint32_t)(magnitude >> 64);
}

/* Adds n <= FOLD_BINS_BLOCK terms to sum and abs (may be NULL), not normalised, by bins. Pays some microseconds a call.
 */
void fold_bins_add(enum fold_dtype dtype, const void *in, size_t n, struct fold_super *sum, struct fold_super *abs);

/* Counts the NaN and infinite terms among in[0 .. n). */
void fold_super_count_specials(enum fold_dtype dtype, const void *in, size_t n, struct fold_super *sum,
                               struct fold_super *abs);

#endif
