/* opencl.h: an OpenCL device with shared virtual memory (SVM), and the calls that judging on it needs.
 *
 * The library is FOLDPROOF_OPENCL, a path or a soname, else libOpenCL.so.1 as the dynamic linker finds it. No header of OpenCL is needed to
 * build. Types are those of CL/cl.h (OpenCL 2.0 or newer): a cl_int is an int, a cl_uint and a cl_bool an unsigned, bit fields are uint64_t,
 * handles are pointers. Source: OpenCL API 3.0 specification, chapters 4 and 5.
 */
#ifndef FOLD_OPENCL_H
#define FOLD_OPENCL_H

#include "base/fold.h"

/* X(result, name, arguments) */
#define FOLD_OPENCL_CALLS(X)                                                                                           \
  X(int, clGetPlatformIDs, (unsigned room, void **platforms, unsigned *n))                                             \
  X(int, clGetDeviceIDs, (void *platform, uint64_t type, unsigned room, void **devices, unsigned *n))                  \
  X(int, clGetDeviceInfo, (void *device, unsigned what, size_t room, void *value, size_t *size))                       \
  X(void *, clCreateContext,                                                                                           \
    (const intptr_t *properties, unsigned n, void *const *devices, void (*notify)(void), void *user, int *error))      \
  X(void *, clCreateCommandQueueWithProperties, (void *context, void *device, const uint64_t *properties, int *error)) \
  X(void *, clSVMAlloc, (void *context, uint64_t flags, size_t nbytes, unsigned alignment))                            \
  X(void, clSVMFree, (void *context, void *memory))                                                                    \
  X(int, clEnqueueSVMMemcpy,                                                                                           \
    (void *queue, unsigned wait, void *to, const void *from, size_t nbytes, unsigned n, void *const *after,            \
     void **event))                                                                                                    \
  X(int, clEnqueueSVMMemFill,                                                                                          \
    (void *queue, void *at, const void *pattern, size_t of_pattern, size_t nbytes, unsigned n, void *const *after,     \
     void **event))                                                                                                    \
  X(int, clFinish, (void *queue))                                                                                      \
  X(void *, clCreateProgramWithSource,                                                                                 \
    (void *context, unsigned n, const char **texts, const size_t *lengths, int *error))                                \
  X(int, clBuildProgram,                                                                                               \
    (void *program, unsigned n, void *const *devices, const char *options, void (*notify)(void), void *user))          \
  X(int, clGetProgramBuildInfo, (void *program, void *device, unsigned what, size_t room, void *value, size_t *size))  \
  X(void *, clCreateKernel, (void *program, const char *name, int *error))                                             \
  X(int, clSetKernelArg, (void *kernel, unsigned index, size_t nbytes, const void *value))                             \
  X(int, clSetKernelArgSVMPointer, (void *kernel, unsigned index, const void *value))                                  \
  X(int, clEnqueueNDRangeKernel,                                                                                       \
    (void *queue, void *kernel, unsigned dimensions, const size_t *from, const size_t *items, const size_t *of_group,  \
     unsigned n, void *const *after, void **event))

struct fold_opencl {
#define FOLD_OPENCL_MEMBER(result, name, arguments) result(*name) arguments;
  FOLD_OPENCL_CALLS(FOLD_OPENCL_MEMBER)
#undef FOLD_OPENCL_MEMBER
  void *device, *context, *queue; /* the first device that has SVM; its queue is in order */
  size_t group;                   /* how many work-items a group may have */
  bool doubles;                   /* it adds doubles by IEEE 754, subnormal numbers included */
  char name[128], driver[64];
};

/* Opens the library at the first call in a process; every call returns what came of that. FOLD_UNSUPPORTED if it can't
 * be used, or if no device has SVM and floats with subnormal numbers; FOLD_BAD_INPUT if FOLDPROOF_OPENCL names a
 * library that can't be used; FOLD_ENVIRONMENT if it fails. */
fold_status fold_opencl(const struct fold_opencl **cl);

/* FOLD_NO_MEMORY if memory ran out, FOLD_ENVIRONMENT for all other errors. */
fold_status fold_opencl_status(int error, const char *call);
/* Returns from the calling function when the call fails; needs a variable `cl` in scope. */
#define FOLD_CL_TRY(call)                                                 \
  do {                                                                    \
    int fold_cl_error_ = cl->call;                                        \
    if (fold_cl_error_) return fold_opencl_status(fold_cl_error_, #call); \
  } while (0)

#endif
