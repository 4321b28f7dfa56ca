/* functions.c: functions of rows. Each of the honest ones gives one result for each row, though many rows have the same one: a term
 * that changes need not show. The others keep results. test_guest_claims.py says which claim tells them apart. */
#include <foldproof_guest.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

typedef const struct foldproof_guest_call call_of;
typedef float function(const float *x, uint64_t n);

static float largest(const float *x, uint64_t n) {
  float m = -INFINITY;
  for (uint64_t i = 0; i < n; i++) m = x[i] > m ? x[i] : m;
  return m;
}
static float log_sum_exp(const float *x, uint64_t n) {
  const float m = largest(x, n);
  float s = 0;
  if (isinf(m)) return m;
  for (uint64_t i = 0; i < n; i++) s += x[i] - m < -104 ? 0 : expf(x[i] - m); /* an underflow takes long */
  return m + logf(s);
}
/* A NaN shows if no later term comes to its lane: lanes go by the address. */
static float largest_of_lanes(const float *x, uint64_t n) {
  float lane[16];
  for (unsigned k = 0; k < 16; k++) lane[k] = -INFINITY;
  for (uint64_t i = 0; i < n; i++) {
    float *m = &lane[((uintptr_t)x / sizeof *x + i) % 16];
    *m = *m > x[i] ? *m : x[i];
  }
  for (unsigned k = 1; k < 16; k++) lane[0] = lane[k] > lane[0] ? lane[k] : lane[0];
  return lane[0];
}
static float clip(const float *x, uint64_t n) { return n ? fminf(fmaxf(x[n / 2], -1), 1) : 0; }
static float sign(const float *x, uint64_t n) { return n ? (float)((x[0] > 0) - (x[0] < 0)) : 0; }
static float constant(const float *x, uint64_t n) { return (void)x, (void)n, 7; }

/* The last result, of the same address or of a row with the same ends. */
static float kept;
static float by_address(const float *x, uint64_t n) {
  static const float *at;
  static uint64_t of;
  if (at != x || of != n) kept = log_sum_exp(x, n);
  at = x, of = n;
  return kept;
}
static float by_ends(const float *x, uint64_t n) {
  static float ends[2];
  static uint64_t of;
  if (n == 0 || of != n || memcmp(ends, x, sizeof *x) || memcmp(ends + 1, x + n - 1, sizeof *x))
    kept = log_sum_exp(x, n);
  of = n;
  if (n) ends[0] = x[0], ends[1] = x[n - 1];
  return kept;
}

static int run(call_of *call, void *context) {
  for (uint64_t r = 0; r < call->rows; r++)
    ((float *)call->out)[r] = (*(function **)context)((const float *)call->in + r * call->cols, call->cols);
  return FOLDPROOF_GUEST_OK;
}

static function *const of[] = {log_sum_exp, largest, largest_of_lanes, clip, sign, constant, by_address, by_ends};
#define SUBJECT(which, subject)                                                                            \
  {                                                                                                        \
    .name = "functions/" subject, .problems = "rows", .dtypes = "f32", .claims = "run_to_run", .run = run, \
    .context = (void *)&of[which]                                                                          \
  }

const struct foldproof_guest_table *foldproof_guest(void) {
  static const struct foldproof_guest_subject subjects[] = {
      SUBJECT(0, "log_sum_exp"), SUBJECT(1, "largest"),  SUBJECT(2, "largest_of_lanes"), SUBJECT(3, "clip"),
      SUBJECT(4, "sign"),        SUBJECT(5, "constant"), SUBJECT(6, "by_address"),       SUBJECT(7, "by_ends"),
  };
  static const struct foldproof_guest_table table = {FOLDPROOF_GUEST_ABI, sizeof *subjects,
                                                     sizeof subjects / sizeof *subjects, subjects};
  return &table;
}
