/* collective_parts.cu: a rank's own work on its GPU, between its calls to the others (collective/parts.h).
 *
 * combine: order host/pairwise over the ranks' terms: for stride 1, 2, 4 ...: rank r's partial takes rank r + stride's
 * for every r that is a multiple of 2 stride and has one. A thread an element; what it has of the tree is kept as in a
 * binary counter: after k terms, the partials of k's binary digits.
 * root: the tree over neighbours over a row's blocks, 512 at most. A block of threads a row.
 * The rest is flat/canonical's, the exact sum's and CUB's, as they are.
 */
#include "kernels/collective/parts.h"

#include "kernels/cuda/common.cuh"
#include "kernels/cuda/dispatch.cuh"
#include "kernels/cuda/exact/exact_device.h"
#include "kernels/cuda/flat/flat.h"
#include "kernels/cuda/peers/peers.h"

#define COMBINE_THREADS 256
#define COMBINE_DIGITS 10 /* 2^10 ranks - 1 */
#define ROOT_THREADS 256
#define ROOT_MOST_RANKS 1024

template <int D, int O>
static __global__ __launch_bounds__(COMBINE_THREADS) void combine_kernel(const typename fold_element<D>::stored *slices,
                                                                         size_t n, unsigned ranks,
                                                                         typename fold_element<D>::stored *out) {
  typedef typename fold_element<D>::wide W;
  typedef fold_operation<O, W> OP;
  for (size_t i = blockIdx.x * (size_t)COMBINE_THREADS + threadIdx.x; i < n; i += (size_t)gridDim.x * COMBINE_THREADS) {
    W digit[COMBINE_DIGITS], x = OP::zero();
    for (unsigned r = 0; r < ranks; r++) {
      x = fold_element<D>::widen(slices[r * n + i]);
      int k = 0;
      for (; r >> k & 1; k++) x = OP::join(digit[k], x);
      digit[k] = x;
    }
    /* The digits that are set, from the lowest: each is the left neighbour of all below it. */
    bool any = false;
    for (int k = 0; k < COMBINE_DIGITS; k++) {
      if (!(ranks >> k & 1)) continue;
      x = any ? OP::join(digit[k], x) : digit[k];
      any = true;
    }
    out[i] = fold_element<D>::narrow(x);
  }
}

static unsigned blocks_for(size_t n, unsigned threads) {
  const size_t blocks = (n + threads - 1) / threads;
  return blocks < 65536 ? (unsigned)blocks : 65536;
}

static fold_status combine(const struct fold_call *call, const void *slices, size_t n, void *out) {
  const unsigned ranks = (unsigned)call->comm->ranks;
  if (ranks >> COMBINE_DIGITS) return fold_error(FOLD_UNSUPPORTED, "%u ranks are too many", ranks);
  if (n == 0) return fold_ok();
  return fold_dispatch(call, [&](auto d, auto o) {
    const int D = decltype(d)::value, O = decltype(o)::value;
    typedef typename fold_element<D>::stored stored;
    combine_kernel<D, O><<<blocks_for(n, COMBINE_THREADS), COMBINE_THREADS, 0, (cudaStream_t)call->stream>>>(
        (const stored *)slices, n, ranks, (stored *)out);
    return fold_cuda_launched("combine_kernel");
  });
}

/* Where each rank's blocks of a row begin. */
struct root_places {
  uint16_t at[ROOT_MOST_RANKS + 1];
};
static_assert(FOLD_PARTS_MOST_BLOCKS <= UINT16_MAX && FOLD_PARTS_MOST_BLOCKS <= 2 * ROOT_THREADS,
              "a root in one block");

/* The partial of block b of row `row`: partials lie rank by rank, and for each rank row by row. */
template <class W>
static __device__ __forceinline__ W root_value(const W *partials, const root_places &places, unsigned ranks,
                                               size_t rows, size_t row, unsigned b) {
  unsigned q = 0;
  while (q + 1 < ranks && places.at[q + 1] <= b) q++;
  return partials[rows * places.at[q] + row * (places.at[q + 1] - places.at[q]) + (b - places.at[q])];
}

