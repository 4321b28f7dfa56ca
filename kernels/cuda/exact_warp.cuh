/* exact_warp.cuh: a warp's exact sum: windows in registers for most data, columns of limbs for the rest.
 *
 * Promised: exact_take adds a tile (EXACT_AHEAD accesses a lane), exact_finish leaves everything in the block's limbs. The data
 * decide the time, never the sum: every addition is exact, by the following.
 *
 * Windows. The warp has an anchor A: a unit u = 2^A and the bound 2^(A + REACH). A tile fits if each term is a multiple of u
 * (its exponent says so) and smaller than the bound: two comparisons a lane, one vote a warp.
 *   f16, bf16: REACH = 47. A lane's sum of 64 terms in double is a multiple of u, at most 2^53 u: each addition is exact.
 *     It goes to `total` as an integer, 16 tiles of 2^53 u to a flush: 2^57, and 2^62 for the warp.
 *   f32, f64: PARTS windows of 40 bits. With M = 1.5 x 2^52 U, q = (M + x) - M is x rounded to a multiple of U, and x - q is
 *     exact, |x - q| <= U / 2 (for |x| < 2^51 U). U = 2^(A + 40 (PARTS - 1)) down to 2^(A + 40); what is left is a multiple of
 *     u. A part grows by at most 2^39 of its units a term: 2^14 terms make 2^53. So REACH = 40 PARTS - 1 = 79 and 119 bits:
 *     room for 55 and 66 binades beside the significand.
 * A tile that does not fit moves the anchor, if its own terms have room in one; else it goes to the columns.
 */
#ifndef FOLD_EXACT_WARP_CUH
#define FOLD_EXACT_WARP_CUH

#include "exact_limbs.cuh"
#include "flat_load.cuh"

#define EXACT_WIDTH 40  /* of a window */
#define EXACT_ABOVE 4   /* binades that a new anchor leaves free above the tile, where there is room */
#define EXACT_WARP 0xffffffffu

template <int D>
struct exact_window {
  static const int PARTS = exact_format<D>::PARTS;
  static const int REACH = PARTS == 1 ? 47 : EXACT_WIDTH * PARTS - 1;
  /* Tiles between two flushes. f16's sums stay below 2^46 units. */
  static const unsigned TILES = D == FOLD_F16 ? 1u << 11 : PARTS == 1 ? 16 : (1u << 14) / exact_tile<D>::TERMS;
};

/* Of one lane; anchor, limits, counts and `slow` are the warp's. */
template <int D>
struct exact_sum {
  double part[exact_format<D>::PARTS]; /* window k's sum, a multiple of 2^(anchor + 40 k) */
  int64_t total;                       /* 16-bit formats: in units of 2^anchor */
  int anchor;
  uint32_t most_limit, least_limit; /* a tile fits: most < most_limit, least >= least_limit */
  unsigned tiles, slow_tiles;       /* since the last flush; since the last normalisation */
  bool slow;                        /* the columns are in use */
  bool other;                       /* a term was something else than -0 */
  struct exact_special special;
  int64_t *column;  /* the lane's */
  struct fold_super *block; /* what the block's warps add to; shared memory */
};

static __device__ __forceinline__ double exact_power(int exponent) {
  return __hiloint2double((exponent + 1023) << 20, 0);
}

template <int D>
static __device__ __forceinline__ void exact_start(struct exact_sum<D> &sum, int64_t *column, struct fold_super *block) {
#pragma unroll
  for (int k = 0; k < exact_format<D>::PARTS; k++) sum.part[k] = 0;
  sum.total = 0;
  sum.anchor = exact_format<D>::BASE;
  sum.most_limit = D == FOLD_F16 ? 0x7c00 : 0; /* f16 has one anchor for all finite terms; else any term moves it */
  sum.least_limit = 0;
  sum.tiles = sum.slow_tiles = 0;
  sum.slow = sum.other = false;
  sum.special = {0, 0, 0};
  sum.column = column;
  sum.block = block;
}

static __device__ __forceinline__ int64_t exact_warp_sum(int64_t x) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) x += __shfl_xor_sync(EXACT_WARP, x, offset);
  return x;
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

/* A window's sum as a number of its units 2^exponent: exact; two factors, for one may lie outside the format. */
static __device__ __forceinline__ int64_t exact_units(double part, int exponent) {
  const int half = exponent / 2;
  return __double2ll_rn(part * exact_power(-half) * exact_power(half - exponent));
}

/* Windows to the block's limbs. */
template <int D>
static __device__ __forceinline__ void exact_flush(struct exact_sum<D> &sum) {
  if (sum.tiles == 0) return;
#pragma unroll
  for (int k = 0; k < exact_format<D>::PARTS; k++) {
    const int exponent = sum.anchor + EXACT_WIDTH * k;
    const int64_t units = exact_format<D>::PARTS == 1 ? sum.total : exact_units(sum.part[k], exponent);
    const int64_t all = exact_warp_sum(units);
    if ((threadIdx.x & 31) == 0) exact_limbs_add(sum.block->limb, all, exponent - exact_format<D>::BASE);
    sum.part[k] = 0;
  }
  sum.total = 0;
  sum.tiles = 0;
}

/* Moves the anchor so that terms with these fields of `most` and `least` fit; false where none does, or where a term is not
 * finite. Uniform. */
