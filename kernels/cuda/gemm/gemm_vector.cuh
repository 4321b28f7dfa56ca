/* gemm_vector.cuh: products of one vector and a matrix, at the speed of memory: a warp has a segment of 32 columns, a lane a chain.
 *
 * Order and bits: those of gemm.cuh. Columns that lie along k are copied to shared memory, 32 of them by 128 bytes at a time, so that the
 * copies are whole lines and each lane then reads its own column; columns that lie across are read as they are, a line for 32 of them.
 * A block's warps take the segments of a group in turn, and join them by the tree; groups meet as in gemm.cuh.
 */
#ifndef FOLD_GEMM_VECTOR_CUH
#define FOLD_GEMM_VECTOR_CUH

#include "kernels/cuda/gemm/gemm.cuh"

enum {
  VECTOR_WARPS = 8,
  VECTOR_THREADS = 32 * VECTOR_WARPS,
  VECTOR_GROUP = 64, /* segments of a block, at most */
  VECTOR_AHEAD = 32, /* loads of a lane, across */
  VECTOR_LINE = 128, /* bytes of a column in a buffer */
  VECTOR_LEAD = 144, /* from column to column there: lanes that read 16 bytes each meet in no bank */
  VECTOR_BUFFER = 32 * VECTOR_LEAD,
  VECTOR_STAGES = 4,
  VECTOR_SHARED = VECTOR_WARPS * VECTOR_STAGES * VECTOR_BUFFER /* bytes, along k */
};

/* How the columns lie. */
enum vector_lie { VECTOR_ACROSS, VECTOR_PAIRS, VECTOR_ALONG };

/* The terms of a warp that come next: of segments s, s + VECTOR_WARPS, ... of the group. */
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
    s += VECTOR_WARPS;
    segment(plan, first, count);
  }
};

/* Columns n0 .. n0 + 31 along k: each lane's segments, to `parts` (rows of 32). */
template <int D>
static __device__ __forceinline__ void vector_along(const gemm_plan &plan, const typename fold_element<D>::stored *a,
                                                    const typename fold_element<D>::stored *b, size_t columns,
                                                    unsigned first, unsigned count,
                                                    typename fold_element<D>::wide *parts, unsigned char *shared) {
  typedef fold_element<D> E;
  typedef typename E::stored S;
  enum { EACH = 16 / (int)sizeof(S), TERMS = VECTOR_LINE / (int)sizeof(S) };
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  unsigned char *const mine = shared + warp * (VECTOR_STAGES * VECTOR_BUFFER);
  vector_walk loads = {warp, 0, 0}, uses;
  loads.segment(plan, first, count);
  uses = loads;
  const auto load = [&](int stage) {
    if (loads.s < count) {
      const unsigned left = loads.end - loads.k, at = lane % 8 * EACH;
      const unsigned some = left > at ? left - at : 0, most = some < EACH ? some * (unsigned)sizeof(S) : 16;
#pragma unroll
      for (unsigned i = 0; i < 8; i++) {
        const unsigned column = i * 4 + lane / 8, bytes = column < columns ? most : 0;
        const S *from = bytes ? b + (ptrdiff_t)column * plan.b_n + loads.k + at : b;
        fold_copy_part_of_16(mine + stage * VECTOR_BUFFER + column * VECTOR_LEAD + lane % 8 * 16, from, bytes);
      }
      loads.next(plan, first, count, TERMS);
    }
    fold_copy_commit();
  };
  for (int s = 0; s < VECTOR_STAGES - 1; s++) load(s);
  int stage = 0, ahead = VECTOR_STAGES - 1;
  typename E::wide sum = 0;
  while (uses.s < count) {
    fold_copy_wait<VECTOR_STAGES - 2>();
    __syncwarp();
    load(ahead);
    const S *const x = a + (ptrdiff_t)uses.k * plan.a_k, *const y = (const S *)(mine + stage * VECTOR_BUFFER +
                                                                                lane * VECTOR_LEAD);
    const unsigned left = uses.end - uses.k, s = uses.s;
    if (left >= TERMS) {
#pragma unroll
      for (int q = 0; q < TERMS; q += EACH) {
        const uint4 words = *(const uint4 *)(y + q);
        S all[EACH];
        memcpy(all, &words, 16);
#pragma unroll
        for (int e = 0; e < EACH; e++)
          sum = gemm_fma(E::widen(__ldg(x + (ptrdiff_t)(q + e) * plan.a_k)), E::widen(all[e]), sum);
      }
    } else {
      for (unsigned e = 0; e < left; e++)
        sum = gemm_fma(E::widen(__ldg(x + (ptrdiff_t)e * plan.a_k)), E::widen(y[e]), sum);
    }
    __syncwarp();
    stage = stage + 1 == VECTOR_STAGES ? 0 : stage + 1;
    ahead = ahead + 1 == VECTOR_STAGES ? 0 : ahead + 1;
    uses.next(plan, first, count, TERMS);
    if (uses.s == s) continue;
    parts[s * 32 + lane] = sum;
    sum = 0;
  }
  fold_copy_wait<0>();
}