template <int D, int O>
static __global__ __launch_bounds__(ROOT_THREADS) void root_kernel(const typename fold_element<D>::wide *partials,
                                                                   const __grid_constant__ root_places places,
                                                                   unsigned ranks, size_t rows,
                                                                   typename fold_element<D>::stored *out) {
  typedef typename fold_element<D>::wide W;
  typedef fold_operation<O, W> OP;
  __shared__ W value[FOLD_PARTS_MOST_BLOCKS];
  const unsigned blocks = places.at[ranks];
  for (size_t row = blockIdx.x; row < rows; row += gridDim.x) {
    for (unsigned b = threadIdx.x; b < blocks; b += ROOT_THREADS)
      value[b] = root_value(partials, places, ranks, rows, row, b);
    for (unsigned stride = 1; stride < blocks; stride *= 2) {
      __syncthreads();
      const unsigned b = 2 * stride * threadIdx.x;
      if (b + stride < blocks) value[b] = OP::join(value[b], value[b + stride]);
    }
    if (threadIdx.x == 0) out[row] = fold_element<D>::narrow(blocks ? value[0] : OP::zero());
    __syncthreads();
  }
}

static fold_status root(const struct fold_call *call, const void *partials, const size_t at[]) {
  const unsigned ranks = (unsigned)call->comm->ranks;
  root_places places = {};
  if (ranks > ROOT_MOST_RANKS) return fold_error(FOLD_UNSUPPORTED, "%u ranks are too many", ranks);
  if (at[ranks] > FOLD_PARTS_MOST_BLOCKS)
    return fold_error(FOLD_UNSUPPORTED, "%zu blocks a row are too many", at[ranks]);
  for (unsigned r = 0; r <= ranks; r++) places.at[r] = (uint16_t)at[r];
  if (call->rows == 0) return fold_ok();
  return fold_dispatch(call, [&](auto d, auto o) {
    const int D = decltype(d)::value, O = decltype(o)::value;
    root_kernel<D, O><<<blocks_for(call->rows, 1), ROOT_THREADS, 0, (cudaStream_t)call->stream>>>(
        (const typename fold_element<D>::wide *)partials, places, ranks, call->rows,
        (typename fold_element<D>::stored *)call->out);
    return fold_cuda_launched("root_kernel");
  });
}

static fold_status state(const struct fold_call *call, void *scratch, int64_t *words) {
  struct fold_call own = *call;
  own.scratch = scratch;
  return fold_exact_state(&own, words);
}

static fold_status close_states(const struct fold_call *call, const int64_t *words) {
  return fold_exact_close(call->dtype, words, call->rows, call->out, call->stream);
}

static fold_status subtrees(const struct fold_call *call, void *scratch, size_t block, void *partials) {
  struct fold_call own = *call;
  own.scratch = scratch;
  return fold_flat_canonical_subtrees(&own, block, partials);
}

/* Scratch for CUB's device-wide sum of one long row, or its segmented sum of several rows. */
static size_t local_scratch(const struct fold_call *call) {
  const size_t need = call->rows == 1 ? fold_peer_cub_scratch(NULL, call) : fold_peer_cub_segmented_scratch(NULL, call);
  return need > FOLD_SCRATCH_ZEROED ? need : FOLD_SCRATCH_ZEROED;
}

static fold_status local(const struct fold_call *call, void *scratch, void *out) {
  struct fold_call own = *call;
  own.scratch = scratch;
  own.out = out;
  return call->rows == 1 ? fold_peer_cub(NULL, &own) : fold_peer_cub_segmented(NULL, &own);
}

extern "C" const struct fold_parts fold_parts_cuda = {
    combine,
    fold_exact_state_scratch,
    state,
    close_states,
    fold_flat_canonical_subtrees_scratch,
    subtrees,
    root,
    local_scratch,
    local,
};
