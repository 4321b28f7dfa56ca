/* flat_atomic.cu: flat/atomic: a control. Block sums are added by atomicAdd in whatever order the blocks finish.
 *
 * Order: none. Each thread sums a stride of the row, a block's 256 threads join by a tree, and the block's sum goes to
 * the row's cell, a float or a double in scratch, as the hardware comes to it. The bits may vary from run to run.
 * Claims: writes_output, stays_in_bounds, keeps_input, and bounded by no height but n's: nothing about bits.
 * Limits: sums only. launch.block is a power of two from 32 to 1024, launch.blocks is free.
 */
#include "kernels/cuda/flat/flat.h"

#include "kernels/cuda/common.cuh"
#include "kernels/cuda/dispatch.cuh"

#define ATOMIC_BLOCK 256u

static size_t blocks_of_row(size_t cols) {
  const size_t blocks = (cols + 8 * ATOMIC_BLOCK - 1) / (8 * ATOMIC_BLOCK);
  return blocks < 1056 ? blocks : 1056;
}

template <int D>
__global__ void atomic_add_kernel(const typename fold_element<D>::stored *__restrict__ in,
                                  typename fold_element<D>::wide *cells, size_t rows, size_t cols, size_t blocks) {
  typedef typename fold_element<D>::wide W;
  extern __shared__ double room[];
  W *sums = (W *)room;
  for (size_t work = blockIdx.x; work < rows * blocks; work += gridDim.x) {
    const size_t row = work / blocks, block = work % blocks;
    W x = 0;
    for (size_t i = block * blockDim.x + threadIdx.x; i < cols; i += blocks * blockDim.x)
      x += fold_element<D>::widen(in[row * cols + i]);
    sums[threadIdx.x] = x;
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
      __syncthreads();
      if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    if (threadIdx.x == 0) atomicAdd(cells + row, sums[0]);
    __syncthreads();
  }
}

template <int D>
__global__ void atomic_close_kernel(const typename fold_element<D>::wide *cells, typename fold_element<D>::stored *out,
                                    size_t rows) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < rows; i += (size_t)gridDim.x * blockDim.x)
    out[i] = fold_element<D>::narrow(cells[i]);
}

extern "C" size_t fold_flat_atomic_scratch(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  return FOLD_SCRATCH_ZEROED + call->rows * sizeof(double);
}

extern "C" fold_status fold_flat_atomic(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  FOLD_TRY(fold_cuda_check(call));
  if (!call->rows) return fold_ok();
  if (call->problem->op != FOLD_SUM) return fold_error(FOLD_UNSUPPORTED, "flat/atomic: sums only");
  const unsigned block = call->launch.block ? call->launch.block : ATOMIC_BLOCK;
  if (block < 32 || block > 1024 || (block & (block - 1)))
    return fold_error(FOLD_UNSUPPORTED, "flat/atomic: %u threads a block, not a power of two from 32 to 1024", block);
  const size_t blocks = blocks_of_row(call->cols), work = call->rows * blocks;
  const unsigned grid = call->launch.blocks ? call->launch.blocks : work < 0x7fffffff ? (unsigned)work : 0x7fffffff;
  return fold_dispatch(call, [&](auto d, auto) {
    const int D = decltype(d)::value;
    typedef typename fold_element<D>::stored stored;
    typedef typename fold_element<D>::wide W;
    cudaStream_t stream = (cudaStream_t)call->stream;
    W *cells = (W *)((char *)call->scratch + FOLD_SCRATCH_ZEROED);
    FOLD_CUDA_TRY(cudaMemsetAsync(cells, 0, call->rows * sizeof(W), stream));
    if (work) {
      atomic_add_kernel<D><<<grid, block, block * sizeof(W), stream>>>((const stored *)call->in[0], cells, call->rows,
                                                                       call->cols, blocks);
      FOLD_TRY(fold_cuda_launched("atomic_add_kernel"));
    }
    atomic_close_kernel<D>
        <<<(unsigned)((call->rows + 255) / 256 < 65535 ? (call->rows + 255) / 256 : 65535), 256, 0, stream>>>(
            cells, (stored *)call->out, call->rows);
    return fold_cuda_launched("atomic_close_kernel");
  });
}
