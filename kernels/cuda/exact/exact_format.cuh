/* exact_format.cuh: what the exact sum needs of each element type: how wide its terms are, and how to look at them.
 *
 * Promised: exact_look keeps of a lane's terms the largest magnitude and the smallest but zero, by integer operations
 * on patterns, as cheaply as each format allows; exact_fields makes exponent fields of them. Used by exact_*.cuh alone.
 */
#ifndef FOLD_EXACT_FORMAT_CUH
#define FOLD_EXACT_FORMAT_CUH

#include <cuda_fp16.h>

#include "kernels/cuda/common.cuh"
#include "oracles/super.h"

#define EXACT_AHEAD 8 /* how many accesses of 16 bytes a lane has in a tile */

/* FRACTION: stored bits of the significand. LIMBS, WORDS: how many a state has (super.h). PARTS: windows
 * (exact_warp.cuh). COLUMN: bytes of a lane's column (exact_limbs.cuh, exact_bins.cuh). */
template <int D>
struct exact_format;
template <>
struct exact_format<FOLD_F16> {
  static const int FRACTION = 10, FIELD = 5, BASE = -24, LIMBS = 5, WORDS = LIMBS + FOLD_SUPER_COUNTS, PARTS = 1,
                   COLUMN = 0;
};
template <>
struct exact_format<FOLD_BF16> {
  static const int FRACTION = 7, FIELD = 8, BASE = -133, LIMBS = 11, WORDS = LIMBS + FOLD_SUPER_COUNTS, PARTS = 1,
                   COLUMN = 32 * 4 + 8 * 8;
};
template <>
struct exact_format<FOLD_F32> {
  static const int FRACTION = 23, FIELD = 8, BASE = -149, LIMBS = 12, WORDS = LIMBS + FOLD_SUPER_COUNTS, PARTS = 2,
                   COLUMN = 16 * 8;
};
template <>
struct exact_format<FOLD_F64> {
  static const int FRACTION = 52, FIELD = 11, BASE = -1074, LIMBS = 70, WORDS = LIMBS + FOLD_SUPER_COUNTS, PARTS = 3,
                   COLUMN = 70 * 8;
};

template <int D>
struct exact_tile {
  typedef exact_format<D> format;
  typedef typename fold_element<D>::stored stored;
  static const int SIZE = (int)sizeof(stored), EACH = 16 / SIZE, TERMS = EACH * EXACT_AHEAD;
  static const uint32_t MINUS_ZERO = SIZE == 2 ? 0x80008000u : 0x80000000u; /* f64: of the upper word */
};

/* Words of 16 bytes, by a constant index. */
static __device__ __forceinline__ uint32_t exact_word(const uint4 &q, int k) {
  return k == 0 ? q.x : k == 1 ? q.y : k == 2 ? q.z : q.w;
}
static __device__ __forceinline__ void exact_set_word(uint4 &q, int k, uint32_t word) {
  if (k == 0) q.x = word;
  if (k == 1) q.y = word;
  if (k == 2) q.z = word;
  if (k == 3) q.w = word;
}

/* Term k of an access: its pattern; for f64 the upper 32 bits of that, and the lower ones. */
template <int D>
static __device__ __forceinline__ uint32_t exact_pattern(const uint4 &q, int k) {
  if constexpr (exact_tile<D>::SIZE == 8) return exact_word(q, 2 * k + 1);
  if constexpr (exact_tile<D>::SIZE == 4) return exact_word(q, k);
  return k & 1 ? exact_word(q, k / 2) >> 16 : exact_word(q, k / 2) & 0xffffu;
}
template <int D>
static __device__ __forceinline__ uint32_t exact_pattern_low(const uint4 &q, int k) {
  return exact_tile<D>::SIZE == 8 ? exact_word(q, 2 * k) : 0;
}

/* The term as a double: exact. */
template <int D>
static __device__ __forceinline__ double exact_double(const uint4 &q, int k) {
  if constexpr (D == FOLD_F64) return __hiloint2double((int)exact_pattern<D>(q, k), (int)exact_pattern_low<D>(q, k));
  if constexpr (D == FOLD_F32) return (double)__uint_as_float(exact_pattern<D>(q, k));
  if constexpr (D == FOLD_BF16)
    return (double)__uint_as_float(k & 1 ? exact_word(q, k / 2) & 0xffff0000u : exact_word(q, k / 2) << 16);
  return (double)__half2float(__ushort_as_half((unsigned short)exact_pattern<D>(q, k)));
}

/* A 16-bit term times 2^-SCALE as a double, by integer operations: exponent and fraction move to their places there,
 * and the exponent's bias is left as it is. Zeros and subnormals come out right by themselves, subnormal. SCALE: how
 * far the biases are apart; a product with 2^SCALE is exact. A conversion takes as long as four of these.
 */
template <int D>
struct exact_scale {
  static const int SCALE = D == FOLD_F16 ? 1023 - 15 : D == FOLD_BF16 ? 1023 - 127 : 0;
};
template <int D>
static __device__ __forceinline__ double exact_scaled(const uint4 &q, int k) {
  if constexpr (exact_tile<D>::SIZE > 2) return exact_double<D>(q, k);
  const int word = (int)exact_word(q, k / 2), upper = k & 1 ? word : word << 16;
  if constexpr (D == FOLD_F16) return __hiloint2double(upper >> 6 & (int)0x81fffc00u, 0);
  return __hiloint2double(upper >> 3 & (int)0x8fffe000u, 0);
}

