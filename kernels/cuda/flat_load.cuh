/* flat_load.cuh: one access of VEC neighbouring elements, kept as loaded until each is asked for.
 *
 * Promised: 16-byte accesses where VEC fills 16 bytes (the address must be aligned to them), single elements where VEC
 * is 1. What is read is read once: loads bypass the L1 and ask the L2 for the whole 256 bytes around them.
 */
#ifndef FOLD_FLAT_LOAD_CUH
#define FOLD_FLAT_LOAD_CUH

#include "common.cuh"

static __device__ __forceinline__ uint4 load_16(const void *address) {
#if __CUDA_ARCH__ >= 800
  uint4 x;
  asm volatile("ld.global.nc.L1::no_allocate.L2::256B.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w)
               : "l"(address));
  return x;
#else
  return __ldcs((const uint4 *)address);
#endif
}

template <int D, int VEC>
struct fold_pack {
  uint4 bits;
  __device__ __forceinline__ void load(const typename fold_element<D>::stored *from) { bits = load_16(from); }
  __device__ __forceinline__ uint32_t word(int i) const {
    return i == 0 ? bits.x : i == 1 ? bits.y : i == 2 ? bits.z : bits.w;
  }
  /* Element v, widened; v is a constant after unrolling. */
  __device__ __forceinline__ typename fold_element<D>::wide get(int v) const {
    if constexpr (sizeof(typename fold_element<D>::stored) == 8)
      return __hiloint2double((int)word(2 * v + 1), (int)word(2 * v));
    else if constexpr (sizeof(typename fold_element<D>::stored) == 4)
      return __uint_as_float(word(v));
    else
      return fold_element<D>::widen((uint16_t)(word(v / 2) >> 16 * (v & 1)));
  }
};

template <int D>
struct fold_pack<D, 1> {
  typename fold_element<D>::stored x;
  __device__ __forceinline__ void load(const typename fold_element<D>::stored *from) { x = __ldcs(from); }
  __device__ __forceinline__ typename fold_element<D>::wide get(int) const { return fold_element<D>::widen(x); }
};

#endif
