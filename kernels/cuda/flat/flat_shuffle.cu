/* flat_shuffle.cu: the subject flat/shuffle, the reference study's kernel, on two rungs. Order: flat_shuffle.cuh.
 *
 * Claims: replays flat/shuffle, bounded, run_to_run, alignment_ and batch_invariant; tuned also launch_invariant, for
 * its order stays that of 256 threads a block and G = min(ceil(n / 256), 1024) blocks whatever launch.blocks asks for.
 *
 *   plain   the reference study's two phases, a launch each, one element a load. The grid is the order: any other launch is
 *           FOLD_UNSUPPORTED.
 *   tuned   one launch. A lane plays two of the order's threads and loads 16 or 32 accesses ahead; the block that
 *           finishes last makes phase two. launch.blocks is free, launch.block must be 256.
 *
 * Measured on one H200 as a fraction of the speed of CUB's default in the same run, 10^8 and 4.29 10^9 elements:
 *
 *   plain   f32 0.59, 0.56; f64 0.90, 0.89; f16 0.38, 0.33; bf16 0.38, 0.33
 *   tuned   f32 1.01, 1.00; f64 1.02, 0.98; f16 1.10, 1.05; bf16 1.13, 1.07
 *
 * Accesses of 4 to 16 bytes and 8 to 64 ahead were tried: 16-byte accesses of f16 leave 128 blocks (0.66), single f32
 * elements cost more instructions (0.92). What keeps f32 and f64 below the read ceiling is the sweep: all blocks move
 * through the row side by side, 1 or 2 MiB at a time, and plain reads in that shape reach 0.98 of those where a block
 * reads a piece of its own.
 */
#include "kernels/cuda/flat/flat.h"

#include "kernels/cuda/dispatch.cuh"
#include "kernels/cuda/flat/flat_shuffle.cuh"
#include "kernels/cuda/last_block.cuh"

static struct shuffle_plan make_plan(const struct fold_call *call) {
  struct shuffle_plan plan;
  plan.rows = call->rows;
  plan.cols = call->cols;
  plan.blocks = shuffle_blocks(call->cols);
  plan.bundles = plan.blocks;
  plan.counters_at = call->rows <= FREE_COUNTERS ? 0 : FOLD_SCRATCH_ZEROED;
  size_t extra = plan.counters_at ? call->rows * sizeof(unsigned) : 0;
  plan.values_at = (FOLD_SCRATCH_ZEROED + extra + 255) & ~(size_t)255;
  return plan;
}

extern "C" size_t fold_flat_shuffle_scratch(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  struct shuffle_plan plan = make_plan(call);
  return plan.values_at + plan.rows * plan.blocks * sizeof(double);
}

static unsigned grid_for(size_t blocks) {
  return blocks == 0 ? 1 : blocks < 0x7fffffff ? (unsigned)blocks : 0x7fffffff;
}

/* ---- plain: the reference study's kernel ---- */

template <class OP, int D>
static __device__ __forceinline__ typename fold_element<D>::wide plain_block(typename fold_element<D>::wide x) {
  __shared__ typename fold_element<D>::wide warps[32];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int offset = 16; offset > 0; offset /= 2) x = OP::join(x, __shfl_down_sync(~0u, x, offset));
  if (lane == 0) warps[warp] = x;
  __syncthreads();
  x = threadIdx.x < SHUFFLE_WIDTH / 32 ? warps[lane] : OP::zero();
  if (warp == 0)
    for (int offset = 16; offset > 0; offset /= 2) x = OP::join(x, __shfl_down_sync(~0u, x, offset));
  __syncthreads();
  return x;
}

template <int D, int O>
__global__ void plain_first_kernel(const typename fold_element<D>::stored *in, typename fold_element<D>::wide *values,
                                   struct shuffle_plan plan) {
  typedef fold_operation<O, typename fold_element<D>::wide> OP;
  for (size_t work = blockIdx.x; work < plan.rows * plan.blocks; work += gridDim.x) {
    const size_t row = work / plan.blocks, block = work % plan.blocks;
    typename fold_element<D>::wide x = OP::zero();
    for (size_t i = block * SHUFFLE_WIDTH + threadIdx.x; i < plan.cols; i += (size_t)plan.blocks * SHUFFLE_WIDTH)
      x = OP::join(x, fold_element<D>::widen(in[row * plan.cols + i]));
    x = plain_block<OP, D>(x);
    if (threadIdx.x == 0) values[work] = x;
  }
}

