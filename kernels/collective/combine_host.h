/* combine_host.h: the terms of many elements, one a rank, combined by the tree over neighbouring ranks, in host memory. */
#ifndef FOLD_COMBINE_HOST_H
#define FOLD_COMBINE_HOST_H

#include "base/fold.h"

/* Combines slices[i], slices[n + i] ... slices[(ranks - 1) n + i] into out[i] by the order host/pairwise, 0 <= i < n,
 * for 1 <= ranks <= 65536, on so many threads. Terms are combined in their accumulator and rounded once. `out` must not
 * overlap the slices. */
void fold_combine_host(enum fold_dtype dtype, enum fold_op op, const void *slices, size_t ranks, size_t n, void *out,
                       unsigned threads);

#endif
