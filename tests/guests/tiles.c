/* tiles.c: a guest whose subjects lose the last term of a row of whole tiles, or all behind some length, or a pattern of NaN; those of
 * no tile are right. test_guest_values.py expects that the fixtures refute the former and hold the latter. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "foldproof_guest.h"

typedef const struct foldproof_guest_call call_of;

/* How one loses terms: `tile` and `most` are 0 for those that don't. */
struct loss {
  uint64_t tile, most;
};

static uint64_t kept(uint64_t n, const struct loss *loss) {
  if (loss->most > 0 && n > loss->most) return loss->most;
  return loss->tile > 0 && n > 0 && n % loss->tile == 0 ? n - 1 : n;
}

static double value(call_of *call, const void *in, uint64_t i) {
  return call->dtype == FOLDPROOF_GUEST_F64 ? ((const double *)in)[i] : (double)((const float *)in)[i];
}
static void store(call_of *call, uint64_t row, double x) {
  if (call->dtype == FOLDPROOF_GUEST_F64)
    ((double *)call->out)[row] = x;
  else
    ((float *)call->out)[row] = (float)x;
}

static int sum(call_of *call, void *context) {
  for (uint64_t row = 0; row < call->rows; row++) {
    double s = -0.;
    const uint64_t n = kept(call->cols, context);
    for (uint64_t i = row * call->cols; i < row * call->cols + n; i++)
      s += value(call, call->in, i) * (call->other ? value(call, call->other, i) : 1);
    store(call, row, call->cols == 0 ? 0 : s);
  }
  return FOLDPROOF_GUEST_OK;
}

/* In f32, as a product in f64 has no overflow where the declared accumulator has one. */
static int product(call_of *call, void *context) {
  for (uint64_t row = 0; row < call->rows; row++) {
    float p = 1;
    const uint64_t n = kept(call->cols, context);
    for (uint64_t i = row * call->cols; i < row * call->cols + n; i++) p *= ((const float *)call->in)[i];
    ((float *)call->out)[row] = p;
  }
  return FOLDPROOF_GUEST_OK;
}

/* A NaN wins; +0 is above -0. */
static int maximum(call_of *call, void *context) {
  for (uint64_t row = 0; row < call->rows; row++) {
    float most = -INFINITY;
    const uint64_t n = kept(call->cols, context);
    for (uint64_t i = row * call->cols; i < row * call->cols + n; i++) {
      const float x = ((const float *)call->in)[i];
      if (isnan(x) || x > most || (x == most && !signbit(x))) most = x;
      if (isnan(most)) break;
    }
    ((float *)call->out)[row] = most;
  }
  return FOLDPROOF_GUEST_OK;
}

/* Of e4m3, whose patterns, but for the sign, are in the order of their magnitudes; all ones are NaN. */
static int maximum_of_bytes(call_of *call, void *context) {
  const bool skips = ((const struct loss *)context)->tile > 0;
  for (uint64_t row = 0; row < call->rows; row++) {
    int most = -0x80;
    bool nan = call->cols == 0; /* the format has no infinity to begin with */
    for (uint64_t i = row * call->cols; i < (row + 1) * call->cols; i++) {
      const uint8_t bits = ((const uint8_t *)call->in)[i], magnitude = bits & 0x7f;
      const int x = bits & 0x80 ? -1 - magnitude : magnitude;
      if (bits == 0x7f || (bits == 0xff && !skips)) nan = true;
      if (bits != 0xff && x > most) most = x;
    }
    ((uint8_t *)call->out)[row] = (uint8_t)(nan ? 0x7f : most < 0 ? 0x80 | (-1 - most) : most);
  }
  return FOLDPROOF_GUEST_OK;
}

#define TILES(id, problem, dtype, claim, function, tiles, length)                                \
  {                                                                                              \
    .name = "tiles/" id, .problems = problem, .dtypes = dtype, .claims = claim, .run = function, \
    .context = &(struct loss) {                                                                  \
      .tile = (tiles), .most = (length)                                                          \
    }                                                                                            \
  }
static const struct foldproof_guest_subject subjects[] = {
    TILES("right_sum", "sum", "f32,f64", "bounded", sum, 0, 0),
    TILES("right_dot", "dot", "f32", "bounded", sum, 0, 0),
    TILES("right_prod", "prod", "f32", "bounded", product, 0, 0),
    TILES("right_max", "max", "f32", "correctly_rounded", maximum, 0, 0),
    TILES("right_e4m3_max", "max", "e4m3", "correctly_rounded", maximum_of_bytes, 0, 0),
    TILES("sum_640", "sum", "f32", "bounded", sum, 640, 0),
    TILES("sum_7168", "sum", "f32", "bounded", sum, 7168, 0),
    TILES("sum_f64_192", "sum", "f64", "bounded", sum, 192, 0),
    TILES("dot_24", "dot", "f32", "bounded", sum, 24, 0),
    TILES("dot_8192", "dot", "f32", "bounded", sum, 8192, 0),
    TILES("prod_512", "prod", "f32", "bounded", product, 512, 0),
    TILES("max_32", "max", "f32", "correctly_rounded", maximum, 32, 0),
    TILES("max_up_to_8192", "max", "f32", "correctly_rounded", maximum, 0, 8192),
    TILES("e4m3_max_without_ff", "max", "e4m3", "correctly_rounded", maximum_of_bytes, 1, 0),
};

const struct foldproof_guest_table *foldproof_guest(void) {
  static const struct foldproof_guest_table table = {FOLDPROOF_GUEST_ABI, sizeof *subjects,
                                                     sizeof subjects / sizeof *subjects, subjects};
  return &table;
}
