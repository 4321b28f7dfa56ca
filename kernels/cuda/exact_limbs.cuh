/* exact_limbs.cuh: the exact sum's limbs on the device, and the way to them that takes any data.
 *
 * Promised: sums of terms as limbs of super.h. Each lane has a column of limbs of its own in shared memory, so that no term
 * needs an atomic and no two lanes meet in a bank; limb k of lane l lies at column[32 k]. A term's significand, shifted
 * by the low five bits of its exponent, goes to the limb that the other bits name, whole where 63 bits have room for it:
 *
 *     f16, bf16, f32   one limb grows by less than 2^(32 + FRACTION)
 *     f64              the low 32 bits to one limb, the other 53 to the next
 *
 * and before SLOW_TILES tiles could overflow a limb, carries are propagated: f32: 128 terms x 2^55 = 2^62; f64: 256 x 2^53 =
 * 2^61; bf16: 2^16 x 2^39 = 2^55. Used by exact_warp.cuh.
 */
#ifndef FOLD_EXACT_LIMBS_CUH
#define FOLD_EXACT_LIMBS_CUH

#include "exact_format.cuh"

typedef unsigned long long exact_u64;

/* limb += value * 2^shift units, by 32-bit pieces, in shared memory that others add to as well. */
static __device__ __forceinline__ void exact_limbs_add(int64_t *limb, int64_t value, int shift) {
  const int first = shift >> 5, offset = shift & 31;
  const uint64_t low = (uint64_t)value << offset & 0xffffffffu;
  const int64_t rest = value >> (32 - offset);
  if (low) atomicAdd((exact_u64 *)limb + first, (exact_u64)low);
  if (rest & 0xffffffff) atomicAdd((exact_u64 *)limb + first + 1, (exact_u64)rest & 0xffffffffu);
  if (rest >> 32) atomicAdd((exact_u64 *)limb + first + 2, (exact_u64)(rest >> 32));
}

/* Term k of an access, finite, to the lane's column. */
template <int D>
static __device__ __forceinline__ void exact_column_add(int64_t *column, const uint4 &q, int k) {
  const int fraction = exact_shift<D>::MOST;
  const uint32_t pattern = exact_pattern<D>(q, k), field = pattern >> fraction & exact_shift<D>::TOP;
  const uint32_t hidden = min(field, 1u), upper = (pattern & ((1u << fraction) - 1)) | hidden << fraction;
  const uint32_t shift = field - hidden;
  const bool negative = pattern >> (exact_tile<D>::SIZE == 2 ? 15 : 31);
  int64_t *limb = column + (shift >> 5) * 32;
  if constexpr (D == FOLD_F64) {
    const uint32_t lower = exact_pattern_low<D>(q, k);
    const int64_t low = (int64_t)(lower << (shift & 31));
    const int64_t high = (int64_t)(((uint64_t)upper << 32 | lower) >> (32 - (shift & 31)));
    limb[0] += negative ? -low : low;
    limb[32] += negative ? -high : high;
  } else {
    /* Both factors negated: -2^31 is an int, 2^31 is not. */
    const int minus = negative ? (int)upper : -(int)upper;
    limb[0] += (int64_t)minus * (int)(0xffffffffu << (shift & 31));
  }
}

template <int D>
static __device__ __forceinline__ void exact_column_clear(int64_t *column) {
  for (int k = 0; k < exact_format<D>::LIMBS; k++) column[32 * k] = 0;
}

template <int D>
static __device__ void exact_column_normalise(int64_t *column) {
  int64_t carry = 0;
#pragma unroll 8
  for (int k = 0; k < exact_format<D>::LIMBS - 1; k++) {
    const int64_t word = column[32 * k] + carry;
    carry = word >> 32;
    column[32 * k] = word & 0xffffffff;
  }
  column[32 * (exact_format<D>::LIMBS - 1)] += carry;
}

/* Adds the warp's columns, normalised, to limbs. Lane l sums limbs l, l + 32 ..., each lane from another column on: no two
 * in one bank. `first` is column 0. */
template <int D>
static __device__ void exact_columns_sum(const int64_t *first, int64_t *limb) {
  const int lane = threadIdx.x & 31;
  __syncwarp();
  for (int k = lane; k < exact_format<D>::LIMBS; k += 32) {
    int64_t sum = 0;
#pragma unroll 8
    for (int i = 0; i < 32; i++) sum += first[32 * k + ((lane + i) & 31)];
    if (sum) atomicAdd((exact_u64 *)limb + k, (exact_u64)sum);
  }
  __syncwarp();
}

/* What a lane counts of its terms beside their sum. */
struct exact_special {
  int64_t nan, positive_infinity, negative_infinity;
};

/* Counts NaN and infinities and puts -0, which is neutral, in their place. */
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
}

/* Whether a term of the access is something other than -0. */
template <int D>
static __device__ __forceinline__ bool exact_other(const uint4 &q) {
  const uint32_t mask = exact_tile<D>::MINUS_ZERO;
  if constexpr (D == FOLD_F64) return q.x || q.y != mask || q.z || q.w != mask;
  return q.x != mask || q.y != mask || q.z != mask || q.w != mask;
}

#endif
