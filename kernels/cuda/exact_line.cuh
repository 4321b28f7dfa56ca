/* exact_line.cuh: the exact sums of many rows, a warp a row.
 *
 * Promised: as exact_block.cuh. A warp takes neighbouring rows, one after another, and loads the next row's first
 * tile before it closes a row. A row whose tiles stayed in the windows is closed from them: sums of 16 tiles of 32
 * lanes are below 2^53 units; else through the limbs. Launched by exact_rows_*.cu.
 *
 * Measured on one H200, 65,536 rows of 16,384 (f64: 32,768), times CUB segmented in the same run: f32 0.97, f64 0.95
 * (0.89 with 12 warps instead of 16), f16 1.02, bf16 1.01. A block a row: f32 0.82.
 */
#ifndef FOLD_EXACT_LINE_CUH
#define FOLD_EXACT_LINE_CUH

#include "dispatch.cuh"
#include "exact_close.cuh"
#include "exact_load.cuh"
#include "exact_plan.cuh"
#include "exact_warp.cuh"
#include "super_round.h"

#define EXACT_LINE_TILES 16 /* f32: 16 tiles of 1024 terms below 2^39 units */

/* The windows' sum over the warp, rounded; every lane has it. */
template <int D>
static __device__ __forceinline__ uint64_t exact_close_windows(const struct exact_sum<D> &sum) {
  const bool other = __any_sync(EXACT_WARP, sum.other);
  double part[exact_format<D>::PARTS];
  if constexpr (exact_format<D>::PARTS == 1) {
    part[0] = exact_odd_units(exact_warp_sum(sum.total), sum.anchor);
  } else {
#pragma unroll
    for (int p = 0; p < exact_format<D>::PARTS; p++) {
      part[p] = sum.part[p];
#pragma unroll
      for (int offset = 16; offset > 0; offset /= 2) part[p] += __shfl_xor_sync(EXACT_WARP, part[p], offset);
    }
  }
  if (!other) part[0] = -0.0;
  return exact_round_parts<D>(part);
}

/* The row's sum through the limbs of `state`, which is zero before and after; every lane has it. */
template <int D>
static __device__ uint64_t exact_close_limbs(struct exact_sum<D> &sum, struct fold_super *state) {
  const bool held = D == FOLD_F64 && sum.slow;
  exact_finish(sum);
  if (held) {
    exact_set_flush(sum.set, (int64_t *)sum.columns, state->limb);
    exact_set_unlock(sum.set);
  }
  __syncwarp();
  uint32_t low = 0, high = 0;
  if ((threadIdx.x & 31) == 0) {
    state->terms = 1;
    fold_super_normalise_inline((fold_dtype)D, state);
    const uint64_t bits = fold_super_round((fold_dtype)D, state, (fold_dtype)D);
    low = (uint32_t)bits;
    high = (uint32_t)(bits >> 32);
  }
  __syncwarp();
  for (int k = threadIdx.x & 31; k < (int)FOLD_SUPER_WORDS; k += 32) ((int64_t *)state)[k] = 0;
  __syncwarp();
  return (uint64_t)__shfl_sync(EXACT_WARP, high, 0) << 32 | __shfl_sync(EXACT_WARP, low, 0);
}

/* Ends a row: its bits; the windows stay where they are for the next. */
template <int D>
static __device__ __forceinline__ uint64_t exact_end_row(struct exact_sum<D> &sum) {
  uint64_t bits;
  const bool direct = !sum.dirty && !sum.slow && !sum.specials && sum.tiles <= EXACT_LINE_TILES;
  if (direct)
    bits = exact_close_windows(sum);
  else
    bits = exact_close_limbs(sum, sum.block);
#pragma unroll
  for (int p = 0; p < exact_format<D>::PARTS; p++) sum.part[p] = 0;
  sum.total = 0;
  sum.tiles = 0;
  sum.dirty = sum.specials = sum.other = false;
  sum.special = {0, 0, 0};
  return bits;
}

template <int D>
__global__ __launch_bounds__(EXACT_THREADS(D), D == FOLD_F64 ? 4 : 2) void exact_line_kernel(
    const typename exact_tile<D>::stored *__restrict__ in, void *out, const struct exact_plan plan) {
  extern __shared__ __align__(16) char columns[];
  __shared__ struct fold_super states[EXACT_MOST_WARPS];
  __shared__ struct exact_set sets[EXACT_MOST_WARPS];
  const unsigned warp = threadIdx.x / 32, warps = blockDim.x / 32, lane = threadIdx.x & 31;
  const unsigned set = D == FOLD_F64 ? warp / EXACT_SET_WARPS : warp;
  for (int k = lane; k < (int)FOLD_SUPER_WORDS; k += 32) ((int64_t *)(states + warp))[k] = 0;
  if (lane == 0) sets[warp] = {0, 0};
  __syncthreads();
  const size_t first = ((size_t)blockIdx.x * warps + warp) * plan.rows_each;
  const size_t end = min(first + plan.rows_each, plan.rows);
  if (first >= end) return;
  struct exact_sum<D> sum;
  exact_start(sum, columns + set * 32 * exact_format<D>::COLUMN, sets + set, true, states + warp);
  uint4 tile[EXACT_AHEAD];
  size_t r = first, at = 0;
  exact_row<D> row(in + r * plan.cols, plan.cols);
  row.load_cut(tile, 0);
  while (r < end) {
    const bool last = at + 1 >= row.tiles;
    const size_t next = last ? 0 : at + 1;
    const exact_row<D> then = last ? exact_row<D>(in + (r + 1) * plan.cols, plan.cols) : row;
    const bool more = !last || r + 1 < end;
    const uint4 *ahead = more ? then.whole(next) : NULL;
    exact_take(sum, tile, ahead);
    if (more && !ahead) then.load_cut(tile, next);
    if (last) {
      const uint64_t bits = exact_end_row(sum);
      if (lane == 0) fold_bits_store((fold_dtype)D, out, r, bits);
      r++;
    }
    at = next;
    row = then;
  }
}

#endif
