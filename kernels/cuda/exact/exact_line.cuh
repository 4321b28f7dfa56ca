/* exact_line.cuh: the exact sums of many rows, a warp a row.
 *
 * Promised: as exact_block.cuh. A warp takes neighbouring rows, one after another, and loads the next row's first
 * tile before it closes a row. A row whose tiles stayed in the windows is closed from them: sums of 16 tiles of 32
 * lanes are below 2^53 units; else through the limbs. Launched by exact_rows_*.cu.
 *
 * Measured on one H200, 65,536 rows of 16,384, times CUB segmented in the same run: f32 0.96, f64 1.10 (with 12 warps
 * instead of 16, 6% less), f16 and bf16 1.15. A block a row: f32 0.82.
 */
#ifndef FOLD_EXACT_LINE_CUH
#define FOLD_EXACT_LINE_CUH

#include "kernels/cuda/dispatch.cuh"
#include "kernels/cuda/exact/exact_carry.cuh"
#include "kernels/cuda/exact/exact_close.cuh"
#include "kernels/cuda/exact/exact_load.cuh"
#include "kernels/cuda/exact/exact_plan.cuh"
#include "kernels/cuda/exact/exact_warp.cuh"

#define EXACT_LINE_TILES 16 /* f32: 16 tiles of 1024 terms below 2^39 units */

/* How many bytes the columns of so many warps have. */
template <int D>
static __host__ __device__ __forceinline__ constexpr size_t exact_columns(unsigned warps) {
  return (D == FOLD_F64 ? (warps + EXACT_SET_WARPS - 1) / EXACT_SET_WARPS : warps) * (size_t)32 *
         exact_format<D>::COLUMN;
}

/* Sets up a block of rows: a zeroed state for each warp, and its columns, or its share of them. Ends with a barrier of
 * the block. */
template <int D>
static __device__ __forceinline__ void exact_start_warp(struct exact_sum<D> &sum) {
  extern __shared__ __align__(16) char columns[];
  __shared__ struct fold_super states[EXACT_MOST_WARPS];
  __shared__ struct exact_set sets[EXACT_MOST_WARPS];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x & 31;
  const unsigned set = D == FOLD_F64 ? warp / EXACT_SET_WARPS : warp;
  for (int k = lane; k < (int)FOLD_SUPER_WORDS; k += 32) ((int64_t *)(states + warp))[k] = 0;
  if (lane == 0) sets[warp] = {0, 0, 0};
  __syncthreads();
  exact_start(sum, columns + set * 32 * exact_format<D>::COLUMN, sets + set, true, states + warp);
}

/* The sum of the windows over the warp, rounded; every lane has it. */
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

/* Adds the row to the limbs and counts of sum.block, which were zero, and normalises them. */
template <int D>
static __device__ __forceinline__ void exact_gather(struct exact_sum<D> &sum, size_t cols) {
  const bool held = D == FOLD_F64 && sum.slow;
  exact_finish(sum);
  if (held) {
    exact_set_flush(sum.set, (int64_t *)sum.columns, sum.block->limb);
    exact_set_unlock(sum.set);
  }
  if ((threadIdx.x & 31) == 0) sum.block->terms = (int64_t)cols;
  __syncwarp();
  exact_normalise<D>(sum.block->limb);
}

/* Clears the state for the next row. */
static __device__ __forceinline__ void exact_clear(struct fold_super *state) {
  __syncwarp();
  for (int k = threadIdx.x & 31; k < (int)FOLD_SUPER_WORDS; k += 32) ((int64_t *)state)[k] = 0;
  __syncwarp();
}

/* The row's sum by way of the limbs; every lane has it. */
template <int D>
static __device__ uint64_t exact_close_limbs(struct exact_sum<D> &sum, size_t cols) {
  exact_gather(sum, cols);
  const uint64_t bits = exact_round<D>(sum.block->limb, (const int64_t *)sum.block + FOLD_SUPER_LIMBS);
  exact_clear(sum.block);
  return bits;
}

/* Begins a new row; the windows stay where they are. */
template <int D>
static __device__ __forceinline__ void exact_restart(struct exact_sum<D> &sum) {
#pragma unroll
  for (int p = 0; p < exact_format<D>::PARTS; p++) sum.part[p] = 0;
  sum.total = 0;
  sum.tiles = 0;
  sum.dirty = sum.specials = sum.other = false;
  sum.special = {0, 0, 0};
}

/* Ends a row: its state's words. */
template <int D>
static __device__ __forceinline__ void exact_end_state(struct exact_sum<D> &sum, size_t cols, int64_t *words) {
  exact_gather(sum, cols);
  for (int k = threadIdx.x & 31; k < exact_format<D>::WORDS; k += 32) words[k] = *exact_state_word<D>(sum.block, k);
  exact_clear(sum.block);
  exact_restart(sum);
}

/* Ends a row: its bits. */
template <int D>
static __device__ __forceinline__ uint64_t exact_end_row(struct exact_sum<D> &sum, size_t cols) {
  uint64_t bits;
  const bool direct = !sum.dirty && !sum.slow && !sum.specials && sum.tiles <= EXACT_LINE_TILES;
  if (direct)
    bits = exact_close_windows(sum);
  else
    bits = exact_close_limbs(sum, cols);
  exact_restart(sum);
  return bits;
}

/* `out` receives results or, if STATES, states. */
template <int D, bool STATES>
__global__ __launch_bounds__(EXACT_THREADS(D), D == FOLD_F64 ? 4 : 2) void exact_line_kernel(
    const typename exact_tile<D>::stored *__restrict__ in, void *out, const struct exact_plan plan) {
  const unsigned warp = threadIdx.x / 32, warps = blockDim.x / 32;
  struct exact_sum<D> sum;
  exact_start_warp(sum);
  const size_t first = ((size_t)blockIdx.x * warps + warp) * plan.rows_each;
  const size_t end = min(first + plan.rows_each, plan.rows);
  if (first >= end) return;
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
      if constexpr (STATES) {
        exact_end_state(sum, plan.cols, (int64_t *)out + r * exact_format<D>::WORDS);
      } else {
        const uint64_t bits = exact_end_row(sum, plan.cols);
        if ((threadIdx.x & 31) == 0) fold_bits_store((fold_dtype)D, out, r, bits);
      }
      r++;
    }
    at = next;
    row = then;
  }
}

#endif
