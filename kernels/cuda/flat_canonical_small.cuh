/* flat_canonical_small.cuh: flat/canonical where time is latency: one row of few tiles.
 *
 * The bits are those of the other kernel; who does what is chosen so that the longest way from launch to result is
 * one load, one store and one load more. A thread has one place of one tile, all 16 elements of it in flight at once. A
 * block has TILES tiles and leaves its value in a slot of the zeroed part of scratch; the last block waits for the
 * slots, folds them by the tree and zeroes them again. slot   the value's bits, inverted: 0 means that nothing is there
 * yet. The pattern that inverts to 0 is a NaN, and every NaN is written as the one of largest payload but one. So the
 * value is its own flag: no counter, no fence. The last block waits for blocks of smaller index: they started before
 * it, as in any single-pass scan. Limits: as many blocks as slots fit in FOLD_SCRATCH_ZEROED bytes, and no more than a
 * block has threads.
 */
#ifndef FOLD_FLAT_CANONICAL_SMALL_CUH
#define FOLD_FLAT_CANONICAL_SMALL_CUH

#include "canonical.h"
#include "common.cuh"
#include "flat_canonical_plan.cuh"
#include "flat_load.cuh"

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

/* The tree over neighbours over one value a thread; thread 0 has the result. */
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

/* The chain of one place: `lines` elements, 256 apart, 16 at most; all loads first. Where there are fewer, the missing
 * ones read the last one again and are not joined. */
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

template <int D, int O>
__global__ __launch_bounds__(1024) void canonical_small_kernel(const typename fold_element<D>::stored *__restrict__ in,
                                                               typename fold_element<D>::stored *__restrict__ out,
                                                               void *scratch, unsigned n) {
  typedef typename fold_element<D>::wide W;
  typedef fold_operation<O, W> OP;
  typedef canonical_slot<W> slot;
  typedef typename slot::bits bits;
  __shared__ W room[2][32];
  const unsigned at = blockIdx.x * blockDim.x + threadIdx.x, place = at % FOLD_CANONICAL_PLACES;
  const unsigned first = at / FOLD_CANONICAL_PLACES * FOLD_CANONICAL_TILE + place;
  const unsigned lines = first >= n ? 0 : (n - first + FOLD_CANONICAL_PLACES - 1) / FOLD_CANONICAL_PLACES;
  W chain = fold_chain<D, OP>(in + first, lines);
  W value = fold_block<OP, W>(chain, room[0]);
  if (gridDim.x > 1) {
    bits *slots = (bits *)scratch;
    if (threadIdx.x == 0) slot::put(slots + blockIdx.x, slot::pack(value));
    if (blockIdx.x != gridDim.x - 1) return;
    value = OP::none();
    if (threadIdx.x < gridDim.x) {
      bits b = 0;
      while (b == 0) b = slot::get(slots + threadIdx.x);
      slot::put(slots + threadIdx.x, 0);
      value = slot::unpack(b);
    }
    value = fold_block<OP, W>(value, room[1]);
  }
  if (threadIdx.x == 0) *out = fold_element<D>::narrow(value);
}

#endif
