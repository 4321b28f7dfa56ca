/* gemm.h: products of matrices, and of a matrix and a vector, on a GPU, as rows of the registry name them. Plain C.
 *
 * call->in[0] and call->in[1] are the factors, with any strides; the results lie side by side.
 */
#ifndef FOLD_CUDA_GEMM_H
#define FOLD_CUDA_GEMM_H

#include "model/subject.h"

#ifdef __cplusplus
extern "C" {
#endif

/* gemm/canonical, of either problem: the order of that name, by tiles that fit the shape. Any number of blocks, of the threads that
 * the kernel chooses. */
fold_run fold_cuda_gemm;
fold_scratch fold_cuda_gemm_scratch;
/* The same bits by one thread a result, which reads its factors from global memory. */
fold_run fold_cuda_gemm_plain;

/* gemm/exact, of either problem: each result rounded once from the exact value; by tensor cores, and by one warp a result. */
fold_run fold_cuda_gemm_exact, fold_cuda_gemm_exact_plain;
fold_scratch fold_cuda_gemm_exact_scratch;

#ifdef __cplusplus
}
#endif
#endif
