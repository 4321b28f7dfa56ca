/* flat_cooperative.cu: flat/cooperative: flat/shuffle's order in one launch, with a barrier of the grid between its
 * phases.
 *
 * Order: that of flat/shuffle (flat_shuffle.cuh). If the GPU cannot hold all of that order's blocks at once, a block plays
 * several of them.
 *
 * Claims: replays flat/shuffle, same_bits_as flat/shuffle, bounded, run_to_run, launch_, alignment_ and
 * batch_invariant.
 *
 * Limits: launch.blocks is free up to what the GPU holds at once, launch.block must be 256.
 *
 * Against flat/shuffle: no counters and no memset, but the barrier waits for the slowest block and the launch is the
 * dearer cooperative one: measured on one H200, 1 us more at 10^4 to 10^6; at 4.29 10^9 1.00 of CUB's default in f32,
 * f16 and bf16, 0.98 in f64.
 */
#include <cooperative_groups.h>

#include "kernels/cuda/flat/flat.h"

#include "kernels/cuda/dispatch.cuh"
#include "kernels/cuda/flat/flat_shuffle.cuh"

template <int D, int O, int VEC>
__global__ __launch_bounds__(SHUFFLE_WIDTH) void cooperative_kernel(
    const typename fold_element<D>::stored *__restrict__ in, typename fold_element<D>::stored *__restrict__ out,
    typename fold_element<D>::wide *values, size_t rows, size_t cols) {
  typedef typename fold_element<D>::wide W;
  typedef fold_operation<O, W> OP;
  __shared__ W room[8 * VEC];
  const unsigned blocks = shuffle_blocks(cols), bundles = (blocks + VEC - 1) / VEC;
  for (size_t work = blockIdx.x; work < rows * bundles; work += gridDim.x) {
    const size_t row = work / bundles;
    shuffle_bundle<OP, D, VEC, shuffle_tuning<D>::AHEAD>(in + row * cols, cols, (unsigned)(work % bundles),
                                                         values + row * blocks, room);
  }
  cooperative_groups::this_grid().sync();
  for (size_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const W x = shuffle_second<OP, W>(values + row * blocks, blocks, room);
    if (threadIdx.x == 0) out[row] = fold_element<D>::narrow(x);
  }
}

extern "C" size_t fold_flat_cooperative_scratch(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  return FOLD_SCRATCH_ZEROED + call->rows * shuffle_blocks(call->cols) * sizeof(double);
}

/* How many blocks of `kernel` the GPU holds at once, which the barrier limits the grid to. */
static fold_status blocks_at_once(const void *kernel, unsigned *blocks) {
  int device = 0, cooperative = 0, sms = 0, each = 0;
  FOLD_CUDA_TRY(cudaGetDevice(&device));
  FOLD_CUDA_TRY(cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, device));
  if (!cooperative) return fold_error(FOLD_UNSUPPORTED, "flat/cooperative: this GPU has no cooperative launch");
  FOLD_CUDA_TRY(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
  FOLD_CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, SHUFFLE_WIDTH, 0));
  *blocks = (unsigned)(each * sms);
  return fold_ok();
}

template <int D, int O, int VEC>
static fold_status launch(const struct fold_call *call) {
  typedef typename fold_element<D>::stored stored;
  typedef typename fold_element<D>::wide W;
  const void *kernel = (const void *)cooperative_kernel<D, O, VEC>;
  unsigned most = 0;
  FOLD_TRY(blocks_at_once(kernel, &most));
  const size_t work = call->rows * ((shuffle_blocks(call->cols) + VEC - 1) / VEC);
  unsigned grid = call->launch.blocks ? call->launch.blocks : work == 0 ? 1 : work < most ? (unsigned)work : most;
  if (grid > most)
    return fold_error(FOLD_UNSUPPORTED, "flat/cooperative: %u blocks; the GPU holds %u at once", grid, most);
  const stored *in = (const stored *)call->in[0];
  stored *out = (stored *)call->out;
  W *values = (W *)((char *)call->scratch + FOLD_SCRATCH_ZEROED);
  size_t rows = call->rows, cols = call->cols;
  void *arguments[] = {&in, &out, &values, &rows, &cols};
  FOLD_CUDA_TRY(cudaLaunchCooperativeKernel(kernel, grid, SHUFFLE_WIDTH, arguments, 0, (cudaStream_t)call->stream));
  return fold_ok();
}

extern "C" fold_status fold_flat_cooperative(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  FOLD_TRY(fold_cuda_check(call));
  if (!call->rows) return fold_ok();
  if (call->launch.block && call->launch.block != SHUFFLE_WIDTH)
    return fold_error(FOLD_UNSUPPORTED, "flat/cooperative: blocks of %u threads only", SHUFFLE_WIDTH);
  return fold_dispatch(call, [&](auto d, auto o) {
    const int D = decltype(d)::value, O = decltype(o)::value;
    return shuffle_tuning<D>::aligned(call) ? launch<D, O, shuffle_tuning<D>::VEC>(call) : launch<D, O, 1>(call);
  });
}
