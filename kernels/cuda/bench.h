/* bench.h: what the bench needs of the GPU besides subjects: a plain read, whose speed is the ceiling for them, and a read
 * that displaces their inputs from the L2. Plain C.
 *
 * Promised: each shape loads every byte of [d_in, d_in + nbytes) once and does nothing with it that costs more than a
 * load; the best of the shapes is the ceiling. It knows no subject.
 */
#ifndef FOLD_BENCH_CUDA_H
#define FOLD_BENCH_CUDA_H

#include "base/fold.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The number of shapes, and the name of each in a report ("blocks of 64 KiB"). */
int fold_cuda_read_shapes(void);
const char *fold_cuda_read_shape(int shape);

/* Reads by one shape, in `stream` (a cudaStream_t, NULL the default one), without waiting. d_in is aligned to 16 bytes;
 * a rest of nbytes % 16 bytes is left out. `d_sink` is 16 bytes that are written only if the data hold a value that
 * they do not, so that no load can be dropped. */
fold_status fold_cuda_read(int shape, const void *d_in, size_t nbytes, void *d_sink, void *stream);

/* The same, but what is read stays in the L2; if it is several times as large as the L2 it displaces all else.
 * (Subjects mark what they read to leave the caches first, and so does fold_cuda_read: such reads displace little.) */
fold_status fold_cuda_displace(const void *d_in, size_t nbytes, void *d_sink, void *stream);

#ifdef __cplusplus
}
#endif
#endif
