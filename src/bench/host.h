/* bench/host.h: timing host subjects, and NumPy beside them, over one pool of inputs. Private to the bench. */
#ifndef FOLD_BENCH_HOST_H
#define FOLD_BENCH_HOST_H

#include "bench/bench.h"

/* Inputs of one shape in a file without a name, which NumPy's process maps too: the same bits in the same memory. */
struct fold_host_pool {
  int fd;
  unsigned char *in, *out;
  size_t slots, stride, n_bytes;
};

/* Times the subjects of timing[n] with options->threads threads, and NumPy. All take turns with plain reads of the same
 * inputs, the best of which is the ceiling. */
fold_status fold_bench_host_race(const struct fold_bench_options *options, const struct fold_bench_shape *shape,
                                 const struct fold_ceiling *none, struct fold_timing *timing, size_t n,
                                 const volatile int *stop);

/* numpy.sum (prod, max, min) of one thread, in a Python process of its own. FOLD_UNSUPPORTED, with the reason, where there is no
 * python3 with NumPy. */
struct fold_numpy;
fold_status fold_numpy_open(const struct fold_bench_shape *shape, const struct fold_host_pool *pool,
                            const volatile int *stop, struct fold_numpy **numpy);
/* One run on the input that begins at `offset` of the pool. Python's clock times only the call. `out` receives up to
 * `rows` results of the shape's dtype, *n of them. */
fold_status fold_numpy_run(struct fold_numpy *numpy, size_t offset, const volatile int *stop, double *seconds,
                           void *out, size_t rows, size_t *n);
const char *fold_numpy_version(const struct fold_numpy *numpy);
void fold_numpy_close(struct fold_numpy *numpy);

#endif
