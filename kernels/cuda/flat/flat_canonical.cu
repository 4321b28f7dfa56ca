/* flat_canonical.cu: the subject flat/canonical: checks, plan and launch.
 *
 * Order: oracles/canonical.h, a function of the row's length alone.
 *
 * Claims: replays flat/canonical, bounded, run_to_run, launch_, alignment_ and batch_invariant.
 *
 * Rungs: flat_canonical.cuh (any call), flat_canonical_small.cuh (one row of up to 4096 tiles, 2048 in f64).
 *
 * Limits: launch.block whole warps, at most 256 threads; launch.blocks free; either of them takes the first rung. 2^42
 * elements a row.
 *
 * Measured on one H200 as a fraction of the speed of CUB's default in the same run, 10^8, 10^9, 4.29 10^9 elements:
 * f32 1.02, 1.01, 1.02; f64 1.03, 1.02, 1.02; f16 1.14, 1.12, 1.13; bf16 1.08, 1.11, 1.11. The best plain read of the
 * same bytes: f32 1.06, 1.02, 1.02; f64 1.05, 1.02, 1.02; f16 1.22, 1.13, 1.13.
 *
 * What gained it: loads without an L2::256B hint (0.90 with it); acquire and release on the counter's atomic instead of
 * fences around it (f64 10^8: 0.997 to 1.03); 16 tiles a block (4: 0.97); rare code out of line, so that all 16
 * accesses of a lane are in flight (f16 10^8: 1.08 to 1.14).
 */
#include "kernels/cuda/flat/flat.h"

#include "kernels/cuda/dispatch.cuh"
#include "kernels/cuda/flat/flat_canonical.cuh"

/* A block sums 2^shift tiles. If there are many tiles: 16, because each block costs a barrier and an atomic, 1 ns of the H200's time
 * (4 tiles a block 0.97 of CUB's speed, 16 tiles 1.02). If there are fewer: so few that each multiprocessor has some
 * blocks. For many rows of up to 32 tiles: a whole row, so that there are no values to join. */
static int item_shift_for(size_t rows, size_t tiles) {
  const int whole = ceil_log2(tiles);
  const size_t all = rows * tiles;
  int shift = all >= 16384 ? 4 : all >= 1024 ? 2 : all >= 512 ? 1 : 0;
  if (rows >= 1024 && whole <= CANONICAL_MOST_ITEM_SHIFT) shift = whole;
  return shift < whole ? shift : whole;
}

/* For one row of few tiles: as many tiles in a block as are needed to have no more blocks than slots; up to 4 tiles
 * take one block. */
static bool plan_small(struct canonical_plan *plan, size_t width) {
  const size_t slots = FOLD_SCRATCH_ZEROED / width;
  plan->small = plan->tiles <= 4 ? 1u << ceil_log2(plan->tiles) : plan->tiles <= 512 ? 2 : 4;
  plan->blocks = (unsigned)((plan->tiles + plan->small - 1) / plan->small);
  plan->threads = FOLD_CANONICAL_PLACES * plan->small;
  return plan->rows == 1 && plan->tiles > 0 && plan->tiles <= 4 * slots;
}

static fold_status make_plan(const struct fold_call *call, struct canonical_plan *plan) {
  size_t tiles = (call->cols + FOLD_CANONICAL_TILE - 1) / FOLD_CANONICAL_TILE;
  *plan = plan_with_items(call, item_shift_for(call->rows, tiles));
  if (plan->items > (size_t)FREE_COUNTERS << CANONICAL_MOST_SPAN_SHIFT)
    return fold_error(FOLD_UNSUPPORTED, "flat/canonical: rows of %zu elements are too long", call->cols);
  struct canonical_plan small = *plan;
  if (!call->launch.block && !call->launch.blocks && plan_small(&small, call->dtype == FOLD_F64 ? 8 : 4)) {
    *plan = small;
    return fold_ok();
  }
  if (call->launch.block) plan->threads = call->launch.block;
  if (plan->threads % 32 || plan->threads > CANONICAL_MOST_THREADS)
    return fold_error(FOLD_UNSUPPORTED, "flat/canonical: a block of %u threads (whole warps, at most %u)",
                      plan->threads, CANONICAL_MOST_THREADS);
  const size_t most = 0x7fffffff, blocks = plan->cols ? plan->rows * plan->items : (plan->rows + 255) / 256;
  plan->blocks = call->launch.blocks ? call->launch.blocks : (unsigned)(blocks < most ? blocks : most);
  return fold_ok();
}

static fold_status launch(const struct fold_call *call, const struct canonical_plan *plan) {
  return fold_dispatch(
      call, [&](auto d, auto o) { return canonical_launch<decltype(d)::value, decltype(o)::value>(call, *plan); });
}

extern "C" size_t fold_flat_canonical_scratch(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  size_t tiles = (call->cols + FOLD_CANONICAL_TILE - 1) / FOLD_CANONICAL_TILE;
  struct canonical_plan plan = plan_with_items(call, item_shift_for(call->rows, tiles));
  return scratch_bytes(&plan);
}

extern "C" fold_status fold_flat_canonical(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  struct canonical_plan plan;
  FOLD_TRY(fold_cuda_check(call));
  FOLD_TRY(make_plan(call, &plan));
  return call->rows ? launch(call, &plan) : fold_ok();
}

/* Aligned blocks of 4096 * 2^k columns are subtrees, and so are the spans of a plan. So this is a plan whose spans are
 * these blocks. */
static fold_status plan_blocks(const struct fold_call *call, size_t block, void *partials,
                               struct canonical_plan *plan) {
  const int shift = ceil_log2(block / FOLD_CANONICAL_TILE);
  if (block != (size_t)FOLD_CANONICAL_TILE << shift)
    return fold_error(FOLD_BAD_INPUT, "flat/canonical: blocks of %zu columns are no subtrees", block);
  const size_t tiles = (call->cols + FOLD_CANONICAL_TILE - 1) / FOLD_CANONICAL_TILE;
  *plan = plan_with_blocks(call, item_shift_for(call->rows, tiles), shift, partials);
  if (plan->span_shift > CANONICAL_MOST_SPAN_SHIFT)
    return fold_error(FOLD_UNSUPPORTED, "flat/canonical: blocks of %zu columns are too long", block);
  const size_t most = 0x7fffffff, blocks = plan->rows * plan->items;
  plan->blocks = (unsigned)(blocks < most ? blocks : most);
  return fold_ok();
}

extern "C" size_t fold_flat_canonical_subtrees_scratch(const struct fold_call *call, size_t block) {
  struct canonical_plan plan;
  if (plan_blocks(call, block, NULL, &plan).code != FOLD_OK) return FOLD_SCRATCH_ZEROED;
  const size_t nbytes = scratch_bytes(&plan);
  return nbytes > FOLD_SCRATCH_ZEROED ? nbytes : FOLD_SCRATCH_ZEROED;
}

extern "C" fold_status fold_flat_canonical_subtrees(const struct fold_call *call, size_t block, void *partials) {
  struct canonical_plan plan;
  FOLD_TRY(fold_cuda_check(call));
  FOLD_TRY(plan_blocks(call, block, partials, &plan));
  return call->rows && call->cols ? launch(call, &plan) : fold_ok();
}
