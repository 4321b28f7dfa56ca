/* gemm_digits.cuh: the product of two factors given as digits (gemm_lines.cuh), rounded where that is certain.
 *
 * The digits' scheme is Ozaki's (Ozaki, Ogita, Oishi, Rump, Error-free transformations of matrix multiplication, Numerical Algorithms 59,
 * 2012), with integers (Ootomo, Ozaki, Yokota, DGEMM on integer matrix multiplication unit, IJHPCA 2024). Here the sums of all places are
 * kept as one integer, so that nothing is rounded before the end:
 *
 *   places  products of digits p and q with p + q = d have one weight. Their sums over p and k are one sum of int32, for d = D - 1 down to 0;
 *           at the end of a place its lowest digit is put away, and the rest is carried: it is what the next place starts from.
 *   error   digits with p + q >= D are left out, and the r of gemm_lines.cuh. What they amount to is at most (0.27 D + 0.135) k 2^-Dw, in
 *           units of 2^(both scales), for a line's digits from d on are at most 0.54 2^-dw. Where both lines are short, it is nothing.
 *   round   if the sum less the error and the sum with it round to the same bits, these are the result's. The others, and those of lines
 *           with NaN and infinities, are marked in `undecided`.
 */
#ifndef FOLD_GEMM_DIGITS_CUH
#define FOLD_GEMM_DIGITS_CUH

#include "kernels/cuda/gemm/gemm_lines.cuh"

/* A tile: WM x WN warps, each with 16 MI x 8 NI results; BK terms at a time in one of STAGES buffers. */
template <int WM_, int WN_, int STAGES_, int RESIDENT_>
struct digits_tile {
  enum {
    WM = WM_,
    WN = WN_,
    STAGES = STAGES_,
    RESIDENT = RESIDENT_,
    MI = 4,
    NI = 8,
    BM = WM * MI * 16,
    BN = WN * NI * 8,
    BK = 128,
    THREADS = 32 * WM * WN,
    RESULTS = MI * NI * 4, /* of a thread */
    MARKS = RESULTS / 32,  /* words of `undecided` of a thread */
    STAGE = (BM + BN) * BK,
    COPIES = STAGE / 16 / THREADS,
    PLACE = RESULTS * THREADS, /* bytes of a place's digits; a word has four results of one thread */
  };
};

/* All that the kernel knows. Sizes are of the part of the product that is done in one launch. */
struct digits_plan {
  size_t m, n, batches, terms, tiles_m, tiles_n, tiles;
  gemm_lines a, b;
  enum fold_dtype to;
  void *out;
  ptrdiff_t out_b, out_m, out_n;
  int8_t *room;        /* digits x PLACE bytes and RESULTS x THREADS int32 for each block */
  uint32_t *undecided; /* tiles x MARKS x THREADS */
};

/* Which result a thread's result r is. */
struct digits_place {
  size_t batch, m, n;
};
/* The first result of a tile: columns of tiles eight high, for the L2. */
template <class T>
static __device__ __forceinline__ digits_place digits_tile_at(const digits_plan &plan, size_t tile) {
  const size_t in_batch = plan.tiles_m * plan.tiles_n, batch = tile / in_batch, at = tile % in_batch;
  const size_t band = at / (8 * plan.tiles_n), high = plan.tiles_m - 8 * band < 8 ? plan.tiles_m - 8 * band : 8;
  const size_t in_band = at % (8 * plan.tiles_n);
  return {batch, (8 * band + in_band % high) * T::BM, in_band / high * T::BN};
}
template <class T>
static __device__ __forceinline__ digits_place digits_place_of(const digits_place &first, unsigned thread, unsigned r) {
  const unsigned lane = thread % 32, warp = thread / 32, v = r % 4, j = r / 4 % T::NI, i = r / 4 / T::NI;
  return {first.batch, first.m + warp / T::WN * (T::MI * 16) + i * 16 + lane / 4 + v / 2 * 8,
          first.n + warp % T::WN * (T::NI * 8) + j * 8 + lane % 4 * 2 + v % 2};
}
static __device__ __forceinline__ size_t digits_offset(const digits_plan &plan, const digits_place &at) {
  return (size_t)((ptrdiff_t)at.batch * plan.out_b + (ptrdiff_t)at.m * plan.out_m + (ptrdiff_t)at.n * plan.out_n);
}

