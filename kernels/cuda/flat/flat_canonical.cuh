/* flat_canonical.cuh: flat/canonical on the device: one launch, any grid, the bits of oracles/canonical.h.
 *
 * Order: tiles of 4096 elements; place p of a tile joins x[p], x[256 + p], ... x[3840 + p] in rising line; then a tree
 * over neighbours over the 256 places, and the same tree over the tiles. Missing terms are the true identity.
 *
 * Promised: bits that depend on the row's elements and their number alone; who does what never matters. A warp makes a
 * part of a tile, a block an item, that is 2^k aligned tiles of a row. The block that finishes last of a span of items
 * joins their values by the tree, the one that finishes last of a row's spans joins those.
 *
 * Limits: at most 256 threads a block, whole warps. Used by flat_canonical.cu.
 */
#ifndef FOLD_FLAT_CANONICAL_CUH
#define FOLD_FLAT_CANONICAL_CUH

#include "kernels/cuda/common.cuh"
#include "kernels/cuda/flat/flat_canonical_plan.cuh"
#include "kernels/cuda/flat/flat_canonical_small.cuh"
#include "kernels/cuda/last_block.cuh"
#include "kernels/cuda/load.cuh"
#include "oracles/canonical.h"

/* What a warp sums at a time is a part: 32 VEC neighbouring places of a tile, VEC of them for each lane, and 16 lines:
 * 16 accesses a lane for every dtype. A part is a subtree of the tile, so that an item is the tree over its parts.
 * (Whole tiles, 2 or 4 accesses wide with their trees folded together, were no faster on the H200.) */
template <int D, bool WIDE>
struct canonical_part {
  static const int VEC = WIDE ? 16 / (int)sizeof(typename fold_element<D>::stored) : 1;
  static const int SPAN = 32 * VEC;
  static const int PER_TILE = FOLD_CANONICAL_PLACES / SPAN;
};

/* The tree over the places of a part, from the lowest bit of the place upwards: first the slots of a lane, then the
 * lanes. Every lane returns the value. */
template <class OP, class W, int VEC>
static __device__ __forceinline__ W fold_places(W (&chain)[VEC]) {
#pragma unroll
  for (int stride = 1; stride < VEC; stride *= 2)
#pragma unroll
    for (int v = 0; v < VEC; v += 2 * stride) chain[v] = OP::join(chain[v], chain[v + stride]);
  W x = chain[0];
#pragma unroll
  for (int offset = 1; offset < 32; offset *= 2) x = OP::join(x, __shfl_xor_sync(~0u, x, offset));
  return x;
}

/* A part of a tile that is complete; `from` is the lane's first element. */
template <int D, int O, bool WIDE>
static __device__ __forceinline__ typename fold_element<D>::wide fold_full_part(
    const typename fold_element<D>::stored *from) {
  typedef typename fold_element<D>::wide W;
  typedef fold_operation<O, W> OP;
  const int VEC = canonical_part<D, WIDE>::VEC;
  W chain[VEC];
#pragma unroll
  for (int line = 0; line < FOLD_CANONICAL_LINES; line++) {
    fold_pack<D, VEC> pack;
    pack.load(from + line * FOLD_CANONICAL_PLACES);
#pragma unroll
    for (int v = 0; v < VEC; v++) chain[v] = line ? OP::join(chain[v], pack.get(v)) : pack.get(v);
  }
  return fold_places<OP, W, VEC>(chain);
}

/* The same if only `left` elements lie between `from` and the row's end; 0 or fewer if none do. There are `full` whole
 * accesses, then up to VEC - 1 single elements, then the identity. Lines past the last whole access read that access
 * again, so that no load waits for another. It is not inlined: it is rare, and inlining costs whole tiles 4 to 8% of
 * their speed. */
