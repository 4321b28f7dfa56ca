/* exact_warp.cuh: a warp's exact sum: windows in registers for most data, bins or limbs in shared memory for the rest.
 *
 * Promised: exact_take adds a tile (EXACT_AHEAD accesses a lane), exact_finish leaves everything in the block's
 * limbs. The data decide the time, never the sum: every addition is exact, by the following.
 *
 * Windows. The warp has an anchor A: a unit u = 2^A and the bound 2^(A + REACH). A tile fits if each term is a
 * multiple of u (its exponent says so) and smaller than the bound: two comparisons a lane, one vote a warp.
 *   f16, bf16: REACH = 47. A lane's sum of 64 terms in double is a multiple of u, at most 2^53 u: each addition is
 *     exact. It goes to `total` as an integer, 16 tiles of 2^53 u to a flush: 2^57, and 2^62 for the warp.
 *   f32, f64: PARTS windows of 40 bits. With M = 1.5 x 2^52 U, q = (M + x) - M is x rounded to a multiple of U, and
 *     x - q is exact, |x - q| <= U / 2 (for |x| < 2^51 U). U = 2^(A + 40 (PARTS - 1)) down to 2^(A + 40); what is left
 *     is a multiple of u. A part grows by at most 2^39 of its units a term: 2^14 terms make 2^53. So REACH =
 *     40 PARTS - 1 = 79 and 119 bits: room for 55 and 66 binades beside the significand.
 * A tile that does not fit moves the anchor, if its own terms have room in one; else it goes to bins (exact_bins.cuh)
 * or, in f64, to columns of limbs (exact_limbs.cuh). f16 has one anchor for all its finite terms. After two tiles in a row that no
 * anchor suited the next ones go there too, unlooked at but for NaN and infinities, until every 16th asks for an anchor again.
 */
#ifndef FOLD_EXACT_WARP_CUH
#define FOLD_EXACT_WARP_CUH

#include "kernels/cuda/exact/exact_bins.cuh"
#include "kernels/cuda/exact/exact_special.cuh"
#include "kernels/cuda/load.cuh"

#define EXACT_WIDTH 40 /* bits of a window */
#define EXACT_ABOVE 4  /* how many binades a new anchor leaves free above the tile, if there is room */
#define EXACT_STREAK 2 /* after so many tiles without an anchor, none is tried */
#define EXACT_ASK 16   /* except for one in so many tiles */

template <int D>
struct exact_window {
  static const int PARTS = exact_format<D>::PARTS;
  static const int REACH = PARTS == 1 ? 47 : EXACT_WIDTH * PARTS - 1;
  /* Tiles between two flushes. f16's sums stay below 2^46 units. */
  static const unsigned TILES = D == FOLD_F16 ? 1u << 11 : PARTS == 1 ? 16 : (1u << 14) / exact_tile<D>::TERMS;
};

/* One lane's sums; anchor, limits, counts and `slow` are the same in the whole warp. */
template <int D>
struct exact_sum {
  double part[exact_format<D>::PARTS]; /* window k's sum, a multiple of 2^(anchor + 40 k) */
  int64_t total;                       /* 16-bit formats: in units of 2^anchor */
  int anchor;
  uint32_t most_limit, least_limit; /* a tile fits if most < most_limit and least >= least_limit */
  unsigned tiles, slow_tiles;       /* how many tiles went to the windows, and to the columns, since their last flush */
  unsigned streak;                  /* tiles in a row that no anchor suited */
  bool dirty;                       /* something is in the block's limbs */
  bool slow, specials;              /* slow: the columns are in use; specials: something is in `special` */
  bool other;                       /* some term was not -0 */
  struct exact_special special;
  char *columns;         /* the warp's */
  struct exact_set *set; /* f64: whose columns they are */
  bool hold; /* the set stays locked from the row's first tile in it to the row's end, instead of tile by tile */
  struct fold_super *block; /* shared memory, to which the block's warps add */
};

template <int D>
static __device__ __forceinline__ void exact_start(struct exact_sum<D> &sum, char *columns, struct exact_set *set,
                                                   bool hold, struct fold_super *block) {
#pragma unroll
  for (int k = 0; k < exact_format<D>::PARTS; k++) sum.part[k] = 0;
  sum.total = 0;
  sum.anchor = exact_format<D>::BASE;
  sum.most_limit = D == FOLD_F16 ? 0x7c00 : 0; /* f16 has one anchor for all finite terms; else any term moves it */
  sum.least_limit = 0;
  sum.tiles = sum.slow_tiles = sum.streak = 0;
  sum.dirty = sum.slow = sum.specials = sum.other = false;
  sum.special = {0, 0, 0};
  sum.columns = columns;
  sum.set = set;
  sum.hold = hold;
  sum.block = block;
}

