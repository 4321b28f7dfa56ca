/* exact_short.cuh: the exact sums of very many short rows: some lanes a row, many rows a warp.
 *
 * Promised: as exact_block.cuh, for rows of up to 32 x EXACT_AHEAD accesses of 16 bytes. 2^LOG lanes have a row,
 * EACH_LANE accesses of it each, and a tile has SUMS = EXACT_AHEAD / EACH_LANE rows a group of lanes. Terms go to
 * windows as in exact_warp.cuh, or (16-bit formats, and f32 where the exponents allow it) to a double; each lane's sums
 * begin at -0, so that only nothing but -0 leaves -0. Sums cross the group while they are halved: a lane sends away
 * half of its rows at each step, so that each row is closed by few lanes. A tile whose terms fit no window is summed
 * afterwards, row by row, each by the whole warp: right, and some tens of times slower. Launched by exact_rows_*.cu.
 *
 * Measured on one H200, normal data in 4 GiB, times the best plain read in the same run, counting what is read alone
 * (rows of 8 write 1/8 of that besides: a kernel that does nothing but that reads 0.85 and 0.84 of it in f32 and bf16):
 * 8, 32 and 1024 elements: f32 and f16 0.80, 0.88, 0.95; f64 0.80, 0.87, 0.96; bf16 0.79, 0.86, 0.93. A block a row:
 * 0.001 to 0.09. What changed it: rounding 16-bit results through a float rounded to odd, + 15 to 25% (8 elements); loading a
 * dense tile by one address, + 5%; 16 warps of f64 instead of 12, + 6%; one double for f32 and integers for conversions
 * of 16 bits, + 1 to 3%; results that leave the warp side by side, marked to leave the caches first, + 1 to 3%. Tried
 * without gain: twice the tiles a warp; 24 warps (f32 - 8%, bf16 - 3%); results side by side without that mark; all blocks
 * side by side through memory (+ 0.6%); as many tiles a warp as leave no place empty at the end.
 *
 * Rows of 8 f32 took 0.90 of the plain read, all bytes counted, where a kernel that only loads and stores takes 0.96: of 11.6
 * cycles from one instruction of a warp to its next 6.4 were waits for loads, with 15 warps a multiprocessor (ncu). So tiles of
 * rows of one or two accesses come through shared memory, two (16 bits) or three (f32) under way: on one H100 0.921 and,
 * bf16, 0.920 instead of 0.905 and 0.898. One under way: 0.916 and 0.912; two of f32: 0.913.
 */
#ifndef FOLD_EXACT_SHORT_CUH
#define FOLD_EXACT_SHORT_CUH

#include "kernels/cuda/async.cuh"
#include "kernels/cuda/exact/exact_line.cuh"

/* Works for any terms: sums `n` rows from `row` on, each by the whole warp, by windows or limbs as its terms need. */
template <int D>
static __device__ __noinline__ void exact_rows_alone(const typename exact_tile<D>::stored *in, void *out,
                                                     const struct exact_plan &plan, size_t row, unsigned n,
                                                     char *columns, struct exact_set *set, struct fold_super *state) {
  for (const size_t end = min(row + n, plan.rows); row < end; row++) {
    struct exact_sum<D> sum;
    exact_start(sum, columns, set, true, state);
    const exact_row<D> terms(in + row * plan.cols, plan.cols);
    uint4 tile[EXACT_AHEAD];
    for (size_t at = 0; at < terms.tiles; at++) {
      terms.load_cut(tile, at);
      exact_take(sum, tile, NULL);
    }
    const uint64_t bits = exact_end_row(sum, plan.cols);
    if ((threadIdx.x & 31) == 0) fold_bits_store((fold_dtype)D, out, row, bits);
  }
}

/* The state of a tile in P parts: PARTS windows, or one double that takes all terms of a row, if REACH bits and the
 * bits that the number of terms adds are at most 53. */
template <int D, int LOG, int EACH_LANE, int P>
struct exact_short_windows {
  static const int LOG_EACH = EACH_LANE == 8 ? 3 : EACH_LANE == 4 ? 2 : EACH_LANE == 2 ? 1 : 0;
  static const int LOG_TERMS = LOG + LOG_EACH + (exact_tile<D>::EACH == 8 ? 3 : 2);
  static const int REACH = P > 1 ? EXACT_WIDTH *P - 1 : 53 - LOG_TERMS;
};