template <int D, int O, bool WIDE>
static __device__ __noinline__ typename fold_element<D>::wide fold_short_part(
    const typename fold_element<D>::stored *from, int left) {
  typedef typename fold_element<D>::wide W;
  typedef fold_operation<O, W> OP;
  const int VEC = canonical_part<D, WIDE>::VEC;
  const int full = left < VEC ? 0 : min((left - VEC) / FOLD_CANONICAL_PLACES + 1, FOLD_CANONICAL_LINES);
  W chain[VEC];
#pragma unroll
  for (int v = 0; v < VEC; v++) chain[v] = OP::none();
  if (full) {
    fold_pack<D, VEC> pack[FOLD_CANONICAL_LINES];
#pragma unroll
    for (int line = 0; line < FOLD_CANONICAL_LINES; line++)
      pack[line].load(from + min(line, full - 1) * FOLD_CANONICAL_PLACES);
#pragma unroll
    for (int line = 0; line < FOLD_CANONICAL_LINES; line++)
#pragma unroll
      for (int v = 0; v < VEC; v++) chain[v] = line < full ? OP::join(chain[v], pack[line].get(v)) : chain[v];
  }
  const int at = full * FOLD_CANONICAL_PLACES;
#pragma unroll
  for (int v = 0; v < VEC - 1; v++)
    if (full < FOLD_CANONICAL_LINES && at + v < left)
      chain[v] = OP::join(chain[v], fold_element<D>::widen(from[at + v]));
  return fold_places<OP, W, VEC>(chain);
}

/* Part `part` of the tile that starts at element `first` of a row of `cols`. */
template <int D, int O, bool WIDE>
static __device__ __forceinline__ typename fold_element<D>::wide fold_part(const typename fold_element<D>::stored *row,
                                                                           size_t cols, size_t first, unsigned part) {
  const unsigned place = part * canonical_part<D, WIDE>::SPAN + (threadIdx.x & 31) * canonical_part<D, WIDE>::VEC;
  const typename fold_element<D>::stored *from = row + first + place;
  const size_t left = cols - first;
  if (left >= FOLD_CANONICAL_TILE) return fold_full_part<D, O, WIDE>(from);
  return fold_short_part<D, O, WIDE>(from, (int)left - (int)place);
}

/* The tree over neighbours over values[0 .. n), n <= 256, by one warp: 8 neighbours in each lane, then the lanes.
 * GLOBAL: other blocks wrote the values, so that they are read past the L1. */
template <class OP, class W, bool GLOBAL>
static __device__ __forceinline__ W fold_round(const W *values, size_t n) {
  const int EACH = CANONICAL_ROUND / 32;
  const size_t first = (threadIdx.x & 31) * EACH;
  W x[EACH];
#pragma unroll
  for (int v = 0; v < EACH; v++)
    x[v] = first + v >= n ? OP::none() : GLOBAL ? __ldcg(values + first + v) : values[first + v];
#pragma unroll
  for (int stride = 1; stride < EACH; stride *= 2)
#pragma unroll
    for (int v = 0; v < EACH; v += 2 * stride) x[v] = OP::join(x[v], x[v + stride]);
#pragma unroll
  for (int offset = 1; offset < 32; offset *= 2) x[0] = OP::join(x[0], __shfl_xor_sync(~0u, x[0], offset));
  return x[0];
}

/* The same over up to 65,536 values in global memory, by the block; `room` holds 256 values. Thread 0 has the result.
 */
template <class OP, class W>
static __device__ W fold_values(const W *values, size_t n, W *room) {
  const unsigned warp = threadIdx.x / 32, warps = blockDim.x / 32, lane = threadIdx.x & 31;
  const size_t rounds = (n + CANONICAL_ROUND - 1) / CANONICAL_ROUND;
  for (size_t i = warp; i < rounds; i += warps) {
    W x = fold_round<OP, W, true>(values + i * CANONICAL_ROUND, n - i * CANONICAL_ROUND);
    if (lane == 0) room[i] = x;
  }
  __syncthreads();
  W x = OP::none();
  if (warp == 0) x = fold_round<OP, W, false>(room, rounds);
  __syncthreads();
  return x;
}

