/* Products of matrices in C, stored in any way: cc -shared -fPIC -O2 -ffp-contract=off -Ilibrary library/examples/guest_matmul.c -o guest_matmul.so; foldproof verify --guest ./guest_matmul.so --fixtures 'normal/f32/matmul/7x9x33/seed1' */
#include "foldproof_guest.h"

enum { B, M, N, K }; /* the axes of extent and stride */

static float multiply(const struct foldproof_guest_call *call, int64_t b, int64_t m, int64_t n) {
  const int64_t *of_x = call->stride[0], *of_y = call->stride[1];
  const float *x = (const float *)call->in + b * of_x[B] + m * of_x[M];
  const float *y = (const float *)call->other + b * of_y[B] + n * of_y[N];
  float sum = 0;
  for (int64_t k = 0; k < (int64_t)call->extent[K]; k++) sum += x[k * of_x[K]] * y[k * of_y[K]];
  return sum;
}

static int matmul(const struct foldproof_guest_call *call, void *context) {
  const int64_t *of_out = call->stride[2];
  (void)context;
  for (int64_t b = 0; b < (int64_t)call->extent[B]; b++)
    for (int64_t m = 0; m < (int64_t)call->extent[M]; m++)
      for (int64_t n = 0; n < (int64_t)call->extent[N]; n++)
        ((float *)call->out)[b * of_out[B] + m * of_out[M] + n * of_out[N]] = multiply(call, b, m, n);
  return FOLDPROOF_GUEST_OK;
}

static const struct foldproof_guest_subject subjects[] = {{.name = "mine/matmul",
                                                           .problems = "matmul",
                                                           .order = "dot/sequential",
                                                           .claims = "bounded,replays,batch-invariant",
                                                           .strides = 1,
                                                           .run = matmul}};

const struct foldproof_guest_table *foldproof_guest(void) {
  static const struct foldproof_guest_table table = {FOLDPROOF_GUEST_ABI, sizeof *subjects, 1, subjects};
  return &table;
}