/* d += a b, of 16 x 8 results and 32 terms. */
static __device__ __forceinline__ void digits_mma(int (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
#if __CUDA_ARCH__ >= 800
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#else
  __trap();
#endif
}
static __device__ __forceinline__ void digits_load(uint32_t (&to)[4], uint32_t address) {
#if __CUDA_ARCH__ >= 800
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address)
               : "memory");
#endif
}

/* The way through a tile's places, pairs of slices, and terms. */
struct digits_step {
  int place, p, kb;
  int digits_a, digits_b, blocks;
  __device__ __forceinline__ void place_begins(int d) { place = d, p = max(0, d - digits_b + 1), kb = 0; }
  __device__ __forceinline__ bool ended() const { return place < 0; }
  /* To the next terms. True if the place is complete. */
  __device__ __forceinline__ bool next() {
    if (++kb < blocks) return false;
    kb = 0;
    if (++p <= min(place, digits_a - 1)) return false;
    place_begins(place - 1);
    return true;
  }
};

/* The pattern of m 2^base, m not 0, rounded to nearest even; if bits were lost, m has its highest bit and its last is set. */
static __device__ __forceinline__ uint64_t digits_round(uint64_t m, int base, const struct fold_format &to) {
  const int leading = 63 - __clzll((long long)m), exponent = base + leading;
  if (exponent > to.emax) return to.beyond;
  const int field = exponent < to.emin ? 0 : exponent - to.emin;
  const int drop = to.emin + field - to.precision + 1 - base;
  if (drop > leading + 1) return 0;
  uint64_t kept = drop > 63 ? 0 : drop > 0 ? m >> drop : m << -drop;
  if (drop > 0) kept += (m >> (drop - 1) & 1) && ((m & (((uint64_t)1 << (drop - 1)) - 1)) || (kept & 1));
  return ((uint64_t)field << (to.precision - 1)) + kept;
}
static __device__ __forceinline__ uint64_t digits_round_wide(unsigned __int128 m, int base,
                                                             const struct fold_format &to) {
  const uint64_t high = (uint64_t)(m >> 64);
  if (!high) return digits_round((uint64_t)m, base, to);
  const int lost = 64 - __clzll((long long)high);
  const uint64_t rest = (uint64_t)m << (64 - lost);
  return digits_round((uint64_t)(m >> lost) | (rest != 0), base + lost, to);
}

/* Rounds sum 2^base, which is off by at most `error` units; false if that leaves the result open. */
static __device__ __forceinline__ bool digits_close(__int128 sum, uint64_t error, int base,
                                                    const struct fold_format &to, uint64_t *bits) {
  const bool negative = sum < 0;
  const unsigned __int128 size = negative ? 0 - (unsigned __int128)sum : (unsigned __int128)sum;
  if (size <= error) return false;
  *bits = digits_round_wide(size - error, base, to);
  if (error && digits_round_wide(size + error, base, to) != *bits) return false;
  if (negative) *bits |= to.sign;
  return true;
}

/* A sum of zeros: -0 if every product is -0, +0 otherwise; false if the lines' signs do not tell. */
static __device__ __forceinline__ bool digits_zero(const gemm_line &a, const gemm_line &b, const struct fold_format &to,
                                                   uint64_t *bits) {
  const bool mixed_a = a.positive && a.negative, mixed_b = b.positive && b.negative;
  if (mixed_a && mixed_b) return false;
  *bits = !mixed_a && !mixed_b && a.negative != b.negative ? to.sign : 0;
  return true;
}

/* The lines of a tile, in shared memory; `most`: the most digits that one has, at most those that there are. */
template <int LINES>
struct digits_lines {
  gemm_line line[LINES];
  int most;
  /* By the whole block, which the caller's barriers hold together. */
  __device__ __forceinline__ void clear() {
    if (threadIdx.x == 0) most = 0;
  }
  __device__ __forceinline__ void load(const gemm_lines &of, size_t batch, size_t first) {
    for (unsigned i = threadIdx.x; i < LINES; i += blockDim.x) {
      line[i] = of.line[batch * of.padded + first + i];
      atomicMax(&most, min(line[i].digits, (int)of.digits));
    }
  }
};

