/* bits.c: the parts of bits.h that only the host needs: neighbours, distances, printing. */
#include "base/bits.h"

#include <math.h>
#include <stdio.h>

/* What the code assumes of each row of dtype.def. */
enum {
#define FOLD_DTYPE(TAG, name, element, WIDE, bits, precision, ...) PRECISION_##TAG = precision,
#include "base/dtype.def"
};
#define FOLD_OF_ALL(element, WIDE, name, bits, precision, emin, emax, limbs)                   \
  _Static_assert((bits) == 8 * sizeof(element) && (bits) <= 64, #name ": another element");    \
  _Static_assert(PRECISION_##WIDE >= (precision), #name ": its accumulator does not hold it"); \
  _Static_assert(32 * (limbs) > (emax) - (emin) + (precision) + 64, #name ": too few limbs");
#define FOLD_DTYPE(TAG, name, element, WIDE, bits, precision, emin, emax, infinities, limbs, descr, kernels)    \
  FOLD_OF_ALL(element, WIDE, name, bits, precision, emin, emax, limbs)                                          \
  _Static_assert((precision) > 1 && (emin) == 2 - (1 << ((bits) - (precision)-1)), #name ": another exponent"); \
  _Static_assert((emax) == 1 - (emin) + (FOLD_FORMAT_##infinities == FOLD_FORMAT_NONE),                         \
                 #name ": another largest exponent");                                                           \
  _Static_assert(2 * (precision) + 2 <= 53 || (precision) == 53, #name ": its sums are not rounded once in double");
#define FOLD_INTEGER(TAG, name, element, WIDE, bits, precision, emin, emax, infinities, limbs, descr, kernels) \
  FOLD_OF_ALL(element, WIDE, name, bits, precision, emin, emax, limbs)                                         \
  _Static_assert((precision) == (bits)-1 && (emin) == (bits)-2 && (emax) == (emin), #name ": another range");  \
  _Static_assert(FOLD_##TAG >= FOLD_FLOATS, #name ": floats come first");
#include "base/dtype.def"

/* A pattern's place on the line of all values: -0 and +0 share place 0. NaN has none. */
static int64_t place_of(enum fold_dtype dtype, uint64_t bits) {
  struct fold_format f = fold_format_of(dtype);
  if (f.integer) return fold_integer_value(f, bits);
  int64_t magnitude = (int64_t)(bits & ~f.sign);
  return bits & f.sign ? -magnitude : magnitude;
}

static uint64_t at_place(enum fold_dtype dtype, int64_t place) {
  if (fold_dtype_is_integer(dtype)) return (uint64_t)place & fold_format_mask(fold_format_of(dtype));
  return place < 0 ? (uint64_t)-place | fold_format_of(dtype).sign : (uint64_t)place;
}

/* One place up or down. NaN stays, and so does a value that has neither number nor infinity there. */
static uint64_t step(enum fold_dtype dtype, uint64_t bits, int by) {
  const struct fold_format f = fold_format_of(dtype);
  if (fold_bits_class(dtype, bits) == FOLD_NAN) return bits;
  if (f.integer && bits == (by > 0 ? f.sign - 1 : f.sign)) return bits;
  uint64_t next = at_place(dtype, place_of(dtype, bits) + by);
  return fold_bits_class(dtype, next) == FOLD_NAN ? bits : next;
}

uint64_t fold_bits_up(enum fold_dtype dtype, uint64_t bits) { return step(dtype, bits, 1); }
uint64_t fold_bits_down(enum fold_dtype dtype, uint64_t bits) { return step(dtype, bits, -1); }

uint64_t fold_bits_distance(enum fold_dtype dtype, uint64_t a, uint64_t b) {
  bool a_nan = fold_bits_class(dtype, a) == FOLD_NAN, b_nan = fold_bits_class(dtype, b) == FOLD_NAN;
  if (a_nan || b_nan) return a_nan && b_nan ? 0 : UINT64_MAX;
  int64_t pa = place_of(dtype, a), pb = place_of(dtype, b);
  return pa < pb ? (uint64_t)pb - (uint64_t)pa : (uint64_t)pa - (uint64_t)pb;
}

static bool is_nonzero(enum fold_dtype dtype, uint64_t bits) {
  const enum fold_class class = fold_bits_class(dtype, bits);
  return class != FOLD_ZERO && class < FOLD_INFINITE;
}

uint64_t fold_bits_apart(enum fold_dtype dtype, uint64_t a, uint64_t b) {
  const bool near = is_nonzero(dtype, a) && is_nonzero(dtype, b);
  return near && fold_bits_negative(dtype, a) == fold_bits_negative(dtype, b) ? fold_bits_distance(dtype, a, b) : 0;
}

double fold_ulp(enum fold_dtype dtype, double value) {
  struct fold_format f = fold_format_of(dtype);
  int exponent = f.emin;
  if (value != 0 && isfinite(value)) exponent = ilogb(value);
  if (!isfinite(value) || exponent > f.emax) exponent = f.emax;
  if (exponent < f.emin) exponent = f.emin;
  return ldexp(1.0, exponent - f.precision + 1);
}

/* Enough digits to tell each number of the accumulator from its neighbours: 9 for f32, 17 for f64. */
static int digits_of(enum fold_dtype dtype) {
  return fold_format_of(fold_accumulator_of(dtype)).precision * 30103 / 100000 + 2;
}

void fold_bits_decimal(enum fold_dtype dtype, uint64_t bits, char text[40]) {
  if (fold_dtype_is_integer(dtype))
    snprintf(text, 40, "%lld", (long long)fold_integer_value(fold_format_of(dtype), bits));
  else
    snprintf(text, 40, "%.*g", digits_of(dtype), fold_bits_to_double(dtype, bits));
}

const char *fold_bits_print_short(enum fold_dtype dtype, uint64_t bits, char text[48]) {
  char decimal[40];
  fold_bits_decimal(dtype, bits, decimal);
  snprintf(text, 48, "0x%0*llx (%s)", fold_format_of(dtype).bits / 4, (unsigned long long)bits, decimal);
  return text;
}

const char *fold_bits_print(enum fold_dtype dtype, uint64_t bits, char text[80]) {
  char decimal[40];
  if (fold_dtype_is_integer(dtype)) return fold_bits_print_short(dtype, bits, text);
  fold_bits_decimal(dtype, bits, decimal);
  snprintf(text, 80, "0x%0*llx (%a, %s)", fold_format_of(dtype).bits / 4, (unsigned long long)bits,
           fold_bits_to_double(dtype, bits), decimal);
  return text;
}
