/* exact_limbs.cuh: the exact sum's limbs on the device, and f64's way to them that takes any data.
 *
 * Promised: sums of terms as limbs of super.h. Each lane has a column of its own in shared memory, so that no term
 * needs an atomic and no two lanes meet in a bank; limb k of lane l lies 256 k bytes after limb 0, 8 l bytes after
 * lane 0's. A term's significand is shifted by the low five bits of its exponent; the low 32 bits go to the limb that
 * the other bits name, the others, below 2^52, to the next. In EXACT_LIMB_TILES tiles of 16 terms a limb grows by less
 * than 2^10 x (2^52 + 2^32); then carries are propagated, which takes some 4000 cycles. Used by exact_warp.cuh.
 */
#ifndef FOLD_EXACT_LIMBS_CUH
#define FOLD_EXACT_LIMBS_CUH

#include "kernels/cuda/exact/exact_format.cuh"

#define EXACT_LIMB_TILES 64

/* *limb += x in shared memory to which others add as well, by two additions of 32 bits: an atomic addition of 64 bits
 * would be a loop of compare and swap. The thread that causes a carry out of the lower half adds it; the word is right once all
 * have finished. */
static __device__ __forceinline__ void exact_limb_add(int64_t *limb, int64_t x) {
  uint32_t *half = (uint32_t *)limb;
  const uint32_t low = (uint32_t)x, sum = low + atomicAdd(half, low), high = (uint32_t)(x >> 32) + (sum < low);
  if (high) atomicAdd(half + 1, high);
}

/* limb += value * 2^shift units, in 32-bit pieces, in shared memory to which others add as well. */
static __device__ __forceinline__ void exact_limbs_add(int64_t *limb, int64_t value, int shift) {
  const int first = shift >> 5, offset = shift & 31;
  const int64_t low = (int64_t)((uint64_t)value << offset & 0xffffffffu), rest = value >> (32 - offset);
  if (low) exact_limb_add(limb + first, low);
  if (rest & 0xffffffff) exact_limb_add(limb + first + 1, rest & 0xffffffff);
  if (rest >> 32) exact_limb_add(limb + first + 2, rest >> 32);
}

/* The same for N values by a warp, value k times 2^(shift + step k) units; each piece has a lane of its own. */
template <int N>
static __device__ __forceinline__ void exact_limbs_spread(int64_t *limb, const int64_t (&value)[N], int shift,
                                                          int step) {
  static_assert(3 * N <= 32, "a lane for each piece");
  const int lane = threadIdx.x & 31, mine = lane / 3, piece = lane - 3 * mine;
  int64_t all = value[0];
#pragma unroll
  for (int k = 1; k < N; k++) all = mine == k ? value[k] : all;
  const int at = shift + step * mine, offset = at & 31;
  const int64_t low = (int64_t)((uint64_t)all << offset & 0xffffffffu), rest = all >> (32 - offset);
  const int64_t x = piece == 0 ? low : piece == 1 ? rest & 0xffffffff : rest >> 32;
  if (mine < N && x) exact_limb_add(limb + (at >> 5) + piece, x);
}

/* A set of columns, one for each lane, that two warps of a block may share; it is locked for a tile at a time. It lies
 * in shared memory and is zero at first. */
struct exact_set {
  unsigned held, tiles; /* tiles: how many the columns took */
  unsigned clear;       /* the columns are already cleared for the first tile */
};

/* Locks a set; the whole warp retries together. One lane acquires and releases, and the warp's own barriers pass that
 * on. */
