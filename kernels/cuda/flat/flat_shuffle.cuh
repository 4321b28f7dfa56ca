/* flat_shuffle.cuh: the order flat/shuffle in pieces: a grid's sweep through a row, and phase two over its values.
 *
 * Order, with G = min(ceil(n / 256), 1024): thread g of 256 G joins x[g], x[g + 256 G], x[g + 512 G] ... in rising
 * index from the operation's zero; 32 neighbouring threads, a warp, join by shuffling down (lane l takes lane l + 16,
 * then
 * + 8, 4, 2, 1); a block's 8 warp values, and zeros for the missing 24, likewise. Phase two: one block of 256 threads
 * over the G values by the same rule. Threads and blocks of that definition are virtual here. A lane plays VEC
 * neighbouring threads, so that it loads VEC neighbours by one access; 256 lanes play VEC blocks, a bundle. Shuffles by
 * VEC and more are lanes that talk, smaller ones stay within a lane. Used by flat_shuffle.cu and flat_cooperative.cu.
 */
#ifndef FOLD_FLAT_SHUFFLE_CUH
#define FOLD_FLAT_SHUFFLE_CUH

#include "kernels/cuda/common.cuh"
#include "kernels/cuda/last_block.cuh"
#include "kernels/cuda/load.cuh"

#define SHUFFLE_WIDTH 256u
#define SHUFFLE_MOST_BLOCKS 1024u

/* Neighbouring threads that a lane plays, and accesses that it loads ahead: measured on the H200 (flat_shuffle.cu). */
template <int D>
struct shuffle_tuning {
  static const int SIZE = (int)sizeof(typename fold_element<D>::stored), VEC = 2;
  static const int AHEAD = SIZE == 4 ? 32 : 16;
  static bool aligned(const struct fold_call *call) {
    const size_t access = VEC * SIZE;
    return (uintptr_t)call->in[0] % access == 0 && (call->rows == 1 || call->cols * SIZE % access == 0);
  }
};

/* G for n >= 1 elements. */
static inline __host__ __device__ unsigned shuffle_blocks(size_t n) {
  const size_t blocks = (n + SHUFFLE_WIDTH - 1) / SHUFFLE_WIDTH;
  return blocks < SHUFFLE_MOST_BLOCKS ? (unsigned)blocks : SHUFFLE_MOST_BLOCKS;
}

/* Joins `rounds` <= AHEAD accesses, `grid` elements apart, all loaded before the first is joined. If there are fewer
 * than AHEAD, the missing ones read the last one again and are not joined. */
template <class OP, int D, int VEC, int AHEAD>
static __device__ __forceinline__ void shuffle_rounds(const typename fold_element<D>::stored *__restrict__ from,
                                                      size_t grid, unsigned rounds,
                                                      typename fold_element<D>::wide (&chain)[VEC]) {
  fold_pack<D, VEC> pack[AHEAD];
#pragma unroll
  for (unsigned k = 0; k < AHEAD; k++) pack[k].load(from + min(k, rounds - 1) * grid);
#pragma unroll
  for (unsigned k = 0; k < AHEAD; k++)
#pragma unroll
    for (int v = 0; v < VEC; v++) chain[v] = k < rounds ? OP::join(chain[v], pack[k].get(v)) : chain[v];
}

/* VEC neighbouring chains in each lane; `first` is the lane's first thread among the grid's `grid` threads. In a small
 * grid, lanes of the last bundle may be past it: they have no elements. */
template <class OP, int D, int VEC, int AHEAD>
static __device__ __forceinline__ void shuffle_sweep(const typename fold_element<D>::stored *__restrict__ row, size_t n,
                                                     size_t first, size_t grid,
                                                     typename fold_element<D>::wide (&chain)[VEC]) {
#pragma unroll
  for (int v = 0; v < VEC; v++) chain[v] = OP::zero();
  if (first >= grid) return;
  const typename fold_element<D>::stored *from = row + first;
  const size_t rest = n % grid;
  size_t rounds = n / grid + (first + VEC <= rest);
  for (; rounds >= AHEAD; rounds -= AHEAD, from += AHEAD * grid)
    shuffle_rounds<OP, D, VEC, AHEAD>(from, grid, AHEAD, chain);
  for (; rounds > 0; rounds -= min(rounds, (size_t)8), from += 8 * grid)
    shuffle_rounds<OP, D, VEC, 8>(from, grid, (unsigned)min(rounds, (size_t)8), chain);
  from = row + n / grid * grid + first;
#pragma unroll
  for (int v = 0; v < VEC - 1; v++)
    if (first + VEC > rest && first + v < rest) chain[v] = OP::join(chain[v], fold_element<D>::widen(from[v]));
}

