/* extremes.c: maxima that are wrong: a row's first term, and a running maximum that copies its input. */
#include "foldproof_guest.h"

static int first(const struct foldproof_guest_call *call, void *context) {
  const float *in = call->in;
  float *out = call->out;
  (void)context;
  for (uint64_t r = 0; r < call->rows; r++) out[r] = call->cols ? in[r * call->cols] : -__builtin_inff();
  return FOLDPROOF_GUEST_OK;
}

static int copy(const struct foldproof_guest_call *call, void *context) {
  const float *in = call->in;
  float *out = call->out;
  (void)context;
  for (uint64_t i = 0; i < call->rows * call->cols; i++) out[i] = in[i];
  return FOLDPROOF_GUEST_OK;
}

static const struct foldproof_guest_subject subjects[] = {
    {.name = "extremes/first", .problems = "max", .run = first},
    {.name = "extremes/copy", .problems = "scan_max", .run = copy}};

const struct foldproof_guest_table *foldproof_guest(void) {
  static const struct foldproof_guest_table table = {FOLDPROOF_GUEST_ABI, sizeof *subjects, 2, subjects};
  return &table;
}
