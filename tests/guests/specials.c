/* specials.c: a guest whose subjects are right on ordinary data, and wrong where a result is special and there are several rows, many
 * rows or a long one, or arguments that are not aligned: as a second kernel for these is. test_guest_values.py expects that the fixtures refute them. */
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "foldproof_guest.h"

typedef const struct foldproof_guest_call call_of;
typedef float changed(float result, call_of *call, uint64_t row);

static const float *row_of(call_of *call, uint64_t row) { return (const float *)call->in + row * call->cols; }

static bool has_special_term(call_of *call, uint64_t row) {
  bool has = false;
  for (uint64_t i = 0; i < call->cols; i++) has |= !isfinite(row_of(call, row)[i]);
  return has;
}

static float right(float s, call_of *call, uint64_t row) { return (void)call, (void)row, s; }
static float without_nan(float s, call_of *call, uint64_t row) { return (void)row, call->rows > 1 && isnan(s) ? 0 : s; }
static float last_without_nan(float s, call_of *call, uint64_t row) {
  return call->rows > 1 && row == call->rows - 1 && isnan(s) ? 0 : s;
}
static float compensated(float s, call_of *call, uint64_t row) {
  return (void)row, call->rows > 1 && isinf(s) ? NAN : s;
}
static float clamped(float s, call_of *call, uint64_t row) {
  return call->rows > 1 && isinf(s) && !has_special_term(call, row) ? copysignf(65504, s) : s;
}
static float flushed(float s, call_of *call, uint64_t row) {
  return (void)row, call->rows > 1 && fabsf(s) < FLT_MIN ? copysignf(0, s) : s;
}
static float long_without_nan(float s, call_of *call, uint64_t row) {
  return (void)row, call->cols > 16384 && isnan(s) ? 0 : s;
}

/* As the head of a row that vector loads leave over. */
static float without_head(float s, call_of *call, uint64_t row) {
  const float *x = row_of(call, row);
  return (uintptr_t)call->in % 16 != 0 && call->cols > 8 ? s - x[0] : s;
}

static int sum(call_of *call, void *context) {
  for (uint64_t row = 0; row < call->rows; row++) {
    double s[4] = {0}; /* one would wait for each addition */
    const float *x = row_of(call, row);
    uint64_t i = 0;
    for (; i + 4 <= call->cols; i += 4)
      for (unsigned k = 0; k < 4; k++) s[k] += (double)x[i + k];
    for (; i < call->cols; i++) s[0] += (double)x[i];
    ((float *)call->out)[row] = ((changed *)context)((float)(s[0] + s[1] + (s[2] + s[3])), call, row);
  }
  return FOLDPROOF_GUEST_OK;
}

/* Of f16, where results below the least normal number become zero: by bits, since C17 has no such type. */
static double value(uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double last = exponent ? 0x1p-25 * (1u << exponent) : 0x1p-24; /* the place of the last bit */
  const double magnitude =
      exponent == 31 ? (fraction ? NAN : INFINITY) : last * (exponent ? 1024 + fraction : fraction);
  return bits >> 15 ? -magnitude : magnitude;
}
static uint16_t nearest(double x) {
  int exponent;
  const uint16_t sign = signbit(x) ? 0x8000 : 0;
  if (isnan(x)) return 0x7e00;
  if (isinf(x)) return sign | 0x7c00;
  frexp(x, &exponent);
  const int least = exponent < -13 ? -24 : exponent - 11; /* the place of the last bit */
  const double steps = nearbyint(ldexp(fabs(x), -least)) * ldexp(1, least);
  if (steps >= 65536) return sign | 0x7c00;
  if (steps < 0x1p-14) return sign | (uint16_t)ldexp(steps, 24);
  frexp(steps, &exponent);
  return sign | (uint16_t)((exponent + 14) << 10 | ((int)ldexp(steps, 11 - exponent) & 1023));
}
static int sum_f16(call_of *call, void *context) {
  for (uint64_t row = 0; row < call->rows; row++) {
    float s = 0;
    for (uint64_t i = row * call->cols; i < (row + 1) * call->cols; i++)
      s += (float)value(((const uint16_t *)call->in)[i]);
    const bool flushes = *(const bool *)context && fabsf(s) < 0x1p-14f;
    ((uint16_t *)call->out)[row] = nearest(flushes ? copysign(0, (double)s) : (double)s);
  }
  return FOLDPROOF_GUEST_OK;
}

/* From which row on it gives 0, and from which length on it begins at the lowest finite number. */
struct limits {
  uint64_t rows, cols;
};
static int maximum(call_of *call, void *context) {
  const struct limits *limits = context;
  for (uint64_t row = 0; row < call->rows; row++) {
    const float *x = row_of(call, row);
    float most = call->cols > limits->cols ? -FLT_MAX : -INFINITY;
    for (uint64_t i = 0; i < call->cols && !isnan(most); i++)
      if (isnan(x[i]) || x[i] > most || (x[i] == most && !signbit(x[i]))) most = x[i];
    ((float *)call->out)[row] = row >= limits->rows ? 0 : most;
  }
  return FOLDPROOF_GUEST_OK;
}

#define SUM(how) \
  { .name = "specials/" #how, .claims = "bounded", .run = sum, .context = (void *)(uintptr_t)(how) }
#define MAXIMUM(id, row, col)                                                                 \
  {                                                                                           \
    .name = "specials/" id, .problems = "max", .claims = "correctly_rounded", .run = maximum, \
    .context = &(struct limits) {                                                             \
      .rows = (row), .cols = (col)                                                            \
    }                                                                                         \
  }
static const struct foldproof_guest_subject subjects[] = {
    SUM(right),
    SUM(without_nan),
    SUM(last_without_nan),
    SUM(compensated),
    SUM(clamped),
    SUM(flushed),
    SUM(long_without_nan),
    SUM(without_head),
    {.name = "specials/right_f16", .dtypes = "f16", .claims = "bounded", .run = sum_f16, .context = &(bool){false}},
    {.name = "specials/flushed_f16", .dtypes = "f16", .claims = "bounded", .run = sum_f16, .context = &(bool){true}},
    MAXIMUM("right_max", UINT64_MAX, UINT64_MAX),
    MAXIMUM("max_of_64_rows", 64, UINT64_MAX),
    MAXIMUM("max_from_lowest", UINT64_MAX, 3),
};

const struct foldproof_guest_table *foldproof_guest(void) {
  static const struct foldproof_guest_table table = {FOLDPROOF_GUEST_ABI, sizeof *subjects,
                                                     sizeof subjects / sizeof *subjects, subjects};
  return &table;
}
