/* exact_block.cuh: a row's exact sum by blocks: one block, or several that meet in a state in memory.
 *
 * Order: none, for every addition is exact but the last rounding. Promised: the correctly rounded sum and the one
 * normalised state, for any grid and block. A row's blocks take a piece of its tiles each, a block's warps in turn;
 * each block adds its limbs to the row's state by atomic additions of words, and the last of them closes it. Limits:
 * blocks of whole warps, at most EXACT_THREADS threads. Launched by exact.cu, one instance a dtype.
 *
 * Measured on H200s, times CUB's default sum in the same run, 10^8 and 10^9 elements:
 *   f32   0.98, 1.01; all exponents 0.95, 1.01     f64   1.00, 1.02; all exponents 0.75 to 0.79, 0.76 to 0.82
 *   f16   1.12, 1.39; all exponents the same       bf16  1.10, 1.39; all exponents 1.01, 1.34
 * What gained it for all exponents: tiles that go unlooked at where those before fitted no windows (51 instructions a term of f64
 * became 37; 10^8 of f64 0.65 to 0.73, of bf16 0.91 to 1.00), and f64's carries every 64 tiles instead of 16 (0.75 to 0.77). f64 is held up by
 * the two warps that share a set of columns: 31% of samples are in the wait for it (Nsight Compute). Columns of 42 limbs, 52 binades
 * apart, have room for a set a warp: all exponents 0.81, but normal data 0.95, with 28 KiB left for the L1; shared by
 * two warps that sleep while they wait, 0.73 and 0.99.
 * (10^8 of f64: 0.65 with a sign for each half of a significand; 0.60 with words of 128 bits instead of limbs of 32.)
 * What changed it: pieces instead of tiles in stride, + 4% (f32); two warps a set of f64's columns, so that 20 warps
 * are resident instead of 12, + 5% (and - 8% on all exponents). For short rows, in cycles of some 10,000: tiles of as
 * few accesses as there are lines (- 800 to - 1600); carries and rounding by a warp instead of a thread (- 400, f64
 * - 2000); bins and columns emptied by lanes side by side (- 2000 to - 4000); additions to limbs in shared memory by
 * two of 32 bits instead of a loop of compare and swap; all copies of a state read at a time. Tried without gain: bulk
 * prefetch into the L2 (- 9%), 24 warps of f64 (spills, - 5%), blocks of under 0.3 MiB (- 10% at 10^8), two f64 terms
 * at a time to a column (- 14%), a barrier of the warp after each f64 tile in columns (- 17%).
 */
#ifndef FOLD_EXACT_BLOCK_CUH
#define FOLD_EXACT_BLOCK_CUH

#include "kernels/cuda/exact/exact_carry.cuh"
#include "kernels/cuda/exact/exact_load.cuh"
#include "kernels/cuda/exact/exact_plan.cuh"
#include "kernels/cuda/exact/exact_warp.cuh"
#include "kernels/cuda/last_block.cuh"

#define EXACT_COUNTS 4 /* nan, both infinities, other_than_negative_zero; `terms` is known in advance */

/* How many warps share a set of f64's columns: 1 if few tiles come and shared memory suffices for more sets. */
#define EXACT_SHARE(D, N) ((D) == FOLD_F64 && (N) == EXACT_AHEAD ? EXACT_SET_WARPS : 1)

/* f64: clears the set's columns while the first tile is being loaded. */
template <int D>
static __device__ __forceinline__ void exact_prepare(struct exact_sum<D> &sum, bool owner) {
  if constexpr (D == FOLD_F64) {
    if (owner) {
      exact_column_clear(exact_limb_column(sum.columns));
      if ((threadIdx.x & 31) == 0) sum.set->clear = 1;
    }
    __syncthreads();
  }
}

/* Sums this block's part of the row into `block`. */
template <int D, int N>
static __device__ __forceinline__ void exact_block_sum(const struct exact_row<D, N> &row, size_t part, size_t piece,
                                                       char *columns, struct exact_set *sets,
                                                       struct fold_super *block) {
  const int SHARE = EXACT_SHARE(D, N);
  const unsigned warp = threadIdx.x / 32, warps = blockDim.x / 32, set = warp / SHARE;
  struct exact_sum<D> sum;
  exact_start(sum, columns + set * 32 * exact_format<D>::COLUMN, sets + set, SHARE == 1, block);
  const size_t step = warps, end = min((part + 1) * piece, row.tiles);
  size_t at = part * piece + warp;
  uint4 tile[N];
  if (at < end) row.load_cut(tile, at);
  exact_prepare(sum, warp % SHARE == 0);
  for (; at < end; at += step) {
    const uint4 *ahead = at + step < end ? row.whole(at + step) : NULL;
    exact_take(sum, tile, ahead);
    if (!ahead && at + step < end) row.load_cut(tile, at + step);
  }
  const bool held = D == FOLD_F64 && SHARE == 1 && sum.slow;
  exact_finish(sum);
  if constexpr (D == FOLD_F64) {
    if (SHARE > 1) __syncthreads();
    if (warp % SHARE == 0) exact_set_flush(sum.set, (int64_t *)sum.columns, block->limb);
    if (held) exact_set_unlock(sum.set);
  }
}

