/* subtle.c: a guest whose subjects are right but at some lengths, shapes, places or values. test_guest_values.py expects that the fixtures
 * refute each, and hold those named right. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "foldproof_guest.h"

typedef const struct foldproof_guest_call call_of;

/* A row on its way to a result: a fault changes what it is made of, or how. */
struct row {
  call_of *call;
  uint64_t at, n;
  double *x, *y; /* with room for one more */
  unsigned lanes;
  bool last_by_fma, as_tf32, is_set, no_carry, flushed;
  double set; /* the result, where it is_set */
};
typedef void fault(struct row *row);

static double of_bits(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return (double)x;
}
static double element(call_of *call, const void *in, uint64_t i) {
  switch (call->dtype) {
    case FOLDPROOF_GUEST_F16: return (double)((const _Float16 *)in)[i];
    case FOLDPROOF_GUEST_BF16: return of_bits((uint32_t)((const uint16_t *)in)[i] << 16);
    case FOLDPROOF_GUEST_F64: return ((const double *)in)[i];
    default: return (double)((const float *)in)[i];
  }
}
static uint16_t to_bf16(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  if (isnan(x)) return 0x7fc0;
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
static _Float16 to_f16(const struct row *row, double x) {
  const _Float16 nearest = (_Float16)(float)x;
  if (row->flushed && fabs((double)nearest) < 0x1p-14) return (_Float16)(float)copysign(0, x);
  int of_x, of_nearest;
  frexp(x, &of_x), frexp((double)nearest, &of_nearest);
  if (row->no_carry && isfinite((double)nearest) && of_nearest > of_x) return nearest / 2;
  return nearest;
}
static void store(const struct row *row, double x) {
  void *out = row->call->out;
  switch (row->call->result) {
    case FOLDPROOF_GUEST_F16: ((_Float16 *)out)[row->at] = to_f16(row, x); break;
    case FOLDPROOF_GUEST_BF16: ((uint16_t *)out)[row->at] = to_bf16((float)x); break;
    case FOLDPROOF_GUEST_F64: ((double *)out)[row->at] = x; break;
    default: ((float *)out)[row->at] = (float)x;
  }
}

static double tf32(double x) {
  int e;
  return isfinite(x) ? (frexp(x, &e), ldexp(nearbyint(ldexp(x, 11 - e)), e - 11)) : x;
}
static double narrow(const struct row *row, double x) {
  return row->call->dtype == FOLDPROOF_GUEST_F64 ? x : (double)(float)x;
}
static double with_term(const struct row *row, double s, uint64_t i) {
  if (!row->call->other) return narrow(row, s + row->x[i]);
  const double x = row->as_tf32 ? tf32(row->x[i]) : row->x[i], y = row->as_tf32 ? tf32(row->y[i]) : row->y[i];
  if (row->last_by_fma && i == row->n - 1) return (double)fmaf((float)x, (float)y, (float)s);
  return narrow(row, s + narrow(row, x * y));
}
/* What all but f64 add in f32 is added so: through f64 it takes thrice as long. */
static double lane(const struct row *row, uint64_t first) {
  float narrowed = 0;
  double s = 0;
  for (uint64_t i = first; i < row->n; i += row->lanes)
    if (row->call->other || row->call->dtype == FOLDPROOF_GUEST_F64)
      s = with_term(row, s, i);
    else
      narrowed += (float)row->x[i];
  return row->call->other || row->call->dtype == FOLDPROOF_GUEST_F64 ? s : (double)narrowed;
}
static double sum(const struct row *row) {
  double s = lane(row, 0);
  for (unsigned k = 1; k < row->lanes; k++) s = narrow(row, s + lane(row, k));
  return s;
}
static double product(const struct row *row) {
  double p = 1;
  for (uint64_t i = 0; i < row->n; i++) p = narrow(row, p * row->x[i]);
  return p;
}
/* A NaN wins; +0 is above -0. */
static double extreme(const struct row *row, double sign) {
  double most = -INFINITY;
  for (uint64_t i = 0; i < row->n && !isnan(most); i++) {
    const double x = sign * row->x[i];
    if (isnan(x) || x > most || (x == most && !signbit(x))) most = x;
  }
  return sign * most;
}
static double result(const struct row *row) {
  switch (row->call->problem) {
    case FOLDPROOF_GUEST_PROD: return product(row);
    case FOLDPROOF_GUEST_MAX: return extreme(row, 1);
    case FOLDPROOF_GUEST_MIN: return extreme(row, -1);
    default: return sum(row);
  }
}

static int run(call_of *call, void *context) {
  const size_t bytes = (call->cols + 1) * sizeof(double);
  double *x = malloc(bytes), *y = malloc(bytes);
  for (uint64_t r = 0; r < call->rows && x && y; r++) {
    for (uint64_t i = 0; i < call->cols; i++) x[i] = element(call, call->in, r * call->cols + i);
    const uint64_t other = call->problem == FOLDPROOF_GUEST_MATVEC ? 0 : r * call->cols;
    for (uint64_t i = 0; i < call->cols && call->other; i++) y[i] = element(call, call->other, other + i);
    struct row row = {.call = call, .at = r, .n = call->cols, .x = x, .y = y, .lanes = 1};
    if (call->cols) (*(fault **)context)(&row);
    store(&row, row.is_set ? row.set : result(&row));
  }
  const bool done = x && y;
  free(x), free(y);
  return done ? FOLDPROOF_GUEST_OK : 1;
}

static bool is_prime(uint64_t n) {
  for (uint64_t k = 2; k * k <= n; k++)
    if (n % k == 0) return false;
  return n > 1;
}
static bool rises(const struct row *row) {
  for (uint64_t i = 1; i < row->n; i++)
    if (!(row->x[i] > row->x[i - 1])) return false;
  return row->n > 2;
}
static double share_of_zeros(const struct row *row) {
  double zeros = 0;
  for (uint64_t i = 0; i < row->n; i++) zeros += row->x[i] == 0;
  return zeros / (double)row->n;
}
static double largest(const struct row *row) {
  double most = 0;
  for (uint64_t i = 0; i < row->n; i++) most = fmax(most, fabs(row->x[i]));
  return most;
}

static uint64_t most_nans_in_turn(const struct row *row) {
  uint64_t now = 0, most = 0;
  for (uint64_t i = 0; i < row->n; i++) {
    now = isnan(row->x[i]) ? now + 1 : 0;
    most = now > most ? now : most;
  }
  return most;
}

#define FAULT(id, ...)                 \
  static void id##_(struct row *row) { \
    const uint64_t n = row->n;         \
    (void)n;                           \
    __VA_ARGS__                        \
  }                                    \
  static fault *const id = id##_;