/* Line `line` of a row: EACH elements, with -0 past the row's end. */
template <int D>
static __device__ __forceinline__ uint4 exact_short_line(const typename exact_tile<D>::stored *in, size_t row,
                                                         unsigned line, const struct exact_plan &plan) {
  const unsigned EACH = exact_tile<D>::EACH, cols = (unsigned)plan.cols, from = line * EACH;
  uint4 q = exact_row<D>::exact_nothing();
  if (row >= plan.rows || from >= cols) return q;
  const typename exact_tile<D>::stored *first = in + row * plan.cols + from;
  if (plan.aligned) return load_16(first);
#pragma unroll
  for (unsigned k = 0; k < EACH; k++)
    if (from + k < cols) exact_row<D>::put(q, k, first[k]);
  return q;
}

template <int D, int LOG, int EACH_LANE, int PARTS = exact_format<D>::PARTS>
struct exact_short {
  static const int SUMS = EXACT_AHEAD / EACH_LANE;
  static const unsigned GROUP = 1u << LOG, ROWS = (32 >> LOG) * SUMS; /* rows of a tile */
  static const unsigned BYTES = ROWS * sizeof(typename exact_tile<D>::stored);
  static const unsigned STAGE = BYTES >= 256 ? BYTES : 0; /* gathers a tile's results, to store 16 bytes a lane */
  double part[SUMS][PARTS];

  /* Loads access i of a tile. If rows follow each other without a gap between groups, so do the tile's lines. */
  static __device__ __forceinline__ uint4 load(const typename exact_tile<D>::stored *in, size_t tile, int i,
                                               const struct exact_plan &plan) {
    if (plan.dense && (tile + 1) * ROWS <= plan.rows)
      return load_16((const uint4 *)in + tile * (32 * EXACT_AHEAD) + 32 * i + (threadIdx.x & 31));
    return exact_short_line<D>(in, tile * ROWS + row_of(i), line_of(i), plan);
  }
  /* Access i of the lane is line line_of(i) of row row_of(i) of the tile. */
  static __device__ __forceinline__ unsigned row_of(int i) {
    return i / EACH_LANE * (32 >> LOG) + (threadIdx.x & 31) / GROUP;
  }
  static __device__ __forceinline__ unsigned line_of(int i) {
    return i % EACH_LANE * GROUP + (threadIdx.x & (GROUP - 1));
  }
  __device__ __forceinline__ void start() {
#pragma unroll
    for (int s = 0; s < SUMS; s++)
#pragma unroll
      for (int p = 0; p < PARTS; p++) part[s][p] = p ? 0.0 : -0.0;
  }
  __device__ __forceinline__ void add(int i, const uint4 &q, int anchor) {
#pragma unroll
    for (int k = 0; k < exact_tile<D>::EACH; k++) {
      const double x = exact_scaled<D>(q, k);
      if constexpr (PARTS == 1)
        part[i / EACH_LANE][0] += x;
      else
        exact_windows_add<PARTS>(part[i / EACH_LANE], anchor, x);
    }
  }
  /* Sums over the group. Of the `left` sums that remain, sum `mine` + s is then that of row s, in the lanes whose bits
   * from `whole` on are zero. */
  __device__ __forceinline__ void join(int *left, int *mine, int *whole) {
    int n = SUMS, base = 0, step = 0;
#pragma unroll
    for (int bit = 0; bit < LOG; bit++) {
      const bool upper = threadIdx.x >> bit & 1;
      if (n > 1) {
        n /= 2;
        step = bit + 1;
        base += upper ? n : 0;
#pragma unroll
        for (int s = 0; s < SUMS / 2; s++)
          if (s < n)
#pragma unroll
            for (int p = 0; p < PARTS; p++) {
              const double away = upper ? part[s][p] : part[s + n][p], kept = upper ? part[s + n][p] : part[s][p];
              part[s][p] = kept + __shfl_xor_sync(EXACT_WARP, away, 1 << bit);
            }
      } else {
#pragma unroll
        for (int p = 0; p < PARTS; p++) part[0][p] += __shfl_xor_sync(EXACT_WARP, part[0][p], 1 << bit);
      }
    }
    *left = n;
    *mine = base;
    *whole = step;
  }
  /* Sum s, rounded once. A double that began at -0 already has the right sign if the sum is zero. */
  __device__ __forceinline__ uint64_t bits(int s) const {
    if constexpr (PARTS == exact_format<D>::PARTS && PARTS > 1) return exact_round_parts<D>(part[s]);
    const double x = part[s][0];
    return exact_round_double(fold_constant<D>(), exact_scale<D>::SCALE ? x * exact_power(exact_scale<D>::SCALE) : x);
  }
};

