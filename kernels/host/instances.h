/* instances.h: what the host's kernels compute with elements of one dtype, found by that dtype at run time. */
#ifndef FOLD_INSTANCES_H
#define FOLD_INSTANCES_H

#include "base/fold.h"

/* How a row of n elements is cut into chunks of `length`: `full` of them, a shorter last one, then empty ones. A row of
 * no elements has one chunk, which is empty. */
struct fold_chunks {
  size_t n, length, full;
};
#define FOLD_DETERM_CHUNKS 256

/* Sums a row. Returns the value that is in the accumulator at the end. */
typedef double fold_sum_row(const void *row, size_t n);
typedef double fold_determ_row(const void *row, struct fold_chunks chunks, size_t workers, unsigned threads);
/* For elements first .. first + some of n, at most FOLD_COMBINE_BLOCK of them: combines what the `ranks` slices hold of
 * each (combine_host.c). */
typedef void fold_combine_block(const void *slices, size_t ranks, size_t n, size_t first, size_t some, void *out);
enum { FOLD_COMBINE_BLOCK = 512 }; /* 2 KiB of f32 */

struct fold_instances {
  fold_determ_row *determ[FOLD_OPS];
  fold_combine_block *combine[FOLD_OPS];
  fold_sum_row *kahan, *neumaier, *float64, *narrow;
};

const struct fold_instances *fold_instances_of(enum fold_dtype dtype);

#endif
