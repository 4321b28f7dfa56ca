/* exact_special.cuh: the exact sum's NaN, infinities and zeros.
 *
 * Promised: terms that are not finite are counted and replaced in the tile by -0, which changes no sum. It also notes whether any
 * term is not -0, because the sum of nothing but -0 is -0. Used by exact_warp.cuh.
 */
#ifndef FOLD_EXACT_SPECIAL_CUH
#define FOLD_EXACT_SPECIAL_CUH

#include "kernels/cuda/exact/exact_format.cuh"

/* What a lane has counted. */
struct exact_special {
  int64_t nan, positive_infinity, negative_infinity;
};

/* Puts -0 in term k's place. */
template <int D>
static __device__ __forceinline__ void exact_take_out(uint4 &q, int k) {
  if constexpr (exact_tile<D>::SIZE == 8) {
    exact_set_word(q, 2 * k, 0);
    exact_set_word(q, 2 * k + 1, 0x80000000u);
  } else if constexpr (exact_tile<D>::SIZE == 4) {
    exact_set_word(q, k, 0x80000000u);
  } else {
    const uint32_t word = exact_word(q, k / 2);
    exact_set_word(q, k / 2, k & 1 ? (word & 0xffffu) | 0x80000000u : (word & 0xffff0000u) | 0x8000u);
  }
}

template <int D>
static __device__ __forceinline__ void exact_take_specials(struct exact_special &special, uint4 &q) {
#pragma unroll
  for (int k = 0; k < exact_tile<D>::EACH; k++) {
    const uint32_t pattern = exact_pattern<D>(q, k), top = exact_shift<D>::TOP << exact_shift<D>::MOST;
    if ((pattern & top) != top) continue;
    const bool nan = (pattern & ((1u << exact_shift<D>::MOST) - 1)) || exact_pattern_low<D>(q, k);
    const bool negative = pattern >> (exact_tile<D>::SIZE == 2 ? 15 : 31);
    special.nan += nan;
    special.positive_infinity += !nan && !negative;
    special.negative_infinity += !nan && negative;
    exact_take_out<D>(q, k);
  }
}

/* Whether a term of the access is something other than -0. */
template <int D>
static __device__ __forceinline__ bool exact_other(const uint4 &q) {
  const uint32_t minus = exact_tile<D>::MINUS_ZERO;
  if constexpr (D == FOLD_F64) return q.x || q.y != minus || q.z || q.w != minus;
  return q.x != minus || q.y != minus || q.z != minus || q.w != minus;
}

#endif
