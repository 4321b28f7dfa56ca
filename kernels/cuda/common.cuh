/* common.cuh: what every CUDA kernel here shares: conversion of CUDA's errors to statuses, element types, operations.
 *
 * Promised: one definition of how an element becomes an accumulator and back, and of join(a, b), with the bits of
 * bits.h and of the host's replay: IEEE-754, rounded to nearest, subnormals kept (build with --fmad=false, no
 * fast-math). Included from .cu files only; no symbol leaves.
 */
#ifndef FOLD_COMMON_CUH
#define FOLD_COMMON_CUH

#include <cuda_fp16.h>
#include <math_constants.h>

#include "base/bits.h"
#include "base/cuda_status.cuh"

/* The element types: `stored` is the type in memory, `wide` the accumulator. Conversion to `wide` is exact, the one
 * back rounds once. */
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

/* The operations on an accumulator. `zero` is what an order starts from, and the result for no terms. `none` is the
 * true identity: join(none, x) = x for every x, -0 included. The two differ for the sum alone. */
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