/* A warp's tiles on their way from memory to shared memory, DEPTH of them, so that many bytes are under way while a tile
 * is summed. Each lane copies what it will read itself, so no lane waits for another. Only whole tiles of dense rows go
 * this way. Needs sm_80. */
template <int DEPTH>
struct exact_short_ring {
  static const unsigned BYTES = DEPTH * 32 * EXACT_AHEAD * 16;
  uint4 *lane; /* this lane's first access of tile 0 of the ring */

  /* Begins to copy a tile to place k; where it is not wanted, nothing. */
  __device__ __forceinline__ void send(const void *in, size_t tile, unsigned k, bool wanted) {
    const uint64_t from = (uint64_t)((const uint4 *)in + tile * (32 * EXACT_AHEAD) + (threadIdx.x & 31));
#pragma unroll
    for (int i = 0; i < EXACT_AHEAD; i++)
      if (wanted) fold_copy_16(lane + (k * EXACT_AHEAD + i) * 32, from + 512 * i);
    fold_copy_commit();
  }
  /* Waits for the oldest tile, which is at place k. */
  __device__ __forceinline__ void take(uint4 (&tile)[EXACT_AHEAD], unsigned k) {
    fold_copy_wait<DEPTH - 1>();
#pragma unroll
    for (int i = 0; i < EXACT_AHEAD; i++) tile[i] = lane[(k * EXACT_AHEAD + i) * 32];
  }
};

/* Sums a tile in PARTS parts and, where no ring does, loads the next one, or nothing past the last row; rows that do not
 * fit are not stored. */
template <int D, int LOG, int EACH_LANE, int PARTS, int DEPTH>
static __device__ __forceinline__ void exact_short_sum(const typename exact_tile<D>::stored *in, void *out,
                                                       uint4 (&tile)[EXACT_AHEAD], size_t at, size_t next, int anchor,
                                                       bool fits, const struct exact_plan &plan, uint4 *stage) {
  typedef exact_short<D, LOG, EACH_LANE, PARTS> group;
  const unsigned lane = threadIdx.x & 31;
  group rows;
  rows.start();
#pragma unroll
  for (int i = 0; i < EXACT_AHEAD; i++) {
    rows.add(i, tile[i], anchor);
    if (DEPTH == 0) tile[i] = group::load(in, next, i, plan);
  }
  if (!fits) return;
  int left, mine, whole;
  rows.join(&left, &mine, &whole);
  const bool packed = group::STAGE > 0 && plan.packed && (at + 1) * group::ROWS <= plan.rows;
  if (packed) __syncwarp(); /* lanes may still read what the last tile left there */
#pragma unroll
  for (int s = 0; s < group::SUMS; s++) {
    const unsigned row = (unsigned)(mine + s) * (32 >> LOG) + lane / group::GROUP;
    if (s < left && (lane & (group::GROUP - 1)) >> whole == 0) {
      const uint64_t bits = rows.bits(s);
      if (packed)
        fold_bits_store((fold_dtype)D, stage, row, bits);
      else if (at * group::ROWS + row < plan.rows)
        fold_bits_store((fold_dtype)D, out, at * group::ROWS + row, bits);
    }
  }
  if constexpr (group::STAGE > 0)
    if (packed) {
      __syncwarp();
      uint4 *line = (uint4 *)((typename exact_tile<D>::stored *)out + at * group::ROWS);
#pragma unroll
      for (unsigned k = 0; k < group::BYTES / 16; k += 32)
        if (k + lane < group::BYTES / 16) __stcs(line + k + lane, stage[k + lane]);
    }
}

