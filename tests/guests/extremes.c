/* extremes.c: maxima that are wrong: a row's first term, a running maximum that copies its input, and maxima of all terms but one. */
#include <math.h>

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

enum { LAST, FIRST, LARGEST };
static const int of_last = LAST, of_first = FIRST, of_largest = LARGEST;

static uint64_t left_out(const float *x, uint64_t n, int which) {
  uint64_t at = 0;
  if (which == LAST) return n - 1;
  for (uint64_t i = 1; i < n && which == LARGEST; i++) at = x[i] > x[at] ? i : at;
  return at;
}

static int of_others(const struct foldproof_guest_call *call, void *context) {
  for (uint64_t r = 0; r < call->rows; r++) {
    const float *x = (const float *)call->in + r * call->cols;
    const uint64_t at = call->cols > 1 ? left_out(x, call->cols, *(const int *)context) : call->cols;
    float most = -INFINITY;
    for (uint64_t i = 0; i < call->cols; i++) {
      if (i == at || isnan(most)) continue;
      if (isnan(x[i]) || x[i] > most || (x[i] == most && !signbit(x[i]))) most = x[i];
    }
    ((float *)call->out)[r] = most;
  }
  return FOLDPROOF_GUEST_OK;
}

#define OF_OTHERS(which) \
  { .name = "extremes/without_" #which, .problems = "max", .run = of_others, .context = (void *)&of_##which }

/* The first of equal ones, whichever zero it is. */
static int either_zero(const struct foldproof_guest_call *call, void *context) {
  (void)context;
  for (uint64_t r = 0; r < call->rows; r++) {
    const float *x = (const float *)call->in + r * call->cols;
    float most = call->cols ? x[0] : -INFINITY;
    for (uint64_t i = 1; i < call->cols && !isnan(most); i++)
      if (isnan(x[i]) || x[i] > most) most = x[i];
    ((float *)call->out)[r] = most;
  }
  return FOLDPROOF_GUEST_OK;
}

static const struct foldproof_guest_subject subjects[] = {
    {.name = "extremes/first", .problems = "max", .run = first},
    {.name = "extremes/copy", .problems = "scan_max", .run = copy},
    {.name = "extremes/either_zero", .problems = "max", .run = either_zero},
    OF_OTHERS(last),
    OF_OTHERS(first),
    OF_OTHERS(largest)};

const struct foldproof_guest_table *foldproof_guest(void) {
  static const struct foldproof_guest_table table = {FOLDPROOF_GUEST_ABI, sizeof *subjects,
                                                     sizeof subjects / sizeof *subjects, subjects};
  return &table;
}
