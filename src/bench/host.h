/* bench/host.h: timing host subjects over one pool of inputs. Private to the bench. */
#ifndef FOLD_BENCH_HOST_H
#define FOLD_BENCH_HOST_H

#include "bench/bench.h"

/* Inputs of one shape. */
struct fold_host_pool {
  unsigned char *in, *out;
  size_t slots, stride, n_bytes;
};

/* Times the subjects of timing[n] with options->threads threads. All take turns with plain reads of the same
 * inputs, the best of which is the ceiling. */
fold_status fold_bench_host_race(const struct fold_bench_options *options, const struct fold_bench_shape *shape,
                                 const struct fold_ceiling *none, struct fold_timing *timing, size_t n,
                                 const volatile int *stop);

#endif
