/* mutants_gpu_lanes.cu: mutants of shuffles, and orders that depend on the address, the batch or the grid.
 *
 * Shuffles: flat/shuffle for rows of up to 256 terms, one block of the order: thread g takes x[g], a warp joins by
 * shuffling down, the first warp joins the 8 warps' values likewise. Any grid; blocks of 256 threads.
 */
#include "kernels/cuda/common.cuh"
#include "mutants_gpu_run.h"

enum { THREADS = 256, GRID = 8, MOST_GRID = 1024 };
enum fault { SOUND, WIDTH_16, RISING };

template <int FAULT>
static __device__ float shuffle_warp(float x) {
  const int width = FAULT == WIDTH_16 ? 16 : 32;
  for (int step = 1; step < 32; step *= 2) {
    const int offset = FAULT == RISING ? step : 16 / step;
    x += __shfl_down_sync(~0u, x, offset, width);
  }
  return x;
}

template <int FAULT>
static __global__ void shuffle_kernel(const float *in, float *out, size_t rows, size_t cols) {
  __shared__ float warps[THREADS / 32];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (size_t row = blockIdx.x; row < rows; row += gridDim.x) {
    float x = shuffle_warp<FAULT>(threadIdx.x < cols ? 0.f + in[row * cols + threadIdx.x] : 0.f);
    if (lane == 0) warps[warp] = x;
    __syncthreads();
    if (warp == 0) x = shuffle_warp<FAULT>(lane < THREADS / 32 ? warps[lane] : 0.f);
    if (threadIdx.x == 0) out[row] = x;
    __syncthreads();
  }
}

template <int FAULT>
static fold_status shuffle(const struct fold_call *call) {
  FOLD_TRY(fold_cuda_check(call));
  if (call->launch.block && call->launch.block != THREADS) return fold_error(FOLD_UNSUPPORTED, "blocks of 256 threads");
  if (call->cols > THREADS) return fold_error(FOLD_UNSUPPORTED, "rows of up to 256 terms");
  if (call->rows == 0) return fold_ok();
  const unsigned grid = call->launch.blocks ? call->launch.blocks : (unsigned)call->rows;
  shuffle_kernel<FAULT><<<grid, THREADS, 0, (cudaStream_t)call->stream>>>((const float *)call->in[0],
                                                                          (float *)call->out, call->rows, call->cols);
  return fold_cuda_launched("shuffle_kernel");
}

#define SHUFFLE(NAME, FAULT)                                                                      \
  extern "C" fold_status NAME(const struct fold_subject *subject, const struct fold_call *call) { \
    (void)subject;                                                                                \
    return shuffle<FAULT>(call);                                                                  \
  }
SHUFFLE(gpu_shuffle_sound, SOUND)
SHUFFLE(gpu_width_16, WIDTH_16)
SHUFFLE(gpu_rising, RISING)

/* ---- one thread a row, in one chain or in four ---- */

static __device__ float one_chain(const float *x, size_t n) {
  float sum = 0;
  for (size_t i = 0; i < n; i++) sum += x[i];
  return sum;
}

static __device__ float four_chains(const float *x, size_t n) {
  float4 sum = make_float4(0, 0, 0, 0);
  size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    const float4 v = *(const float4 *)(x + i);
    sum = make_float4(sum.x + v.x, sum.y + v.y, sum.z + v.z, sum.w + v.w);
  }
  float rest = one_chain(x + i, n - i);
  return ((sum.x + sum.y) + (sum.z + sum.w)) + rest;
}

static __device__ float falling(const float *x, size_t n) {
  float sum = 0;
  for (size_t i = n; i > 0; i--) sum += x[i - 1];
  return sum;
}

template <bool PEELS>
static __global__ void chain_kernel(const float *in, float *out, size_t rows, size_t cols) {
  for (size_t row = blockIdx.x * (size_t)blockDim.x + threadIdx.x; row < rows; row += (size_t)gridDim.x * blockDim.x) {
    const float *x = in + row * cols;
    if (PEELS)
      out[row] = (uintptr_t)x % 16 == 0 ? four_chains(x, cols) : one_chain(x, cols);
    else
      out[row] = rows > 1 ? falling(x, cols) : one_chain(x, cols);
  }
}

template <bool PEELS>
static fold_status chain(const struct fold_call *call) {
  FOLD_TRY(fold_cuda_check(call));
  if (call->rows == 0) return fold_ok();
  const unsigned block = call->launch.block ? call->launch.block : 32,
                 grid = call->launch.blocks ? call->launch.blocks : 4;
  chain_kernel<PEELS><<<grid, block, 0, (cudaStream_t)call->stream>>>((const float *)call->in[0], (float *)call->out,
                                                                      call->rows, call->cols);
  return fold_cuda_launched("chain_kernel");
}

extern "C" fold_status gpu_peels(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  return chain<true>(call);
}
extern "C" fold_status gpu_batch_size(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  return chain<false>(call);
}

/* ---- a partial for each block of the grid ---- */

static __global__ void grid_kernel(const float *in, float *partial, size_t rows, size_t cols) {
  for (size_t row = 0; row < rows; row++) {
    float sum = 0;
    for (size_t i = blockIdx.x; i < cols; i += gridDim.x) sum += in[row * cols + i];
    partial[row * MOST_GRID + blockIdx.x] = sum;
  }
}

static __global__ void grid_end_kernel(const float *partial, float *out, size_t rows, unsigned blocks) {
  for (size_t row = 0; row < rows; row++) out[row] = one_chain(partial + row * MOST_GRID, blocks);
}

extern "C" size_t gpu_grid_scratch(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  return FOLD_SCRATCH_ZEROED + call->rows * MOST_GRID * sizeof(float);
}

extern "C" fold_status gpu_grid(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  FOLD_TRY(fold_cuda_check(call));
  const unsigned grid = call->launch.blocks ? call->launch.blocks : GRID;
  if (call->launch.block || grid > MOST_GRID) return fold_error(FOLD_UNSUPPORTED, "up to 1024 blocks of one thread");
  if (call->rows == 0) return fold_ok();
  float *partial = (float *)((char *)call->scratch + FOLD_SCRATCH_ZEROED);
  cudaStream_t stream = (cudaStream_t)call->stream;
  grid_kernel<<<grid, 1, 0, stream>>>((const float *)call->in[0], partial, call->rows, call->cols);
  FOLD_TRY(fold_cuda_launched("grid_kernel"));
  grid_end_kernel<<<1, 1, 0, stream>>>(partial, (float *)call->out, call->rows, grid);
  return fold_cuda_launched("grid_end_kernel");
}
