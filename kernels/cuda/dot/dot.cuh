/* dot.cuh: how the rows of a dot product are shared among blocks: an item is a stretch of one row.
 *
 * Promised: no bit depends on the plan. Rows that are one item are done by one block; else the items of a row meet in scratch, and the
 * last block to arrive completes the row, for which there are counters for FREE_COUNTERS rows. More rows are one item each.
 */
#ifndef FOLD_DOT_CUH
#define FOLD_DOT_CUH

#include "kernels/cuda/common.cuh"
#include "kernels/cuda/last_block.cuh"

struct dot_plan {
  size_t rows, cols, stretch; /* terms of each item */
  size_t items;               /* items of each row; at least 1 */
  unsigned blocks;
};

/* The plan for blocks of `threads` threads and items of `stretch` terms. */
static inline fold_status dot_plan_of(const struct fold_call *call, const char *name, unsigned threads, size_t stretch,
                                      struct dot_plan *plan) {
  FOLD_TRY(fold_cuda_check(call));
  if ((uintptr_t)call->in[1] % fold_dtype_size(call->dtype))
    return fold_error(FOLD_BAD_INPUT, "other: address %p is not aligned to the element", call->in[1]);
  if (call->launch.block && call->launch.block != threads)
    return fold_error(FOLD_UNSUPPORTED, "%s: blocks of %u threads only", name, threads);
  *plan = (struct dot_plan){call->rows, call->cols, stretch, (call->cols + stretch - 1) / stretch, 0};
  if (plan->items == 0) plan->items = 1;
  if (call->rows > FREE_COUNTERS) {
    plan->items = 1;
    plan->stretch = call->cols ? call->cols : 1;
  }
  const size_t all = plan->rows * plan->items, most = 0x7fffffff;
  plan->blocks = call->launch.blocks ? call->launch.blocks : (unsigned)(all < most ? all : most);
  return fold_ok();
}

#endif
