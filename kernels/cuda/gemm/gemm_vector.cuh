/* gemm_vector.cuh: products of one vector and a matrix, at the speed of memory: a warp has a segment of 32 columns, a lane a chain.
 *
 * Order and bits: those of gemm.cuh. Each warp copies its columns to shared memory some tiles ahead, in whole lines, whether they lie along
 * k or across; each lane then reads its own column. A block's warps take the segments of a group in turn, and join them by the tree; groups
 * meet as in gemm.cuh.
 */
#ifndef FOLD_GEMM_VECTOR_CUH
#define FOLD_GEMM_VECTOR_CUH

#include "kernels/cuda/gemm/gemm.cuh"

enum {
  VECTOR_WARPS = 4,  /* of a block, at most: no more than there are segments */
  VECTOR_GROUP = 32, /* segments of a block, at most */
  VECTOR_STAGES = 3
};

/* How the columns lie: along k, each beginning on 16 bytes; across, each term beginning on 16 bytes; across, anywhere. */
enum vector_lie { VECTOR_ALONG, VECTOR_ACROSS, VECTOR_ANYWHERE };

/* A tile: TERMS terms of 32 V columns, 8 KiB. Along k a line is a column, with 16 bytes between lines, so that lanes that read 16 bytes each
 * meet in no bank; else it is a term. */
template <int D, int LIE>
struct vector_tile {
  typedef typename fold_element<D>::stored S;
  typedef typename fold_element<D>::wide W;
  enum {
    SIZE = (int)sizeof(S),
    EACH = 16 / SIZE,
    V = LIE == VECTOR_ACROSS && SIZE == 2 ? 2 : 1,
    COLUMNS = 32 * V,
    TERMS = 8192 / SIZE / COLUMNS,
    LINES = LIE == VECTOR_ALONG ? COLUMNS : TERMS,
    LINE = 8192 / LINES,
    LEAD = LIE == VECTOR_ALONG ? LINE + 16 : LINE,
    CHUNKS = LINE / 16, /* copies of a line */
    BUFFER = LINES * LEAD,
    OF_WARP = VECTOR_STAGES * BUFFER + TERMS * (int)sizeof(W) /* bytes of shared memory */
  };
};

/* The terms of a warp that come next: of every segment of the group whose number less the warp's the number of warps divides. */
struct vector_walk {
  unsigned s, k, end;
  __device__ __forceinline__ void segment(const gemm_plan &plan, unsigned first, unsigned count) {
    k = end = 0;
    if (s >= count) return;
    k = (first + s) * plan.segment;
    end = plan.k - k > plan.segment ? k + plan.segment : plan.k;
  }
  __device__ __forceinline__ void next(const gemm_plan &plan, unsigned first, unsigned count, unsigned terms) {
    k += terms;
    if (k < end) return;
    s += blockDim.x / 32;
    segment(plan, first, count);
  }
};

/* Begins to copy the tile of `terms` terms from `b` on, of which there are `columns` columns. */
template <int D, int LIE>
static __device__ __forceinline__ void vector_load(const gemm_plan &plan, const typename fold_element<D>::stored *b,
                                                   unsigned terms, unsigned columns, unsigned char *buffer) {
  typedef vector_tile<D, LIE> T;
  const unsigned lane = threadIdx.x % 32, chunk = lane % T::CHUNKS * T::EACH, first = lane / T::CHUNKS;
  const unsigned lines = LIE == VECTOR_ALONG ? columns : terms, of_line = LIE == VECTOR_ALONG ? terms : columns;
  const ptrdiff_t step = LIE == VECTOR_ALONG ? plan.b_n : plan.b_k;
  if (LIE == VECTOR_ANYWHERE) {
    typename T::S *to = (typename T::S *)buffer + lane;
    const auto *from = b + (ptrdiff_t)lane * plan.b_n;
#pragma unroll 16
    for (unsigned t = 0; t < T::TERMS; t++, to += 32, from += step)
      fold_copy_element<T::SIZE>(to, t < terms && lane < columns ? from : b, t < terms && lane < columns ? T::SIZE : 0);
    return;
  }
  const unsigned some = of_line > chunk ? of_line - chunk : 0, most = some < T::EACH ? some * T::SIZE : 16;
#pragma unroll
  for (unsigned l = first; l < T::LINES; l += 32 / T::CHUNKS) {
    const unsigned bytes = l < lines ? most : 0;
    fold_copy_part_of_16(buffer + l * T::LEAD + chunk * T::SIZE, bytes ? b + (ptrdiff_t)l * step + chunk : b, bytes);
  }
}