/* Flushes the windows to the block's limbs. */
template <int D>
static __device__ __forceinline__ void exact_flush(struct exact_sum<D> &sum) {
  if (sum.tiles == 0) return;
  int64_t all[exact_format<D>::PARTS];
#pragma unroll
  for (int k = 0; k < exact_format<D>::PARTS; k++) {
    const int64_t units =
        exact_format<D>::PARTS == 1 ? sum.total : exact_units(sum.part[k], sum.anchor + EXACT_WIDTH * k);
    all[k] = exact_warp_sum(units);
    sum.part[k] = 0;
  }
  if constexpr (D == FOLD_F64) { /* f64's loop has no registers to spare */
    if ((threadIdx.x & 31) == 0)
#pragma unroll
      for (int k = 0; k < exact_format<D>::PARTS; k++)
        exact_limbs_add(sum.block->limb, all[k], sum.anchor + EXACT_WIDTH * k - exact_format<D>::BASE);
  } else {
    exact_limbs_spread(sum.block->limb, all, sum.anchor - exact_format<D>::BASE, EXACT_WIDTH);
  }
  sum.total = 0;
  sum.tiles = 0;
  sum.dirty = true;
}

/* Places windows of REACH bits so that terms with these fields of `most` and `least` fit; false if that is impossible.
 * The terms are finite. The old windows are flushed. The same in the whole warp. */
template <int D, int REACH>
static __device__ __forceinline__ bool exact_place(struct exact_sum<D> &sum, uint32_t most_field,
                                                   uint32_t least_field) {
  typedef exact_format<D> format;
  const int bias = (1 << (format::FIELD - 1)) - 1;
  if (D == FOLD_F16) return true;
  const int end = (int)most_field + 1 - bias;                    /* every term is below 2^end */
  const int unit = format::BASE + (int)max(least_field, 1u) - 1; /* and a multiple of 2^unit */
  const int anchor = max(min(end + EXACT_ABOVE - REACH, unit), format::BASE);
  if (anchor + REACH < end) return false;
  if (D == FOLD_F64 && anchor + 2 * EXACT_WIDTH + 53 > 1023) return false; /* M would overflow */
  exact_flush(sum);
  sum.anchor = anchor;
  sum.most_limit = min((uint32_t)(anchor + REACH + bias), exact_shift<D>::TOP) << exact_shift<D>::MOST;
  sum.least_limit = anchor == format::BASE ? 0 : (uint32_t)(anchor - format::BASE + 1) << exact_shift<D>::LEAST;
  return true;
}

/* Once access i of the tile has been added, loads that of the next tile into its place, unless `ahead` is NULL. */
static __device__ __forceinline__ void exact_load_ahead(uint4 &q, const uint4 *ahead, int i) {
  if (ahead) q = load_16(ahead + 32 * i);
}

/* The lane's f64 limbs among the warp's columns. */
static __device__ __forceinline__ int64_t *exact_limb_column(char *columns) {
  return (int64_t *)columns + (threadIdx.x & 31);
}

/* Makes room for a tile in the warp's bins. */
template <int D>
static __device__ __forceinline__ void exact_slow_room(struct exact_sum<D> &sum) {
  if (!sum.slow) exact_bins_clear<D>(sum.columns);
  sum.slow = true;
  if (sum.slow_tiles == exact_bins<D>::TILES) {
    exact_bins_flush<D>(sum.columns, sum.block->limb);
    sum.slow_tiles = 0;
  } else if (D == FOLD_BF16 && sum.slow_tiles % exact_bins<D>::FINE_TILES == 0) {
    exact_bins_drain(sum.columns);
  }
  sum.slow_tiles++;
}

