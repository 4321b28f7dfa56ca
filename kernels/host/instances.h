/* instances.h: what the host's kernels compute with elements of one dtype, for whoever finds it by the dtype. */
#ifndef FOLD_INSTANCES_H
#define FOLD_INSTANCES_H

#include "fold.h"

/* A row of n elements in chunks of `length`: `full` of them, the last shorter, and empty ones; of no element one, empty. */
struct fold_chunks {
  size_t n, length, full;
};
#define FOLD_DETERM_CHUNKS 256

/* A row to what is in the accumulator at the end. */
typedef double fold_sum_row(const void *row, size_t n);
typedef double fold_determ_row(const void *row, struct fold_chunks chunks, size_t workers, unsigned threads);
/* Elements first .. first + some, at most FOLD_COMBINE_BLOCK, of n: of each what `ranks` slices hold, joined (combine_host.c). */
typedef void fold_combine_block(const void *slices, size_t ranks, size_t n, size_t first, size_t some, void *out);
enum { FOLD_COMBINE_BLOCK = 512 }; /* 2 KiB of f32 */

struct fold_instances {
  fold_determ_row *determ[FOLD_OPS];
  fold_combine_block *combine[FOLD_OPS];
  fold_sum_row *kahan, *neumaier, *float64, *narrow;
};

const struct fold_instances *fold_instances_of(enum fold_dtype dtype);

#endif
