/* bits.h: floating-point formats as bit patterns: conversion, classes, comparison.
 *
 * Promised: each conversion rounds once, to nearest even, subnormals and overflow included (dtype.def), by integer
 * arithmetic or by one IEEE-754 conversion; a NaN stays a (quiet) NaN. The inline part is shared by host and device, so
 * that both make the same bits. Values compare by bits; NaN by class (fold_bits_same).
 */
#ifndef FOLD_BITS_H
#define FOLD_BITS_H

#include <string.h>

#include "base/fold.h"

#ifdef __cplusplus
extern "C" {
#endif

/* IEEE-754 binary interchange parameters: `precision` counts the hidden bit; emin and emax are exponents of the
 * smallest and largest normal number as 1.f x 2^e. */
struct fold_format {
  int bits, precision, emin, emax;
  bool infinities, integer;
  uint64_t sign, exponent, fraction; /* masks */
  uint64_t beyond; /* the pattern after the largest number: infinity, or NaN in a format without infinities */
  uint64_t nan;    /* the positive quiet one without payload */
};

/* Always inlined, so that constant arguments are folded at the call. */
#define FOLD_INLINE static inline FOLD_HD __attribute__((always_inline))

enum fold_format_kind { FOLD_FORMAT_NONE, FOLD_FORMAT_INFINITIES, FOLD_FORMAT_INTEGER };

FOLD_INLINE struct fold_format fold_format_make(int bits, int precision, int emin, int emax,
                                                enum fold_format_kind kind) {
  const uint64_t sign = (uint64_t)1 << (bits - 1), fraction = ((uint64_t)1 << (precision - 1)) - 1;
  const uint64_t exponent = (sign - 1) & ~fraction, quiet = exponent | (fraction + 1) / 2;
  const bool infinities = kind == FOLD_FORMAT_INFINITIES;
  struct fold_format f = {bits,
                          precision,
                          emin,
                          emax,
                          infinities,
                          kind == FOLD_FORMAT_INTEGER,
                          sign,
                          exponent,
                          fraction,
                          infinities ? exponent : sign - 1,
                          infinities ? quiet : sign - 1};
  return f;
}
/* The exponent of its smallest subnormal. */
FOLD_INLINE int fold_format_least(struct fold_format f) { return f.emin - f.precision + 1; }
/* Whether each number of `inner` is one of `outer`. */
FOLD_INLINE bool fold_format_holds(struct fold_format outer, struct fold_format inner) {
  return outer.precision >= inner.precision && outer.emax >= inner.emax &&
         fold_format_least(outer) <= fold_format_least(inner);
}
/* All bits of a pattern. */
FOLD_INLINE uint64_t fold_format_mask(struct fold_format f) { return f.sign | (f.sign - 1); }

/* fold_format_<name>() for each dtype: its row of the table. */
#define FOLD_DTYPE(TAG, name, element, WIDE, bits, precision, emin, emax, infinities, ...) \
  FOLD_INLINE struct fold_format fold_format_##name(void) {                                \
    return fold_format_make(bits, precision, emin, emax, FOLD_FORMAT_##infinities);        \
  }
#include "base/dtype.def"

static inline FOLD_HD struct fold_format fold_format_of(enum fold_dtype dtype) {
  switch (dtype) {
#define FOLD_DTYPE(TAG, name, ...) FOLD_CASE(TAG, fold_format_##name())
#include "base/dtype.def"
    case FOLD_DTYPES: break;
  }
  struct fold_format none = {0, 0, 0, 0, false, false, 0, 0, 0, 0, 0};
  return none;
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

/* A pattern of at most 16 bits to f32: exact. */
FOLD_INLINE float fold_widen(struct fold_format f, uint32_t bits) {
  const int up = 24 - f.precision;
  const uint32_t sign = (uint32_t)(bits & f.sign) << (32 - f.bits), magnitude = (uint32_t)(bits & ~f.sign);
  if (f.emin == -126) return fold_bits_f32(sign | magnitude << up); /* f32's own bias */
  if (magnitude >= f.beyond) return fold_bits_f32(sign | 0x7f800000u | (uint32_t)(magnitude & f.fraction) << up);
  /* A number: shift the fields into place, then move the bias by an exact product; subnormals included. */
  const float bias = fold_bits_f32((uint32_t)(126 + f.emin + 127) << 23);
  return fold_bits_f32(sign | fold_f32_bits(fold_bits_f32(magnitude << up) * bias));
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

/* The pattern of at most 16 bits that is nearest to x. f32 to f64 is exact, so that from f32 this rounds once too. */
FOLD_INLINE uint32_t fold_narrow(struct fold_format f, double x) {
  const uint64_t b = fold_f64_bits(x), magnitude = b & 0x7fffffffffffffffu;
  const uint32_t sign = b >> 63 ? (uint32_t)f.sign : 0;
  if (magnitude > 0x7ff0000000000000u) return sign | (uint32_t)(f.nan | (magnitude >> (53 - f.precision) & f.fraction));
  const uint32_t kept = fold_narrow_magnitude(magnitude, f.precision, f.emin, f.emax);
  return sign | (!f.infinities && kept > f.beyond ? (uint32_t)f.beyond : kept);
}

static inline FOLD_HD float fold_f16_to_f32(uint16_t h) { return fold_widen(fold_format_f16(), h); }
static inline FOLD_HD float fold_bf16_to_f32(uint16_t h) { return fold_widen(fold_format_bf16(), h); }
static inline FOLD_HD uint16_t fold_f32_to_f16(float x) { return (uint16_t)fold_narrow(fold_format_f16(), (double)x); }
static inline FOLD_HD uint16_t fold_f32_to_bf16(float x) {
  return (uint16_t)fold_narrow(fold_format_bf16(), (double)x);
}

/* The integer of a pattern, of at most 64 bits. */
FOLD_INLINE int64_t fold_integer_value(struct fold_format f, uint64_t bits) {
  return (int64_t)((bits & f.sign ? ~fold_format_mask(f) : 0) | (bits & fold_format_mask(f)));
}
/* The pattern nearest to x, an even one where two are as near; the least or the greatest where x is beyond; 0 of NaN. */
FOLD_INLINE uint64_t fold_integer_nearest(struct fold_format f, double x) {
  if (x != x) return 0;
  if (x >= (double)(f.sign - 1)) return f.sign - 1;
  if (x <= -(double)f.sign) return f.sign;
  int64_t kept = (int64_t)x;
  const double rest = x - (double)kept;
  if (rest > 0.5 || (rest == 0.5 && kept & 1)) kept++;
  if (rest < -0.5 || (rest == -0.5 && kept & 1)) kept--;
  return (uint64_t)kept & fold_format_mask(f);
}

/* For each kind of element in dtype.def: the value of a pattern, and the pattern nearest to an f64. */
#define FOLD_VALUE_uint16_t(name, bits) (double)fold_widen(fold_format_##name(), (uint32_t)(bits))
#define FOLD_VALUE_uint8_t FOLD_VALUE_uint16_t
#define FOLD_VALUE_float(name, bits) (double)fold_bits_f32((uint32_t)(bits))
#define FOLD_VALUE_double(name, bits) fold_bits_f64(bits)
#define FOLD_VALUE_int8_t(name, bits) (double)fold_integer_value(fold_format_##name(), bits)
#define FOLD_VALUE_int32_t FOLD_VALUE_int8_t
#define FOLD_VALUE_int64_t FOLD_VALUE_int8_t
#define FOLD_NEAREST_int8_t(name, x) fold_integer_nearest(fold_format_##name(), x)
#define FOLD_NEAREST_int32_t FOLD_NEAREST_int8_t
#define FOLD_NEAREST_int64_t FOLD_NEAREST_int8_t
#define FOLD_NEAREST_uint16_t(name, x) fold_narrow(fold_format_##name(), x)
#define FOLD_NEAREST_uint8_t FOLD_NEAREST_uint16_t
#define FOLD_NEAREST_float(name, x) fold_f32_bits((float)(x))
#define FOLD_NEAREST_double(name, x) fold_f64_bits(x)

/* The value of a pattern: exact, for each dtype is a subset of f64, but i64, whose value is the nearest f64. */
static inline FOLD_HD double fold_bits_to_double(enum fold_dtype dtype, uint64_t bits) {
  switch (dtype) {
#define FOLD_DTYPE(TAG, name, element, ...) FOLD_CASE(TAG, FOLD_VALUE_##element(name, bits))
#include "base/dtype.def"
    case FOLD_DTYPES: break;
  }
  return 0;
}
/* The pattern nearest to x. */
static inline FOLD_HD uint64_t fold_bits_from_double(enum fold_dtype dtype, double x) {
  switch (dtype) {
#define FOLD_DTYPE(TAG, name, element, ...) FOLD_CASE(TAG, FOLD_NEAREST_##element(name, x))
#include "base/dtype.def"
    case FOLD_DTYPES: break;
  }
  return 0;
}

/* Whether the sum or product of two numbers of dtype, computed in double and then rounded to dtype, is the same as if
 * rounded once (Figueroa, When is double rounding innocuous?, 1995). bits.c checks that this is so for every dtype but
 * doubles. */
static inline FOLD_HD bool fold_rounds_by_double(enum fold_dtype dtype) {
  return 2 * fold_format_of(dtype).precision + 2 <= 53;
}

/* The number of dtype that is nearest to x. */
static inline double fold_bits_round(enum fold_dtype dtype, double x) {
  return dtype == FOLD_F32 ? (double)(float)x : fold_bits_to_double(dtype, fold_bits_from_double(dtype, x));
}

/* Element i of an array of dtype, as a pattern in the low bits. */
static inline FOLD_HD uint64_t fold_bits_load(enum fold_dtype dtype, const void *base, size_t i) {
  switch (fold_dtype_size(dtype)) {
    case 1: return ((const uint8_t *)base)[i];
    case 2: return ((const uint16_t *)base)[i];
    case 4: return ((const uint32_t *)base)[i];
    default: return ((const uint64_t *)base)[i];
  }
}
static inline FOLD_HD void fold_bits_store(enum fold_dtype dtype, void *base, size_t i, uint64_t bits) {
  switch (fold_dtype_size(dtype)) {
    case 1: ((uint8_t *)base)[i] = (uint8_t)bits; break;
    case 2: ((uint16_t *)base)[i] = (uint16_t)bits; break;
    case 4: ((uint32_t *)base)[i] = (uint32_t)bits; break;
    default: ((uint64_t *)base)[i] = bits; break;
  }
}

enum fold_class { FOLD_ZERO, FOLD_SUBNORMAL, FOLD_NORMAL, FOLD_INFINITE, FOLD_NAN };

static inline FOLD_HD enum fold_class fold_bits_class(enum fold_dtype dtype, uint64_t bits) {
  struct fold_format f = fold_format_of(dtype);
  const uint64_t magnitude = bits & ~f.sign;
  if (f.integer) return bits ? FOLD_NORMAL : FOLD_ZERO;
  if (magnitude >= f.beyond) return f.infinities && magnitude == f.beyond ? FOLD_INFINITE : FOLD_NAN;
  if (magnitude > f.fraction) return FOLD_NORMAL;
  return magnitude ? FOLD_SUBNORMAL : FOLD_ZERO;
}
static inline FOLD_HD bool fold_bits_negative(enum fold_dtype dtype, uint64_t bits) {
  return (bits & fold_format_of(dtype).sign) != 0;
}
/* The last number on a side, which is infinity where there is one: what max or min begins with. */
static inline FOLD_HD uint64_t fold_bits_end(enum fold_dtype dtype, bool negative) {
  const struct fold_format f = fold_format_of(dtype);
  if (f.integer) return negative ? f.sign : f.sign - 1;
  return (f.infinities ? f.beyond : f.beyond - 1) | (negative ? f.sign : 0);
}
/* Equal by bits, or both NaN: -0 is not +0, and the payload and sign of a NaN do not count. */
static inline FOLD_HD bool fold_bits_same(enum fold_dtype dtype, uint64_t a, uint64_t b) {
  return a == b || (fold_bits_class(dtype, a) == FOLD_NAN && fold_bits_class(dtype, b) == FOLD_NAN);
}

/* The two neighbouring patterns: towards +infinity and towards -infinity. Infinities and NaN stay as they are, and so
 * do numbers that have no neighbour on that side. -0 and +0 count as one place. */
uint64_t fold_bits_up(enum fold_dtype dtype, uint64_t bits);
uint64_t fold_bits_down(enum fold_dtype dtype, uint64_t bits);

/* How many patterns lie from a to b: 0 for the same value (-0 and +0 included), UINT64_MAX when just one is NaN. */
uint64_t fold_bits_distance(enum fold_dtype dtype, uint64_t a, uint64_t b);
/* The same where it says how near two results are: finite ones of one sign that are no zero. Else 0: from zero on, the
 * distance counts nearly half of the format. */
uint64_t fold_bits_apart(enum fold_dtype dtype, uint64_t a, uint64_t b);

/* The unit in the last place of the value: the spacing of patterns at |value|, at least the smallest subnormal. */
double fold_ulp(enum fold_dtype dtype, double value);


/* "1", "-0.5": the value in decimal, with enough digits to tell it from others; an integer in full. */
void fold_bits_decimal(enum fold_dtype dtype, uint64_t bits, char text[40]);

/* "0x3f800000 (0x1p+0, 1)", of an integer "0x00000001 (1)": the pattern at the format's width, the value in hex and in decimal. */
const char *fold_bits_print(enum fold_dtype dtype, uint64_t bits, char text[80]);
/* "0x3f800000 (1)" */
const char *fold_bits_print_short(enum fold_dtype dtype, uint64_t bits, char text[48]);

#ifdef __cplusplus
}
#endif
#endif
