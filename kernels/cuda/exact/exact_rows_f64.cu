/* exact_rows_f64.cu: the exact sum's kernels for many rows of f64; see exact_rows.cuh. */
#include "kernels/cuda/exact/exact_rows.cuh"

FOLD_EXACT_ROWS_INSTANCE(exact_rows_f64, FOLD_F64)
