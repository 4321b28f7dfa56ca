/* unset_lane.c: a guest that sets seven lanes on the stack, and adds eight. */
#include <stdint.h>

#include "foldproof_guest.h"

static __attribute__((noinline)) float sum_of(const float *x, uint64_t n) {
  float lane[8], sum = 0;
  __asm__ volatile("" : "+m"(lane)); /* for the compiler all eight are set */
  for (int k = 0; k < 7; k++) lane[k] = 0;
  for (uint64_t i = 0; i < n; i++) lane[i % 7] += x[i];
  for (int k = 0; k < 8; k++) sum += lane[k];
  return sum;
}

static int run(const struct foldproof_guest_call *call, void *context) {
  (void)context;
  for (uint64_t r = 0; r < call->rows; r++)
    ((float *)call->out)[r] = sum_of((const float *)call->in + r * call->cols, call->cols);
  return FOLDPROOF_GUEST_OK;
}

const struct foldproof_guest_table *foldproof_guest(void) {
  static const struct foldproof_guest_subject lane = {
      .name = "unset/lane", .problems = "sum", .dtypes = "f32", .claims = "bounded,reproducible", .run = run};
  static const struct foldproof_guest_table table = {FOLDPROOF_GUEST_ABI, sizeof lane, 1, &lane};
  return &table;
}
