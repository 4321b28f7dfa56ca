/* native.h: elements and operations in the machine's own arithmetic, to be inlined into hot loops.
 *
 * Promised: one IEEE-754 operation in f32 (16-bit and f32 elements) or f64, rounded to nearest even; max and min let
 * NaN through and hold -0 < +0. Needs -ffp-contract=off. The native replay and the host kernels stand on it; the wide
 * replay, which judges them, does not.
 */
#ifndef FOLD_NATIVE_H
#define FOLD_NATIVE_H

#include <math.h>

#include "bits.h"

/* Patterns may have been written as integers. */
typedef uint16_t __attribute__((may_alias)) fold_element_f16;
typedef uint16_t __attribute__((may_alias)) fold_element_bf16;
typedef float __attribute__((may_alias)) fold_element_f32;
typedef double __attribute__((may_alias)) fold_element_f64;

static inline float fold_load_f16(fold_element_f16 x) { return fold_f16_to_f32(x); }
static inline float fold_load_bf16(fold_element_bf16 x) { return fold_bf16_to_f32(x); }
static inline float fold_load_f32(fold_element_f32 x) { return x; }
static inline double fold_load_f64(fold_element_f64 x) { return x; }

static inline uint64_t fold_close_f16(float x) { return fold_f32_to_f16(x); }
static inline uint64_t fold_close_bf16(float x) { return fold_f32_to_bf16(x); }
static inline uint64_t fold_close_f32(float x) { return fold_f32_bits(x); }
static inline uint64_t fold_close_f64(double x) { return fold_f64_bits(x); }

#define FOLD_JOIN_sum(a, b) ((a) + (b))
#define FOLD_JOIN_prod(a, b) ((a) * (b))
#define FOLD_ZERO_sum 0.0f
#define FOLD_ZERO_prod 1.0f
#define FOLD_ZERO_max (-INFINITY)
#define FOLD_ZERO_min INFINITY

/* Equal values differ at most by the sign of zero: the patterns' AND is the greater, their OR the smaller. What
 * compares in no way holds a NaN, and a + b is one. */
static inline float fold_max_f32(float a, float b) {
  float same = fold_bits_f32(fold_f32_bits(a) & fold_f32_bits(b));
  return a < b ? b : a > b ? a : a == b ? same : a + b;
}
static inline float fold_min_f32(float a, float b) {
  float same = fold_bits_f32(fold_f32_bits(a) | fold_f32_bits(b));
  return a < b ? a : a > b ? b : a == b ? same : a + b;
}
static inline double fold_max_f64(double a, double b) {
  double same = fold_bits_f64(fold_f64_bits(a) & fold_f64_bits(b));
  return a < b ? b : a > b ? a : a == b ? same : a + b;
}
static inline double fold_min_f64(double a, double b) {
  double same = fold_bits_f64(fold_f64_bits(a) | fold_f64_bits(b));
  return a < b ? a : a > b ? b : a == b ? same : a + b;
}

#define FOLD_JOIN_max(a, b) _Generic((a), float : fold_max_f32, double : fold_max_f64)((a), (b))
#define FOLD_JOIN_min(a, b) _Generic((a), float : fold_min_f32, double : fold_min_f64)((a), (b))

#endif
