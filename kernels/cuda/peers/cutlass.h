/* cutlass.h: CUTLASS's products of matrices, as the headers found at build time have them (meson option cutlass_include). Plain C.
 *
 * cutlass::gemm::device::GemmUniversal on contiguous row-major factors, accumulators f32, of f64 f64; alpha 1, beta 0. f32 by CUDA cores, the
 * others by tensor cores. CUTLASS documents no order and no bits that repeat, so the subjects promise a bound. 16-bit factors and
 * results have rows of 16 bytes; other shapes, and launches of one's own, are FOLD_UNSUPPORTED.
 */
#ifndef FOLD_CUTLASS_H
#define FOLD_CUTLASS_H

#include "model/subject.h"

#ifdef __cplusplus
extern "C" {
#endif

/* "4.2.0", of the headers. */
const char *fold_cutlass_version(void);

/* One block a tile; or so many as the subject's `width` says share k, and add to the result in turn, in its dtype (serial split-K). */
fold_run fold_cutlass_gemm;
fold_scratch fold_cutlass_gemm_scratch;
/* Blocks share all tiles' terms evenly (stream-K). */
fold_run fold_cutlass_stream_k;
fold_scratch fold_cutlass_stream_k_scratch;

#ifdef __cplusplus
}
#endif
#endif