/* V neighbouring columns a lane, side by side: their segments, to `parts` (rows of 32 V). */
template <int D, int V>
static __device__ __forceinline__ void vector_across(const gemm_plan &plan, const typename fold_element<D>::stored *a,
                                                     const typename fold_element<D>::stored *b, size_t columns,
                                                     unsigned first, unsigned count,
                                                     typename fold_element<D>::wide *parts) {
  typedef fold_element<D> E;
  typedef typename E::stored S;
  struct alignas(V * sizeof(S)) neighbours {
    S at[V];
  };
  const unsigned lane = threadIdx.x % 32;
  for (vector_walk walk = {threadIdx.x / 32, 0, 0}; walk.s < count; walk.s += VECTOR_WARPS) {
    walk.segment(plan, first, count);
    const S *x = a + (ptrdiff_t)walk.k * plan.a_k, *y = b + (ptrdiff_t)walk.k * plan.b_k + lane * V;
    const unsigned terms = lane * V < columns ? walk.end - walk.k : 0;
    typename E::wide sum[V] = {};
    unsigned k = 0;
    for (; k + VECTOR_AHEAD <= terms; k += VECTOR_AHEAD) {
      neighbours held[VECTOR_AHEAD];
#pragma unroll
      for (int i = 0; i < VECTOR_AHEAD; i++) held[i] = *(const neighbours *)(y + (ptrdiff_t)(k + i) * plan.b_k);
#pragma unroll
      for (int i = 0; i < VECTOR_AHEAD; i++)
#pragma unroll
        for (int v = 0; v < V; v++)
          sum[v] = gemm_fma(E::widen(__ldg(x + (ptrdiff_t)(k + i) * plan.a_k)), E::widen(held[i].at[v]), sum[v]);
    }
    for (; k < terms; k++)
#pragma unroll
      for (int v = 0; v < V; v++)
        sum[v] =
            gemm_fma(E::widen(__ldg(x + (ptrdiff_t)k * plan.a_k)), E::widen(y[(ptrdiff_t)k * plan.b_k + v]), sum[v]);
#pragma unroll
    for (int v = 0; v < V; v++) parts[walk.s * 32 * V + lane * V + v] = sum[v];
  }
}

/* Joins `count` rows of `parts` by the tree over neighbours, into the first one; by the whole block. */
template <int COLUMNS, class W>
static __device__ __forceinline__ void vector_join(W *parts, unsigned count) {
  for (unsigned stride = 1; stride < count; stride *= 2) {
    __syncthreads();
    for (unsigned e = threadIdx.x; e < VECTOR_GROUP / 2 * COLUMNS; e += VECTOR_THREADS) {
      const unsigned s = e / COLUMNS * 2 * stride;
      if (s + stride < count) parts[s * COLUMNS + e % COLUMNS] += parts[(s + stride) * COLUMNS + e % COLUMNS];
    }
  }
  __syncthreads();
}

template <int D, int LIE>
static __global__ void __launch_bounds__(VECTOR_THREADS)
    vector_kernel(const gemm_plan plan, const typename fold_element<D>::stored *__restrict__ in_a,
                  const typename fold_element<D>::stored *__restrict__ in_b, typename fold_element<D>::stored *out,
                  unsigned *counters, typename fold_element<D>::wide *partials) {
  typedef fold_element<D> E;
  typedef typename E::wide W;
  enum { V = LIE == VECTOR_PAIRS ? 2 : 1, COLUMNS = 32 * V };
  extern __shared__ __align__(16) unsigned char shared[];
  __shared__ W parts[VECTOR_GROUP * COLUMNS];
  for (size_t item = blockIdx.x; item < plan.items; item += gridDim.x) {
    const unsigned g = item % plan.groups, first = g * plan.group, rest = plan.segments - first;
    const unsigned count = rest < plan.group ? rest : plan.group;
    const size_t tile = item / plan.groups, batch = tile / plan.tiles_n, n0 = tile % plan.tiles_n * COLUMNS;
    const size_t columns = plan.n - n0 < COLUMNS ? plan.n - n0 : COLUMNS;
    const auto *a = in_a + (ptrdiff_t)batch * plan.a_b;
    const auto *b = in_b + (ptrdiff_t)batch * plan.b_b + (ptrdiff_t)n0 * plan.b_n;
    if (LIE == VECTOR_ALONG)
      vector_along<D>(plan, a, b, columns, first, count, parts, shared);
    else
      vector_across<D, V>(plan, a, b, columns, first, count, parts);
    vector_join<COLUMNS>(parts, count);
    auto *to = out + batch * plan.n + (ptrdiff_t)n0 * plan.out_n;
    if (plan.groups == 1) {
      if (threadIdx.x < columns) to[threadIdx.x * plan.out_n] = E::narrow(parts[threadIdx.x]);
      __syncthreads();
      continue;
    }
    if (threadIdx.x < columns) __stcg(partials + (tile * plan.groups + g) * COLUMNS + threadIdx.x, parts[threadIdx.x]);
    __threadfence();
    __syncthreads();
    if (!arrive_last(&counters[tile], plan.groups)) continue;
    if (threadIdx.x < columns)
      to[threadIdx.x * plan.out_n] =
          E::narrow(gemm_groups<W>(partials + tile * plan.groups * COLUMNS + threadIdx.x, COLUMNS, plan.groups));
  }
}

#endif
