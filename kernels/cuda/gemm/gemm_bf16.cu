/* gemm_bf16.cu: the kernels of products of bf16; see gemm_run.cuh. */
#include "kernels/cuda/gemm/gemm_run.cuh"

GEMM_INSTANCE(bf16, FOLD_BF16)
