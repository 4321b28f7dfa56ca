/* super.h: the superaccumulator: a sum held exactly as int64 limbs over a format's whole exponent range.
 *
 * Limb k weighs 2^(base + 32 k); base is the exponent of the format's smallest subnormal. A normalised limb lies in
 * [0, 2^32) but the last, which carries the sign; 31 spare bits let 2^31 normalised states be merged by adding their
 * words as int64, in any order, by anybody (a thread, a GPU, an all-reduce). Closing (exact.h) rounds once.
 * f16 and bf16 states use their own base, so that states merge only with states of the same dtype.
 */
#ifndef FOLD_SUPER_H
#define FOLD_SUPER_H

#include "base/fold.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FOLD_SUPER_LIMBS 70 /* f64: 2098 bits of format, 64 of headroom */

/* All words are int64, so that a whole state merges by one element-wise sum. */
struct fold_super {
  int64_t limb[FOLD_SUPER_LIMBS];                    /* the sum of the finite terms */
  int64_t nan, positive_infinity, negative_infinity; /* how many terms were NaN, +infinity, -infinity */
  int64_t other_than_negative_zero;                  /* 0 only if every term was -0 (or there was none) */
  int64_t terms;
};
#define FOLD_SUPER_WORDS (sizeof(struct fold_super) / sizeof(int64_t))
#define FOLD_SUPER_COUNTS 5 /* the words behind the limbs */

/* How many limbs dtype uses, and the exponent of limb 0's unit. */
static inline FOLD_HD int fold_super_limbs(enum fold_dtype dtype) {
  switch (dtype) {
#define FOLD_DTYPE(TAG, name, element, WIDE, bits, precision, emin, emax, infinities, limbs, ...) FOLD_CASE(TAG, limbs)
#include "base/dtype.def"
    case FOLD_DTYPES: break;
  }
  return 0;
}
static inline FOLD_HD int fold_super_base(enum fold_dtype dtype) {
  switch (dtype) {
#define FOLD_DTYPE(TAG, name, element, WIDE, bits, precision, emin, ...) FOLD_CASE(TAG, emin - precision + 1)
#include "base/dtype.def"
    case FOLD_DTYPES: break;
  }
  return 0;
}

/* A state is sent in packed form: the limbs that dtype uses, then the counts, as so many int64 words. Up to 2^31 packed
 * normalised states are merged by adding their words; an unpacked state closes like any other. */
static inline FOLD_HD int fold_super_words(enum fold_dtype dtype) {
  return fold_super_limbs(dtype) + FOLD_SUPER_COUNTS;
}
void fold_super_pack(enum fold_dtype dtype, const struct fold_super *state, int64_t *words);
void fold_super_unpack(enum fold_dtype dtype, const int64_t *words, struct fold_super *state);

/* Adds in[0 .. n) to `sum` and their magnitudes to `abs` (may be NULL), on one thread; both stay normalised. */
void fold_super_add(enum fold_dtype dtype, const void *in, size_t n, struct fold_super *sum, struct fold_super *abs);
/* The same on `threads` OpenMP threads (0: as many as there are). The resulting words do not depend on how many. */
void fold_super_add_parallel(enum fold_dtype dtype, const void *in, size_t n, struct fold_super *sum,
                             struct fold_super *abs, unsigned threads);
/* into += from, then normalised. */
void fold_super_merge(enum fold_dtype dtype, struct fold_super *into, const struct fold_super *from);
/* Propagates carries; a normalised state is the only representation of its value. */
void fold_super_normalise(enum fold_dtype dtype, struct fold_super *state);

#ifdef __cplusplus
}
#endif
#endif
