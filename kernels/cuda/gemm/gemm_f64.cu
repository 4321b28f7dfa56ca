/* gemm_f64.cu: the kernels of products of f64; see gemm_run.cuh. */
#include "kernels/cuda/gemm/gemm_run.cuh"

GEMM_INSTANCE(f64, FOLD_F64)