static __device__ __forceinline__ void exact_set_lock(struct exact_set *set) {
  unsigned held;
  do {
    held = 0;
    if ((threadIdx.x & 31) == 0)
      asm volatile("atom.acquire.cta.shared.cas.b32 %0, [%1], 0, 1;"
                   : "=r"(held)
                   : "r"((unsigned)__cvta_generic_to_shared(&set->held))
                   : "memory");
  } while (__shfl_sync(EXACT_WARP, held, 0));
  __syncwarp();
}
static __device__ __forceinline__ void exact_set_unlock(struct exact_set *set) {
  __syncwarp();
  if ((threadIdx.x & 31) == 0)
    asm volatile("st.release.cta.shared.u32 [%0], 0;" ::"r"((unsigned)__cvta_generic_to_shared(&set->held)) : "memory");
}

/* Adds the finite f64 with these halves to the lane's column. */
static __device__ __forceinline__ void exact_column_add(int64_t *column, uint32_t upper, uint32_t lower) {
  const uint32_t field = upper >> 20 & 0x7ff, hidden = min(field, 1u), shift = field - hidden;
  const int64_t sign = (int32_t)upper >> 31;
  const int64_t significand = ((int64_t)((uint64_t)((upper & 0xfffff) | hidden << 20) << 32 | lower) ^ sign) - sign;
  int64_t *limb = (int64_t *)((char *)column + (shift & 0x7e0) * 8);
  limb[0] += (uint32_t)significand << (shift & 31);
  limb[32] += significand >> (32 - (shift & 31));
}

static __device__ __forceinline__ void exact_column_clear(int64_t *column) {
#pragma unroll 14
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

/* Makes room for a tile in the lane's column of a locked set. `hold` says that the set has been locked since an earlier
 * tile, so that no lock separates what was written then from what is read now. */
static __device__ __forceinline__ void exact_set_room(struct exact_set *set, int64_t *column, bool hold) {
  if (hold) __syncwarp();
  const unsigned tiles = *(volatile unsigned *)&set->tiles, clear = *(volatile unsigned *)&set->clear;
  __syncwarp();
  if (tiles == 0 && !clear)
    exact_column_clear(column);
  else if (tiles && tiles % EXACT_LIMB_TILES == 0)
    exact_column_normalise(column);
  if ((threadIdx.x & 31) == 0) set->tiles = tiles + 1;
}

/* Adds the warp's columns to limbs. Lane l sums limbs l, l + 32 and l + 64, each lane starting from another column, so
 * that no two use one bank. The halves are summed apart, because 32 limbs may overflow one; the upper halves belong to
 * the limb above. `first` is column 0. */
static __device__ __forceinline__ void exact_columns_sum(const int64_t *first, int64_t *limb) {
  const int LAST = exact_format<FOLD_F64>::LIMBS - 1, EACH = LAST / 32 + 1, lane = threadIdx.x & 31;
  int64_t low[EACH] = {0}, high[EACH] = {0};
  __syncwarp();
#pragma unroll 8
  for (int i = 0; i < 32; i++)
#pragma unroll
    for (int r = 0; r < EACH; r++) {
      const int64_t word = lane + 32 * r <= LAST ? first[32 * (lane + 32 * r) + ((lane + i) & 31)] : 0;
      low[r] += (uint32_t)word;
      high[r] += word >> 32;
    }
#pragma unroll
  for (int r = 0; r < EACH; r++) {
    const int k = lane + 32 * r;
    if (k == LAST) low[r] += (int64_t)((uint64_t)high[r] << 32);
    if (k <= LAST && low[r]) exact_limb_add(limb + k, low[r]);
    if (k < LAST && high[r]) exact_limb_add(limb + k + 1, high[r]);
  }
  __syncwarp();
}

/* Adds what a set holds to the limbs, by one warp; the set is then as new. */
static __device__ __forceinline__ void exact_set_flush(struct exact_set *set, int64_t *columns, int64_t *limb) {
  __syncwarp();
  const unsigned tiles = *(volatile unsigned *)&set->tiles;
  __syncwarp();
  if (tiles == 0) return;
  exact_columns_sum(columns, limb);
  if ((threadIdx.x & 31) == 0) set->tiles = set->clear = 0;
}

#endif
