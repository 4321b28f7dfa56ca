/* mutants_gpu_blocks.cu: mutants of a row by 16 blocks, whose last one joins the partials.
 *
 * Order without a fault: rows/par_16: block b sums chunk b of ceil(cols / 16) elements from zero in rising index; the
 * block that finishes last sums the partials in turn, from zero. One grid only; up to 64 rows.
 */
#include "kernels/cuda/common.cuh"
#include "mutants_gpu_delay.cuh"
#include "mutants_gpu_run.h"

enum { BLOCKS = 16, MOST_ROWS = 64, LATE = 200000 };
enum fault { SOUND, LATE_PARTIAL, ARRIVAL_ORDER, COUNTER_LEFT };

/* Never reset: the fault of COUNTER_LEFT. */
static __device__ unsigned left_counter[MOST_ROWS];

static __device__ float walk(const float *x, size_t cols, unsigned block) {
  const size_t length = (cols + BLOCKS - 1) / BLOCKS, begin = min(block * length, cols),
               end = min(begin + length, cols);
  float sum = 0;
  for (size_t i = begin; i < end; i++) sum += x[i];
  return sum;
}

template <int FAULT>
static __global__ void block_kernel(const float *in, float *out, size_t cols, unsigned *counters, float *partials) {
  const unsigned row = blockIdx.x / BLOCKS, block = blockIdx.x % BLOCKS;
  unsigned *counter = FAULT == COUNTER_LEFT ? left_counter + row : counters + row;
  volatile float *partial = partials + row * BLOCKS;
  float sum = walk(in + row * cols, cols, block);
  unsigned before = 0;
  if (FAULT == ARRIVAL_ORDER) mutant_whim();
  if (FAULT == LATE_PARTIAL || FAULT == ARRIVAL_ORDER) before = atomicAdd(counter, 1u);
  if (FAULT == LATE_PARTIAL) mutant_delay(LATE * (long long)(BLOCKS - before));
  partial[FAULT == ARRIVAL_ORDER ? before : block] = sum;
  __threadfence();
  if (FAULT == ARRIVAL_ORDER) before = atomicAdd(counter + MOST_ROWS, 1u);
  if (FAULT == SOUND || FAULT == COUNTER_LEFT) before = atomicAdd(counter, 1u);
  if (before != BLOCKS - 1) return;
  __threadfence();
  float total = 0;
  for (int b = 0; b < BLOCKS; b++) total += partial[b];
  out[row] = total;
  if (FAULT != COUNTER_LEFT) counter[0] = 0;
  if (FAULT == ARRIVAL_ORDER) counter[MOST_ROWS] = 0;
}

/* As they come: atomics round in the order of their arrival. */
static __global__ void atomic_kernel(const float *in, float *out, size_t cols) {
  const unsigned row = blockIdx.x / BLOCKS, block = blockIdx.x % BLOCKS;
  const float sum = walk(in + row * cols, cols, block);
  mutant_whim();
  atomicAdd(out + row, sum);
}

static fold_status check(const struct fold_call *call) {
  FOLD_TRY(fold_cuda_check(call));
  if (call->launch.block || call->launch.blocks) return fold_error(FOLD_UNSUPPORTED, "16 blocks of one thread a row");
  if (call->rows > MOST_ROWS) return fold_error(FOLD_UNSUPPORTED, "up to 64 rows");
  return fold_ok();
}

template <int FAULT>
static fold_status launch(const struct fold_call *call) {
  FOLD_TRY(check(call));
  if (call->rows == 0) return fold_ok();
  block_kernel<FAULT><<<(unsigned)call->rows * BLOCKS, 1, 0, (cudaStream_t)call->stream>>>(
      (const float *)call->in[0], (float *)call->out, call->cols, (unsigned *)call->scratch,
      (float *)((char *)call->scratch + FOLD_SCRATCH_ZEROED));
  return fold_cuda_launched("block_kernel");
}

extern "C" size_t gpu_blocks_scratch(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  return FOLD_SCRATCH_ZEROED + call->rows * BLOCKS * sizeof(float);
}

#define SUBJECT(NAME, FAULT)                                                                      \
  extern "C" fold_status NAME(const struct fold_subject *subject, const struct fold_call *call) { \
    (void)subject;                                                                                \
    return launch<FAULT>(call);                                                                   \
  }
SUBJECT(gpu_blocks_sound, SOUND)
SUBJECT(gpu_late_partial, LATE_PARTIAL)
SUBJECT(gpu_arrival_order, ARRIVAL_ORDER)
SUBJECT(gpu_counter_left, COUNTER_LEFT)

extern "C" fold_status gpu_atomic(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  FOLD_TRY(check(call));
  if (call->rows == 0) return fold_ok();
  cudaStream_t stream = (cudaStream_t)call->stream;
  FOLD_CUDA_TRY(cudaMemsetAsync(call->out, 0, call->rows * sizeof(float), stream));
  atomic_kernel<<<(unsigned)call->rows * BLOCKS, 1, 0, stream>>>((const float *)call->in[0], (float *)call->out,
                                                                 call->cols);
  return fold_cuda_launched("atomic_kernel");
}
