/* flat.h: the flat reductions on a GPU, as rows of the registry name them. Plain C.
 *
 * Each `fold_flat_X` is a fold_run, each `fold_flat_X_scratch` its fold_scratch; the head of each .cu states order,
 * claims and limits.
 */
#ifndef FOLD_FLAT_H
#define FOLD_FLAT_H

#include "subject.h"

#ifdef __cplusplus
extern "C" {
#endif

/* flat/canonical: order flat/canonical (oracles/canonical.h). */
fold_run fold_flat_canonical;
fold_scratch fold_flat_canonical_scratch;

/* flat/shuffle and its first rung flat/shuffle@plain, flat/cooperative: order flat/shuffle. */
fold_run fold_flat_shuffle, fold_flat_shuffle_plain;
fold_scratch fold_flat_shuffle_scratch;
fold_run fold_flat_cooperative;
fold_scratch fold_flat_cooperative_scratch;

/* flat/atomic: no order; sums only. */
fold_run fold_flat_atomic;
fold_scratch fold_flat_atomic_scratch;

#ifdef __cplusplus
}
#endif
#endif
