/* strided.h: sums whose order guests choose: in `step` strides a row, which have different bits for each number of them. */
#include <stdint.h>

#include "foldproof_guest.h"

typedef const struct foldproof_guest_call call_of;

static float sum_of(const float *x, uint64_t n, uint64_t step) {
  float s = 0;
  for (uint64_t k = 0; k < step; k++)
    for (uint64_t i = k; i < n; i += step) s += x[i];
  return s;
}

static void sum_row(call_of *call, uint64_t row, uint64_t step) {
  ((float *)call->out)[row] = sum_of((const float *)call->in + row * call->cols, call->cols, step);
}

static int sums(call_of *call, uint64_t step) {
  for (uint64_t row = 0; row < call->rows; row++) sum_row(call, row, step);
  return FOLDPROOF_GUEST_OK;
}
