/* gemm.cuh: one kernel of matrix products, for tiles of any size: what a block does.
 *
 * Order: gemm/canonical (oracles/orders.def): k is cut into segments, whose length is a function of k alone; a result is a chain of FMA
 * from zero through each segment, and the segments are joined by a tree over neighbours.
 *
 * Promised: no bit depends on the plan, the tile, the strides or the grid. A block computes a tile of BM x BN results over an aligned group
 * of segments, which is a subtree. Where a tile has several groups, these meet in scratch, and the last block to arrive joins them.
 *
 * How it gets its speed: the factors of BK terms go through shared memory as accumulators, one buffer is filled while the other
 * is used, and a thread holds TM x TN results. A finished segment is joined like a carry runs through a binary number: partials of
 * 2^l segments wait in scratch, which stays in the L2.
 */
#ifndef FOLD_GEMM_CUH
#define FOLD_GEMM_CUH

#include "kernels/cuda/async.cuh"
#include "kernels/cuda/common.cuh"
#include "kernels/cuda/gemm/gemm_mma.cuh"
#include "kernels/cuda/last_block.cuh"

/* How the elements of an operand lie, and so which of them a thread copies: */
enum gemm_lie {
  GEMM_ALONG_K, /* neighbouring threads have neighbouring terms */
  GEMM_ACROSS,  /* they have neighbouring rows or columns */
  GEMM_VECTORS, /* the same, 16 bytes a thread: these lie side by side, and those of each term begin on 16 bytes */
};

/* What all blocks know. Strides are in elements. */
struct gemm_plan {
  size_t m, n, batches;
  unsigned k;
  ptrdiff_t a_b, a_m, a_k, b_b, b_k, b_n, out_m, out_n;
  unsigned segment, segments; /* terms of each but the last; at least 1 of them */
  unsigned group, groups;     /* segments of a group, a power of two; groups of a tile */
  unsigned levels;            /* of partials that wait in a block */
  size_t tiles_m, tiles_n, items;
  gemm_lie a_lie, b_lie;
};

/* A tile: BM x BN results, BK terms at a time in one of STAGES buffers; WM x WN warps of LM x LN lanes, each with TM x TN results; RESIDENT
 * blocks at least fit a multiprocessor. MMA: of f64, by tensor cores where there are such (gemm_mma.cuh). */
template <int BM_, int BN_, int BK_, int STAGES_, int WM_, int WN_, int LM_, int TM_, int TN_, int RESIDENT_,
          bool MMA_ = false>
struct gemm_tile {
  enum {
    BM = BM_,
    BN = BN_,
    BK = BK_,
    STAGES = STAGES_,
    WM = WM_,
    WN = WN_,
    LM = LM_,
    LN = 32 / LM_,
    TM = TM_,
    TN = TN_,
    RESIDENT = RESIDENT_,
    THREADS = 32 * WM * WN,
    MMA = MMA_,
    PAD = 4,
    LA = BM + PAD,
    LB = BN + PAD, /* rows of shared memory */
  };
  static_assert(WM * LM * TM == BM && WN * LN * TN == BN, "threads cover the tile");
  static_assert(BM <= THREADS && BN <= THREADS && BK <= THREADS && STAGES >= 2, "a thread has one row or column");
};

static __device__ __forceinline__ float gemm_fma(float x, float y, float sum) { return __fmaf_rn(x, y, sum); }
static __device__ __forceinline__ double gemm_fma(double x, double y, double sum) { return __fma_rn(x, y, sum); }

/* One operand's way from global to shared memory, X rows or columns by BK terms at a time. Elements past the operand's end become zeros,
 * which no result uses. */
template <int D, int X, int BK, int LEAD, int THREADS>
struct gemm_operand {
  typedef fold_element<D> E;
  typedef typename E::stored S;
  typedef typename E::wide W;
  enum {
    ASYNC = sizeof(S) == sizeof(W), /* shared memory holds accumulators: narrower elements pass through registers */
    V = 16 / sizeof(S),
    N = (X * BK + THREADS - 1) / THREADS, /* elements of a thread */
    LINE = X >= V ? X / V : 1,            /* vectors of a term */
    VECTORS = ASYNC && X % V == 0 && X * BK % (V * THREADS) == 0 ? X * BK / V / THREADS : 0,
    COVERS = X * BK % THREADS == 0,
  };
  gemm_lie lie;
  const S *at; /* the thread's first element of the next terms */
  ptrdiff_t stride_x, stride_k;
  unsigned x, k;
  S held[ASYNC ? 1 : N];

