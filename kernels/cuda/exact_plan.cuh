/* exact_plan.cuh: who sums what of the exact sum: speed only, never bits. Host code but for the struct. */
#ifndef FOLD_EXACT_PLAN_CUH
#define FOLD_EXACT_PLAN_CUH

#include "fold.h"
#include "super.h"

#define EXACT_MOST_WARPS 8
#define EXACT_SET_WARPS 2 /* warps of a block that share a set of f64's columns (exact_limbs.cuh) */

/* Most threads of a block, and blocks that a multiprocessor is to hold, so many registers each. */
#define EXACT_THREADS(D) (D == FOLD_F64 ? 128 : 256)
#define EXACT_BLOCKS(D) (D == FOLD_F64 ? 5 : 3)

struct exact_plan {
  size_t rows, cols;
  unsigned parts;   /* blocks a row */
  unsigned threads; /* a block */
  unsigned blocks;
  size_t rows_each; /* exact_line.cuh: rows a warp; exact_short.cuh: tiles a warp */
  bool dense;       /* exact_short.cuh: aligned, and a group of lanes has no line that its row lacks */
  bool aligned;     /* every row starts at a multiple of 16 bytes and ends at one */
};

/* Sums many rows and sets *done, or leaves a call that does not suit to the blocks of exact.cu: exact_rows_*.cu. */
fold_status exact_rows_f16(const struct fold_call *call, const struct exact_plan *plan, bool *done);
fold_status exact_rows_bf16(const struct fold_call *call, const struct exact_plan *plan, bool *done);
fold_status exact_rows_f32(const struct fold_call *call, const struct exact_plan *plan, bool *done);
fold_status exact_rows_f64(const struct fold_call *call, const struct exact_plan *plan, bool *done);

#endif
