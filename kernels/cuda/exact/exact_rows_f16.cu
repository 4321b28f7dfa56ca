/* exact_rows_f16.cu: the exact sum's kernels for many rows of f16; see exact_rows.cuh. */
#include "kernels/cuda/exact/exact_rows.cuh"

FOLD_EXACT_ROWS_INSTANCE(exact_rows_f16, FOLD_F16)