  __device__ __forceinline__ void set(gemm_lie how, ptrdiff_t of_k, ptrdiff_t of_x) {
    const unsigned t = threadIdx.x;
    lie = how == GEMM_VECTORS && !VECTORS ? GEMM_ACROSS : how;
    k = lie == GEMM_ALONG_K ? t % BK : lie == GEMM_ACROSS ? t / X : t / LINE;
    x = lie == GEMM_ALONG_K ? t / BK : lie == GEMM_ACROSS ? t % X : t % LINE * V;
    stride_k = of_k, stride_x = of_x;
  }
  __device__ __forceinline__ void start(const S *first) {
    at = first + (ptrdiff_t)k * stride_k + (ptrdiff_t)x * stride_x;
  }

  /* Begins to fill `tile` with the next `terms` terms of `rows` rows. */
  __device__ __forceinline__ void begin(W *tile, unsigned terms, unsigned rows, bool whole) {
    if (lie == GEMM_VECTORS)
      vectors(tile, terms, rows, whole);
    else if (lie == GEMM_ALONG_K)
      elements<0, THREADS / BK>(tile, terms, rows, whole, (ptrdiff_t)(THREADS / BK) * stride_x);
    else
      elements<THREADS / X, 0>(tile, terms, rows, whole, (ptrdiff_t)(THREADS / X) * stride_k);
    at += (ptrdiff_t)(whole ? BK : terms) * stride_k;
  }
  __device__ __forceinline__ void vectors(W *tile, unsigned terms, unsigned rows, bool whole) {
    const S *from = at;
    W *to = tile + k * LEAD + x;
#pragma unroll
    for (int e = 0; e < VECTORS; e++, from += (ptrdiff_t)(THREADS / LINE) * stride_k) {
      unsigned bytes = 16;
      if (!whole) {
        const bool in = k + e * (THREADS / LINE) < terms && x < rows;
        bytes = !in ? 0 : rows - x < V ? (rows - x) * (unsigned)sizeof(S) : 16;
      }
      copy<16>(to + e * (THREADS / LINE) * LEAD, bytes ? from : at, bytes);
    }
  }
  template <int DK, int DX>
  __device__ __forceinline__ void elements(W *tile, unsigned terms, unsigned rows, bool whole, ptrdiff_t step) {
    const S *from = at;
    W *to = tile + k * LEAD + x;
    if (ASYNC && COVERS && whole) {
#pragma unroll
      for (int e = 0; e < N; e++, from += step) copy<sizeof(S)>(to + e * (DK * LEAD + DX), from, sizeof(S));
      return;
    }
#pragma unroll
    for (int e = 0; e < N; e++, from += step) {
      const bool in = x + e * DX < rows && k + e * DK < terms;
      if (!ASYNC)
        held[ASYNC ? 0 : e] = in ? __ldg(from) : S(0);
      else if (COVERS || (x + e * DX < X && k + e * DK < BK))
        copy<sizeof(S)>(to + e * (DK * LEAD + DX), in ? from : at, in ? sizeof(S) : 0);
    }
  }
  /* Ends what begin began. */
  __device__ __forceinline__ void end(W *tile) {
    if (ASYNC) return;
    if (lie == GEMM_ALONG_K)
      put<0, THREADS / BK>(tile);
    else
      put<THREADS / X, 0>(tile);
  }
  template <int DK, int DX>
  __device__ __forceinline__ void put(W *tile) {
#pragma unroll
    for (int e = 0; e < N; e++)
      if (COVERS || (x + e * DX < X && k + e * DK < BK))
        tile[(k + e * DK) * LEAD + x + e * DX] = E::widen(held[ASYNC ? 0 : e]);
  }
  template <int BYTES>
  static __device__ __forceinline__ void copy(W *to, const S *from, unsigned bytes) {
#if __CUDA_ARCH__ >= 800
    const uint32_t shared = fold_shared_address(to);
    if (BYTES == 16)
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(from), "r"(bytes) : "memory");
    else
      asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(shared), "l"(from), "n"(BYTES < 4 ? 4 : BYTES),
                   "r"(bytes)
                   : "memory");
