/* exact_limbs.cuh: the exact sum's limbs on the device, and f64's way to them that takes any data.
 *
 * Promised: sums of terms as limbs of super.h. Each lane has a column of its own in shared memory, so that no term
 * needs an atomic and no two lanes meet in a bank; limb k of lane l lies 256 k bytes after limb 0, 8 l bytes after
 * lane 0's. A term's significand is shifted by the low five bits of its exponent; the low 32 bits go to the limb that
 * the other bits name, the other 53 at most to the next. In EXACT_LIMB_TILES tiles of 16 terms a limb grows by less
 * than 2^8 x 2^53; then carries are propagated. Used by exact_warp.cuh.
 */
#ifndef FOLD_EXACT_LIMBS_CUH
#define FOLD_EXACT_LIMBS_CUH

#include "exact_format.cuh"

#define EXACT_LIMB_TILES 16

/* limb += value * 2^shift units, by 32-bit pieces, in shared memory that others add to as well. */
static __device__ __forceinline__ void exact_limbs_add(int64_t *limb, int64_t value, int shift) {
  const int first = shift >> 5, offset = shift & 31;
  const uint64_t low = (uint64_t)value << offset & 0xffffffffu;
  const int64_t rest = value >> (32 - offset);
  if (low) atomicAdd((exact_u64 *)limb + first, (exact_u64)low);
  if (rest & 0xffffffff) atomicAdd((exact_u64 *)limb + first + 1, (exact_u64)rest & 0xffffffffu);
  if (rest >> 32) atomicAdd((exact_u64 *)limb + first + 2, (exact_u64)(rest >> 32));
}

/* A set of columns, one a lane, that two warps of a block may share: it is locked for a tile at a time. In shared
 * memory, zero at first. */
struct exact_set {
  unsigned held, tiles; /* tiles that the columns took; 0: they are not cleared yet */
};

static __device__ __forceinline__ void exact_set_lock(struct exact_set *set) {
  if ((threadIdx.x & 31) == 0)
    while (atomicCAS(&set->held, 0, 1)) __nanosleep(100);
  __threadfence_block();
  __syncwarp();
}
static __device__ __forceinline__ void exact_set_unlock(struct exact_set *set) {
  __threadfence_block();
  __syncwarp();
  if ((threadIdx.x & 31) == 0) atomicExch(&set->held, 0);
}

/* The f64 of these halves, finite, to the lane's column. */
static __device__ __forceinline__ void exact_column_add(int64_t *column, uint32_t upper, uint32_t lower) {
  const uint32_t field = upper >> 20 & 0x7ff, hidden = min(field, 1u), shift = field - hidden;
  const uint64_t significand = (uint64_t)((upper & 0xfffff) | hidden << 20) << 32 | lower;
  const int64_t low = (int64_t)(lower << (shift & 31)), high = (int64_t)(significand >> (32 - (shift & 31)));
  const bool negative = upper >> 31;
  int64_t *limb = column + (shift >> 5) * 32;
  limb[0] += negative ? -low : low;
  limb[32] += negative ? -high : high;
}

static __device__ __forceinline__ void exact_column_clear(int64_t *column) {
  for (int k = 0; k < exact_format<FOLD_F64>::LIMBS; k++) column[32 * k] = 0;
}

static __device__ __forceinline__ void exact_column_normalise(int64_t *column) {
  const int last = exact_format<FOLD_F64>::LIMBS - 1;
  int64_t carry = 0;
#pragma unroll 2
  for (int k = 0; k < last; k++) {
    const int64_t word = column[32 * k] + carry;
    carry = word >> 32;
    column[32 * k] = word & 0xffffffff;
  }
  column[32 * last] += carry;
}

/* Makes room for a tile in the lane's column of a set that is locked. */
static __device__ __forceinline__ void exact_set_room(struct exact_set *set, int64_t *column) {
  const unsigned tiles = *(volatile unsigned *)&set->tiles;
  __syncwarp();
  if (tiles == 0)
    exact_column_clear(column);
  else if (tiles % EXACT_LIMB_TILES == 0)
    exact_column_normalise(column);
  if ((threadIdx.x & 31) == 0) set->tiles = tiles + 1;
}

/* Adds the warp's columns, normalised, to limbs. Lane l sums limbs l, l + 32 ..., each lane from another column on:
 * no two in one bank. `first` is column 0. */
static __device__ __forceinline__ void exact_columns_sum(const int64_t *first, int64_t *limb) {
  const int lane = threadIdx.x & 31;
  __syncwarp();
  for (int k = lane; k < exact_format<FOLD_F64>::LIMBS; k += 32) {
    int64_t sum = 0;
#pragma unroll 8
    for (int i = 0; i < 32; i++) sum += first[32 * k + ((lane + i) & 31)];
    if (sum) atomicAdd((exact_u64 *)limb + k, (exact_u64)sum);
  }
  __syncwarp();
}

/* What a set holds to the limbs, by one warp; the set is as new. */
static __device__ __forceinline__ void exact_set_flush(struct exact_set *set, int64_t *columns, int64_t *limb) {
  const unsigned tiles = *(volatile unsigned *)&set->tiles;
  __syncwarp();
  if (tiles == 0) return;
  exact_column_normalise(columns + (threadIdx.x & 31));
  exact_columns_sum(columns, limb);
  if ((threadIdx.x & 31) == 0) set->tiles = 0;
}

#endif