/* Joins the first `terms` terms of a tile to the lane's sums. */
template <int D, int LIE>
static __device__ __forceinline__ void vector_terms(typename fold_element<D>::wide (&sum)[vector_tile<D, LIE>::V],
                                                    const typename fold_element<D>::wide *x,
                                                    const unsigned char *buffer, unsigned terms) {
  typedef vector_tile<D, LIE> T;
  typedef fold_element<D> E;
  const unsigned lane = threadIdx.x % 32;
  const auto *column = (const typename T::S *)(buffer + (LIE == VECTOR_ALONG ? lane * T::LEAD : lane * T::V * T::SIZE));
  const auto term = [&](unsigned t) {
#pragma unroll
    for (int v = 0; v < T::V; v++)
      sum[v] = gemm_fma(x[t], E::widen(column[LIE == VECTOR_ALONG ? t : t * T::COLUMNS + v]), sum[v]);
  };
  if (terms < T::TERMS) {
    for (unsigned t = 0; t < terms; t++) term(t);
  } else {
#pragma unroll 16
    for (unsigned t = 0; t < T::TERMS; t += T::EACH) {
      if (LIE == VECTOR_ALONG) {
        const uint4 words = *(const uint4 *)(column + t);
        typename T::S all[T::EACH];
        memcpy(all, &words, 16);
#pragma unroll
        for (int e = 0; e < T::EACH; e++) sum[0] = gemm_fma(x[t + e], E::widen(all[e]), sum[0]);
      } else {
#pragma unroll
        for (int e = 0; e < T::EACH; e++) term(t + e);
      }
    }
  }
}

/* A warp's segments of the group that begins at segment `first`: their sums, to `parts`, rows of COLUMNS. */
template <int D, int LIE>
static __device__ __forceinline__ void vector_segments(const gemm_plan &plan, const typename fold_element<D>::stored *a,
                                                       const typename fold_element<D>::stored *b, unsigned columns,
                                                       unsigned first, unsigned count,
                                                       typename fold_element<D>::wide *parts, unsigned char *shared) {
  typedef vector_tile<D, LIE> T;
  typedef fold_element<D> E;
  enum { AHEAD = T::TERMS / 32 };
  static_assert(T::TERMS % 32 == 0, "each lane copies as many terms of the vector");
  const unsigned lane = threadIdx.x % 32;
  unsigned char *const buffers = shared + threadIdx.x / 32 * T::OF_WARP;
  typename T::W *const x = (typename T::W *)(buffers + VECTOR_STAGES * T::BUFFER), sum[T::V] = {};
  typename T::S next_x[AHEAD];
  vector_walk loads = {threadIdx.x / 32, 0, 0}, uses;
  loads.segment(plan, first, count);
  uses = loads;
  const auto terms_of = [&](const vector_walk &walk) {
    return walk.s >= count ? 0 : walk.end - walk.k < T::TERMS ? walk.end - walk.k : (unsigned)T::TERMS;
  };
  const auto load = [&](int stage) {
    if (loads.s < count) {
      vector_load<D, LIE>(plan, b + (ptrdiff_t)loads.k * plan.b_k, terms_of(loads), columns,
                          buffers + stage * T::BUFFER);
      loads.next(plan, first, count, T::TERMS);
    }
    fold_copy_commit();
  };
  const auto load_x = [&]() {
    const unsigned terms = terms_of(uses);
#pragma unroll
    for (int i = 0; i < AHEAD; i++)
      if (i * 32 + lane < terms) next_x[i] = __ldg(a + (ptrdiff_t)(uses.k + i * 32 + lane) * plan.a_k);
  };
  for (int s = 0; s < VECTOR_STAGES - 1; s++) load(s);
  load_x();
  int stage = 0, ahead = VECTOR_STAGES - 1;
  while (uses.s < count) {
    const unsigned s = uses.s, terms = terms_of(uses);
    fold_copy_wait<VECTOR_STAGES - 2>();
#pragma unroll
    for (int i = 0; i < AHEAD; i++) x[i * 32 + lane] = E::widen(next_x[i]);
    __syncwarp();
    load(ahead);
    uses.next(plan, first, count, T::TERMS);
    load_x();
    vector_terms<D, LIE>(sum, x, buffers + stage * T::BUFFER, terms);
    __syncwarp();
    stage = stage + 1 == VECTOR_STAGES ? 0 : stage + 1;
    ahead = ahead + 1 == VECTOR_STAGES ? 0 : ahead + 1;
    if (uses.s == s) continue;
#pragma unroll
    for (int v = 0; v < T::V; v++) {
      parts[s * T::COLUMNS + lane * T::V + v] = sum[v];
      sum[v] = 0;
    }
  }
  fold_copy_wait<0>();
}