#else
#pragma unroll
    for (int v = 0; v < BYTES / (int)sizeof(S); v++) to[v] = v * sizeof(S) < bytes ? E::widen(__ldg(from + v)) : W(0);
#endif
  }
};

/* The terms that come next: of the segment that ends at `end`, before the group's `stop`. */
struct gemm_walk {
  unsigned k, end, stop, segment;
  __device__ __forceinline__ unsigned left() const { return end - k; }
  __device__ __forceinline__ unsigned advance(unsigned most) {
    const unsigned terms = end - k < most ? end - k : most;
    k += terms;
    if (k == end) end = stop - k > segment ? k + segment : stop;
    return terms;
  }
};

template <int V, class W>
static __device__ __forceinline__ void gemm_vector(W *to, const W *from) {
#pragma unroll
  for (int v = 0; v < V; v++) to[v] = from[v];
}
template <>
__device__ __forceinline__ void gemm_vector<4, float>(float *to, const float *from) {
  const float4 all = *(const float4 *)from;
  to[0] = all.x, to[1] = all.y, to[2] = all.z, to[3] = all.w;
}
template <>
__device__ __forceinline__ void gemm_vector<2, double>(double *to, const double *from) {
  const double2 all = *(const double2 *)from;
  to[0] = all.x, to[1] = all.y;
}
/* T neighbouring values of a row of shared memory, 16 bytes at a time where they are so many. */
template <int T, int LANES, class W>
static __device__ __forceinline__ void gemm_fragment(W (&to)[T], const W *row, unsigned lane) {
  enum { V = T * sizeof(W) >= 16 ? 16 / sizeof(W) : T };
#pragma unroll
  for (int i = 0; i < T; i += V) {
    const W *from = row + i * LANES + lane * V;
    gemm_vector<V>(to + i, from);
  }
}
/* Which of a warp's rows is a thread's i-th, and which of its columns its j-th. */
template <class T, class W>
static __device__ __forceinline__ unsigned gemm_row(unsigned lane, unsigned i) {
  enum { V = T::TM * sizeof(W) >= 16 ? 16 / sizeof(W) : T::TM };
  return T::MMA ? i / 2 * 16 + i % 2 * 8 + lane : i / V * V * T::LM + lane * V + i % V;
}
template <class T, class W>
static __device__ __forceinline__ unsigned gemm_column(unsigned lane, unsigned j) {
  enum { V = T::TN * sizeof(W) >= 16 ? 16 / sizeof(W) : T::TN };
  return T::MMA ? j / 2 * 8 + lane * 2 + j % 2 : j / V * V * T::LN + lane * V + j % V;
}

/* One block's accumulators and where its partials wait. */
template <class T, class W>
struct gemm_sums {
  W at[T::TM][T::TN];
  W *waiting; /* of this thread: level l, result i, j at ((l * TM + i) * TN + j) * THREADS */

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int i = 0; i < T::TM; i++)
#pragma unroll
      for (int j = 0; j < T::TN; j++) at[i][j] = W(0);
  }
  __device__ __forceinline__ W *level(unsigned l) { return waiting + (size_t)l * T::TM * T::TN * T::THREADS; }
  __device__ __forceinline__ void join(unsigned l) {
    const W *left = level(l);
#pragma unroll
    for (int i = 0; i < T::TM; i++)
#pragma unroll
      for (int j = 0; j < T::TN; j++) at[i][j] = __ldcg(left + (i * T::TN + j) * T::THREADS) + at[i][j];
  }
  __device__ __forceinline__ void wait_at(unsigned l) {
    W *to = level(l);
#pragma unroll
    for (int i = 0; i < T::TM; i++)
#pragma unroll
      for (int j = 0; j < T::TN; j++) __stcg(to + (i * T::TN + j) * T::THREADS, at[i][j]);
  }
  /* A segment is complete, before which `done` of the group were: joins what it completes, and waits if it is not the last. */
  __device__ __forceinline__ void carry(unsigned done, bool last) {
    unsigned l = 0;
    for (; done >> l & 1; l++) join(l);
    if (!last) {
      wait_at(l);
      clear();
      return;
    }
    for (l++; done >> l; l++)
      if (done >> l & 1) join(l);
  }
};

