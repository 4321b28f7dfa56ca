/* cuda_generate.h: fixtures/generator.h on the device: the same bits, made where they are used. Plain C. */
#ifndef FOLD_CUDA_GENERATE_H
#define FOLD_CUDA_GENERATE_H

#include "generator.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fills d_out[0 .. n) with elements first .. first + n of the source (fold_source_check's errors), in `stream` (a
 * cudaStream_t; NULL is the default one), without waiting. d_out is aligned to the element. */
fold_status fold_cuda_generate(const struct fold_source *source, uint64_t first, uint64_t n, void *d_out, void *stream);

#ifdef __cplusplus
}
#endif
#endif
