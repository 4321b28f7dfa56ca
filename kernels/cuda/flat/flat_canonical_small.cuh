/* flat_canonical_small.cuh: flat/canonical where time is latency: one row of few tiles.
 *
 * The bits are those of the other kernel; who does what is chosen so that the longest way from launch to result is
 * one load, one store and one load more. A thread has one place of one tile, all 16 elements of it in flight at once. A
 * block has 1, 2 or 4 tiles and leaves its value in a slot of the zeroed part of scratch; the last block waits for the
 * slots, folds them by the tree and zeroes them again.
 *
 * A slot holds the value's bits, inverted; 0 means that nothing is there yet. The pattern that inverts to 0 is a NaN,
 * and every NaN is written as the one that inverts to 1. So the value is its own flag: no counter, no fence.
 *
 * The last block waits for blocks of smaller index: they started before it, as in any single-pass scan.
 *
 * Limits: as many blocks as slots fit in FOLD_SCRATCH_ZEROED bytes, 256 a warp of the last block.
 *
 * Measured on one H200 between two events, beside CUB's default and a plain read of the same bytes (microseconds):
 *   10^4   f32 6.2, 10.4, 5.6; f64 6.6, 10.9, 5.6; f16 6.8, 11.6, 6.4
 *   10^5   f32 7.0, 10.8, 5.7; f64 7.2, 10.8, 5.9; f16 7.0, 11.1, 6.1
 *   10^6   f32 8.1, 10.9, 6.3; f64 9.1, 11.9, 7.7; f16 7.4, 10.8, 5.9
 * In graphs of calls, launched while the one before ends: f32 1.4, 1.9, 2.9, CUB's 3.8, 3.6, 3.9; not launched so: 2.0, 2.6, 3.4.
 * A kernel that just loads, launched so, takes 2.3 us for 10^6 f32 and 3.1 us for f64, 0.59 and 0.60 of CUB's time; with each block's tree
 * and store 2.2 and 3.3 us. The rest of 2.9 and 4.2 us is the way from block to block.
 * Against the last block's atomic counter: 1 us less at 10^5 and 10^6. What is left over the read is the way from a
 * block to another through the L2, one store and one load, and two trees.
 */
#ifndef FOLD_FLAT_CANONICAL_SMALL_CUH
#define FOLD_FLAT_CANONICAL_SMALL_CUH

#include "kernels/cuda/common.cuh"
#include "kernels/cuda/flat/flat_canonical_plan.cuh"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/load.cuh"
#include "oracles/canonical.h"

template <class W>
struct canonical_slot;
template <>
struct canonical_slot<float> {
  typedef uint32_t bits;
  static __device__ __forceinline__ bits pack(float x) { return x != x ? 1 : ~__float_as_uint(x); }
  static __device__ __forceinline__ float unpack(bits b) { return __uint_as_float(~b); }
  static __device__ __forceinline__ void put(bits *slot, bits b) {
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(slot), "r"(b) : "memory");
  }
  static __device__ __forceinline__ bits get(bits *slot) {
    bits b;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(b) : "l"(slot) : "memory");
    return b;
  }
};
template <>
struct canonical_slot<double> {
  typedef uint64_t bits;
  static __device__ __forceinline__ bits pack(double x) { return x != x ? 1 : ~(bits)__double_as_longlong(x); }
  static __device__ __forceinline__ double unpack(bits b) { return __longlong_as_double((long long)~b); }
  static __device__ __forceinline__ void put(bits *slot, bits b) {
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(slot), "l"(b) : "memory");
  }
  static __device__ __forceinline__ bits get(bits *slot) {
    bits b;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(b) : "l"(slot) : "memory");
    return b;
  }
};

/* The tree over neighbours over one value of each thread; thread 0 has the result. */
template <class OP, class W>
static __device__ __forceinline__ W fold_block(W x, W *room) {
#pragma unroll
  for (int offset = 1; offset < 32; offset *= 2) x = OP::join(x, __shfl_xor_sync(~0u, x, offset));
  if ((threadIdx.x & 31) == 0) room[threadIdx.x / 32] = x;
  __syncthreads();
  if (threadIdx.x >= 32) return x;
  x = threadIdx.x < blockDim.x / 32 ? room[threadIdx.x] : OP::none();
#pragma unroll
  for (int offset = 1; offset < 32; offset *= 2) x = OP::join(x, __shfl_xor_sync(~0u, x, offset));
  return x;
}

/* The chain of one place: `lines` elements, 256 apart, at most 16; all are loaded first. If there are fewer than 16,
 * the missing ones read the last one again and are not joined. */
