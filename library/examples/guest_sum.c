/* A guest in C: cc -shared -fPIC -O2 -Ilibrary library/examples/guest_sum.c -o guest_sum.so; foldproof verify --guest ./guest_sum.so */
#include "foldproof_guest.h"

static int sum(const struct foldproof_guest_call *call, void *context) {
  (void)context;
  for (uint64_t row = 0; row < call->rows; row++) {
    const float *x = (const float *)call->in + row * call->cols;
    float s = 0;
    for (uint64_t i = 0; i < call->cols; i++) s += x[i];
    ((float *)call->out)[row] = s;
  }
  return FOLDPROOF_GUEST_OK;
}

static const struct foldproof_guest_subject subjects[] = {
    {.name = "mine/sum", .order = "host/sequential", .claims = "bounded,replays,reproducible", .run = sum}};

const struct foldproof_guest_table *foldproof_guest(void) {
  static const struct foldproof_guest_table table = {FOLDPROOF_GUEST_ABI, sizeof *subjects, 1, subjects};
  return &table;
}
