/* The table of a guest whose sum is in another language (guest_sum.f90). */
#include "foldproof_guest.h"

void row_sums(int64_t rows, int64_t cols, const float *x, float *s);

static int sum(const struct foldproof_guest_call *call, void *context) {
  (void)context;
  row_sums((int64_t)call->rows, (int64_t)call->cols, call->in, call->out);
  return FOLDPROOF_GUEST_OK;
}

static const struct foldproof_guest_subject subjects[] = {
    {.name = "fortran/sum", .claims = "bounded,deterministic,batch-invariant", .run = sum}};

const struct foldproof_guest_table *foldproof_guest(void) {
  static const struct foldproof_guest_table table = {FOLDPROOF_GUEST_ABI, sizeof *subjects, 1, subjects};
  return &table;
}
