/* exact_carry.cuh: the end of an exact sum by a warp: carries propagated, and the one rounding.
 *
 * Promised: the words of fold_super_normalise and the bits of fold_super_round (oracles/super_round.h), whose policy
 * and rounding are used as they stand; only the loops over limbs are shared out, a limb a lane. Measured on one
 * H200, f64: 4200 cycles with a pass a limb for a borrow that runs through all of them, as it does in a negative sum.
 */
#ifndef FOLD_EXACT_CARRY_CUH
#define FOLD_EXACT_CARRY_CUH

#include "kernels/cuda/exact/exact_format.cuh"
#include "oracles/super_round.h"

template <int D>
struct exact_words {
  static const int LAST = exact_format<D>::LIMBS - 1,
                   EACH = (LAST + 2 + 31) / 32; /* words of each lane, including one above the last */
};

/* Which limbs get a carry, as one bit for each lane, 32 limbs in an element. `arises` marks the limbs where carries
 * begin, `goes_on` those that pass one on; the integer sum of both masks and of the first gives the carries. */
template <int EACH>
static __device__ __forceinline__ void exact_carries(const bool (&arises)[EACH], const bool (&goes_on)[EACH],
                                                     bool (&into)[EACH]) {
  uint64_t sum = 0;
#pragma unroll
  for (int r = 0; r < EACH; r++) {
    const uint32_t g = __ballot_sync(EXACT_WARP, arises[r]), p = __ballot_sync(EXACT_WARP, arises[r] || goes_on[r]);
    sum = (sum >> 32) + g + p;
    into[r] = (((uint32_t)sum ^ g ^ p) >> (threadIdx.x & 31)) & 1;
  }
}

/* Normalises limbs in shared memory in place; the whole warp calls. Any int64 is allowed. First each limb's upper half
 * is added to the next limb, twice. Then every limb lies in [-1, 2^32], so that carries are 1 or -1. The upward ones
 * are propagated first, then the downward ones, each through all limbs at once. */
template <int D>
static __device__ __forceinline__ void exact_normalise(int64_t *limb) {
  const int LAST = exact_words<D>::LAST, EACH = exact_words<D>::EACH, lane = threadIdx.x & 31;
  int64_t word[EACH];
#pragma unroll
  for (int r = 0; r < EACH; r++) word[r] = lane + 32 * r <= LAST ? limb[lane + 32 * r] : 0;
#pragma unroll
  for (int pass = 0; pass < 2; pass++) {
    int32_t below[EACH];
#pragma unroll
    for (int r = 0; r < EACH; r++) {
      const int32_t carry = lane + 32 * r < LAST ? (int32_t)(word[r] >> 32) : 0;
      below[r] = __shfl_sync(EXACT_WARP, carry, (lane + 31) & 31);
      if (lane + 32 * r < LAST) word[r] &= 0xffffffff;
    }
#pragma unroll
    for (int r = 0; r < EACH; r++) word[r] += lane ? below[r] : r ? below[r ? r - 1 : 0] : 0;
  }
#pragma unroll
  for (int direction = 1; direction >= -1; direction -= 2) {
    bool arises[EACH], goes_on[EACH], into[EACH];
#pragma unroll
    for (int r = 0; r < EACH; r++) {
      const bool inner = lane + 32 * r < LAST;
      arises[r] = inner && (direction > 0 ? word[r] >> 32 == 1 : word[r] < 0);
      goes_on[r] = inner && word[r] == (direction > 0 ? 0xffffffff : 0);
    }
    exact_carries(arises, goes_on, into);
#pragma unroll
    for (int r = 0; r < EACH; r++) {
      word[r] += into[r] ? direction : 0;
      /* The digit without its carry: 2^32 and 2^32 + 1 become 0 and 1. -1 stays for the next round, which makes it 2^32
       * - 1. */
      if (lane + 32 * r < LAST && (direction < 0 || word[r] >> 32 == 1)) word[r] &= 0xffffffff;
    }
  }
#pragma unroll
  for (int r = 0; r < EACH; r++)
    if (lane + 32 * r <= LAST) limb[lane + 32 * r] = word[r];
  __syncwarp();
}

/* Rounds normalised limbs and counts in shared memory; every lane has the result. */
template <int D>
static __device__ __forceinline__ uint64_t exact_round(const int64_t *limb, const int64_t *counts) {
  const enum fold_dtype dtype = (enum fold_dtype)D;
  const int LAST = exact_words<D>::LAST, EACH = exact_words<D>::EACH, lane = threadIdx.x & 31;
  uint64_t bits;
  if (fold_super_special(counts, dtype, &bits)) return bits;
  struct fold_super_integer integer = {limb, LAST, LAST, false};
#pragma unroll
  for (int r = EACH - 1; r >= 0; r--) {
    const uint32_t there = __ballot_sync(EXACT_WARP, lane + 32 * r < LAST && limb[min(lane + 32 * r, LAST)]);
    if (there) integer.low = 32 * r + __ffs((int)there) - 1;
  }
  if (!fold_super_integer_start(&integer)) return fold_super_negative_zero(counts) ? fold_format_of(dtype).sign : 0;
  int high = integer.low;
#pragma unroll
  for (int r = 0; r < EACH; r++) {
    const uint32_t there = __ballot_sync(EXACT_WARP, fold_super_word(&integer, lane + 32 * r) != 0);
    if (there) high = 32 * r + fold_leading_bit(there);
  }
  return fold_super_round_between(&integer, exact_format<D>::BASE, high, dtype);
}

#endif
