/* hunt_rows.c: see hunt_rows.h. */
#include <stdlib.h>

#include "hunt_rows.h"

enum { M = 1, K = 3 };

static bool is_product(const struct hunt_row *row) { return row->y != NULL; }
static double narrow(const struct hunt_row *row, double x) { return hunt_round(row->call->accumulator, x); }

double hunt_identity(const struct hunt_row *row) {
  switch (row->call->problem) {
    case FOLDPROOF_GUEST_PROD: return 1;
    case FOLDPROOF_GUEST_MAX:
    case FOLDPROOF_GUEST_SCAN_MAX: return -(double)INFINITY;
    case FOLDPROOF_GUEST_MIN:
    case FOLDPROOF_GUEST_SCAN_MIN: return (double)INFINITY;
    default: return 0;
  }
}

/* A NaN wins; +0 is above -0. */
static double greater(double a, double b) {
  if (isnan(a) || isnan(b)) return (double)NAN;
  return a > b || (a == b && !signbit(a)) ? a : b;
}

double hunt_join(const struct hunt_row *row, double a, double b) {
  switch (row->call->problem) {
    case FOLDPROOF_GUEST_PROD: return narrow(row, a * b);
    case FOLDPROOF_GUEST_MAX:
    case FOLDPROOF_GUEST_SCAN_MAX: return greater(a, b);
    case FOLDPROOF_GUEST_MIN:
    case FOLDPROOF_GUEST_SCAN_MIN: return -greater(-a, -b);
    default: return narrow(row, a + b);
  }
}

double hunt_leaf(const struct hunt_row *row, uint64_t i) {
  return is_product(row) ? narrow(row, row->x[i] * row->y[i]) : row->x[i];
}

double hunt_take(const struct hunt_row *row, double sum, uint64_t i) {
  if (!is_product(row) || !(row->fuses || (row->fuses_last && i == row->n - 1)))
    return hunt_join(row, sum, hunt_leaf(row, i));
  if (row->call->accumulator == FOLDPROOF_GUEST_F64) return fma(row->x[i], row->y[i], sum);
  return (double)fmaf((float)row->x[i], (float)row->y[i], (float)sum);
}

/* What is added in f32 is added so: through f64 it takes thrice as long. */
static double sum_in_f32(const struct hunt_row *row, uint64_t first, uint64_t last, uint64_t step) {
  float sum = 0;
  if (is_product(row))
    for (uint64_t i = first; i < last; i += step) sum += (float)row->x[i] * (float)row->y[i];
  else
    for (uint64_t i = first; i < last; i += step) sum += (float)row->x[i];
  return (double)sum;
}

double hunt_fold(const struct hunt_row *row, uint64_t first, uint64_t last, uint64_t step) {
  const bool adds = hunt_identity(row) == 0;
  if (adds && row->call->accumulator == FOLDPROOF_GUEST_F32 && !row->fuses && !row->fuses_last)
    return sum_in_f32(row, first, last, step);
  double sum = hunt_identity(row);
  for (uint64_t i = first; i < last; i += step) sum = hunt_take(row, sum, i);
  return sum;
}

double hunt_in_lanes(const struct hunt_row *row) {
  double sum = hunt_fold(row, 0, row->n, row->lanes);
  for (unsigned k = 1; k < row->lanes; k++) sum = hunt_join(row, sum, hunt_fold(row, k, row->n, row->lanes));
  return sum;
}

/* A dtype at a time, since a search makes some thousand runs a second. */
static void load_terms(call_of *call, const void *in, uint64_t at, uint64_t step, double *to) {
  const uint64_t n = call->cols;
  const float *f32 = (const float *)in + at;
  const double *f64 = (const double *)in + at;
  if (call->dtype == FOLDPROOF_GUEST_F32)
    for (uint64_t i = 0; i < n; i++) to[i] = (double)f32[i * step];
  else if (call->dtype == FOLDPROOF_GUEST_F64)
    for (uint64_t i = 0; i < n; i++) to[i] = f64[i * step];
  else
    for (uint64_t i = 0; i < n; i++) to[i] = hunt_load(call->dtype, in, at + i * step);
}

static void load_row(struct hunt_row *row) {
  call_of *call = row->call;
  const int64_t(*s)[4] = call->stride;
  load_terms(call, call->in, row->at * (uint64_t)s[0][M], (uint64_t)s[0][K], row->x);
  if (call->other) load_terms(call, call->other, row->at * (uint64_t)s[1][M], (uint64_t)s[1][K], row->y);
  if (call->problem == FOLDPROOF_GUEST_SUMSQ) memcpy(row->y, row->x, row->n * sizeof *row->y);
  for (uint64_t i = 0; i < row->n && call->problem == FOLDPROOF_GUEST_ASUM; i++) row->x[i] = fabs(row->x[i]);
}

int hunt_run_rows(call_of *call, hunt_reduce *reduce, void *context) {
  const size_t bytes = (call->cols + 1) * sizeof(double);
  double *x = malloc(bytes), *y = malloc(bytes);
  const bool products = call->other || call->problem == FOLDPROOF_GUEST_SUMSQ, done = x && y;
  for (uint64_t r = 0; r < call->rows && done; r++) {
    struct hunt_row row = {.call = call, .at = r, .n = call->cols, .x = x, .y = y, .lanes = 1};
    load_row(&row);
    if (!products) row.y = NULL;
    const double result = reduce(&row, context);
    if (row.at != UINT64_MAX) hunt_store(call->result, call->out, row.at, result);
  }
  free(x), free(y);
  return done ? FOLDPROOF_GUEST_OK : 1;
}