/* Joins the products of the first `terms` of BK terms to the sums, in rising index. */
template <class T, class W>
static __device__ __forceinline__ void gemm_terms(gemm_sums<T, W> &sums, const W *a, const W *b, unsigned lane_m,
                                                  unsigned lane_n, unsigned terms) {
  const auto term = [&](unsigned k) {
    W x[T::TM], y[T::TN];
    gemm_fragment<T::TM, T::LM>(x, a + k * T::LA, lane_m);
    gemm_fragment<T::TN, T::LN>(y, b + k * T::LB, lane_n);
#pragma unroll
    for (int i = 0; i < T::TM; i++)
#pragma unroll
      for (int j = 0; j < T::TN; j++) sums.at[i][j] = gemm_fma(x[i], y[j], sums.at[i][j]);
  };
  if constexpr (T::MMA) {
    gemm_mma_terms<T>(sums.at, a, b, lane_m, lane_n, terms);
  } else if (terms >= T::BK) {
#pragma unroll
    for (int k = 0; k < T::BK; k++) term(k);
  } else {
#pragma unroll 1
    for (unsigned k = 0; k < terms; k++) term(k);
  }
}

/* Joins the groups of a tile, whose partials lie `stride` apart from `at` on. Eight at a time, and then as carries. */
template <class W>
static __device__ __forceinline__ W gemm_groups(const W *at, size_t stride, unsigned groups) {
  W level[16], value = W(0);
  unsigned done = 0;
  for (unsigned g = 0; g < groups; g += 8, done++) {
    W v[8];
#pragma unroll
    for (unsigned i = 0; i < 8; i++) v[i] = g + i < groups ? __ldcg(at + (g + i) * stride) : -W(0);
    value = ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]));
    int l = 0;
    for (; done >> l & 1; l++) value = level[l] + value;
    level[l] = value;
  }
  bool any = false;
  for (int l = 0; l < 16; l++) {
    if (!(done >> l & 1)) continue;
    value = any ? level[l] + value : level[l];
    any = true;
  }
  return value;
}

/* The shared memory of a block, in bytes. */
template <class T, class W>
static constexpr size_t gemm_shared() {
  return (size_t)T::STAGES * T::BK * (T::LA + T::LB) * sizeof(W);
}

