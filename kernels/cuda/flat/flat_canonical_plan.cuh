/* flat_canonical_plan.cuh: which block sums which tile of flat/canonical: this changes the speed, never the bits. Host
 * code. */
#ifndef FOLD_FLAT_CANONICAL_PLAN_CUH
#define FOLD_FLAT_CANONICAL_PLAN_CUH

#include "base/fold.h"
#include "kernels/cuda/last_block.cuh"
#include "oracles/canonical.h"

struct canonical_plan {
  size_t rows, cols;
  size_t tiles;    /* of a row */
  size_t items;    /* of a row: 2^item_shift aligned tiles each */
  size_t spans;    /* of a row: 2^span_shift aligned items each */
  size_t counters; /* one for each span; also one for each row that has several spans; none if a row is one item */
  int item_shift, span_shift;
  unsigned threads, blocks;
  bool wide_loads; /* every row starts at a multiple of 16 bytes */
  unsigned small;  /* tiles a block of the kernel for one row of few tiles; 0: the other kernel */
  void *partials;  /* not NULL: the spans' values go here, unrounded, and no row is rounded; NULL: rows are */
};

/* How many values fold_round takes: the parts of an item, at most 8 for each tile. The items of a span take two
 * rounds. */
#define CANONICAL_ROUND 256
#define CANONICAL_MOST_ITEM_SHIFT 5
#define CANONICAL_MOST_THREADS 256
#define CANONICAL_MOST_SPAN_SHIFT 16

static inline int ceil_log2(size_t n) {
  int shift = 0;
  while (((size_t)1 << shift) < n) shift++;
  return shift;
}
static inline size_t ceil_shift(size_t n, int shift) { return (n >> shift) + ((n & (((size_t)1 << shift) - 1)) != 0); }
static inline size_t round_up_256(size_t nbytes) { return (nbytes + 255) & ~(size_t)255; }

/* The plan with items of 2^item_shift tiles. There are so few spans that their counters fit in what is zero already,
 * but each is short enough that its last block joins the items while the other blocks still load. */
static inline struct canonical_plan plan_with_items(const struct fold_call *call, int item_shift) {
  struct canonical_plan plan = {};
  plan.rows = call->rows;
  plan.cols = call->cols;
  plan.tiles = (call->cols + FOLD_CANONICAL_TILE - 1) / FOLD_CANONICAL_TILE;
  plan.item_shift = item_shift;
  plan.items = ceil_shift(plan.tiles, item_shift);
  plan.span_shift = 11;
  while (plan.span_shift < CANONICAL_MOST_SPAN_SHIFT && ceil_shift(plan.items, plan.span_shift) >= FREE_COUNTERS)
    plan.span_shift++;
  plan.spans = ceil_shift(plan.items, plan.span_shift);
  plan.counters = plan.items == 1 ? 0 : plan.rows * (plan.spans + (plan.spans > 1));
  size_t size = fold_dtype_size(call->dtype), line = call->cols * size;
  plan.wide_loads = (uintptr_t)call->in[0] % 16 == 0 && (call->rows == 1 || line % 16 == 0);
  size_t warps = (plan.wide_loads ? size / 2 : 8) << item_shift; /* the parts of an item */
  plan.threads = warps < 8 ? 32 * (unsigned)warps : CANONICAL_MOST_THREADS;
  return plan;
}

/* The plan whose spans are blocks of 2^block_shift tiles; their values are the results. */
static inline struct canonical_plan plan_with_blocks(const struct fold_call *call, int item_shift, int block_shift,
                                                     void *partials) {
  struct canonical_plan plan = plan_with_items(call, item_shift < block_shift ? item_shift : block_shift);
  plan.span_shift = block_shift - plan.item_shift;
  plan.spans = ceil_shift(plan.items, plan.span_shift);
  plan.counters = plan.span_shift ? plan.rows * plan.spans : 0;
  plan.partials = partials;
  return plan;
}

/* Scratch: the zeroed part, counters that do not fit there, the items' values, the spans' values. */
static inline size_t counters_at(const struct canonical_plan *plan) {
  return plan->counters <= FREE_COUNTERS ? 0 : FOLD_SCRATCH_ZEROED;
}
static inline size_t values_at(const struct canonical_plan *plan) {
  size_t extra = counters_at(plan) ? plan->counters * sizeof(unsigned) : 0;
  return round_up_256(FOLD_SCRATCH_ZEROED + extra);
}
static inline size_t span_values_at(const struct canonical_plan *plan) {
  return round_up_256(values_at(plan) + plan->rows * plan->items * sizeof(double));
}
static inline size_t scratch_bytes(const struct canonical_plan *plan) {
  if (plan->items <= 1) return 0;
  return span_values_at(plan) + plan->rows * plan->spans * sizeof(double);
}

#endif