#define EACH for (uint64_t i = 0; i < n; i++)

FAULT(right, )
FAULT(from_53_to_62, row->n -= n >= 53 && n <= 62;)
FAULT(from_130_to_250, row->n -= n >= 130 && n <= 250;)
FAULT(from_1101_to_3999, row->n -= n > 1100 && n < 4000;)
FAULT(from_1601_to_8999, row->n -= n > 1600 && n < 9000;)
FAULT(from_4200_to_8100, row->n -= n >= 4200 && n <= 8100;)
FAULT(from_9001_to_15999, row->n -= n > 9000 && n < 16000;)
FAULT(six_tiles, row->n -= n > 5120 && n <= 6144;)
FAULT(primes, row->n -= n >= 2000 && n <= 8000 && is_prime(n);)
FAULT(three_of_eight, row->n -= n > 1100 && n % 8 == 3;)
FAULT(over_20000, row->n -= n > 20000 && n % 8 ? n % 8 : 0;)
FAULT(odd_tiles, if (n % 768 == 0 && n / 768 % 2 && n > 768) row->x[row->n++] = row->x[n - 1];)
FAULT(lanes_from_4201, row->lanes = n > 4200 && n < 8000 ? 4 : 1;)
FAULT(fma_from_1101, row->last_by_fma = n > 1100 && n < 4000;)
FAULT(squares, row->lanes = row->call->rows == n && n % 64 == 0 ? 4 : 1;)
FAULT(wide_rows, row->n -= row->call->rows > 64 && n > 2100;)
FAULT(wider_rows, row->lanes = row->call->rows > 64 && n > 4096 ? 4 : 1;)
FAULT(three_million, row->lanes = row->call->rows * n > 3000000 ? 4 : 1;)
FAULT(small_beside_large, const double least = n > 1000 ? largest(row) * 0x1p-12 : 0;
      EACH if (fabs(row->x[i]) < least) row->x[i] = 0;)
FAULT(two_nans, uint64_t nans = 0; EACH nans += isnan(row->x[i]) != 0;
      EACH if (nans == 2 && isnan(row->x[i])) row->x[i] = 0;)