/* Adds a tile that no anchor suits, of finite terms, to the bins or columns. */
template <int D, int N>
static __device__ __forceinline__ void exact_take_slowly(struct exact_sum<D> &sum, uint4 (&tile)[N],
                                                         const uint4 *ahead) {
  if constexpr (D == FOLD_F64) {
    int64_t *column = exact_limb_column(sum.columns);
    if (!sum.hold || !sum.slow) exact_set_lock(sum.set);
    sum.slow = true;
    exact_set_room(sum.set, column, sum.hold);
#pragma unroll
    for (int i = 0; i < N; i++) {
      exact_column_add(column, tile[i].y, tile[i].x);
      exact_column_add(column, tile[i].w, tile[i].z);
      exact_load_ahead(tile[i], ahead, i);
    }
    if (!sum.hold) exact_set_unlock(sum.set);
  } else {
    exact_slow_room(sum);
#pragma unroll
    for (int i = 0; i < N; i++) {
      exact_bins_add<D>(sum.columns, tile[i]);
      exact_load_ahead(tile[i], ahead, i);
    }
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

template <int D, int N>
static __device__ __forceinline__ void exact_take_windows(struct exact_sum<D> &sum, uint4 (&tile)[N],
                                                          const uint4 *ahead) {
  const int PARTS = exact_format<D>::PARTS;
  double even = 0, odd = 0; /* two sums, because an addition waits long for the former one */
#pragma unroll
  for (int i = 0; i < N; i++) {
#pragma unroll
    for (int k = 0; k < exact_tile<D>::EACH; k++) {
      const double x = exact_double<D>(tile[i], k);
      if constexpr (PARTS == 1)
        (k & 1 ? odd : even) += x;
      else
        exact_windows_add<PARTS>(sum.part, sum.anchor, x);
    }
    exact_load_ahead(tile[i], ahead, i);
  }
  if (PARTS == 1) sum.total += exact_units(even + odd, sum.anchor);
}

template <int D, int N>
static __device__ __forceinline__ struct exact_seen exact_look_all(const uint4 (&tile)[N]) {
  struct exact_seen seen = exact_seen_none<D>();
#pragma unroll
  for (int i = 0; i < N; i++) exact_look<D>(seen, tile[i]);
  return exact_seen_all<D>(seen);
}

/* Handles a tile that does not fit the windows: takes out NaN and infinities, then moves the windows. False if the tile
 * must go to the columns. The same in the whole warp. */
template <int D, int N>
static __device__ __forceinline__ bool exact_fit(struct exact_sum<D> &sum, uint4 (&tile)[N], struct exact_seen seen) {
  const uint32_t top = exact_shift<D>::TOP << exact_shift<D>::MOST;
  if (__any_sync(EXACT_WARP, seen.most >= top)) {
#pragma unroll
    for (int i = 0; i < N; i++) exact_take_specials<D>(sum.special, tile[i]);
    sum.specials = true;
    seen = exact_look_all<D>(tile);
  }
  return exact_place<D, exact_window<D>::REACH>(sum, exact_warp_max(seen.most) >> exact_shift<D>::MOST,
                                                ~exact_warp_max(~seen.least) >> exact_shift<D>::LEAST);
}

/* Whether the tile goes to the bins or columns without trying an anchor. The same in the whole warp. */
template <int D, int N>
static __device__ __forceinline__ bool exact_is_expected(const struct exact_sum<D> &sum, const uint4 (&tile)[N]) {
  if (D == FOLD_F16 || sum.streak < EXACT_STREAK || sum.streak % EXACT_ASK == 0) return false;
  const uint32_t top = exact_shift<D>::TOP << exact_shift<D>::MOST;
  uint32_t most = 0;
#pragma unroll
  for (int i = 0; i < N; i++) most = exact_look_most<D>(most, tile[i]);
  if (exact_tile<D>::SIZE == 2) most = max(most >> 16, most & 0xffffu);
  return !__any_sync(EXACT_WARP, most >= top);
}

/* Whether the tile fits the windows, which may be moved for it. The same in the whole warp. */
template <int D, int N>
static __device__ __forceinline__ bool exact_suits(struct exact_sum<D> &sum, uint4 (&tile)[N]) {
  const struct exact_seen seen = exact_look_all<D>(tile);
  return !__any_sync(EXACT_WARP, seen.most >= sum.most_limit || seen.least < sum.least_limit) ||
         exact_fit(sum, tile, seen);
}

/* Adds a tile of N accesses of each lane and loads the next one; the whole warp calls. */
template <int D, int N>
static __device__ __forceinline__ void exact_take(struct exact_sum<D> &sum, uint4 (&tile)[N], const uint4 *ahead) {
  if (!sum.other) {
#pragma unroll
    for (int i = 0; i < N; i++) sum.other = sum.other || exact_other<D>(tile[i]);
  }
  const bool slow = exact_is_expected<D>(sum, tile) || !exact_suits<D>(sum, tile);
  if constexpr (D != FOLD_F16) {
    sum.streak = slow ? sum.streak + 1 : 0;
    if (slow) {
      exact_take_slowly<D>(sum, tile, ahead);
      return;
    }
  }
  exact_take_windows<D>(sum, tile, ahead);
  if (++sum.tiles == exact_window<D>::TILES) exact_flush(sum);
}

static __device__ __forceinline__ void exact_count(int64_t *word, int64_t mine) {
  const int64_t all = exact_warp_sum(mine);
  if ((threadIdx.x & 31) == 0 && all) atomicAdd((exact_u64 *)word, (exact_u64)all);
}

/* Adds what the warp holds to the block's limbs and counts, except `terms` and f64's columns, which it may share. */
template <int D>
static __device__ __forceinline__ void exact_finish(struct exact_sum<D> &sum) {
  exact_flush(sum);
  if constexpr (D == FOLD_F32 || D == FOLD_BF16)
    if (sum.slow) exact_bins_flush<D>(sum.columns, sum.block->limb);
  sum.slow = false;
  sum.slow_tiles = 0;
  if (sum.specials) {
    exact_count(&sum.block->nan, sum.special.nan);
    exact_count(&sum.block->positive_infinity, sum.special.positive_infinity);
    exact_count(&sum.block->negative_infinity, sum.special.negative_infinity);
  }
  if (__any_sync(EXACT_WARP, sum.other) && (threadIdx.x & 31) == 0) sum.block->other_than_negative_zero = 1;
}

#endif
