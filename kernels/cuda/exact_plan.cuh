/* exact_plan.cuh: who sums what of the exact sum: speed only, never bits. Host code but for the struct. */
#ifndef FOLD_EXACT_PLAN_CUH
#define FOLD_EXACT_PLAN_CUH

#include "fold.h"
#include "super.h"

#define EXACT_MOST_WARPS 8

struct exact_plan {
  size_t rows, cols;
  unsigned parts;   /* blocks a row */
  unsigned threads; /* a block */
  unsigned blocks;
};

#endif