template <int D>
static __device__ __forceinline__ bool exact_move(struct exact_sum<D> &sum, uint32_t most_field, uint32_t least_field) {
  typedef exact_format<D> format;
  const int reach = exact_window<D>::REACH, bias = (1 << (format::FIELD - 1)) - 1;
  if (D == FOLD_F16 || most_field == exact_shift<D>::TOP) return false;
  const int end = (int)most_field + 1 - bias;                          /* every term is below 2^end */
  const int unit = format::BASE + (int)max(least_field, 1u) - 1;       /* and a multiple of 2^unit */
  int anchor = max(min(end + EXACT_ABOVE - reach, unit), format::BASE);
  if (anchor + reach < end) return false;
  if (D == FOLD_F64 && anchor + 2 * EXACT_WIDTH + 53 > 1023) return false; /* M would overflow */
  exact_flush(sum);
  sum.anchor = anchor;
  sum.most_limit = min((uint32_t)(anchor + reach + bias), exact_shift<D>::TOP) << exact_shift<D>::MOST;
  sum.least_limit = anchor == format::BASE ? 0 : (uint32_t)(anchor - format::BASE + 1) << exact_shift<D>::LEAST;
  return true;
}

/* Once access i of the tile is added, the next tile's takes its place, if `ahead` is not NULL. */
static __device__ __forceinline__ void exact_load_ahead(uint4 &q, const uint4 *ahead, int i) {
  if (ahead) q = load_16(ahead + 32 * i);
}

/* A tile that no anchor suits: to the columns. */
template <int D>
static __device__ __forceinline__ void exact_take_slowly(struct exact_sum<D> &sum, uint4 (&tile)[EXACT_AHEAD],
                                                         const uint4 *ahead, bool special) {
  if (!sum.slow) exact_column_clear<D>(sum.column);
  sum.slow = true;
  if (++sum.slow_tiles == exact_format<D>::SLOW_TILES) {
    exact_column_normalise<D>(sum.column);
    sum.slow_tiles = 1;
  }
  if (special)
#pragma unroll
    for (int i = 0; i < EXACT_AHEAD; i++) exact_take_specials<D>(sum.special, tile[i]);
#pragma unroll
  for (int i = 0; i < EXACT_AHEAD; i++) {
#pragma unroll
    for (int k = 0; k < exact_tile<D>::EACH; k++) exact_column_add<D>(sum.column, tile[i], k);
    exact_load_ahead(tile[i], ahead, i);
  }
}

template <int PARTS>
static __device__ __forceinline__ void exact_windows_add(double (&part)[PARTS], int anchor, double x) {
#pragma unroll
  for (int p = PARTS - 1; p > 0; p--) {
    const double m = 1.5 * exact_power(anchor + EXACT_WIDTH * p + 52), q = (m + x) - m;
    part[p] += q;
    x -= q;
  }
  part[0] += x;
}

template <int D>
static __device__ __forceinline__ void exact_take_windows(struct exact_sum<D> &sum, uint4 (&tile)[EXACT_AHEAD],
                                                          const uint4 *ahead) {
  const int PARTS = exact_format<D>::PARTS;
  double s = 0;
#pragma unroll
  for (int i = 0; i < EXACT_AHEAD; i++) {
#pragma unroll
    for (int k = 0; k < exact_tile<D>::EACH; k++) {
      const double x = exact_double<D>(tile[i], k);
      if constexpr (PARTS == 1)
        s += x;
      else
        exact_windows_add<PARTS>(sum.part, sum.anchor, x);
    }
    exact_load_ahead(tile[i], ahead, i);
  }
  if (PARTS == 1) sum.total += exact_units(s, sum.anchor);
}

/* Adds a tile and loads the next one; the whole warp calls. */
template <int D>
static __device__ __forceinline__ void exact_take(struct exact_sum<D> &sum, uint4 (&tile)[EXACT_AHEAD],
                                                  const uint4 *ahead) {
  struct exact_seen seen = exact_seen_none<D>();
#pragma unroll
  for (int i = 0; i < EXACT_AHEAD; i++) exact_look<D>(seen, tile[i]);
  seen = exact_seen_all<D>(seen);
  if (!sum.other) {
#pragma unroll
    for (int i = 0; i < EXACT_AHEAD; i++) sum.other = sum.other || exact_other<D>(tile[i]);
  }
  bool fits = true;
  if (__any_sync(EXACT_WARP, seen.most >= sum.most_limit || seen.least < sum.least_limit)) {
    const uint32_t most = exact_warp_max(seen.most) >> exact_shift<D>::MOST;
    const uint32_t least = ~exact_warp_max(~seen.least) >> exact_shift<D>::LEAST;
    fits = exact_move<D>(sum, most, least);
    if (!fits) exact_take_slowly<D>(sum, tile, ahead, most == exact_shift<D>::TOP);
  }
  if (!fits) return;
  exact_take_windows<D>(sum, tile, ahead);
  if (++sum.tiles == exact_window<D>::TILES) exact_flush(sum);
}

/* What the warp holds to the block's limbs and counts, but `terms`. */
template <int D>
static __device__ __forceinline__ void exact_finish(struct exact_sum<D> &sum) {
  exact_flush(sum);
  if (sum.slow) {
    exact_column_normalise<D>(sum.column);
    exact_columns_sum<D>(sum.column - (threadIdx.x & 31), sum.block->limb);
    const int64_t nan = exact_warp_sum(sum.special.nan), plus = exact_warp_sum(sum.special.positive_infinity),
                  minus = exact_warp_sum(sum.special.negative_infinity);
    if ((threadIdx.x & 31) == 0) {
      if (nan) atomicAdd((exact_u64 *)&sum.block->nan, (exact_u64)nan);
      if (plus) atomicAdd((exact_u64 *)&sum.block->positive_infinity, (exact_u64)plus);
      if (minus) atomicAdd((exact_u64 *)&sum.block->negative_infinity, (exact_u64)minus);
    }
  }
  if (__any_sync(EXACT_WARP, sum.other) && (threadIdx.x & 31) == 0) sum.block->other_than_negative_zero = 1;
}

#endif