/* What a lane has seen of its terms. `most`: the largest pattern without sign (f64: its upper half). `least`: the
 * smallest such pattern other than zero, minus one, so that zero becomes the largest; f32's is doubled first, f64's is
 * its upper half, plus one if the lower half is not zero. So a pattern that is an exact power of two may count as one
 * exponent lower, which is safe and costs nothing. In the 16-bit formats both hold two terms, `least` with the sign
 * bits inverted. */
struct exact_seen {
  uint32_t most, least;
};

template <int D>
static __device__ __forceinline__ void exact_look(struct exact_seen &seen, const uint4 &q) {
#pragma unroll
  for (int k = 0; k < 4; k++) {
    const uint32_t word = exact_word(q, k);
    if constexpr (exact_tile<D>::SIZE == 2) {
      seen.most = __vmaxu2(seen.most, word & 0x7fff7fffu);
      if constexpr (D == FOLD_BF16) seen.least = __vmins2(seen.least, (word | 0x80008000u) - 0x00010001u);
    } else if constexpr (D == FOLD_F32) {
      seen.most = __float_as_uint(fold_larger(__uint_as_float(seen.most), fabsf(__uint_as_float(word))));
      seen.least = min(seen.least, (word << 1) - 1);
    } else if (k & 1) {
      const uint32_t upper = word & 0x7fffffffu;
      seen.most = max(seen.most, upper);
      seen.least = min(seen.least, upper + min(exact_word(q, k - 1), 1u) - 1);
    }
  }
}

/* Finds the largest pattern alone, if no windows are wanted: `most` as above, from one word of each term. */
template <int D>
static __device__ __forceinline__ uint32_t exact_look_most(uint32_t most, const uint4 &q) {
#pragma unroll
  for (int k = D == FOLD_F64; k < 4; k += D == FOLD_F64 ? 2 : 1) {
    const uint32_t word = exact_word(q, k);
    most = exact_tile<D>::SIZE == 2 ? __vmaxu2(most, word & 0x7fff7fffu) : max(most, word & 0x7fffffffu);
  }
  return most;
}

template <int D>
static __device__ __forceinline__ struct exact_seen exact_seen_none() {
  return {0, exact_tile<D>::SIZE == 2 ? 0x7fff7fffu : 0xffffffffu};
}
template <int D>
static __device__ __forceinline__ struct exact_seen exact_seen_all(struct exact_seen seen) {
  if constexpr (exact_tile<D>::SIZE == 2) {
    seen.least ^= 0x80008000u;
    return {max(seen.most >> 16, seen.most & 0xffffu), min(seen.least >> 16, seen.least & 0xffffu)};
  }
  return seen;
}

/* Where the exponent field lies in `most` and `least`. */
template <int D>
struct exact_shift {
  static const int MOST = D == FOLD_F64 ? 20 : exact_format<D>::FRACTION;
  static const int LEAST = D == FOLD_F32 ? 24 : MOST;
  static const uint32_t TOP = (1u << exact_format<D>::FIELD) - 1; /* the field of infinities and NaN */
};

/* The words of a state that dtype uses, one after another: its limbs, then the five counts. */
template <int D>
static __device__ __forceinline__ int64_t *exact_state_word(struct fold_super *state, int k) {
  const int limbs = exact_format<D>::LIMBS;
  return k < limbs ? state->limb + k : state->limb + (k - limbs + FOLD_SUPER_LIMBS);
}

typedef unsigned long long exact_u64;

#define EXACT_WARP 0xffffffffu

static __device__ __forceinline__ double exact_power(int exponent) {
  return __hiloint2double((exponent + 1023) << 20, 0);
}
/* The number of 2^exponent in a double that is a multiple of it: exact. It multiplies by two factors, because one may
 * be outside the format. */
static __device__ __forceinline__ int64_t exact_units(double x, int exponent) {
  const int half = exponent / 2;
  return __double2ll_rn(x * exact_power(-half) * exact_power(half - exponent));
}

/* The sum over a warp modulo 2^64, in pieces of 27 bits, whose sums fit a word. */
static __device__ __forceinline__ int64_t exact_warp_sum(int64_t x) {
#if __CUDA_ARCH__ >= 800
  const uint32_t low = __reduce_add_sync(EXACT_WARP, (uint32_t)x & 0x7ffffffu);
  const uint32_t middle = __reduce_add_sync(EXACT_WARP, (uint32_t)(x >> 27) & 0x7ffffffu);
  const uint32_t high = __reduce_add_sync(EXACT_WARP, (uint32_t)(x >> 54));
  return (int64_t)(((uint64_t)high << 54) + ((uint64_t)middle << 27) + low);
#else
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) x += __shfl_xor_sync(EXACT_WARP, x, offset);
  return x;
#endif
}
static __device__ __forceinline__ uint32_t exact_warp_max(uint32_t x) {
#if __CUDA_ARCH__ >= 800
  return __reduce_max_sync(EXACT_WARP, x);
#else
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) x = max(x, __shfl_xor_sync(EXACT_WARP, x, offset));
  return x;
#endif
}

#endif
