/* gemm_f32.cu: the kernels of products of f32; see gemm_run.cuh. */
#include "kernels/cuda/gemm/gemm_run.cuh"

GEMM_INSTANCE(f32, FOLD_F32)
