/* bits.h: floating-point formats as bit patterns: conversion, classes, comparison.
 *
 * Promised: each conversion rounds once, to nearest even, subnormals and overflow included, by integer
 * arithmetic or by one IEEE-754 conversion; a NaN stays a (quiet) NaN. The inline part is shared by host and device, so
 * that both make the same bits. Values compare by bits; NaN by class (fold_bits_same).
 */
#ifndef FOLD_BITS_H
#define FOLD_BITS_H

#include <string.h>

#include "fold.h"

#ifdef __cplusplus
extern "C" {
#endif

/* IEEE-754 binary interchange parameters: `precision` counts the hidden bit; emin and emax are exponents of the
 * smallest and largest normal number as 1.f x 2^e. */
struct fold_format {
  int bits, precision, emin, emax;
  uint64_t sign, exponent, fraction; /* masks */
};

static inline FOLD_HD struct fold_format fold_format_of(enum fold_dtype dtype) {
  struct fold_format f16 = {16, 11, -14, 15, 0x8000u, 0x7c00u, 0x03ffu};
  struct fold_format bf16 = {16, 8, -126, 127, 0x8000u, 0x7f80u, 0x007fu};
  struct fold_format f32 = {32, 24, -126, 127, 0x80000000u, 0x7f800000u, 0x007fffffu};
  struct fold_format f64 = {64, 53, -1022, 1023, 0x8000000000000000u, 0x7ff0000000000000u, 0x000fffffffffffffu};
  return dtype == FOLD_F16 ? f16 : dtype == FOLD_BF16 ? bf16 : dtype == FOLD_F32 ? f32 : f64;
}

static inline FOLD_HD uint32_t fold_f32_bits(float x) {
  uint32_t b;
  memcpy(&b, &x, sizeof b);
  return b;
}
static inline FOLD_HD float fold_bits_f32(uint32_t b) {
  float x;
  memcpy(&x, &b, sizeof x);
  return x;
}
static inline FOLD_HD uint64_t fold_f64_bits(double x) {
  uint64_t b;
  memcpy(&b, &x, sizeof b);
  return b;
}
static inline FOLD_HD double fold_bits_f64(uint64_t b) {
  double x;
  memcpy(&x, &b, sizeof x);
  return x;
}

/* Widening: exact. */
static inline FOLD_HD float fold_bf16_to_f32(uint16_t h) { return fold_bits_f32((uint32_t)h << 16); }

static inline FOLD_HD float fold_f16_to_f32(uint16_t h) {
  uint32_t sign = (uint32_t)(h & 0x8000u) << 16, magnitude = h & 0x7fffu;
  if (magnitude >= 0x7c00u) return fold_bits_f32(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
  /* Below infinity: shift the fields into place, then move the bias by an exact product; subnormals included. */
  return fold_bits_f32(sign | fold_f32_bits(fold_bits_f32(magnitude << 13) * 0x1p112f));
}

/* Rounds the finite or infinite double |x| to a format of `precision` bits whose subnormals are multiples of
 * 2^(emin - precision + 1); the result is the pattern without sign. Integer arithmetic: nothing rounds twice. */
static inline FOLD_HD uint32_t fold_narrow_magnitude(uint64_t b, int precision, int emin, int emax) {
  int exponent = (int)(b >> 52) - 1023;
  uint64_t significand = (b & 0x000fffffffffffffu) | (b >> 52 ? 0x0010000000000000u : 0);
  if (exponent > emax) return (uint32_t)(emax - emin + 2) << (precision - 1);
  int drop = 53 - precision; /* bits that fall away; more below emin */
  if (exponent < emin) drop += emin - exponent;
  if (drop > 54) return 0;
  uint64_t half = (uint64_t)1 << (drop - 1), kept = significand >> drop, rest = significand & (2 * half - 1);
  kept += rest > half || (rest == half && (kept & 1));
  /* The hidden bit carries into the exponent field by itself, and from the largest number to infinity. */
  uint32_t field = exponent < emin ? 0 : (uint32_t)(exponent - emin);
  return (field << (precision - 1)) + (uint32_t)kept;
}

static inline FOLD_HD uint16_t fold_f64_to_f16(double x) {
  uint64_t b = fold_f64_bits(x), magnitude = b & 0x7fffffffffffffffu;
  uint16_t sign = (uint16_t)(b >> 63 << 15);
  if (magnitude > 0x7ff0000000000000u) return (uint16_t)(sign | 0x7e00u | (magnitude >> 42 & 0x3ffu));
  return (uint16_t)(sign | fold_narrow_magnitude(magnitude, 11, -14, 15));
}
static inline FOLD_HD uint16_t fold_f64_to_bf16(double x) {
  uint64_t b = fold_f64_bits(x), magnitude = b & 0x7fffffffffffffffu;
  uint16_t sign = (uint16_t)(b >> 63 << 15);
  if (magnitude > 0x7ff0000000000000u) return (uint16_t)(sign | 0x7fc0u | (magnitude >> 45 & 0x7fu));
  return (uint16_t)(sign | fold_narrow_magnitude(magnitude, 8, -126, 127));
}
/* f32 to f64 is exact, so that these round once too. */
static inline FOLD_HD uint16_t fold_f32_to_f16(float x) { return fold_f64_to_f16((double)x); }
static inline FOLD_HD uint16_t fold_f32_to_bf16(float x) { return fold_f64_to_bf16((double)x); }

/* The value of a pattern: exact, for each dtype is a subset of f64. */
static inline FOLD_HD double fold_bits_to_double(enum fold_dtype dtype, uint64_t bits) {
  switch (dtype) {
    case FOLD_F16: return (double)fold_f16_to_f32((uint16_t)bits);
    case FOLD_BF16: return (double)fold_bf16_to_f32((uint16_t)bits);
    case FOLD_F32: return (double)fold_bits_f32((uint32_t)bits);
    default: return fold_bits_f64(bits);
  }
}
/* The pattern nearest to x. */
static inline FOLD_HD uint64_t fold_bits_from_double(enum fold_dtype dtype, double x) {
  switch (dtype) {
    case FOLD_F16: return fold_f64_to_f16(x);
    case FOLD_BF16: return fold_f64_to_bf16(x);
    case FOLD_F32: return fold_f32_bits((float)x);
    default: return fold_f64_bits(x);
  }
}

/* Element i of an array of dtype, as a pattern in the low bits. */
static inline FOLD_HD uint64_t fold_bits_load(enum fold_dtype dtype, const void *base, size_t i) {
  switch (fold_dtype_size(dtype)) {
    case 2: return ((const uint16_t *)base)[i];
    case 4: return ((const uint32_t *)base)[i];
    default: return ((const uint64_t *)base)[i];
  }
}
static inline FOLD_HD void fold_bits_store(enum fold_dtype dtype, void *base, size_t i, uint64_t bits) {
  switch (fold_dtype_size(dtype)) {
    case 2: ((uint16_t *)base)[i] = (uint16_t)bits; break;
    case 4: ((uint32_t *)base)[i] = (uint32_t)bits; break;
    default: ((uint64_t *)base)[i] = bits; break;
  }
}

enum fold_class { FOLD_ZERO, FOLD_SUBNORMAL, FOLD_NORMAL, FOLD_INFINITE, FOLD_NAN };

static inline FOLD_HD enum fold_class fold_bits_class(enum fold_dtype dtype, uint64_t bits) {
  struct fold_format f = fold_format_of(dtype);
  uint64_t exponent = bits & f.exponent, fraction = bits & f.fraction;
  if (exponent == f.exponent) return fraction ? FOLD_NAN : FOLD_INFINITE;
  if (exponent) return FOLD_NORMAL;
  return fraction ? FOLD_SUBNORMAL : FOLD_ZERO;
}
static inline FOLD_HD bool fold_bits_negative(enum fold_dtype dtype, uint64_t bits) {
  return (bits & fold_format_of(dtype).sign) != 0;
}
/* Equal by bits, or both NaN: -0 is not +0, and the payload and sign of a NaN do not count. */
static inline FOLD_HD bool fold_bits_same(enum fold_dtype dtype, uint64_t a, uint64_t b) {
  return a == b || (fold_bits_class(dtype, a) == FOLD_NAN && fold_bits_class(dtype, b) == FOLD_NAN);
}

/* The two neighbouring patterns: towards +infinity and -infinity; infinities and NaN stay. -0 and +0 are one place. */
uint64_t fold_bits_up(enum fold_dtype dtype, uint64_t bits);
uint64_t fold_bits_down(enum fold_dtype dtype, uint64_t bits);

/* How many patterns lie from a to b: 0 for the same value (-0 and +0 included), UINT64_MAX when just one is NaN. */
uint64_t fold_bits_distance(enum fold_dtype dtype, uint64_t a, uint64_t b);

/* The unit in the last place of the value: the spacing of patterns at |value|, at least the smallest subnormal. */
double fold_ulp(enum fold_dtype dtype, double value);

/* "0x3f800000 (0x1p+0, 1)": the pattern at the format's width, the value in hex and in decimal. */
const char *fold_bits_print(enum fold_dtype dtype, uint64_t bits, char text[80]);

#ifdef __cplusplus
}
#endif
#endif
