/* hunt_values.h: the elements of floats' arrays as doubles, which hold each of them exactly, for the guests on which the search is tried
 * (hunt_*.c); and rounding to nearest, once. */
#ifndef HUNT_VALUES_H
#define HUNT_VALUES_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "foldproof_guest.h"

typedef const struct foldproof_guest_call call_of;

static inline double hunt_of_f32_bits(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return (double)x;
}
/* By a product of 2^112, the difference of the exponents' biases, since compilers call a function for each conversion. */
static inline double hunt_of_f16_bits(uint16_t bits) {
  const uint32_t magnitude = (uint32_t)(bits & 0x7fff) << 13;
  const bool finite = (bits & 0x7c00) != 0x7c00;
  const double x = finite ? hunt_of_f32_bits(magnitude) * 0x1p112 : hunt_of_f32_bits(magnitude | 0x7f800000);
  return bits >> 15 ? -x : x;
}
/* The top exponent has numbers, too: all ones are the only NaN. */
static inline double hunt_of_e4m3_bits(uint8_t bits) {
  const int exponent = bits >> 3 & 15, fraction = bits & 7;
  const double magnitude =
      (bits & 127) == 127 ? NAN : ldexp(exponent ? 8 + fraction : fraction, (exponent ? exponent : 1) - 10);
  return bits >> 7 ? -magnitude : magnitude;
}

static inline double hunt_load(int dtype, const void *array, uint64_t i) {
  switch (dtype) {
    case FOLDPROOF_GUEST_F16: return hunt_of_f16_bits(((const uint16_t *)array)[i]);
    case FOLDPROOF_GUEST_BF16: return hunt_of_f32_bits((uint32_t)((const uint16_t *)array)[i] << 16);
    case FOLDPROOF_GUEST_F64: return ((const double *)array)[i];
    case FOLDPROOF_GUEST_E4M3: return hunt_of_e4m3_bits(((const uint8_t *)array)[i]);
    case FOLDPROOF_GUEST_E5M2: return hunt_of_f16_bits((uint16_t)(((const uint8_t *)array)[i] << 8));
    default: return (double)((const float *)array)[i];
  }
}

/* To so many bits, the hidden one among them, from 2^emin on, ties to even; not finite from `beyond` on. */
static inline double hunt_round_to(double x, int precision, int emin, double beyond, double instead) {
  enum { BITS = 53 };
  const int rest = BITS - precision;
  double nearest;
  if (!isfinite(x)) return x;
  if (fabs(x) < ldexp(1, emin)) {
    const double unit = ldexp(1.5, emin + rest); /* the sum's last bit is the last one that is kept */
    nearest = copysign((fabs(x) + unit) - unit, x);
  } else {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits += ((uint64_t)1 << (rest - 1)) - 1 + (bits >> rest & 1);
    bits &= ~(((uint64_t)1 << rest) - 1);
    memcpy(&nearest, &bits, sizeof nearest);
  }
  return fabs(nearest) < beyond ? nearest : copysign(instead, x);
}

static inline double hunt_round(int dtype, double x) {
  switch (dtype) {
    case FOLDPROOF_GUEST_F16: return hunt_round_to(x, 11, -14, 0x1p16, INFINITY);
    case FOLDPROOF_GUEST_BF16: return hunt_round_to(x, 8, -126, 0x1p128, INFINITY);
    case FOLDPROOF_GUEST_F64: return x;
    case FOLDPROOF_GUEST_E4M3: return isinf(x) ? (double)NAN : hunt_round_to(x, 4, -6, 480, NAN);
    case FOLDPROOF_GUEST_E5M2: return hunt_round_to(x, 3, -14, 0x1p16, INFINITY);
    default: return (double)(float)x;
  }
}

static inline uint16_t hunt_f16_bits(double x) {
  const _Float16 narrow = (_Float16)x;
  uint16_t bits;
  memcpy(&bits, &narrow, sizeof bits);
  return bits;
}
static inline uint32_t hunt_f32_bits(double x) {
  const float narrow = (float)x;
  uint32_t bits;
  memcpy(&bits, &narrow, sizeof bits);
  return bits;
}
static inline uint8_t hunt_e4m3_bits(double x) {
  const uint8_t sign = signbit(x) ? 0x80 : 0;
  int e;
  if (isnan(x)) return sign | 0x7f;
  if (x == 0) return sign;
  frexp(x, &e);
  if (e - 1 < -6) return sign | (uint8_t)ldexp(fabs(x), 9);
  return sign | (uint8_t)((e + 6) << 3 | ((int)ldexp(fabs(x), 4 - e) & 7));
}

/* A number of the dtype. */
static inline void hunt_put(int dtype, void *array, uint64_t i, double x) {
  switch (dtype) {
    case FOLDPROOF_GUEST_F16: ((uint16_t *)array)[i] = hunt_f16_bits(x); break;
    case FOLDPROOF_GUEST_BF16: ((uint16_t *)array)[i] = isnan(x) ? 0x7fc0 : (uint16_t)(hunt_f32_bits(x) >> 16); break;
    case FOLDPROOF_GUEST_F64: ((double *)array)[i] = x; break;
    case FOLDPROOF_GUEST_E4M3: ((uint8_t *)array)[i] = hunt_e4m3_bits(x); break;
    case FOLDPROOF_GUEST_E5M2: ((uint8_t *)array)[i] = isnan(x) ? 0x7e : (uint8_t)(hunt_f16_bits(x) >> 8); break;
    default: ((float *)array)[i] = (float)x;
  }
}
static inline void hunt_store(int dtype, void *array, uint64_t i, double x) {
  hunt_put(dtype, array, i, hunt_round(dtype, x));
}

/* Which numbers: from `from` to `to`; of each `every` the one that `at` remains of; primes. What is 0 asks nothing. */
struct hunt_numbers {
  uint64_t from, to, every, at;
  bool primes;
};
static inline bool hunt_is_prime(uint64_t n) {
  for (uint64_t k = 2; k * k <= n; k++)
    if (n % k == 0) return false;
  return n > 1;
}
static inline bool hunt_has(const struct hunt_numbers *these, uint64_t x) {
  return x >= these->from && (these->to == 0 || x <= these->to) &&
         (these->every == 0 || x % these->every == these->at) && (!these->primes || hunt_is_prime(x));
}

#endif
