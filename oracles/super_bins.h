/* super_bins.h: the inside of the superaccumulator: how terms of any size reach the limbs. Only super_add.c,
 * super_bins.c, super_extract.inc and the tests include it. */
#ifndef FOLD_SUPER_BINS_H
#define FOLD_SUPER_BINS_H

#include "super.h"

/* The most terms that bins may hold: super_bins.c derives it. */
#define FOLD_BINS_MOST ((size_t)1 << 18)
#define FOLD_BINS_SETS 2 /* of doubles; the others have room for four of them in one */
#define FOLD_BINS_FIELDS 4096

/* Whether a bin is two words: of doubles. */
static inline bool fold_bins_are_wide(enum fold_dtype dtype) { return fold_dtype_size(dtype) == sizeof(double); }

struct fold_bins {
  size_t held; /* terms; where it is 0 the words mean nothing */
  int sets;    /* of doubles: how many are in use */
  _Alignas(64) uint64_t word[FOLD_BINS_SETS][2 * FOLD_BINS_FIELDS];
};

/* Adds terms to bins, which are emptied whenever they are full: sum and abs (may be NULL) are not normalised. The infinite and
 * NaN terms are counted in sum and abs at once. `held` is 0 at first, all terms are of one dtype. */
void fold_bins_add(struct fold_bins *bins, enum fold_dtype dtype, const void *in, size_t n, struct fold_super *sum,
                   struct fold_super *abs);
/* What the bins hold, to sum and abs. */
void fold_bins_empty(struct fold_bins *bins, enum fold_dtype dtype, struct fold_super *sum, struct fold_super *abs);

/* Counts the NaN and infinite terms among in[0 .. n). */
void fold_super_count_specials(enum fold_dtype dtype, const void *in, size_t n, struct fold_super *sum,
                               struct fold_super *abs);

/* limb += or -= magnitude * 2^shift units; magnitude < 2^(128 - shift % 32). Each limb changes by less than 2^32 in
 * absolute value: 2^30 calls between two normalisations are safe. */
static inline void fold_limbs_add(int64_t *limb, unsigned shift, unsigned __int128 magnitude, bool negative) {
  int64_t sign = negative ? -1 : 1;
  magnitude <<= shift % 32;
  for (limb += shift / 32; magnitude; magnitude >>= 32) *limb++ += sign * (int64_t)(uint32_t)magnitude;
}

/* Prefetches the cache line that will be needed soon: the hardware's prefetching stops at each page. */
static inline __attribute__((always_inline)) void fold_ask_ahead(const unsigned char *at) {
  __builtin_prefetch((const void *)((uintptr_t)at + 2048));
}

#endif