FAULT(signalling_in_lane_3, const uint32_t *bits = (const uint32_t *)row->call->in + row->at * n;
      for (uint64_t i = 3; i < n; i += 8) if (isnan(row->x[i]) && !(bits[i] & 0x400000)) row->x[i] = 0;)
FAULT(rising, row->n -= rises(row);)
FAULT(half_zeros, row->n -= share_of_zeros(row) > .3 && share_of_zeros(row) < .6 && n > 2;)
FAULT(as_integers, bool whole = true; double s = 0;
      EACH whole = whole && row->x[i] == floor(row->x[i]) && fabs(row->x[i]) < 0x1p24; EACH s += row->x[i];
      row->is_set = whole && s != 0; row->set = s;)
FAULT(starts_at_zero, if (n > 16 && n % 8) row->x[row->n++] = 0;)
FAULT(zero_in_lane_2, for (uint64_t i = 2; i < n; i += 4) if (row->x[i] == 0) row->x[i] = 0;)
FAULT(zero_times_infinity,
      for (uint64_t i = 1; i < n; i += 4) if (isnan(row->x[i] * row->y[i]) && !isnan(row->x[i] + row->y[i]))
          row->x[i] = row->y[i] = 0;)
FAULT(by_tf32, row->as_tf32 = n >= 1024 && n % 8 == 0;)
FAULT(same_inputs, row->n -= n > 1 && memcmp(row->x, row->y, n * sizeof *row->x) == 0;)
FAULT(one_array, row->n -= n > 1 && row->call->in == row->call->other;)
FAULT(three_nans_in_turn, const uint64_t most = most_nans_in_turn(row);
      EACH if (most == 3 && isnan(row->x[i])) row->x[i] = 0;)
FAULT(short_rows_from_512, row->n -= n == 5 && row->call->rows >= 512;)
FAULT(without_carry, row->no_carry = true;)
FAULT(subnormal_is_zero, row->flushed = true;)

/* Of a matrix times a vector. */
FAULT(vector_by_tf32, EACH if (n >= 1024 && n % 8 == 0) row->y[i] = tf32(row->y[i]);)
FAULT(finite_vector, EACH if (isinf(row->y[i])) row->y[i] = copysign(0x1.fffffep127, row->y[i]);)
FAULT(nan_in_lane_3_of_vector, for (uint64_t i = 3; i < n; i += 4) if (isnan(row->y[i])) row->y[i] = 0;)
FAULT(subnormal_vector, EACH if (fabs(row->y[i]) < 0x1p-126) row->y[i] = 0;)
FAULT(subnormal_matrix, EACH if (fabs(row->x[i]) < 0x1p-126) row->x[i] = 0;)
FAULT(zero_of_matrix_skips, EACH if (row->x[i] == 0) row->y[i] = 0;)
FAULT(zero_of_vector_skips, EACH if (row->y[i] == 0) row->x[i] = 0;)
FAULT(first_tile_of_vector, EACH if (row->at >= 7 && n > 800) row->y[i] = row->y[i % 256];)
FAULT(wide_rows_of_eight, row->n -= row->call->rows >= 8 && n > 1000;)
FAULT(rows_from_4000, row->n -= row->at >= 4000;)
FAULT(transposed_squares,
      EACH if (row->call->rows == n && n % 64 == 0) row->x[i] = element(row->call, row->call->in, i *n + row->at);)
FAULT(writes_vector, volatile float *y = (float *)(uintptr_t)row->call->other; if (n) *y = *y;)
FAULT(lanes_in_wide_batches, row->lanes = row->call->rows > 100 && n > 1000 ? 4 : 1;)

#define SUBTLE(id, problem, dtype, declared, claim)                                                              \
  {                                                                                                              \
    .name = "subtle/" #id, .problems = problem, .dtypes = dtype, .order = declared, .claims = claim, .run = run, \
    .context = (void *)&id                                                                                       \
  }
