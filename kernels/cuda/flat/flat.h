/* flat.h: the flat reductions on a GPU, as rows of the registry name them. Plain C.
 *
 * Each `fold_flat_X` is a fold_run, each `fold_flat_X_scratch` its fold_scratch; the head of each .cu states order,
 * claims and limits.
 */
#ifndef FOLD_FLAT_H
#define FOLD_FLAT_H

#include "model/subject.h"

#ifdef __cplusplus
extern "C" {
#endif

/* flat/canonical: order flat/canonical (oracles/canonical.h). */
fold_run fold_flat_canonical;
fold_scratch fold_flat_canonical_scratch;
/* The values of the order's subtrees, for a row whose parts are on several GPUs. Row r's block b of `block` columns,
 * 4096 * 2^k (k <= 16), goes to partials[r * blocks + b], unrounded, in the accumulator's type; the last block may be
 * shorter. A row without columns has no block. call->out is not used. */
fold_status fold_flat_canonical_subtrees(const struct fold_call *call, size_t block, void *partials);
size_t fold_flat_canonical_subtrees_scratch(const struct fold_call *call, size_t block);

/* flat/shuffle, its first rung flat/shuffle@plain, and flat/cooperative; all in the order flat/shuffle. */
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
