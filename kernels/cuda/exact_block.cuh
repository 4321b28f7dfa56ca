/* exact_block.cuh: a row's exact sum by blocks: one block, or several that meet in a state in memory.
 *
 * Order: none, for every addition is exact but the last rounding. Promised: the correctly rounded sum and the one
 * normalised state, for any grid and block. A row's blocks take a piece of its tiles each, a block's warps in turn;
 * each block adds its limbs to the row's state by atomic additions of words, and the last of them closes it. Limits:
 * blocks of whole warps, at most EXACT_THREADS threads. Launched by exact.cu, one instance a dtype.
 *
 * Measured on one H200, times CUB's default sum in the same run, 10^8 elements and 4 GiB of them:
 *   f32   0.99, 1.00; all exponents 0.91, 0.98     f64   0.98, 1.00; all exponents 0.65, 0.66 (0.74 with a set a warp)
 *   f16   1.08, 1.10                               bf16  1.03, 1.09; all exponents 0.85, 0.95
 * What changed it: pieces instead of tiles in stride, + 4% (f32); two warps a set of f64's columns, so that 20 warps
 * are resident instead of 12, + 5% (and - 8% on all exponents). Tried without gain: bulk prefetch into the L2 (- 9%),
 * 24 warps of f64 (spills, - 5%), blocks of under 0.3 MiB (- 10% at 10^8).
 */
#ifndef FOLD_EXACT_BLOCK_CUH
#define FOLD_EXACT_BLOCK_CUH

#include "exact_load.cuh"
#include "exact_plan.cuh"
#include "exact_warp.cuh"
#include "last_block.cuh"
#include "super_round.h"

/* The row's words that dtype uses, one after another: its limbs, then the five counts. */
template <int D>
static __device__ __forceinline__ int64_t *exact_state_word(struct fold_super *state, int k) {
  const int limbs = exact_format<D>::LIMBS;
  return k < limbs ? state->limb + k : state->limb + (k - limbs + FOLD_SUPER_LIMBS);
}
#define EXACT_COUNTS 4 /* nan, both infinities, other_than_negative_zero; `terms` is known beforehand */

/* Sums the part of the row that is this block's into `block`. */
template <int D>
static __device__ __forceinline__ void exact_block_sum(const struct exact_row<D> &row, size_t part, size_t parts,
                                                       char *columns, struct exact_set *sets,
                                                       struct fold_super *block) {
  const unsigned warp = threadIdx.x / 32, warps = blockDim.x / 32;
  struct exact_sum<D> sum;
  const unsigned set = D == FOLD_F64 ? warp / EXACT_SET_WARPS : warp;
  exact_start(sum, columns + set * 32 * exact_format<D>::COLUMN, sets + set, false, block);
  const size_t piece = (row.tiles + parts - 1) / parts, step = warps, end = min((part + 1) * piece, row.tiles);
  size_t at = part * piece + warp;
  uint4 tile[EXACT_AHEAD];
  if (at < end) row.load_cut(tile, at);
  for (; at < end; at += step) {
    const uint4 *ahead = at + step < end ? row.whole(at + step) : NULL;
    exact_take(sum, tile, ahead);
    if (!ahead && at + step < end) row.load_cut(tile, at + step);
  }
  exact_finish(sum);
  if constexpr (D == FOLD_F64) {
    __syncthreads();
    if (warp % EXACT_SET_WARPS == 0) exact_set_flush(sum.set, (int64_t *)sum.columns, block->limb);
  }
}

/* Adds the block's words to the row's state; true in the whole of the last block to do so, which has then the row's
 * words, and has cleared the state. */
template <int D>
static __device__ bool exact_meet(struct fold_super *block, struct fold_super *state, unsigned *counter,
                                  unsigned parts) {
  const int words = exact_format<D>::LIMBS + EXACT_COUNTS;
  for (int k = threadIdx.x; k < words; k += blockDim.x) {
    const int64_t word = *exact_state_word<D>(block, k);
    if (word) atomicAdd((exact_u64 *)exact_state_word<D>(state, k), (exact_u64)word);
  }
  __syncthreads();
  if (!arrive_last(counter, parts)) return false;
  for (int k = threadIdx.x; k < words; k += blockDim.x) {
    int64_t *word = exact_state_word<D>(state, k);
    *exact_state_word<D>(block, k) = (int64_t)__ldcg((const long long *)word);
    *word = 0;
  }
  __syncthreads();
  return true;
}

template <int D>
__global__ __launch_bounds__(EXACT_THREADS(D), EXACT_BLOCKS(D)) void exact_block_kernel(
    const typename exact_tile<D>::stored *__restrict__ in, void *out, struct fold_super *d_states,
    struct fold_super *meeting, unsigned *counters, const struct exact_plan plan) {
  extern __shared__ __align__(16) char columns[];
  __shared__ struct fold_super block;
  __shared__ struct exact_set sets[EXACT_MOST_WARPS];
  if (threadIdx.x < EXACT_MOST_WARPS) sets[threadIdx.x] = {0, 0};
  for (size_t work = blockIdx.x; work < plan.rows * plan.parts; work += gridDim.x) {
    const size_t row = work / plan.parts, part = work % plan.parts;
    for (int k = threadIdx.x; k < (int)FOLD_SUPER_WORDS; k += blockDim.x) ((int64_t *)&block)[k] = 0;
    __syncthreads();
    exact_block_sum<D>(exact_row<D>(in + row * plan.cols, plan.cols), part, plan.parts, columns, sets, &block);
    __syncthreads();
    if (plan.parts == 1 || exact_meet<D>(&block, meeting + row, counters + row, plan.parts)) {
      if (threadIdx.x == 0) {
        block.terms = (int64_t)plan.cols;
        fold_super_normalise_inline((fold_dtype)D, &block);
        if (!d_states) fold_bits_store((fold_dtype)D, out, row, fold_super_round((fold_dtype)D, &block, (fold_dtype)D));
      }
      __syncthreads();
      for (int k = threadIdx.x; d_states && k < (int)FOLD_SUPER_WORDS; k += blockDim.x)
        ((int64_t *)(d_states + row))[k] = ((const int64_t *)&block)[k];
    }
    __syncthreads();
  }
}

#endif