#define IN_TURN "host/sequential"
#define DOT_IN_TURN "dot/sequential"
static const struct foldproof_guest_subject subjects[] = {
    SUBTLE(from_53_to_62, "sum", "f32", NULL, "bounded"),
    SUBTLE(from_130_to_250, "min", "f64", NULL, "bounded"),
    SUBTLE(from_1101_to_3999, "dot", "f32", NULL, "bounded"),
    SUBTLE(from_1601_to_8999, "max", "f32", NULL, "bounded"),
    SUBTLE(from_4200_to_8100, "sum", "f64", NULL, "bounded"),
    SUBTLE(from_9001_to_15999, "prod", "bf16", NULL, "bounded"),
    SUBTLE(six_tiles, "sum", "f32", NULL, "bounded"),
    SUBTLE(primes, "sum", "f32", NULL, "bounded"),
    SUBTLE(three_of_eight, "max", "f32", NULL, "bounded"),
    SUBTLE(over_20000, "dot", "f16", NULL, "bounded"),
    SUBTLE(odd_tiles, "sum", "f32", NULL, "bounded"),
    SUBTLE(lanes_from_4201, "sum", "bf16", IN_TURN, "replays"),
    SUBTLE(fma_from_1101, "dot", "f32", DOT_IN_TURN, "replays"),
    SUBTLE(squares, "sum", "f32", IN_TURN, "replays"),
    SUBTLE(wide_rows, "sum", "f32", NULL, "bounded"),
    SUBTLE(wider_rows, "sum", "f32", NULL, "batch_invariant"),
    SUBTLE(three_million, "sum", "f32", NULL, "batch_invariant"),
    SUBTLE(small_beside_large, "sum", "f32", NULL, "bounded"),
    SUBTLE(two_nans, "sum", "f32", NULL, "bounded"),
    SUBTLE(signalling_in_lane_3, "sum", "f32", NULL, "bounded"),
    SUBTLE(rising, "sum", "f32", NULL, "bounded"),
    SUBTLE(half_zeros, "sum", "f32", NULL, "bounded"),
    SUBTLE(as_integers, "sum", "f32", IN_TURN, "replays"),
    SUBTLE(starts_at_zero, "max", "f32", NULL, "bounded"),
    SUBTLE(zero_in_lane_2, "min", "f32", NULL, "bounded"),
    SUBTLE(zero_times_infinity, "dot", "f32", NULL, "bounded"),
    SUBTLE(by_tf32, "dot", "f32", NULL, "bounded"),
    SUBTLE(same_inputs, "dot", "f32", NULL, "bounded"),
    SUBTLE(one_array, "dot", "f32", NULL, "bounded"),
    SUBTLE(three_nans_in_turn, "sum", "f32", NULL, "bounded"),
    SUBTLE(short_rows_from_512, "sum", "f32", NULL, "bounded"),
    SUBTLE(without_carry, "sum", "f16", NULL, "bounded"),
    SUBTLE(subnormal_is_zero, "dot", "f16", NULL, "bounded"),
    SUBTLE(vector_by_tf32, "matvec", "f32", NULL, "bounded"),
    SUBTLE(finite_vector, "matvec", "f32", NULL, "bounded"),
    SUBTLE(nan_in_lane_3_of_vector, "matvec", "f32", NULL, "bounded"),
    SUBTLE(subnormal_vector, "matvec", "f32", NULL, "bounded"),
    SUBTLE(subnormal_matrix, "matvec", "f32", NULL, "bounded"),
    SUBTLE(zero_of_matrix_skips, "matvec", "f32", NULL, "bounded"),
    SUBTLE(zero_of_vector_skips, "matvec", "f32", NULL, "bounded"),
    SUBTLE(first_tile_of_vector, "matvec", "f32", NULL, "bounded"),
    SUBTLE(wide_rows_of_eight, "matvec", "f32", NULL, "bounded"),
    SUBTLE(rows_from_4000, "matvec", "f16", NULL, "bounded"),
    SUBTLE(transposed_squares, "matvec", "f64", NULL, "bounded"),
    SUBTLE(writes_vector, "matvec", "f32", NULL, "keeps_input"),
    SUBTLE(lanes_in_wide_batches, "matvec", "f32", NULL, "batch_invariant"),
    {.name = "subtle/right",
     .problems = "sum,prod,max,min",
     .dtypes = "f16,bf16,f32,f64",
     .order = IN_TURN,
     .claims = "bounded,replays",
     .run = run,
     .context = (void *)&right},
    {.name = "subtle/right_matvec",
     .problems = "matvec",
     .order = DOT_IN_TURN,
     .claims = "bounded,replays,batch_invariant",
     .run = run,
     .context = (void *)&right},
    {.name = "subtle/right_dot",
     .problems = "dot",
     .dtypes = "f16,bf16,f32,f64",
     .order = DOT_IN_TURN,
     .claims = "bounded,replays",
     .run = run,
     .context = (void *)&right},
};

const struct foldproof_guest_table *foldproof_guest(void) {
  static const struct foldproof_guest_table table = {FOLDPROOF_GUEST_ABI, sizeof *subjects,
                                                     sizeof subjects / sizeof *subjects, subjects};
  return &table;
}