template <int D, int O>
__global__ void plain_second_kernel(const typename fold_element<D>::wide *values, typename fold_element<D>::stored *out,
                                    struct shuffle_plan plan) {
  typedef fold_operation<O, typename fold_element<D>::wide> OP;
  for (size_t row = blockIdx.x; row < plan.rows; row += gridDim.x) {
    typename fold_element<D>::wide x = OP::zero();
    for (unsigned i = threadIdx.x; i < plan.blocks; i += SHUFFLE_WIDTH) x = OP::join(x, values[row * plan.blocks + i]);
    x = plain_block<OP, D>(x);
    if (threadIdx.x == 0) out[row] = fold_element<D>::narrow(x);
  }
}

extern "C" fold_status fold_flat_shuffle_plain(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  FOLD_TRY(fold_cuda_check(call));
  if (!call->rows) return fold_ok();
  const struct shuffle_plan plan = make_plan(call);
  if ((call->launch.block && call->launch.block != SHUFFLE_WIDTH) ||
      (call->launch.blocks && call->launch.blocks != plan.blocks))
    return fold_error(FOLD_UNSUPPORTED, "flat/shuffle@plain: the order is that of %u blocks of %u threads", plan.blocks,
                      SHUFFLE_WIDTH);
  return fold_dispatch(call, [&](auto d, auto o) {
    const int D = decltype(d)::value, O = decltype(o)::value;
    typedef typename fold_element<D>::stored stored;
    typedef typename fold_element<D>::wide W;
    cudaStream_t stream = (cudaStream_t)call->stream;
    W *values = (W *)((char *)call->scratch + plan.values_at);
    if (plan.blocks) {
      plain_first_kernel<D, O>
          <<<grid_for(plan.rows * plan.blocks), SHUFFLE_WIDTH, 0, stream>>>((const stored *)call->in[0], values, plan);
      FOLD_TRY(fold_cuda_launched("plain_first_kernel"));
    }
    plain_second_kernel<D, O><<<grid_for(plan.rows), SHUFFLE_WIDTH, 0, stream>>>(values, (stored *)call->out, plan);
    return fold_cuda_launched("plain_second_kernel");
  });
}

/* ---- tuned ---- */

template <int D, int O, int VEC>
static fold_status launch(const struct fold_call *call, struct shuffle_plan plan) {
  typedef typename fold_element<D>::stored stored;
  typedef typename fold_element<D>::wide W;
  const int AHEAD = shuffle_tuning<D>::AHEAD;
  cudaStream_t stream = (cudaStream_t)call->stream;
  char *scratch = (char *)call->scratch;
  plan.bundles = (plan.blocks + VEC - 1) / VEC;
  if (plan.counters_at)
    FOLD_CUDA_TRY(cudaMemsetAsync(scratch + plan.counters_at, 0, plan.rows * sizeof(unsigned), stream));
  const unsigned grid = call->launch.blocks ? call->launch.blocks : grid_for(plan.rows * plan.bundles);
  shuffle_kernel<D, O, VEC, AHEAD><<<grid, SHUFFLE_WIDTH, 0, stream>>>((const stored *)call->in[0], (stored *)call->out,
                                                                       (W *)(scratch + plan.values_at),
                                                                       (unsigned *)(scratch + plan.counters_at), plan);
  return fold_cuda_launched("shuffle_kernel");
}

extern "C" fold_status fold_flat_shuffle(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  FOLD_TRY(fold_cuda_check(call));
  if (!call->rows) return fold_ok();
  if (call->launch.block && call->launch.block != SHUFFLE_WIDTH)
    return fold_error(FOLD_UNSUPPORTED, "flat/shuffle: blocks of %u threads only", SHUFFLE_WIDTH);
  const struct shuffle_plan plan = make_plan(call);
  if (!call->cols) { /* without terms, phase two has no values */
    struct fold_call usual = *call;
    usual.launch.blocks = 0;
    return fold_flat_shuffle_plain(subject, &usual);
  }
  return fold_dispatch(call, [&](auto d, auto o) {
    const int D = decltype(d)::value, O = decltype(o)::value;
    return shuffle_tuning<D>::aligned(call) ? launch<D, O, shuffle_tuning<D>::VEC>(call, plan)
                                            : launch<D, O, 1>(call, plan);
  });
}
