/* cublas.h: cuBLAS and cuBLASLt as peers. Plain C; the libraries are opened at run time: FOLDPROOF_CUBLAS, FOLDPROOF_CUBLASLT, or the usual
 * names, there or in the toolkit that this was built with.
 *
 * NVIDIA documents the same bits at every run for one version, one model of GPU and one stream; nothing about the order, or about fused
 * products. 16-bit terms are multiplied and added in f32. A launch of one's own is FOLD_UNSUPPORTED.
 */
#ifndef FOLD_CUBLAS_H
#define FOLD_CUBLAS_H

#include "model/subject.h"

#ifdef __cplusplus
extern "C" {
#endif

/* cublasDotEx and cublas?asum of each row, one after the other (up to 1024). */
fold_run fold_cublas_dot, fold_cublas_asum;
/* cublas?gemv of f32 and f64. */
fold_run fold_cublas_gemv;
/* cublasGemmStridedBatchedEx; results are of the terms' dtype, or f32. Parts of a long sum may be rounded to the results' dtype before they
 * are added, as NVIDIA documents, unless subject->width is 1: then CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION is set. */
fold_run fold_cublas_gemm;
/* With this, the handle's workspace is 8 buffers of 16 KiB, as many as CUBLAS_WORKSPACE_CONFIG=:16:8 gives it, which NVIDIA documents for the
 * same bits where several streams share a handle; else it is cuBLAS's own pool. */
fold_scratch fold_cublas_gemm_scratch;
/* The same by cublasGemmEx, which has no batches: frameworks call it for two matrices. */
fold_run fold_cublas_gemm_ex;
/* The same by cublasGemmBatchedEx, which takes an address for each matrix. */
fold_run fold_cublas_gemm_batched;
fold_scratch fold_cublas_gemm_batched_scratch;
/* cublasGemmStridedBatchedEx of f16 with CUBLAS_COMPUTE_16F, for which NVIDIA documents all arithmetic and intermediate storage in f16 or
 * better. */
fold_run fold_cublas_gemm_16f;
/* cublasLtMatmul by the first algorithm that its heuristic offers for a workspace of subject->width MiB; parts of
 * a sum are added in f32 or f64. */
fold_run fold_cublas_lt;
fold_scratch fold_cublas_lt_scratch;
/* The same with 32 MiB, by the algorithm number subject->width of those that it offers. A shape with fewer is FOLD_UNSUPPORTED. */
enum { FOLD_CUBLAS_LT_ALGORITHMS = 8 };
fold_run fold_cublas_lt_algorithm;
/* The same by the first, with a bias: FOLD_UNSUPPORTED unless the last column of the first matrix is of ones, for then the last row of the
 * second one is a bias. */
fold_run fold_cublas_lt_bias;
fold_scratch fold_cublas_lt_scratch_most;
/* cublasLtMatmul of e4m3 to f32, with 32 MiB. It takes factors that lie along k: a second one that does not is turned first, by copies.
 * FOLD_UNSUPPORTED where cuBLASLt documents so: e5m2 times e5m2; a first factor that does not lie along k; and k, n, leading dimensions or addresses that are no multiples of 16. Nothing is documented of how sums are added, but that "intermediate
 * results" are promoted "periodically" to a higher precision (CUBLASLT_MATMUL_DESC_FAST_ACCUM is off). */
fold_run fold_cublas_lt_fp8;
fold_scratch fold_cublas_lt_fp8_scratch;

/* "cuBLAS 13.1.0" */
void fold_cublas_version(char text[64]);

#ifdef __cplusplus
}
#endif
#endif
