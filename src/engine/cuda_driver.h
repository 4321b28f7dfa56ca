/* cuda_driver.h: the functions of CUDA's driver that judging needs, looked up in its library at the first use.
 *
 * The library is FOLDPROOF_CUDA_DRIVER, a path or a soname, else libcuda.so.1 as the dynamic linker finds it. No
 * toolkit is needed to build or to run, so any build judges GPU subjects that users bring. The types stand for those of
 * cuda.h: a CUresult or CUdevice is an int, a CUdeviceptr a uint64_t, a handle a pointer.
 */
#ifndef FOLD_CUDA_DRIVER_H
#define FOLD_CUDA_DRIVER_H

#include "base/fold.h"

/* X(name, arguments) */
#define FOLD_CUDA_CALLS(X)                                                                                  \
  X(cuGetErrorString, (int error, const char **text))                                                       \
  X(cuInit, (unsigned flags))                                                                               \
  X(cuDriverGetVersion, (int *version))                                                                     \
  X(cuDeviceGetCount, (int *n))                                                                             \
  X(cuDeviceGet, (int *device, int index))                                                                  \
  X(cuDeviceGetName, (char *name, int size, int device))                                                    \
  X(cuDeviceGetAttribute, (int *value, int attribute, int device))                                          \
  X(cuDeviceTotalMem_v2, (size_t * nbytes, int device))                                                     \
  X(cuDevicePrimaryCtxRetain, (void **context, int device))                                                 \
  X(cuCtxGetCurrent, (void **context))                                                                      \
  X(cuCtxSetCurrent, (void *context))                                                                       \
  X(cuCtxGetDevice, (int *device))                                                                          \
  X(cuCtxSynchronize, (void))                                                                               \
  X(cuMemGetInfo_v2, (size_t * unused, size_t * all))                                                       \
  X(cuMemAlloc_v2, (uint64_t * at, size_t nbytes))                                                          \
  X(cuMemFree_v2, (uint64_t at))                                                                            \
  X(cuMemHostAlloc, (void **at, size_t nbytes, unsigned flags))                                             \
  X(cuMemcpyHtoDAsync_v2, (uint64_t to, const void *from, size_t nbytes, void *stream))                     \
  X(cuMemcpyDtoHAsync_v2, (void *to, uint64_t from, size_t nbytes, void *stream))                           \
  X(cuMemcpyDtoDAsync_v2, (uint64_t to, uint64_t from, size_t nbytes, void *stream))                        \
  X(cuStreamSynchronize, (void *stream))                                                                    \
  X(cuModuleLoadData, (void **module, const void *image))                                                   \
  X(cuModuleGetFunction, (void **function, void *module, const char *name))                                 \
  X(cuLaunchKernel,                                                                                         \
    (void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, \
     unsigned block_z, unsigned shared, void *stream, void **arguments, void **extra))

/* Calls for memory pools, which are newer than the rest (CUDA 11.2): NULL where the driver lacks them. */
#define FOLD_CUDA_POOL_CALLS(X)                    \
  X(cuDeviceGetMemPool, (void **pool, int device)) \
  X(cuMemPoolGetAttribute, (void *pool, int attribute, void *value))

struct fold_cuda_driver {
#define FOLD_CUDA_MEMBER(name, arguments) int(*name) arguments;
  FOLD_CUDA_CALLS(FOLD_CUDA_MEMBER)
  FOLD_CUDA_POOL_CALLS(FOLD_CUDA_MEMBER)
#undef FOLD_CUDA_MEMBER
};

#define FOLD_CUDA_TEXT 160
/* CU_STREAM_LEGACY: the default stream, which waits for all others but those that are made non-blocking. */
#define FOLD_CUDA_LEGACY ((void *)1)

/* The first call in a process opens the library; each call returns how that went. UNSUPPORTED: the library can't be
 * used, or finds no device; BAD_INPUT: FOLDPROOF_CUDA_DRIVER names one that can't be used; ENVIRONMENT: the driver
 * fails. */
fold_status fold_cuda_driver(const struct fold_cuda_driver **cu);

/* The status for an error of that call, in CUDA's words: NO_MEMORY for device memory, else ENVIRONMENT. */
fold_status fold_cuda_driver_status(int error, const char *call);
/* Returns from the calling function when the call fails. The caller has a variable `cu`. */
#define FOLD_CU_TRY(call)                                                      \
  do {                                                                         \
    int fold_cu_error_ = cu->call;                                             \
    if (fold_cu_error_) return fold_cuda_driver_status(fold_cu_error_, #call); \
  } while (0)

/* How many devices there are; with 0 and OK, `reason` says why there is none. */
fold_status fold_cuda_driver_count(int *n, char reason[FOLD_CUDA_TEXT]);

struct fold_cuda_device {
  char name[256];
  int major, minor, sms, l2, driver_cuda; /* 13000: the driver knows CUDA 13.0 */
  size_t memory;
};
fold_status fold_cuda_driver_device(int index, struct fold_cuda_device *device);
/* The kernel module's version, "580.159.04"; "" where the system does not tell. */
void fold_cuda_driver_version(char text[64]);

#endif