/* A warp's value from its chains: 32 / VEC neighbouring lanes play the warp; the first of them has the value. */
template <class OP, class W, int VEC>
static __device__ __forceinline__ W shuffle_warp(W (&chain)[VEC]) {
#pragma unroll
  for (int offset = 16 / VEC; offset > 0; offset /= 2)
#pragma unroll
    for (int v = 0; v < VEC; v++) chain[v] = OP::join(chain[v], __shfl_down_sync(~0u, chain[v], offset));
#pragma unroll
  for (int stride = VEC / 2; stride > 0; stride /= 2)
#pragma unroll
    for (int v = 0; v < stride; v++) chain[v] = OP::join(chain[v], chain[v + stride]);
  return chain[0];
}

/* A block's value from its 8 warp values. Joining with the missing 24 changes nothing: they hold zero, and no chain
 * that started at zero is -0. */
template <class OP, class W>
static __device__ __forceinline__ W shuffle_block(const W *warps) {
  W a = OP::join(warps[0], warps[4]), b = OP::join(warps[1], warps[5]);
  W c = OP::join(warps[2], warps[6]), d = OP::join(warps[3], warps[7]);
  return OP::join(OP::join(a, c), OP::join(b, d));
}

/* Block values bundle * VEC ... + VEC - 1 of a row, by 256 threads. `room` holds 8 * VEC values. */
template <class OP, int D, int VEC, int AHEAD>
static __device__ __forceinline__ void shuffle_bundle(const typename fold_element<D>::stored *__restrict__ row,
                                                      size_t n, unsigned bundle, typename fold_element<D>::wide *values,
                                                      typename fold_element<D>::wide *room) {
  typedef typename fold_element<D>::wide W;
  const unsigned blocks = shuffle_blocks(n), lanes = 32 / VEC;
  W chain[VEC];
  const size_t first = ((size_t)bundle * SHUFFLE_WIDTH + threadIdx.x) * VEC;
  shuffle_sweep<OP, D, VEC, AHEAD>(row, n, first, (size_t)blocks * SHUFFLE_WIDTH, chain);
  W x = shuffle_warp<OP, W, VEC>(chain);
  if (threadIdx.x % lanes == 0) room[threadIdx.x / lanes] = x;
  __syncthreads();
  const unsigned block = bundle * VEC + threadIdx.x;
  if (threadIdx.x < VEC && block < blocks) values[block] = shuffle_block<OP, W>(room + 8 * threadIdx.x);
  __syncthreads();
}

/* Phase two: 256 threads over the row's G values; thread 0 has the result. Other blocks wrote the values, so that they
 * are read past the L1. */
template <class OP, class W>
static __device__ __forceinline__ W shuffle_second(const W *values, unsigned blocks, W *room) {
  W chain[1] = {OP::zero()};
  for (unsigned i = threadIdx.x; i < blocks; i += SHUFFLE_WIDTH) chain[0] = OP::join(chain[0], __ldcg(values + i));
  W x = shuffle_warp<OP, W, 1>(chain);
  if (threadIdx.x % 32 == 0) room[threadIdx.x / 32] = x;
  __syncthreads();
  x = threadIdx.x == 0 ? shuffle_block<OP, W>(room) : OP::zero();
  __syncthreads();
  return x;
}

/* Scratch: counters, one for each row if there are more than fit in the zeroed part; then the rows' block values. */
struct shuffle_plan {
  size_t rows, cols;
  unsigned blocks;  /* G */
  unsigned bundles; /* how many physical blocks play a row */
  size_t counters_at, values_at;
};

/* All of it in one launch. */
template <int D, int O, int VEC, int AHEAD>
__global__ __launch_bounds__(SHUFFLE_WIDTH) void shuffle_kernel(const typename fold_element<D>::stored *__restrict__ in,
                                                                typename fold_element<D>::stored *__restrict__ out,
                                                                typename fold_element<D>::wide *values,
                                                                unsigned *counters, struct shuffle_plan plan) {
  typedef typename fold_element<D>::wide W;
  typedef fold_operation<O, W> OP;
  __shared__ W room[8 * VEC];
  for (size_t work = blockIdx.x; work < plan.rows * plan.bundles; work += gridDim.x) {
    const size_t row = work / plan.bundles;
    const unsigned bundle = (unsigned)(work % plan.bundles);
    W *row_values = values + row * plan.blocks;
    shuffle_bundle<OP, D, VEC, AHEAD>(in + row * plan.cols, plan.cols, bundle, row_values, room);
    if (!arrive_last(counters + row, plan.bundles)) continue;
    const W x = shuffle_second<OP, W>(row_values, plan.blocks, room);
    if (threadIdx.x == 0) out[row] = fold_element<D>::narrow(x);
  }
}

#endif
