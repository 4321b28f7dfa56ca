/* common.cuh: what every CUDA kernel here shares: statuses from CUDA's errors, element types, operations.
 *
 * Promised: one definition of how an element becomes an accumulator and back, and of join(a, b), with the bits of
 * bits.h and of the host's replay: IEEE-754, rounded to nearest, subnormals kept (build with --fmad=false, no
 * fast-math). Included from .cu files only; no symbol leaves.
 */
#ifndef FOLD_COMMON_CUH
#define FOLD_COMMON_CUH

#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <math_constants.h>
#include <stdint.h>

#include "bits.h"
#include "fold.h"

/* OK for cudaSuccess; else a status with the call's name and CUDA's words. */
static inline fold_status fold_cuda_status(cudaError_t error, const char *call) {
  if (error == cudaSuccess) return fold_ok();
  enum fold_code code = error == cudaErrorMemoryAllocation ? FOLD_NO_MEMORY : FOLD_ENVIRONMENT;
  return fold_error(code, "%s: %s (CUDA error %d)", call, cudaGetErrorString(error), (int)error);
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

/* What a launch just before answered: a bad configuration, no code for this GPU, or a sticky error of earlier work. */
static inline fold_status fold_cuda_launched(const char *kernel) {
  cudaError_t error = cudaPeekAtLastError();
  if (error != cudaSuccess) (void)cudaGetLastError();
  return fold_cuda_status(error, kernel);
}

/* The checks that every subject makes: pointers aligned to the element. */
static inline fold_status fold_cuda_check(const struct fold_call *call) {
  size_t size = fold_dtype_size(call->dtype);
  if ((uintptr_t)call->in % size)
    return fold_error(FOLD_BAD_INPUT, "in: address %p is not aligned to the element (%zu bytes)", call->in, size);
  if ((uintptr_t)call->out % size)
    return fold_error(FOLD_BAD_INPUT, "out: address %p is not aligned to the element (%zu bytes)", call->out, size);
  return fold_ok();
}

/* The element types: `stored` in memory, `wide` the accumulator, and the two exact or once-rounded ways between. */
template <int D>
struct fold_element;
template <>
struct fold_element<FOLD_F16> {
  typedef uint16_t stored;
  typedef float wide;
  static __device__ __forceinline__ float widen(uint16_t h) { return __half2float(__ushort_as_half(h)); }
  static __device__ __forceinline__ uint16_t narrow(float x) { return __half_as_ushort(__float2half_rn(x)); }
};
template <>
struct fold_element<FOLD_BF16> {
  typedef uint16_t stored;
  typedef float wide;
  static __device__ __forceinline__ float widen(uint16_t h) { return __uint_as_float((uint32_t)h << 16); }
  static __device__ __forceinline__ uint16_t narrow(float x) { return fold_f32_to_bf16(x); }
};
template <>
struct fold_element<FOLD_F32> {
  typedef float stored;
  typedef float wide;
  static __device__ __forceinline__ float widen(float x) { return x; }
  static __device__ __forceinline__ float narrow(float x) { return x; }
};
template <>
struct fold_element<FOLD_F64> {
  typedef double stored;
  typedef double wide;
  static __device__ __forceinline__ double widen(double x) { return x; }
  static __device__ __forceinline__ double narrow(double x) { return x; }
};

/* The operations on an accumulator. `zero` is what an order starts from and the result of nothing; `none` is the true
 * identity, join(none, x) = x for every x, -0 included: they differ for the sum alone. */
template <int O, class W>
struct fold_operation;

template <class W>
struct fold_operation<FOLD_SUM, W> {
  static __device__ __forceinline__ W zero() { return W(0); }
  static __device__ __forceinline__ W none() { return -W(0); }
  static __device__ __forceinline__ W join(W a, W b) { return a + b; }
};
template <class W>
struct fold_operation<FOLD_PROD, W> {
  static __device__ __forceinline__ W zero() { return W(1); }
  static __device__ __forceinline__ W none() { return W(1); }
  static __device__ __forceinline__ W join(W a, W b) { return a * b; }
};

/* The larger one, +0 over -0, NaN over all. PTX's max orders the zeros so; it drops NaN where it has no .NaN form
 * (f64, and f32 before sm_80): there a + b brings it back. */
static __device__ __forceinline__ float fold_larger(float a, float b) {
#if __CUDA_ARCH__ >= 800
  float c;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(c) : "f"(a), "f"(b));
  return c;
#else
  return a != a || b != b ? a + b : fmaxf(a, b);
#endif
}
static __device__ __forceinline__ float fold_smaller(float a, float b) {
#if __CUDA_ARCH__ >= 800
  float c;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(c) : "f"(a), "f"(b));
  return c;
#else
  return a != a || b != b ? a + b : fminf(a, b);
#endif
}
static __device__ __forceinline__ double fold_larger(double a, double b) {
  return a != a || b != b ? a + b : fmax(a, b);
}
static __device__ __forceinline__ double fold_smaller(double a, double b) {
  return a != a || b != b ? a + b : fmin(a, b);
}

template <class W>
struct fold_operation<FOLD_MAX, W> {
  static __device__ __forceinline__ W zero() { return W(-CUDART_INF_F); }
  static __device__ __forceinline__ W none() { return zero(); }
  static __device__ __forceinline__ W join(W a, W b) { return fold_larger(a, b); }
};
template <class W>
struct fold_operation<FOLD_MIN, W> {
  static __device__ __forceinline__ W zero() { return W(CUDART_INF_F); }
  static __device__ __forceinline__ W none() { return zero(); }
  static __device__ __forceinline__ W join(W a, W b) { return fold_smaller(a, b); }
};

#endif