template <int D, class OP>
static __device__ __forceinline__ typename fold_element<D>::wide fold_chain(
    const typename fold_element<D>::stored *__restrict__ from, unsigned lines) {
  typename fold_element<D>::stored x[FOLD_CANONICAL_LINES];
  if (lines == 0) return OP::none();
  if (lines >= FOLD_CANONICAL_LINES) {
#pragma unroll
    for (int line = 0; line < FOLD_CANONICAL_LINES; line++) x[line] = __ldcs(from + line * FOLD_CANONICAL_PLACES);
  } else {
#pragma unroll
    for (unsigned line = 0; line < FOLD_CANONICAL_LINES; line++)
      x[line] = __ldcs(from + min(line, lines - 1) * FOLD_CANONICAL_PLACES);
  }
  typename fold_element<D>::wide chain = fold_element<D>::widen(x[0]);
#pragma unroll
  for (unsigned line = 1; line < FOLD_CANONICAL_LINES; line++)
    chain = line < lines ? OP::join(chain, fold_element<D>::widen(x[line])) : chain;
  return chain;
}

/* The tree over slots first .. first + 255 of n, by one warp, 8 neighbours in each lane; waits for each slot and sets
 * it to 0. */
template <class OP, class W>
static __device__ __forceinline__ W fold_slots(typename canonical_slot<W>::bits *slots, unsigned first, unsigned n) {
  typedef canonical_slot<W> slot;
  const int EACH = CANONICAL_ROUND / 32;
  const unsigned mine = first + (threadIdx.x & 31) * EACH;
  typename slot::bits b[EACH];
  bool missing;
  do {
    missing = false;
#pragma unroll
    for (int k = 0; k < EACH; k++) b[k] = mine + k < n ? slot::get(slots + mine + k) : 1;
#pragma unroll
    for (int k = 0; k < EACH; k++) missing |= b[k] == 0;
  } while (missing);
  W x[EACH];
#pragma unroll
  for (int k = 0; k < EACH; k++) x[k] = mine + k < n ? slot::unpack(b[k]) : OP::none();
#pragma unroll
  for (int stride = 1; stride < EACH; stride *= 2)
#pragma unroll
    for (int k = 0; k < EACH; k += 2 * stride) x[k] = OP::join(x[k], x[k + stride]);
  __syncwarp();
#pragma unroll
  for (int offset = 1; offset < 32; offset *= 2) x[0] = OP::join(x[0], __shfl_xor_sync(~0u, x[0], offset));
#pragma unroll
  for (int k = 0; k < EACH; k++)
    if (mine + k < n) slot::put(slots + mine + k, 0);
  return x[0];
}

template <int D, int O>
__global__ __launch_bounds__(1024) void canonical_small_kernel(const typename fold_element<D>::stored *__restrict__ in,
                                                               typename fold_element<D>::stored *__restrict__ out,
                                                               void *scratch, unsigned n) {
  typedef typename fold_element<D>::wide W;
  typedef fold_operation<O, W> OP;
  typedef canonical_slot<W> slot;
  __shared__ W room[2][32];
  if (threadIdx.x == 0) {
    const unsigned tiles = blockDim.x / FOLD_CANONICAL_PLACES, begin = blockIdx.x * tiles * FOLD_CANONICAL_TILE;
    fold_prefetch((uint64_t)(in + begin), (uint64_t)(in + min(begin + tiles * FOLD_CANONICAL_TILE, n)));
  }
  fold_wait_for_stream();
  const unsigned at = blockIdx.x * blockDim.x + threadIdx.x, place = at % FOLD_CANONICAL_PLACES;
  const unsigned first = at / FOLD_CANONICAL_PLACES * FOLD_CANONICAL_TILE + place;
  const unsigned lines = first >= n ? 0 : (n - first + FOLD_CANONICAL_PLACES - 1) / FOLD_CANONICAL_PLACES;
  W value = fold_block<OP, W>(fold_chain<D, OP>(in + first, lines), room[0]);
  if (gridDim.x > 1) {
    typename slot::bits *slots = (typename slot::bits *)scratch;
    if (threadIdx.x == 0) slot::put(slots + blockIdx.x, slot::pack(value));
    if (blockIdx.x != gridDim.x - 1) return;
    const unsigned warp = threadIdx.x / 32, rounds = (gridDim.x + CANONICAL_ROUND - 1) / CANONICAL_ROUND;
    if (warp < rounds) value = fold_slots<OP, W>(slots, warp * CANONICAL_ROUND, gridDim.x);
    if (rounds > 1) {
      if (warp < rounds && threadIdx.x % 32 == 0) room[1][warp] = value;
      __syncthreads();
      for (unsigned stride = 1; threadIdx.x == 0 && stride < rounds; stride *= 2)
        for (unsigned i = 0; i + stride < rounds; i += 2 * stride)
          room[1][i] = OP::join(room[1][i], room[1][i + stride]);
      value = room[1][0];
    }
  }
  if (threadIdx.x == 0) *out = fold_element<D>::narrow(value);
}

#endif
