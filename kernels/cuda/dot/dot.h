/* dot.h: dot products of rows on a GPU, as rows of the registry name them. Plain C.
 *
 * call->in[0] and call->in[1] are the two inputs, rows x cols each. Blocks of 256 threads (dot/exact: 32) only; any number of blocks.
 */
#ifndef FOLD_CUDA_DOT_H
#define FOLD_CUDA_DOT_H

#include "model/subject.h"

#ifdef __cplusplus
extern "C" {
#endif

/* dot/canonical: order dot/canonical, flat/canonical's tree by FMA down the lines. */
fold_run fold_cuda_dot_canonical;
fold_scratch fold_cuda_dot_canonical_scratch;

/* dot/exact: exact products in superaccumulators, rounded once. */
fold_run fold_cuda_dot_exact;
fold_scratch fold_cuda_dot_exact_scratch;

#ifdef __cplusplus
}
#endif
#endif
