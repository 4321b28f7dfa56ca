/* load.cuh: one access of VEC neighbouring elements, kept as loaded until each is asked for.
 *
 * Promised: one access of VEC elements, 16 bytes at most; the address must be aligned to all of it. What is read is
 * read once: it is marked to leave the caches first. (Tried on the H200: plain and no_allocate loads are as fast, an
 * L2::256B hint costs 6% of the bandwidth.)
 */
#ifndef FOLD_CUDA_LOAD_CUH
#define FOLD_CUDA_LOAD_CUH

#include "kernels/cuda/common.cuh"

static __device__ __forceinline__ uint4 load_16(const void *address) { return __ldcs((const uint4 *)address); }

/* The words of an access, 32 bits each. */
template <int BYTES>
struct fold_words;
template <>
struct fold_words<16> {
  uint32_t w[4];
  __device__ __forceinline__ void load(const void *from) {
    const uint4 x = load_16(from);
    w[0] = x.x, w[1] = x.y, w[2] = x.z, w[3] = x.w;
  }
};
template <>
struct fold_words<8> {
  uint32_t w[2];
  __device__ __forceinline__ void load(const void *from) {
    const uint2 x = __ldcs((const uint2 *)from);
    w[0] = x.x, w[1] = x.y;
  }
};
template <>
struct fold_words<4> {
  uint32_t w[1];
  __device__ __forceinline__ void load(const void *from) { w[0] = __ldcs((const uint32_t *)from); }
};
template <>
struct fold_words<2> {
  uint32_t w[1];
  __device__ __forceinline__ void load(const void *from) { w[0] = __ldcs((const uint16_t *)from); }
};

template <int D, int VEC>
struct fold_pack {
  static const int SIZE = (int)sizeof(typename fold_element<D>::stored);
  fold_words<VEC * SIZE> words;
  __device__ __forceinline__ void load(const typename fold_element<D>::stored *from) { words.load(from); }
  /* Element v, widened; v is a constant after unrolling. */
  __device__ __forceinline__ typename fold_element<D>::wide get(int v) const {
    if constexpr (SIZE == 8)
      return __hiloint2double((int)words.w[2 * v + 1], (int)words.w[2 * v]);
    else if constexpr (SIZE == 4)
      return __uint_as_float(words.w[v]);
    else
      return fold_element<D>::widen((uint16_t)(words.w[v / 2] >> 16 * (v & 1)));
  }
};

#endif
