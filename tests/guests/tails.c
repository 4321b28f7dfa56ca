/* tails.c: products of matrices, and sums of rows, that lose, double or take a wrong term at few sizes of k, as a library does whose tiles are
 * chosen by k. test_sweeps.py expects that a sweep names the first such size and the terms. */
#include <stdbool.h>
#include <stdint.h>

#include "foldproof_guest.h"

typedef const struct foldproof_guest_call call_of;

/* At sizes k of which `at` remains modulo `every`, from `from` on: the last `lost` terms are not added; `twice`: they are added twice;
 * `foreign`: term 0 of the second row is taken from the first. */
struct fault {
  uint64_t every, at, from, lost;
  bool twice, foreign;
};

static double product(call_of *call, uint64_t i, uint64_t j, uint64_t t) {
  const float *a = call->in, *b = call->other;
  return (double)a[i * (uint64_t)call->stride[0][1] + t] * b[t * (uint64_t)call->stride[1][3] + j];
}

static int multiply(call_of *call, void *context) {
  const struct fault *f = context;
  const uint64_t m = call->extent[1], n = call->extent[2], k = call->extent[3];
  const bool here = f->every && k >= f->from && k % f->every == f->at;
  for (uint64_t i = 0; i < m; i++)
    for (uint64_t j = 0; j < n; j++) {
      double sum = 0;
      for (uint64_t t = 0; t < (here && !f->twice ? k - f->lost : k); t++)
        sum += product(call, here && f->foreign && t == 0 && i == 1 ? 0 : i, j, t);
      for (uint64_t t = k - f->lost; here && f->twice && t < k; t++) sum += product(call, i, j, t);
      ((float *)call->out)[i * n + j] = (float)sum;
    }
  return FOLDPROOF_GUEST_OK;
}

/* Of f16, in any layout. */
static int multiply_f16(call_of *call, void *context) {
  const struct fault *f = context;
  const uint64_t m = call->extent[1], n = call->extent[2], k = call->extent[3];
  const uint64_t used = k >= f->from && k % f->every == f->at ? k - f->lost : k;
  const int64_t *x = call->stride[0], *y = call->stride[1];
  for (int64_t i = 0; i < (int64_t)m; i++)
    for (int64_t j = 0; j < (int64_t)n; j++) {
      double sum = 0;
      for (int64_t t = 0; t < (int64_t)used; t++)
        sum += (double)((const _Float16 *)call->in)[i * x[1] + t * x[3]] *
               (double)((const _Float16 *)call->other)[t * y[3] + j * y[2]];
      ((_Float16 *)call->out)[i * (int64_t)n + j] = (_Float16)sum;
    }
  return FOLDPROOF_GUEST_OK;
}

static int add(call_of *call, void *context) {
  const struct fault *f = context;
  const uint64_t k = call->cols, lost = f->every && k % f->every == f->at ? f->lost : 0;
  for (uint64_t row = 0; row < call->rows; row++) {
    double sum = 0;
    for (uint64_t t = 0; t < k - lost; t++) sum += ((const float *)call->in)[row * k + t];
    ((float *)call->out)[row] = (float)sum;
  }
  return FOLDPROOF_GUEST_OK;
}

static struct fault none, at_9008 = {600, 8, 9000, 8}, one_in_200 = {200, 7, 300, 1},
                          twice = {4096, 0, 4096, 1, .twice = true}, foreign = {1000, 104, 4000, 0, .foreign = true},
                          of_tiles = {1024, 1, 1000, 1}, of_halves = {64, 24, 3000, 8}, of_sums = {5003, 0, 5003, 1};

#define TAIL(tag, fault)                                                                                    \
  {                                                                                                         \
    .name = "tails/" tag, .problems = "matmul", .accumulator = "f64", .claims = "bounded", .run = multiply, \
    .context = &fault                                                                                       \
  }

static const struct foldproof_guest_subject subjects[] = {
    TAIL("right", none),
    TAIL("at_9008", at_9008),
    TAIL("one_in_200", one_in_200),
    TAIL("twice", twice),
    TAIL("foreign", foreign),
    TAIL("of_tiles", of_tiles),
    {.name = "tails/f16",
     .problems = "matmul",
     .dtypes = "f16",
     .accumulator = "f64",
     .claims = "bounded",
     .strides = 1,
     .run = multiply_f16,
     .context = &of_halves},
    {.name = "tails/sum", .accumulator = "f64", .claims = "bounded", .run = add, .context = &of_sums}};

static const struct foldproof_guest_table table = {1, sizeof *subjects, sizeof subjects / sizeof *subjects, subjects};
const struct foldproof_guest_table *foldproof_guest(void) { return &table; }
