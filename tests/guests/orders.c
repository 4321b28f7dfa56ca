/* orders.c: a guest whose subjects add rows of a batch of 9 or more, or of 2, in another way than fewer: test_order_changes.py says what foldproof reports of it. */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "strided.h"

enum { MANY = 9 };

static int by_rows(call_of *call, void *context) { return (void)context, sums(call, call->rows < MANY ? 1 : 8); }

/* What foldproof reports of one row. */
static int by_pairs(call_of *call, void *context) { return (void)context, sums(call, call->rows < 2 ? 1 : 8); }

/* What no input of a case holds, and each probe does. */
static int is_probed(call_of *call) {
  for (uint64_t i = 0; i < call->rows * call->cols; i++)
    if (fabsf(((const float *)call->in)[i]) > 0x1p100f) return 1;
  return 0;
}
static int dies_when_probed(call_of *call, void *context) {
  if (is_probed(call)) raise(SIGKILL);
  return by_rows(call, context);
}
static int leaves_when_probed(call_of *call, void *context) {
  if (is_probed(call)) _exit(0);
  return by_rows(call, context);
}
static int hangs_when_probed(call_of *call, void *context) {
  while (is_probed(call)) sleep(1);
  return by_rows(call, context);
}
static int fails_when_probed(call_of *call, void *context) { return is_probed(call) ? 7 : by_rows(call, context); }

/* One order, and another arithmetic. */
static int in_double(call_of *call, void *context) {
  if (call->rows < MANY) return by_rows(call, context);
  for (uint64_t r = 0; r < call->rows; r++) {
    double s = 0;
    for (uint64_t i = r * call->cols; i < (r + 1) * call->cols; i++) s += ((const float *)call->in)[i];
    ((float *)call->out)[r] = (float)s;
  }
  return FOLDPROOF_GUEST_OK;
}
static int by_fma(call_of *call, void *context) {
  const float *x = call->in, *y = call->other;
  (void)context;
  for (uint64_t r = 0; r < call->rows; r++) {
    float s = 0;
    for (uint64_t i = r * call->cols; i < (r + 1) * call->cols; i++)
      s = call->rows < MANY ? s + x[i] * y[i] : fmaf(x[i], y[i], s);
    ((float *)call->out)[r] = s;
  }
  return FOLDPROOF_GUEST_OK;
}
static int by_kahan(call_of *call, void *context) {
  if (call->rows < MANY) return by_rows(call, context);
  for (uint64_t r = 0; r < call->rows; r++) {
    volatile float s = 0, lost = 0;
    for (uint64_t i = r * call->cols; i < (r + 1) * call->cols; i++) {
      const float term = ((const float *)call->in)[i] - lost, sum = s + term;
      lost = (sum - s) - term;
      s = sum;
    }
    ((float *)call->out)[r] = s;
  }
  return FOLDPROOF_GUEST_OK;
}
/* The last bit of another batch's result, of ordinary numbers alone. */
static int by_last_bit(call_of *call, void *context) {
  const int status = sums(call, 1), probed = is_probed(call);
  (void)context;
  for (uint64_t r = 0; r < call->rows && call->rows >= MANY && !probed; r++) {
    float *out = (float *)call->out + r;
    if (fabsf(*out) > 0x1p-10f && fabsf(*out) < 0x1p10f) *out = nextafterf(*out, 0);
  }
  return status;
}
static int of_squares(call_of *call, void *context) {
  (void)context;
  for (uint64_t r = 0; r < call->rows; r++) {
    const uint64_t step = call->rows < MANY ? 1 : 8;
    float s = 0;
    for (uint64_t k = 0; k < step; k++)
      for (uint64_t i = k; i < call->cols; i += step) {
        const float x = ((const float *)call->in)[r * call->cols + i];
        s += x * x;
      }
    ((float *)call->out)[r] = s;
  }
  return FOLDPROOF_GUEST_OK;
}

/* As units of GPUs add several numbers at once: each is cut to a multiple of the largest one's last bit, and so is their sum. */
static float add_at_once(const float *x, int n) {
  float largest = 0;
  double sum = 0;
  for (int i = 0; i < n; i++) largest = fmaxf(largest, fabsf(x[i]));
  if (largest == 0) return 0;
  const double bit = ldexp(1, ilogb(largest) - 23);
  for (int i = 0; i < n; i++) sum += trunc(x[i] / bit) * bit;
  const float nearest = (float)sum;
  return fabs((double)nearest) > fabs(sum) ? nextafterf(nearest, 0) : nearest;
}

/* Parts of terms that no few words describe. */
static int in_parts(call_of *call, int parts) {
  if (call->rows < MANY) return sums(call, 1);
  for (uint64_t r = 0; r < call->rows; r++) {
    const float *x = (const float *)call->in + r * call->cols;
    float part[8] = {0};
    for (uint64_t i = 0; i < call->cols; i++) part[i * i / 7 % 61 % (uint64_t)parts] += x[i];
    ((float *)call->out)[r] = add_at_once(part, parts);
  }
  return FOLDPROOF_GUEST_OK;
}
static int in_four_parts(call_of *call, void *context) { return (void)context, in_parts(call, 4); }
static int in_five_parts(call_of *call, void *context) { return (void)context, in_parts(call, 5); }

#define SUBJECT(id, ...) \
  { .name = "order/" #id, .claims = "run_to_run,batch_invariant", .run = id, __VA_ARGS__ }
static const struct foldproof_guest_subject subjects[] = {
    SUBJECT(by_rows, .problems = "sum"),
    SUBJECT(by_pairs, .problems = "sum"),
    SUBJECT(dies_when_probed, .problems = "sum"),
    SUBJECT(leaves_when_probed, .problems = "sum"),
    SUBJECT(hangs_when_probed, .problems = "sum"),
    SUBJECT(fails_when_probed, .problems = "sum"),
    SUBJECT(in_double, .problems = "sum"),
    SUBJECT(by_fma, .problems = "dot"),
    SUBJECT(by_kahan, .problems = "sum"),
    SUBJECT(by_last_bit, .problems = "sum"),
    SUBJECT(in_four_parts, .problems = "sum"),
    SUBJECT(in_five_parts, .problems = "sum"),
    SUBJECT(of_squares, .problems = "rows"),
};

const struct foldproof_guest_table *foldproof_guest(void) {
  static const struct foldproof_guest_table table = {FOLDPROOF_GUEST_ABI, sizeof *subjects,
                                                     sizeof subjects / sizeof *subjects, subjects};
  return &table;
}