/* Puts the digits of the tile's results away, place after place; those of place 0 come as int32, behind all others. */
template <class T>
static __device__ __forceinline__ void digits_multiply(const digits_plan &plan, const digits_place &first, int digits_a,
                                                       int digits_b, int places, uint32_t *room, int8_t *shared) {
  const unsigned t = threadIdx.x, lane = t % 32, warp = t / 32, row = t / 8, chunk = t % 8;
  const size_t line = plan.a.padded_k;
  const int8_t *const from_a =
      plan.a.slices + (first.batch * plan.a.digits * plan.a.padded + first.m + row) * line + chunk * 16;
  const int8_t *const from_b =
      plan.b.slices + (first.batch * plan.b.digits * plan.b.padded + first.n + row) * line + chunk * 16;
  const uint32_t at_shared = fold_shared_address(shared);
  const unsigned swizzled = row * T::BK + (chunk ^ row % 8) * 16;
  const auto load = [&](const digits_step &step, int stage) {
    if (step.ended()) return;
    int8_t *const to = shared + stage * T::STAGE + swizzled;
    const int8_t *a = from_a + (size_t)step.p * plan.a.padded * line + (size_t)step.kb * T::BK;
    const int8_t *b = from_b + (size_t)(step.place - step.p) * plan.b.padded * line + (size_t)step.kb * T::BK;
#pragma unroll
    for (int c = 0; c < T::BM * 8 / T::THREADS; c++, a += T::THREADS / 8 * line)
      fold_copy_16(to + c * (T::THREADS / 8) * T::BK, (uint64_t)a);
#pragma unroll
    for (int c = 0; c < T::BN * 8 / T::THREADS; c++, b += T::THREADS / 8 * line)
      fold_copy_16(to + (T::BM + c * (T::THREADS / 8)) * T::BK, (uint64_t)b);
  };
  const unsigned row_a = (warp / T::WN * (T::MI * 16) + lane % 16) * T::BK, chunk_a = lane / 16;
  const unsigned row_b = (T::BM + warp % T::WN * (T::NI * 8) + lane % 8 + lane / 16 * 8) * T::BK,
                 chunk_b = lane / 8 % 2;

  int sums[T::MI][T::NI][4] = {};
  digits_step loads = {0, 0, 0, digits_a, digits_b, (int)(line / T::BK)}, now;
  loads.place_begins(places - 1);
  now = loads;
#pragma unroll
  for (int s = 0; s < T::STAGES - 1; s++) {
    load(loads, s);
    fold_copy_commit();
    if (!loads.ended()) loads.next();
  }
  int stage = 0, ahead = T::STAGES - 1;
  while (!now.ended()) {
    fold_copy_wait<T::STAGES - 2>();
    __syncthreads();
    load(loads, ahead);
    fold_copy_commit();
    if (!loads.ended()) loads.next();
    const uint32_t base = at_shared + stage * T::STAGE;
#pragma unroll
    for (int kk = 0; kk < T::BK / 32; kk++) {
      uint32_t a[T::MI][4], b[T::NI / 2][4];
#pragma unroll
      for (int i = 0; i < T::MI; i++)
        digits_load(a[i], base + row_a + i * 16 * T::BK + ((kk * 2 + chunk_a) ^ lane % 8) * 16);
#pragma unroll
      for (int j = 0; j < T::NI / 2; j++)
        digits_load(b[j], base + row_b + j * 16 * T::BK + ((kk * 2 + chunk_b) ^ lane % 8) * 16);
#pragma unroll
      for (int i = 0; i < T::MI; i++)
#pragma unroll
        for (int j = 0; j < T::NI; j++) digits_mma(sums[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
    }
    stage = stage + 1 == T::STAGES ? 0 : stage + 1;
    ahead = ahead + 1 == T::STAGES ? 0 : ahead + 1;
    const int place = now.place;
    if (!now.next() || place == 0) continue;
    uint32_t *const to = room + (size_t)place * (T::PLACE / 4) + t;
    const int width = (int)plan.a.width, mask = (1 << width) - 1;
#pragma unroll
    for (int i = 0; i < T::MI; i++)
#pragma unroll
      for (int j = 0; j < T::NI; j++) {
        uint32_t word = 0;
#pragma unroll
        for (int v = 0; v < 4; v++) {
          word |= (uint32_t)(sums[i][j][v] & mask) << v * 8;
          sums[i][j][v] >>= width;
        }
        to[(i * T::NI + j) * T::THREADS] = word;
      }
  }
  fold_copy_wait<0>();
  uint32_t *const to = room + (size_t)plan.a.digits * (T::PLACE / 4) + t;
#pragma unroll
  for (int i = 0; i < T::MI; i++)
#pragma unroll
    for (int j = 0; j < T::NI; j++)
#pragma unroll
      for (int v = 0; v < 4; v++) to[((i * T::NI + j) * 4 + v) * T::THREADS] = (uint32_t)sums[i][j][v];
}

/* What a tile's results are rounded by. */
struct digits_rounding {
  struct fold_format to;
  int width, places;
  uint64_t error; /* in units of the last place, of results whose lines have more digits than there are */
};
static __device__ __forceinline__ digits_rounding digits_rounding_of(const digits_plan &plan, int places) {
  const int width = (int)plan.a.width;
  const uint64_t each = (2 * (uint64_t)places + 1) * 9 * ((uint64_t)1 << width); /* 64 (0.27 places + 0.135) or more */
  return {fold_format_of(plan.to), width, places, (uint64_t)plan.terms * each / 64 + 1};
}

/* The result of two lines; false if it is left open. */
static __device__ __forceinline__ bool digits_result(const digits_rounding &by, const gemm_line &a, const gemm_line &b,
                                                     __int128 sum, uint64_t *bits) {
  if (a.odd || b.odd) return false;
  const bool whole = a.digits == 0 || b.digits == 0 || a.digits + b.digits - 1 <= by.places;
  if (whole && sum == 0) return digits_zero(a, b, by.to, bits);
  return digits_close(sum, whole ? 0 : by.error, a.scale + b.scale - by.width * (by.places + 1), by.to, bits);
}

/* Rounds the thread's results, four at a time, whose digits share words. */
template <class T>
static __device__ __forceinline__ void digits_finish(const digits_plan &plan, size_t tile, const digits_place &first,
                                                     int places, const uint32_t *room, const gemm_line *lines_a,
                                                     const gemm_line *lines_b) {
  const digits_rounding by = digits_rounding_of(plan, places);
  const unsigned t = threadIdx.x;
  uint32_t marks = 0;
  for (unsigned q = 0; q < T::RESULTS / 4; q++) {
    __int128 sum[4];
    const uint32_t *const highest = room + (size_t)plan.a.digits * (T::PLACE / 4) + q * 4 * T::THREADS + t;
#pragma unroll
    for (int v = 0; v < 4; v++) sum[v] = (int)highest[v * T::THREADS];
    const uint32_t *word = room + (T::PLACE / 4) + q * T::THREADS + t;
#pragma unroll 4
    for (int d = 1; d < places; d++, word += T::PLACE / 4) {
      const uint32_t digits = *word;
#pragma unroll
      for (int v = 0; v < 4; v++) sum[v] = (__int128)((unsigned __int128)sum[v] << by.width) + (digits >> v * 8 & 0xff);
    }
#pragma unroll
    for (unsigned v = 0; v < 4; v++) {
      const digits_place at = digits_place_of<T>(first, t, q * 4 + v);
      if (at.m >= plan.m || at.n >= plan.n) continue;
      uint64_t bits = 0;
      if (digits_result(by, lines_a[at.m - first.m], lines_b[at.n - first.n], sum[v], &bits))
        fold_bits_store(plan.to, plan.out, digits_offset(plan, at), bits);
      else
        marks |= 1u << (q * 4 + v) % 32;
    }
    if (q % 8 != 7) continue;
    plan.undecided[(tile * T::MARKS + q / 8) * T::THREADS + t] = marks;
    marks = 0;
  }
}

template <class T>
static __global__ void __launch_bounds__(T::THREADS, T::RESIDENT) digits_kernel(const digits_plan plan) {
  extern __shared__ __align__(128) int8_t digits_shared[];
  __shared__ digits_lines<T::BM> lines_a;
  __shared__ digits_lines<T::BN> lines_b;
  uint32_t *const room =
      (uint32_t *)plan.room + (size_t)blockIdx.x * (plan.a.digits * (T::PLACE / 4) + T::RESULTS * T::THREADS);
  for (size_t tile = blockIdx.x; tile < plan.tiles; tile += gridDim.x) {
    const digits_place first = digits_tile_at<T>(plan, tile);
    __syncthreads();
    lines_a.clear(), lines_b.clear();
    __syncthreads();
    lines_a.load(plan.a, first.batch, first.m), lines_b.load(plan.b, first.batch, first.n);
    __syncthreads();
    const int digits_a = lines_a.most, digits_b = lines_b.most;
    const int places = digits_a && digits_b ? min(digits_a + digits_b - 1, (int)plan.a.digits) : 0;
    digits_multiply<T>(plan, first, digits_a, digits_b, places, room, digits_shared);
    digits_finish<T>(plan, tile, first, places, room, lines_a.line, lines_b.line);
  }
}

#endif
