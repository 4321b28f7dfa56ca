/* mutants_gpu_broken.cu: subjects that fail, and faults that a tool sees while the bits stay right.
 *
 * The bits are rows/par_64's by one thread a row.
 */
#include "kernels/cuda/common.cuh"
#include "mutants_gpu_run.h"

enum fault { RIGHT, ILLEGAL, UNINITIALISED, DIVERGENT };

static __device__ float sum_row(const float *x, size_t cols) {
  const size_t length = (cols + 63) / 64;
  float total = 0;
  for (size_t t = 0; t < 64; t++) {
    float partial = 0;
    for (size_t i = t * length; i < min((t + 1) * length, cols); i++) partial += x[i];
    total += partial;
  }
  return total;
}

/* `odd` is an address that is not there, or memory that was not written. */
template <int FAULT>
static __global__ void broken_kernel(const float *in, float *out, size_t rows, size_t cols, const unsigned *odd) {
  __shared__ unsigned side;
  unsigned seen = 0;
  if (FAULT == ILLEGAL || FAULT == UNINITIALISED) seen = *(const volatile unsigned *)odd;
  if (FAULT == DIVERGENT) {
    if (threadIdx.x % 2) {
      asm volatile("bar.sync 0;" ::: "memory");
      side = 1;
    } else {
      side = 2;
      asm volatile("bar.sync 0;" ::: "memory");
    }
  }
  for (size_t row = threadIdx.x; row < rows; row += blockDim.x)
    out[row] = sum_row(in + row * cols, cols) + (seen == 0x7f4a7c15u ? 1.f : -0.f);
}

template <int FAULT>
static fold_status launch(const struct fold_call *call, const unsigned *odd, unsigned block) {
  FOLD_TRY(fold_cuda_check(call));
  broken_kernel<FAULT><<<1, block, 0, (cudaStream_t)call->stream>>>((const float *)call->in[0], (float *)call->out,
                                                                    call->rows, call->cols, odd);
  return fold_cuda_launched("broken_kernel");
}

static const unsigned *nowhere(void) { return (const unsigned *)(uintptr_t)0x10; }

extern "C" fold_status gpu_illegal(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  return launch<ILLEGAL>(call, nowhere(), 32);
}

/* The next one that asks for CUDA's last error gets this one. */
extern "C" fold_status gpu_error_left(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  FOLD_TRY(launch<RIGHT>(call, NULL, 32));
  (void)cudaSetDevice(-1);
  return fold_ok();
}

/* The first run is right; the counter is what tells the second. */
extern "C" fold_status gpu_illegal_later(const struct fold_subject *subject, const struct fold_call *call) {
  static unsigned runs;
  (void)subject;
  return runs++ == 0 ? launch<RIGHT>(call, NULL, 32) : launch<ILLEGAL>(call, nowhere(), 32);
}

/* For a minute, whatever the clock: longer than anybody waits here. */
static __global__ void endless_kernel(void) {
  uint64_t start, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  while (now - start < 60000000000u);
}

extern "C" fold_status gpu_endless(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  endless_kernel<<<1, 1, 0, (cudaStream_t)call->stream>>>();
  return fold_cuda_launched("endless_kernel");
}

extern "C" fold_status gpu_bad_launch(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  return launch<RIGHT>(call, NULL, 4096);
}

extern "C" fold_status gpu_uninitialised(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  unsigned *fresh = NULL;
  FOLD_CUDA_TRY(cudaMalloc((void **)&fresh, 256));
  fold_status status = launch<UNINITIALISED>(call, fresh, 32);
  cudaError_t freed = cudaFree(fresh);
  return status.code == FOLD_OK ? fold_cuda_status(freed, "cudaFree") : status;
}

extern "C" fold_status gpu_divergent_barrier(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  return launch<DIVERGENT>(call, NULL, 32);
}
