/* super_bins.h: the inside of the superaccumulator: how terms of any size reach the limbs. Only super_add.c,
 * super_bins.c, super_extract.inc and the tests include it. */
#ifndef FOLD_SUPER_BINS_H
#define FOLD_SUPER_BINS_H

#include "oracles/super.h"

/* The most terms that bins may hold: super_bins.c derives it. */
#define FOLD_BINS_MOST ((size_t)1 << 18)
#define FOLD_BINS_SETS 2 /* doubles use one set or both; narrower dtypes have all four of theirs in the first */
#define FOLD_BINS_FIELDS 4096

/* Whether a bin takes two words, as bins of doubles do. */
static inline bool fold_bins_are_wide(enum fold_dtype dtype) { return fold_dtype_size(dtype) == sizeof(double); }

struct fold_bins {
  size_t held; /* how many terms the bins hold; the words mean nothing while it is 0 */
  int sets;    /* how many sets are in use, for doubles */
  _Alignas(64) uint64_t word[FOLD_BINS_SETS][2 * FOLD_BINS_FIELDS];
};

/* Adds terms to bins and empties these whenever they are full; sum and abs (may be NULL) are not normalised. NaN and
 * infinite terms are counted in sum and abs at once. `held` is 0 at first, and all terms have one dtype. */
void fold_bins_add(struct fold_bins *bins, enum fold_dtype dtype, const void *in, size_t n, struct fold_super *sum,
                   struct fold_super *abs);
/* Moves what the bins hold to sum and abs. */
void fold_bins_empty(struct fold_bins *bins, enum fold_dtype dtype, struct fold_super *sum, struct fold_super *abs);

/* Counts the NaN and infinite terms among in[0 .. n). */
void fold_super_count_specials(enum fold_dtype dtype, const void *in, size_t n, struct fold_super *sum,
                               struct fold_super *abs);

/* limb += or -= magnitude * 2^shift units, with magnitude < 2^(128 - shift % 32). Each limb changes by less than 2^32
 * in absolute value, so that 2^30 calls between two normalisations are safe. */
static inline void fold_limbs_add(int64_t *limb, unsigned shift, unsigned __int128 magnitude, bool negative) {
  int64_t sign = negative ? -1 : 1;
  magnitude <<= shift % 32;
  for (limb += shift / 32; magnitude; magnitude >>= 32) *limb++ += sign * (int64_t)(uint32_t)magnitude;
}

/* The same for one word, at three limbs whatever its bits are: terms of all exponents would mispredict the other's loop. There
 * must be two limbs above. */
static inline void fold_limbs_add_word(int64_t *limb, unsigned shift, uint64_t magnitude, bool negative) {
  const unsigned __int128 wide = (unsigned __int128)magnitude << shift % 32;
  const int64_t sign = -(int64_t)negative; /* x ^ sign - sign is x or -x */
  limb += shift / 32;
  limb[0] += ((int64_t)(uint32_t)wide ^ sign) - sign;
  limb[1] += ((int64_t)(uint32_t)(wide >> 32) ^ sign) - sign;
  limb[2] += ((int64_t)(wide >> 64) ^ sign) - sign;
}

/* Prefetches the cache line that will be needed soon: the hardware's prefetching stops at each page. */
static inline __attribute__((always_inline)) void fold_ask_ahead(const unsigned char *at) {
  __builtin_prefetch((const void *)((uintptr_t)at + 2048));
}

#endif
