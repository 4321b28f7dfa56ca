/* gemm_f16.cu: the kernels of products of f16; see gemm_run.cuh. */
#include "kernels/cuda/gemm/gemm_run.cuh"

GEMM_INSTANCE(f16, FOLD_F16)
