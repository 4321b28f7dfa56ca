/* super_extract.h: the inside of the superaccumulator: terms of like size, split by vectors. Only super_add.c,
 * super_extract_*.c, the tests and the benchmark include it.
 */
#ifndef FOLD_SUPER_EXTRACT_H
#define FOLD_SUPER_EXTRACT_H

#include "oracles/super.h"

#define FOLD_EXTRACT_LEVELS 3
#define FOLD_EXTRACT_BITS 52              /* from a level's unit to the next one's */
#define FOLD_EXTRACT_BLOCK ((size_t)4096) /* the most terms of a pass: super_extract.inc derives it */

/* The result of a pass over some terms. Their sum is the sum over all levels l of sum[l] * 2^(top - 52 (l + 1)); the
 * sum of their magnitudes is the same with abs[l]. */
struct fold_extracted {
  __int128 sum[FOLD_EXTRACT_LEVELS], abs[FOLD_EXTRACT_LEVELS];
};

/* Splits in[0 .. n), n <= FOLD_EXTRACT_BLOCK. True if all magnitudes are below 2^(top - 1) - 2^(top - 53) and multiples
 * of the last level's unit. False, with `out` undefined, if a term is NaN, infinite or 2^(top - 1), or if a magnitude
 * is larger or not such a multiple. That unit must be at least the dtype's smallest subnormal, and top at most 1023;
 * the floating-point environment must be as fold_extractor_here demands. */
typedef bool fold_extract_pass(const unsigned char *in, size_t n, int top, struct fold_extracted *out);

/* One instruction set: its passes by dtype and levels - 1, for the sum alone (abs[] is not set) and for both; NULL if
 * there is none. */
struct fold_extractor {
  const char *name;
  bool (*runs_here)(void);
  fold_extract_pass *sum[FOLD_DTYPES][FOLD_EXTRACT_LEVELS], *both[FOLD_DTYPES][FOLD_EXTRACT_LEVELS];
};
extern const struct fold_extractor fold_extractor_avx512, fold_extractor_avx2; /* x86-64 */
/* From the fastest on; NULL ends the list. */
extern const struct fold_extractor *const fold_extractors[];

/* The fastest one on this machine. NULL if there is none, or if splitting would not be exact and silent: this thread
 * does not round to nearest, flushes subnormals, or traps floating-point exceptions. */
const struct fold_extractor *fold_extractor_here(void);

/* fold_super_add by that extractor; by bins alone if it is NULL. */
void fold_super_add_by(const struct fold_extractor *extractor, enum fold_dtype dtype, const void *in, size_t n,
                       struct fold_super *sum, struct fold_super *abs);

#endif