template <int D, int LOG, int EACH_LANE, int DEPTH>
__global__ __launch_bounds__(EXACT_THREADS(D), D == FOLD_F64 ? 4 : 2) void exact_short_kernel(
    const typename exact_tile<D>::stored *__restrict__ in, void *out, const struct exact_plan plan) {
  typedef exact_short<D, LOG, EACH_LANE> group;
  const unsigned warp = threadIdx.x / 32, warps = blockDim.x / 32;
  struct exact_sum<D> sum; /* used without terms, for its anchor and limits and the warp's memory */
  exact_start_warp(sum);
  const size_t tiles = (plan.rows + group::ROWS - 1) / group::ROWS;
  const size_t first = (size_t)blockIdx.x * plan.rows_each * warps + warp;
  const size_t end = min((size_t)(blockIdx.x + 1) * plan.rows_each * warps, tiles);
  extern __shared__ __align__(16) char columns[];
  uint4 *stage = (uint4 *)(columns + exact_columns<D>(warps) + warp * group::STAGE);
  uint4 tile[EXACT_AHEAD];
  typedef exact_short_ring<DEPTH> tiles_ahead;
  tiles_ahead ring = {(uint4 *)(columns + exact_columns<D>(warps) + warps * group::STAGE + warp * tiles_ahead::BYTES) +
                      (threadIdx.x & 31)};
  const size_t whole = min(end, plan.rows / group::ROWS); /* tiles before this one are whole */
  unsigned place = 0;
  if constexpr (DEPTH > 0) {
#pragma unroll
    for (unsigned k = 0; k < DEPTH; k++) ring.send(in, first + k * warps, k, first + k * warps < whole);
  } else {
#pragma unroll
    for (int i = 0; i < EXACT_AHEAD; i++) tile[i] = group::load(in, first, i, plan);
  }
  uint32_t late = 0; /* bit n: the n-th tile of this warp fits no window */
  unsigned n = 0;
  bool narrow = false; /* f32: one double has room for a row of the tile, as for most data */
  for (size_t at = first; at < end; at += warps, n++) {
    if constexpr (DEPTH > 0) {
      ring.take(tile, place);
      if (at >= whole)
#pragma unroll
        for (int i = 0; i < EXACT_AHEAD; i++) tile[i] = group::load(in, at, i, plan);
    }
    const struct exact_seen seen = exact_look_all<D>(tile);
    bool fits = true;
    if (__any_sync(EXACT_WARP, seen.most >= sum.most_limit || seen.least < sum.least_limit)) {
      const uint32_t most = exact_warp_max(seen.most) >> exact_shift<D>::MOST;
      const uint32_t least = ~exact_warp_max(~seen.least) >> exact_shift<D>::LEAST;
      fits = most != exact_shift<D>::TOP;
      narrow =
          D == FOLD_F32 && fits && exact_place<D, exact_short_windows<D, LOG, EACH_LANE, 1>::REACH>(sum, most, least);
      fits = fits && (narrow || exact_place<D, exact_short_windows<D, LOG, EACH_LANE, exact_format<D>::PARTS>::REACH>(
                                    sum, most, least));
    }
    if constexpr (DEPTH > 0) {
      ring.send(in, at + DEPTH * warps, place, at + DEPTH * warps < whole);
      place = place + 1 < DEPTH ? place + 1 : 0;
    }
    const size_t next = at + warps < end ? at + warps : tiles; /* beyond the last row nothing is loaded */
    if (D == FOLD_F32 && narrow)
      exact_short_sum<D, LOG, EACH_LANE, 1, DEPTH>(in, out, tile, at, next, sum.anchor, fits, plan, stage);
    else
      exact_short_sum<D, LOG, EACH_LANE, exact_format<D>::PARTS, DEPTH>(in, out, tile, at, next, sum.anchor, fits, plan,
                                                                        stage);
    late |= (uint32_t)!fits << n;
  }
  for (n = 0; late >> n; n++)
    if (late >> n & 1)
      exact_rows_alone<D>(in, out, plan, (first + n * warps) * group::ROWS, group::ROWS, sum.columns, sum.set,
                          sum.block);
}

#endif
