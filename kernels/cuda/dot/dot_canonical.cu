/* dot_canonical.cu: the subject dot/canonical.
 *
 * Order: dot/canonical: the tree of oracles/canonical.h; the first product of a place is rounded, the others are joined by FMA.
 *
 * Claims: replays dot/canonical, bounded, run_to_run, launch_, alignment_ and batch_invariant.
 *
 * A tile of 4096 terms is one step of a block: thread p is place p. An item is a tile, or, where there are more rows than counters, the
 * row: then its block joins tiles as it makes them, like a carry runs through a binary number, which is the tree over neighbours.
 */
#include "kernels/cuda/dispatch.cuh"
#include "kernels/cuda/dot/dot.cuh"
#include "kernels/cuda/dot/dot.h"
#include "oracles/canonical.h"

enum { THREADS = 256, LEVELS = 48 };

static __device__ __forceinline__ float fused(float x, float y, float a) { return __fmaf_rn(x, y, a); }
static __device__ __forceinline__ double fused(double x, double y, double a) { return __fma_rn(x, y, a); }

/* The value of a tile of n >= 1 terms, in thread 0. A place without a term is -0, which changes nothing. The whole
 * block calls it. */
template <int D>
static __device__ typename fold_element<D>::wide tile_value(const typename fold_element<D>::stored *x,
                                                            const typename fold_element<D>::stored *y, size_t n) {
  typedef fold_element<D> E;
  typedef typename E::wide W;
  __shared__ W warps[THREADS / 32];
  const unsigned p = threadIdx.x;
  W v = -W(0);
  if (p < n) v = E::widen(x[p]) * E::widen(y[p]);
#pragma unroll
  for (int line = 1; line < FOLD_CANONICAL_LINES; line++) {
    const size_t at = (size_t)line * FOLD_CANONICAL_PLACES + p;
    if (at < n) v = fused(E::widen(x[at]), E::widen(y[at]), v);
  }
  for (int stride = 1; stride < 32; stride *= 2) {
    const W partner = __shfl_down_sync(0xffffffffu, v, stride);
    v = v + partner;
  }
  __syncthreads(); /* thread 0 must have read the former tile */
  if (p % 32 == 0) warps[p / 32] = v;
  __syncthreads();
  if (p > 0) return v;
  W w[THREADS / 32];
  for (int k = 0; k < THREADS / 32; k++) w[k] = warps[k];
  return ((w[0] + w[1]) + (w[2] + w[3])) + ((w[4] + w[5]) + (w[6] + w[7]));
}

/* Sums a row by one block. Level k of the carry holds the value of 2^k tiles. Thread 0 has the result. */
template <int D>
static __device__ typename fold_element<D>::wide row_value(const typename fold_element<D>::stored *x,
                                                           const typename fold_element<D>::stored *y, size_t n) {
  typedef typename fold_element<D>::wide W;
  W level[LEVELS], value = W(0);
  size_t tiles = 0;
  for (size_t at = 0; at < n; at += FOLD_CANONICAL_TILE, tiles++) {
    const size_t length = n - at < FOLD_CANONICAL_TILE ? n - at : FOLD_CANONICAL_TILE;
    value = tile_value<D>(x + at, y + at, length);
    int k = 0;
    for (; tiles >> k & 1; k++) value = level[k] + value;
    level[k] = value;
  }
  bool any = false;
  for (int k = 0; k < LEVELS; k++) {
    if (!(tiles >> k & 1)) continue;
    value = any ? level[k] + value : level[k];
    any = true;
  }
  return value;
}

/* Joins a row's tiles by the tree, in place. */
template <class W>
static __device__ void join_tiles(W *tiles, size_t n) {
  for (size_t stride = 1; stride < n; stride *= 2) {
    for (size_t k = 2 * stride * threadIdx.x; k + stride < n; k += 2 * stride * THREADS)
      __stcg(&tiles[k], __ldcg(&tiles[k]) + __ldcg(&tiles[k + stride]));
    __syncthreads();
  }
}

template <int D>
static __global__ void __launch_bounds__(THREADS)
    canonical_kernel(dot_plan plan, const typename fold_element<D>::stored *in,
                     const typename fold_element<D>::stored *other, typename fold_element<D>::stored *out,
                     unsigned *counters, typename fold_element<D>::wide *tiles) {
  typedef fold_element<D> E;
  for (size_t item = blockIdx.x; item < plan.rows * plan.items; item += gridDim.x) {
    const size_t row = item / plan.items, k = item % plan.items, first = row * plan.cols + k * plan.stretch;
    typename E::wide value;
    if (plan.items == 1) {
      value = row_value<D>(in + first, other + first, plan.cols);
    } else {
      const size_t left = plan.cols - k * plan.stretch, n = left < plan.stretch ? left : plan.stretch;
      value = tile_value<D>(in + first, other + first, n);
      if (threadIdx.x == 0) __stcg(&tiles[item], value);
      if (!arrive_last(&counters[row], (unsigned)plan.items)) continue;
      join_tiles(tiles + row * plan.items, plan.items);
      value = __ldcg(&tiles[row * plan.items]);
    }
    if (threadIdx.x == 0) out[row] = E::narrow(value);
  }
}

extern "C" size_t fold_cuda_dot_canonical_scratch(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  struct dot_plan plan;
  if (dot_plan_of(call, "", THREADS, FOLD_CANONICAL_TILE, &plan).code != FOLD_OK) return FOLD_SCRATCH_ZEROED;
  return FOLD_SCRATCH_ZEROED + (plan.items > 1 ? plan.rows * plan.items * sizeof(double) : 0);
}

extern "C" fold_status fold_cuda_dot_canonical(const struct fold_subject *subject, const struct fold_call *call) {
  struct dot_plan plan;
  FOLD_TRY(dot_plan_of(call, subject->name, THREADS, FOLD_CANONICAL_TILE, &plan));
  if (plan.items > 0x7fffffff)
    return fold_error(FOLD_UNSUPPORTED, "%s: rows of %zu are too long", subject->name, plan.cols);
  if (call->rows == 0) return fold_ok();
  return fold_dispatch_dtype(call->dtype, [&](auto d) {
    typedef fold_element<decltype(d)::value> E;
    canonical_kernel<decltype(d)::value><<<plan.blocks, THREADS, 0, (cudaStream_t)call->stream>>>(
        plan, (const typename E::stored *)call->in[0], (const typename E::stored *)call->in[1],
        (typename E::stored *)call->out, (unsigned *)call->scratch,
        (typename E::wide *)((char *)call->scratch + FOLD_SCRATCH_ZEROED));
    return fold_cuda_launched("dot/canonical");
  });
}
