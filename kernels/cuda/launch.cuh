/* launch.cuh: launches that begin while the work before them in the stream still ends.
 *
 * Promised: fold_launch_early is a launch like any other to code that reads or writes what the kernel does, as long as every thread
 * of the kernel calls fold_wait_for_stream before it touches global memory: it returns once all earlier work of the stream is done
 * and seen. What is hidden is the time between two kernels, which is most of what a small sum takes (programmatic dependent
 * launch, sm_90). Elsewhere both are plain.
 */
#ifndef FOLD_LAUNCH_CUH
#define FOLD_LAUNCH_CUH

#include "base/cuda_status.cuh"

/* Waits until the earlier work is done and its writes are visible. Then lets the next work in the stream begin, once
 * all blocks of this grid have come here. (If that is done before the wait, sums of 10^6 take 5 to 16% longer, because
 * the next grid reads beside this one.) */
static __device__ __forceinline__ void fold_wait_for_stream() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/* Fetches bytes [begin, end) into the L2, by one thread. It is only a hint and may come before fold_wait_for_stream,
 * because what is written meanwhile goes to the L2 too. Only whole pieces of 16 bytes inside are fetched. */
static __device__ __forceinline__ void fold_prefetch(uint64_t begin, uint64_t end) {
#if __CUDA_ARCH__ >= 900
  const uint64_t first = (begin + 15) & ~(uint64_t)15, last = end & ~(uint64_t)15;
  if (first < last)
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(first), "r"((uint32_t)(last - first)) : "memory");
#endif
}

static __global__ void fold_code_kernel() {}

/* The architecture that this file's code for the current device was compiled for, as __CUDA_ARCH__ had it: 900 for sm_90. */
static inline fold_status fold_cuda_code(int *arch) {
  static thread_local int known_device = -1, known_arch;
  int device;
  FOLD_CUDA_TRY(cudaGetDevice(&device));
  if (device != known_device) {
    cudaFuncAttributes attributes;
    FOLD_CUDA_TRY(cudaFuncGetAttributes(&attributes, fold_code_kernel));
    known_arch = 10 * attributes.ptxVersion;
    known_device = device;
  }
  *arch = known_arch;
  return fold_ok();
}

template <class... P, class... A>
static fold_status fold_launch_early(const char *name, void (*kernel)(P...), unsigned blocks, unsigned threads,
                                     size_t shared, void *stream, A... arguments) {
  int arch = 0;
  FOLD_TRY(fold_cuda_code(&arch));
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = shared;
  config.stream = (cudaStream_t)stream;
  config.attrs = &early;
  config.numAttrs = arch >= 900;
  const cudaError_t error = cudaLaunchKernelEx(&config, kernel, P(arguments)...);
  if (error == cudaSuccess) return fold_ok();
  (void)cudaGetLastError();
  return fold_cuda_status(error, name);
}

#endif