template <int D, int O, bool WIDE, int THREADS>
__global__ __launch_bounds__(THREADS) void canonical_kernel(const typename fold_element<D>::stored *__restrict__ in,
                                                            typename fold_element<D>::stored *__restrict__ out,
                                                            typename fold_element<D>::wide *values,
                                                            typename fold_element<D>::wide *span_values,
                                                            unsigned *counters, const canonical_plan plan) {
  typedef typename fold_element<D>::wide W;
  typedef fold_operation<O, W> OP;
  __shared__ W room[CANONICAL_ROUND];
  const unsigned warp = threadIdx.x / 32, warps = blockDim.x / 32, lane = threadIdx.x & 31;
  for (size_t work = blockIdx.x; work < plan.rows * plan.items; work += gridDim.x) {
    const size_t row = plan.rows == 1 ? 0 : work / plan.items, item = work - row * plan.items;
    const size_t tile0 = item << plan.item_shift;
    const unsigned tiles = (unsigned)min((size_t)1 << plan.item_shift, plan.tiles - tile0);
    const unsigned per_tile = canonical_part<D, WIDE>::PER_TILE, parts = tiles * per_tile;
    for (unsigned p = warp; p < parts; p += warps) {
      W x = fold_part<D, O, WIDE>(in + row * plan.cols, plan.cols, (tile0 + p / per_tile) * FOLD_CANONICAL_TILE,
                                  p % per_tile);
      if (lane == 0) room[p] = x;
    }
    __syncthreads();
    W x = OP::none();
    if (warp == 0) x = fold_round<OP, W, false>(room, parts);
    __syncthreads();

    if (plan.items > 1) {
      const size_t span = item >> plan.span_shift, first = span << plan.span_shift;
      const size_t n = min((size_t)1 << plan.span_shift, plan.items - first);
      W *place = values + row * plan.items;
      if (threadIdx.x == 0) place[item] = x;
      if (!arrive_last(counters + row * plan.spans + span, (unsigned)n)) continue;
      x = fold_values<OP, W>(place + first, n, room);
      if (plan.partials) {
        if (threadIdx.x == 0) ((W *)plan.partials)[row * plan.spans + span] = x;
        continue;
      }
      if (plan.spans > 1) {
        place = span_values + row * plan.spans;
        if (threadIdx.x == 0) place[span] = x;
        if (!arrive_last(counters + plan.rows * plan.spans + row, (unsigned)plan.spans)) continue;
        x = fold_values<OP, W>(place, plan.spans, room);
      }
    }
    if (threadIdx.x == 0) {
      if (plan.partials)
        ((W *)plan.partials)[row] = x;
      else
        out[row] = fold_element<D>::narrow(x);
    }
  }
}

template <int D, int O>
__global__ void canonical_empty_kernel(typename fold_element<D>::stored *out, size_t rows) {
  typedef fold_operation<O, typename fold_element<D>::wide> OP;
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < rows; i += (size_t)gridDim.x * blockDim.x)
    out[i] = fold_element<D>::narrow(OP::zero());
}

template <int D, int O, bool WIDE>
static fold_status canonical_launch_kernel(const struct fold_call *call, const struct canonical_plan &plan) {
  typedef typename fold_element<D>::stored stored;
  typedef typename fold_element<D>::wide W;
  cudaStream_t stream = (cudaStream_t)call->stream;
  char *scratch = (char *)call->scratch;
  if (counters_at(&plan))
    FOLD_CUDA_TRY(cudaMemsetAsync(scratch + counters_at(&plan), 0, plan.counters * sizeof(unsigned), stream));
  canonical_kernel<D, O, WIDE, CANONICAL_MOST_THREADS><<<plan.blocks, plan.threads, 0, stream>>>(
      (const stored *)call->in[0], (stored *)call->out, (W *)(scratch + values_at(&plan)),
      (W *)(scratch + span_values_at(&plan)), (unsigned *)(scratch + counters_at(&plan)), plan);
  return fold_cuda_launched("canonical_kernel");
}

template <int D, int O>
static fold_status canonical_launch(const struct fold_call *call, const struct canonical_plan &plan) {
  if (plan.cols == 0) {
    canonical_empty_kernel<D, O>
        <<<plan.blocks, 256, 0, (cudaStream_t)call->stream>>>((typename fold_element<D>::stored *)call->out, plan.rows);
    return fold_cuda_launched("canonical_empty_kernel");
  }
  if (plan.small) {
    return fold_launch_early("canonical_small_kernel", canonical_small_kernel<D, O>, plan.blocks, plan.threads, 0,
                             call->stream, (const typename fold_element<D>::stored *)call->in[0],
                             (typename fold_element<D>::stored *)call->out, call->scratch, (unsigned)plan.cols);
  }
  return plan.wide_loads ? canonical_launch_kernel<D, O, true>(call, plan)
                         : canonical_launch_kernel<D, O, false>(call, plan);
}

#endif
