/* bench/pool.h: device memory with the inputs of one shape, several times the L2 together. Private to the bench. */
#ifndef FOLD_BENCH_POOL_H
#define FOLD_BENCH_POOL_H

#include "bench/bench.h"

#define FOLD_POOL_BYTES ((size_t)256 << 20) /* the least size of a pool */
#define FOLD_GRAPH_CALLS 32

/* `slots` inputs one after another, `stride` bytes apart; d_out has room for a result. A timed run has `calls` calls,
 * each on another input: FOLD_GRAPH_CALLS if so many inputs fit into FOLD_POOL_BYTES, else 1. */
struct fold_pool {
  unsigned char *d_in, *d_out;
  unsigned char *d_other; /* calls > 1: FOLD_POOL_BYTES that contain no input */
  size_t slots, stride;
  unsigned calls;
};

fold_status fold_pool_open(struct fold_pool *pool, const struct fold_bench_options *options,
                           const struct fold_bench_shape *shape, size_t n_contenders);
void fold_pool_close(struct fold_pool *pool);

#endif