template <int D, class T>
static __global__ void __launch_bounds__(T::THREADS, T::RESIDENT)
    gemm_kernel(const gemm_plan plan, const typename fold_element<D>::stored *__restrict__ in_a,
                const typename fold_element<D>::stored *__restrict__ in_b, typename fold_element<D>::stored *out,
                unsigned *counters, typename fold_element<D>::wide *waiting, typename fold_element<D>::wide *partials) {
  typedef fold_element<D> E;
  typedef typename E::stored S;
  typedef typename E::wide W;
  extern __shared__ __align__(16) unsigned char shared[];
  W *const a_tiles = (W *)shared, *const b_tiles = a_tiles + T::STAGES * T::BK * T::LA;
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const unsigned warp_m = warp / T::WN * (T::LM * T::TM), warp_n = warp % T::WN * (T::LN * T::TN);
  const unsigned lane_m = lane / T::LN, lane_n = lane % T::LN;
  gemm_operand<D, T::BM, T::BK, T::LA, T::THREADS> a;
  gemm_operand<D, T::BN, T::BK, T::LB, T::THREADS> b;
  a.set(plan.a_lie, plan.a_k, plan.a_m);
  b.set(plan.b_lie, plan.b_k, plan.b_n);
  gemm_sums<T, W> sums;
  sums.waiting = waiting + (size_t)blockIdx.x * plan.levels * T::TM * T::TN * T::THREADS + threadIdx.x;

  for (size_t item = blockIdx.x; item < plan.items; item += gridDim.x) {
    const unsigned g = item % plan.groups;
    const size_t tile = item / plan.groups, tile_n = tile % plan.tiles_n;
    const size_t tile_m = tile / plan.tiles_n % plan.tiles_m, batch = tile / plan.tiles_n / plan.tiles_m;
    const size_t m0 = tile_m * T::BM, n0 = tile_n * T::BN;
    const unsigned rows = plan.m - m0 < T::BM ? plan.m - m0 : T::BM, cols = plan.n - n0 < T::BN ? plan.n - n0 : T::BN;
    const bool inside = rows == T::BM && cols == T::BN;
    gemm_walk uses;
    uses.segment = plan.segment;
    uses.k = g * (plan.group * plan.segment);
    uses.stop = plan.k - uses.k > plan.group * plan.segment ? uses.k + plan.group * plan.segment : plan.k;
    uses.end = uses.stop - uses.k > plan.segment ? uses.k + plan.segment : uses.stop;
    gemm_walk loads = uses;
    a.start(in_a + (ptrdiff_t)batch * plan.a_b + (ptrdiff_t)m0 * plan.a_m + (ptrdiff_t)uses.k * plan.a_k);
    b.start(in_b + (ptrdiff_t)batch * plan.b_b + (ptrdiff_t)n0 * plan.b_n + (ptrdiff_t)uses.k * plan.b_k);
    unsigned filled = 0, used = 0, done = 0; /* buffers, and segments */
    const auto begin = [&]() {
      const unsigned terms = loads.advance(T::BK);
      const bool whole = inside && terms == T::BK;
      if (terms) {
        a.begin(a_tiles + filled * (T::BK * T::LA), terms, rows, whole);
        b.begin(b_tiles + filled * (T::BK * T::LB), terms, cols, whole);
      }
      fold_copy_commit();
    };
    const auto end = [&]() {
      a.end(a_tiles + filled * (T::BK * T::LA));
      b.end(b_tiles + filled * (T::BK * T::LB));
      filled = filled + 1 == T::STAGES ? 0 : filled + 1;
    };
#pragma unroll
    for (int i = 0; i < T::STAGES - 1; i++) {
      begin();
      end();
    }
    sums.clear();
    for (;;) {
      fold_copy_wait<T::STAGES - 2>();
      __syncthreads();
      begin();
      const unsigned terms = uses.left() < T::BK ? uses.left() : T::BK;
      const bool completes = uses.left() <= T::BK;
      uses.advance(T::BK);
      gemm_terms<T, W>(sums, a_tiles + used * (T::BK * T::LA) + warp_m, b_tiles + used * (T::BK * T::LB) + warp_n,
                       lane_m, lane_n, terms);
      used = used + 1 == T::STAGES ? 0 : used + 1;
      end();
      if (!completes) continue;
      sums.carry(done++, uses.k == uses.stop);
      if (uses.k == uses.stop) break;
    }
    __syncthreads(); /* the next item fills the first buffers */
    const auto each = [&](auto f) {
#pragma unroll
      for (int i = 0; i < T::TM; i++)
#pragma unroll
        for (int j = 0; j < T::TN; j++) {
          const unsigned m = warp_m + gemm_row<T, W>(lane_m, i);
          const unsigned n = warp_n + gemm_column<T, W>(lane_n, j);
          if (m < rows && n < cols) f(m, n, sums.at[i][j]);
        }
    };
    S *to = out + batch * plan.m * plan.n + (ptrdiff_t)m0 * plan.out_m + (ptrdiff_t)n0 * plan.out_n;
    if (plan.groups == 1) {
      each([&](unsigned m, unsigned n, W value) { to[m * plan.out_m + n * plan.out_n] = E::narrow(value); });
      continue;
    }
    W *mine = partials + (tile * plan.groups + g) * (T::BM * T::BN);
    each([&](unsigned m, unsigned n, W value) { __stcg(mine + m * T::BN + n, value); });
    __threadfence();
    __syncthreads();
    if (!arrive_last(&counters[tile], plan.groups)) continue;
    const W *first = partials + tile * plan.groups * (T::BM * T::BN);
    for (unsigned e = threadIdx.x; e < T::BM * T::BN; e += T::THREADS)
      if (e / T::BN < rows && e % T::BN < cols)
        to[e / T::BN * plan.out_m + e % T::BN * plan.out_n] =
            E::narrow(gemm_groups<W>(first + e, T::BM * T::BN, plan.groups));
  }
}

#endif