/* Adds the block's words to one of the row's `copies` states; with several copies, fewer blocks add to the same word.
 * Returns true in all threads of the last block to do so; that block then has the row's words and has cleared the
 * states. */
template <int D>
static __device__ bool exact_meet(struct fold_super *block, struct exact_meeting *states, unsigned copies, size_t part,
                                  unsigned *counter, unsigned parts) {
  const int words = exact_format<D>::LIMBS + EXACT_COUNTS;
  struct fold_super *state = &states[part % copies].state;
  for (int k = threadIdx.x; k < words; k += blockDim.x) {
    const int64_t word = *exact_state_word<D>(block, k);
    if (word) atomicAdd((exact_u64 *)exact_state_word<D>(state, k), (exact_u64)word);
  }
  __syncthreads();
  if (!arrive_last(counter, parts)) return false;
  for (int k = threadIdx.x; k < words; k += blockDim.x) {
    int64_t found[EXACT_COPIES]; /* loads all copies at the same time */
#pragma unroll
    for (unsigned c = 0; c < EXACT_COPIES; c++)
      found[c] = c < copies ? (int64_t)__ldcg((const long long *)exact_state_word<D>(&states[c].state, k)) : 0;
    int64_t sum = 0;
#pragma unroll
    for (unsigned c = 0; c < EXACT_COPIES; c++) {
      sum += found[c];
      if (c < copies) *exact_state_word<D>(&states[c].state, k) = 0;
    }
    *exact_state_word<D>(block, k) = sum;
  }
  __syncthreads();
  return true;
}

/* Ends a row, by one warp: gives its bits, or its normalised words in `block`. */
template <int D>
static __device__ __forceinline__ void exact_end(struct fold_super *block, size_t cols, bool state, void *out,
                                                 size_t row) {
  if ((threadIdx.x & 31) == 0) {
    block->terms = (int64_t)cols;
    block->other_than_negative_zero = block->other_than_negative_zero != 0;
  }
  __syncwarp();
  exact_normalise<D>(block->limb);
  if (state) return;
  const uint64_t bits = exact_round<D>(block->limb, (const int64_t *)block + FOLD_SUPER_LIMBS);
  if ((threadIdx.x & 31) == 0) fold_bits_store((fold_dtype)D, out, row, bits);
}

template <int D, int N>
__global__ __launch_bounds__(EXACT_THREADS(D), EXACT_BLOCKS(D)) void exact_block_kernel(
    const typename exact_tile<D>::stored *__restrict__ in, void *out, int64_t *d_words, struct exact_meeting *meeting,
    unsigned *counters, const struct exact_plan plan) {
  extern __shared__ __align__(16) char columns[];
  __shared__ struct fold_super block;
  __shared__ struct exact_set sets[EXACT_MOST_WARPS];
  if (threadIdx.x < EXACT_MOST_WARPS) sets[threadIdx.x] = {0, 0, 0};
  for (size_t work = blockIdx.x; work < plan.rows * plan.parts; work += gridDim.x) {
    const size_t row = plan.rows == 1 ? 0 : work / plan.parts, part = work - row * plan.parts;
    for (int k = threadIdx.x; k < (int)FOLD_SUPER_WORDS; k += blockDim.x) ((int64_t *)&block)[k] = 0;
    __syncthreads();
    exact_block_sum(exact_row<D, N>(in + row * plan.cols, plan.cols), part, plan.piece, columns, sets, &block);
    __syncthreads();
    if (plan.parts == 1 ||
        exact_meet<D>(&block, meeting + row * plan.copies, plan.copies, part, counters + row, plan.parts)) {
      if (threadIdx.x < 32) exact_end<D>(&block, plan.cols, d_words != NULL, out, row);
      __syncthreads();
      for (int k = threadIdx.x; d_words && k < exact_format<D>::WORDS; k += blockDim.x)
        d_words[row * exact_format<D>::WORDS + k] = *exact_state_word<D>(&block, k);
    }
    __syncthreads();
  }
}

#endif
