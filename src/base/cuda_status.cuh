/* cuda_status.cuh: CUDA's errors as statuses, and the checks that every subject makes before a launch. Host code. */
#ifndef FOLD_CUDA_STATUS_CUH
#define FOLD_CUDA_STATUS_CUH

#include <cuda_runtime.h>
#include <stdint.h>

#include "base/fold.h"

/* OK for cudaSuccess; else a status with the call's name and CUDA's words, and what to do about a build for other GPUs. */
static inline fold_status fold_cuda_status(cudaError_t error, const char *call) {
  if (error == cudaSuccess) return fold_ok();
  enum fold_code code = error == cudaErrorMemoryAllocation ? FOLD_NO_MEMORY : FOLD_ENVIRONMENT;
  const char *todo = error == cudaErrorNoKernelImageForDevice ? "; Meson's option gpu_arch says for which GPUs" : "";
  return fold_error(code, "%s: %s (CUDA error %d)%s", call, cudaGetErrorString(error), (int)error, todo);
}

/* Returns from the calling function when the CUDA call fails, and takes the error off CUDA's own record, so that it is
 * not seen again after the next launch. */
#define FOLD_CUDA_TRY(call)                             \
  do {                                                  \
    cudaError_t fold_cuda_error_ = (call);              \
    if (fold_cuda_error_ != cudaSuccess) {              \
      (void)cudaGetLastError();                         \
      return fold_cuda_status(fold_cuda_error_, #call); \
    }                                                   \
  } while (0)

/* The status of the launch just before: a bad configuration, no code for this GPU, or a sticky error of earlier
 * work. */
static inline fold_status fold_cuda_launched(const char *kernel) {
  cudaError_t error = cudaPeekAtLastError();
  if (error != cudaSuccess) (void)cudaGetLastError();
  return fold_cuda_status(error, kernel);
}

/* The checks that every subject makes: pointers aligned to the element. */
static inline fold_status fold_cuda_check(const struct fold_call *call) {
  size_t size = fold_dtype_size(call->dtype);
  if ((uintptr_t)call->in[0] % size)
    return fold_error(FOLD_BAD_INPUT, "in: address %p is not aligned to the element (%zu bytes)", call->in[0], size);
  if ((uintptr_t)call->out % size)
    return fold_error(FOLD_BAD_INPUT, "out: address %p is not aligned to the element (%zu bytes)", call->out, size);
  return fold_ok();
}

#endif
