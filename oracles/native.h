/* native.h: elements and operations in the machine's own arithmetic, to be inlined into hot loops.
 *
 * Promised: one IEEE-754 operation in the accumulator, f32 or f64, rounded to nearest even; max and min propagate NaN and
 * have -0 < +0. Needs -ffp-contract=off. The native replay and the host kernels use it; the wide replay, which judges them,
 * does not.
 */
#ifndef FOLD_NATIVE_H
#define FOLD_NATIVE_H

#include <math.h>

#include "base/bits.h"

/* Conversions by the C type of an element in memory: from memory to the accumulator, and back with one rounding. */
#define FOLD_LOAD_uint16_t(name, x) fold_widen(fold_format_##name(), x)
#define FOLD_LOAD_uint8_t FOLD_LOAD_uint16_t
#define FOLD_LOAD_float(name, x) (x)
#define FOLD_LOAD_double(name, x) (x)
#define FOLD_PUT_uint16_t(name, x) (uint16_t) fold_narrow(fold_format_##name(), (double)(x))
#define FOLD_PUT_uint8_t(name, x) (uint8_t) fold_narrow(fold_format_##name(), (double)(x))
#define FOLD_PUT_float(name, x) (x)
#define FOLD_PUT_double(name, x) (x)
typedef float fold_wide_F32;
typedef double fold_wide_F64;

/* For each dtype: fold_element_<name>, the C type of an element in memory, which may be an integer; fold_wide_<name>,
 * the accumulator; fold_load_<name>; fold_put_<name>, which rounds once to an element. */
#define FOLD_INTEGER(...)
#define FOLD_DTYPE(TAG, name, element, WIDE, ...)                                                                 \
  typedef element __attribute__((may_alias)) fold_element_##name;                                                 \
  typedef fold_wide_##WIDE fold_wide_##name;                                                                      \
  static inline fold_wide_##name fold_load_##name(fold_element_##name x) { return FOLD_LOAD_##element(name, x); } \
  static inline fold_element_##name fold_put_##name(fold_wide_##name x) { return FOLD_PUT_##element(name, x); }
#include "base/dtype.def"

#define FOLD_JOIN_sum(a, b) ((a) + (b))
#define FOLD_JOIN_prod(a, b) ((a) * (b))
#define FOLD_ZERO_sum 0.0f
#define FOLD_ZERO_prod 1.0f
#define FOLD_ZERO_max (-INFINITY)
#define FOLD_ZERO_min INFINITY

/* Equal values differ at most by the sign of zero: the patterns' AND is the greater, their OR the smaller. If neither comparison
 * is true, one operand is NaN, and so is a + b. */
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