/* Joins `count` rows of `parts` by the tree over neighbours, into the first one; by the whole block. */
template <int COLUMNS, class W>
static __device__ __forceinline__ void vector_join(W *parts, unsigned count) {
  for (unsigned stride = 1; stride < count; stride *= 2) {
    __syncthreads();
    for (unsigned e = threadIdx.x; e < VECTOR_GROUP / 2 * COLUMNS; e += blockDim.x) {
      const unsigned s = e / COLUMNS * 2 * stride;
      if (s + stride < count) parts[s * COLUMNS + e % COLUMNS] += parts[(s + stride) * COLUMNS + e % COLUMNS];
    }
  }
  __syncthreads();
}

template <int D, int LIE>
static __global__ void __launch_bounds__(32 * VECTOR_WARPS, 2)
    vector_kernel(const gemm_plan plan, const typename fold_element<D>::stored *__restrict__ in_a,
                  const typename fold_element<D>::stored *__restrict__ in_b, typename fold_element<D>::stored *out,
                  unsigned *counters, typename fold_element<D>::wide *partials) {
  typedef fold_element<D> E;
  typedef typename E::wide W;
  enum { COLUMNS = vector_tile<D, LIE>::COLUMNS };
  extern __shared__ __align__(16) unsigned char shared[];
  __shared__ W parts[VECTOR_GROUP * COLUMNS];
  for (size_t item = blockIdx.x; item < plan.items; item += gridDim.x) {
    const unsigned g = item % plan.groups, first = g * plan.group, rest = plan.segments - first;
    const unsigned count = rest < plan.group ? rest : plan.group;
    const size_t tile = item / plan.groups, batch = tile / plan.tiles_n, n0 = tile % plan.tiles_n * COLUMNS;
    const size_t columns = plan.n - n0 < COLUMNS ? plan.n - n0 : COLUMNS;
    const auto *a = in_a + (ptrdiff_t)batch * plan.a_b;
    const auto *b = in_b + (ptrdiff_t)batch * plan.b_b + (ptrdiff_t)n0 * plan.b_n;
    vector_segments<D, LIE>(plan, a, b, (unsigned)columns, first, count, parts, shared);
    vector_join<COLUMNS>(parts, count);
    auto *to = out + batch * plan.n + (ptrdiff_t)n0 * plan.out_n;
    W *mine = partials + (tile * plan.groups + g) * COLUMNS;
    for (unsigned c = threadIdx.x; c < columns; c += blockDim.x) {
      if (plan.groups == 1)
        to[c * plan.out_n] = E::narrow(parts[c]);
      else
        __stcg(mine + c, parts[c]);
    }
    __threadfence();
    __syncthreads();
    if (plan.groups == 1 || !arrive_last(&counters[tile], plan.groups)) continue;
    for (unsigned c = threadIdx.x; c < columns; c += blockDim.x)
      to[c * plan.out_n] = E::narrow(gemm_groups<W>(partials + tile * plan.groups * COLUMNS + c, COLUMNS, plan.groups));
  }
}

#endif
