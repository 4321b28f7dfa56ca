/* mutants_numbers.c: mutants that join the right terms in the right order by the wrong arithmetic. */
#include <math.h>

#include "mutants.h"
#include "super.h"
#include "exact.h"

static float flushed(float x) { return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x; }

/* As a GPU adds under -ftz=true. */
static float flush(const fold_element_f32 *x, size_t n) {
  float sum = 0;
  for (size_t i = 0; i < n; i++) sum = flushed(sum + flushed(x[i]));
  return sum;
}
RUN_F32(flush)

/* A float where the claim says double. */
static uint64_t narrow_f64(const struct fold_call *call, const void *row, size_t r) {
  const fold_element_f64 *x = row;
  float sum = 0;
  (void)r;
  for (size_t i = 0; i < call->cols; i++) sum += (float)x[i];
  return fold_f64_bits((double)sum);
}
RUN(narrow_f64)

/* Each partial sum is rounded to f16; the accumulator should be f32. */
static uint64_t narrow_f16(const struct fold_call *call, const void *row, size_t r) {
  const fold_element_f16 *x = row;
  uint16_t sum = 0;
  (void)r;
  for (size_t i = 0; i < call->cols; i++) sum = fold_f32_to_f16(fold_f16_to_f32(sum) + fold_f16_to_f32(x[i]));
  return sum;
}
RUN(narrow_f16)

/* Each partial sum is f16, and cut off instead of rounded. */
static uint64_t narrow_truncated(const struct fold_call *call, const void *row, size_t r) {
  const fold_element_f16 *x = row;
  uint16_t sum = 0;
  (void)r;
  for (size_t i = 0; i < call->cols; i++) {
    float both = fold_f16_to_f32(sum) + fold_f16_to_f32(x[i]);
    sum = fold_f32_to_f16(both);
    if (fabsf(fold_f16_to_f32(sum)) > fabsf(both)) sum--;
  }
  return sum;
}
RUN(narrow_truncated)

/* Joined in f32, and f16 comes out: where f16 is declared to be the accumulator too. */
static uint64_t wide_f16(const struct fold_call *call, const void *row, size_t r) {
  const fold_element_f16 *x = row;
  float sum = 0;
  (void)r;
  for (size_t i = 0; i < call->cols; i++) sum += fold_f16_to_f32(x[i]);
  return fold_f32_to_f16(sum);
}
RUN(wide_f16)

/* Rows of f16 whose results are f32. */
typedef float f16_to_f32(const fold_element_f16 *x, size_t n);
static fold_status rows_to_f32(const struct fold_call *call, f16_to_f32 *row) {
  for (size_t r = 0; r < call->rows; r++)
    fold_bits_store(FOLD_F32, call->out, r, fold_f32_bits(row(mutant_row_at(call, r), call->cols)));
  return fold_ok();
}
#define RUN_TO_F32(name)                                                                        \
  fold_status mutant_##name(const struct fold_subject *subject, const struct fold_call *call) { \
    (void)subject;                                                                              \
    return rows_to_f32(call, name);                                                             \
  }
static float rounded_f16(float x) { return fold_f16_to_f32(fold_f32_to_f16(x)); }

static float summed_in_f32(const fold_element_f16 *x, size_t n) {
  float sum = 0;
  for (size_t i = 0; i < n; i++) sum += fold_f16_to_f32(x[i]);
  return sum;
}

/* The sum in f32 goes through f16 before it comes out. */
static float narrowed_f32(const fold_element_f16 *x, size_t n) { return rounded_f16(summed_in_f32(x, n)); }
RUN_TO_F32(narrowed_f32)

/* The last result lies where results of the terms' size have ended. */
fold_status mutant_last_f32_unwritten(const struct fold_subject *subject, const struct fold_call *call) {
  struct fold_call others = *call;
  (void)subject;
  others.rows -= call->rows > 0;
  return rows_to_f32(&others, summed_in_f32);
}

/* Every other run. */
fold_status mutant_last_f32_varies(const struct fold_subject *subject, const struct fold_call *call) {
  static unsigned runs;
  float *out = call->out;
  (void)subject;
  FOLD_TRY(rows_to_f32(call, summed_in_f32));
  if (call->rows > 0 && runs++ % 2) out[call->rows - 1] *= 1 + 0x1p-23f;
  return fold_ok();
}

/* Each partial sum goes through f16. */
static float joined_in_f16(const fold_element_f16 *x, size_t n) {
  float sum = 0;
  for (size_t i = 0; i < n; i++) sum = rounded_f16(sum + fold_f16_to_f32(x[i]));
  return sum;
}
RUN_TO_F32(joined_in_f16)

/* The exact sum goes through f16. */
static float narrowed_exact(const fold_element_f16 *x, size_t n) {
  struct fold_super state = {0};
  fold_super_add(FOLD_F16, x, n, &state, NULL);
  return fold_f16_to_f32((uint16_t)fold_super_close(FOLD_F16, &state, FOLD_F16));
}
RUN_TO_F32(narrowed_exact)

/* More precision than the order says: within every bound, and different bits. */
static float excess(const fold_element_f32 *x, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += (double)x[i];
  return (float)sum;
}
RUN_F32(excess)

static float nan_swallowed(const fold_element_f32 *x, size_t n) {
  float sum = 0;
  for (size_t i = 0; i < n; i++) sum += isnan(x[i]) ? 0.0f : x[i];
  return sum;
}
RUN_F32(nan_swallowed)

/* A NaN where an infinity is: infinity - infinity inside of the method. */
static float nan_made(const fold_element_f32 *x, size_t n) {
  float sum = 0, lost = 0;
  for (size_t i = 0; i < n; i++) {
    float t = sum + x[i];
    lost = (t - sum) - x[i];
    sum = t;
  }
  return sum + 0 * lost;
}
RUN_F32(nan_made)

/* The usual macro: every comparison with NaN is false, so that the term after a NaN wins. */
static float nan_in_max(const fold_element_f32 *x, size_t n) {
  float greatest = -INFINITY;
  for (size_t i = 0; i < n; i++) greatest = greatest > x[i] ? greatest : x[i];
  return greatest;
}
RUN_F32(nan_in_max)

/* NaN stays, but the first of two zeros wins, whatever its sign. */
static float zero_in_max(const fold_element_f32 *x, size_t n) {
  float greatest = -INFINITY;
  for (size_t i = 0; i < n; i++) greatest = isnan(greatest) || greatest >= x[i] ? greatest : x[i];
  return greatest;
}
RUN_F32(zero_in_max)

static struct fold_super exact_state(const struct fold_call *call, const void *row) {
  struct fold_super state = {0};
  fold_super_add(call->dtype, row, call->cols, &state, NULL);
  return state;
}

static uint64_t zero_in_exact(const struct fold_call *call, const void *row, size_t r) {
  struct fold_super state = exact_state(call, row);
  uint64_t bits = fold_super_close(call->dtype, &state, call->dtype);
  (void)r;
  return bits == fold_format_of(call->dtype).sign ? 0 : bits;
}
RUN(zero_in_exact)

/* Kahan's sum but that the compensation is never applied. */
static float kahan_plain(const fold_element_f32 *x, size_t n) { return mutant_sum_f32(x, n); }
RUN_F32(kahan_plain)

/* Neumaier's sum but that the compensation is not added at the end. */
static float neumaier_open(const fold_element_f32 *x, size_t n) { return mutant_sum_f32(x, n); }
RUN_F32(neumaier_open)

static float kahan_back(const fold_element_f32 *x, size_t n) {
  float s = 0, c = 0;
  while (n-- > 0) {
    float y = x[n] - c, t = s + y;
    c = isfinite(t) ? (t - s) - y : 0;
    s = t;
  }
  return s;
}
RUN_F32(kahan_back)

static float neumaier_one_sided(const fold_element_f32 *x, size_t n) {
  float s = 0, c = 0;
  for (size_t i = 0; i < n; i++) {
    float t = s + x[i];
    c = isfinite(t) ? c + ((s - t) + x[i]) : 0;
    s = t;
  }
  return s + c;
}
RUN_F32(neumaier_one_sided)

static uint64_t float64_lanes(const struct fold_call *call, const void *row, size_t r) {
  const fold_element_f64 *x = row;
  double sum[2] = {0, 0};
  for (size_t i = 0; i < call->cols; i++) sum[i % 2] += x[i];
  (void)r;
  return fold_f64_bits(sum[0] + sum[1]);
}
RUN(float64_lanes)

/* The exact sum, and on which side of its nearest number it lies. */
static uint64_t nearest(const struct fold_call *call, const void *row, int *side) {
  struct fold_super state = exact_state(call, row);
  mpfr_t exact, value;
  mpfr_init2(exact, 53);
  mpfr_init2(value, 53);
  fold_super_value(call->dtype, &state, exact);
  uint64_t bits = fold_mpfr_round(call->dtype, exact);
  fold_mpfr_set_bits(value, call->dtype, bits);
  *side = mpfr_number_p(exact) ? mpfr_cmpabs(value, exact) : 0;
  mpfr_clears(exact, value, (mpfr_ptr)0);
  return bits;
}

/* Towards zero: one of the neighbours, half of the time the wrong one. */
static uint64_t truncated(const struct fold_call *call, const void *row, size_t r) {
  int side;
  uint64_t bits = nearest(call, row, &side);
  (void)r;
  return side > 0 ? bits - 1 : bits;
}
RUN(truncated)

/* The exact sum to f64, then to f32. */
static uint64_t rounded_twice(const struct fold_call *call, const void *row, size_t r) {
  struct fold_super state = exact_state(call, row);
  (void)r;
  return fold_bits_from_double(call->dtype, fold_bits_f64(fold_super_close(call->dtype, &state, FOLD_F64)));
}
RUN(rounded_twice)

/* A product of f16, exact in double for a few terms, to 11 bits and then to a subnormal. */
static uint64_t subnormal_twice(const struct fold_call *call, const void *row, size_t r) {
  const fold_element_f16 *x = row;
  double product = 1;
  int exponent;
  (void)r;
  for (size_t i = 0; i < call->cols; i++) product *= (double)fold_f16_to_f32(x[i]);
  double fraction = frexp(product, &exponent);
  return (uint16_t)fold_bits_from_double(
      FOLD_F16, isfinite(product) ? ldexp(nearbyint(ldexp(fraction, 11)), exponent - 11) : product);
}
RUN(subnormal_twice)

static uint64_t two_away(const struct fold_call *call, const void *row, size_t r) {
  int side;
  uint64_t bits = nearest(call, row, &side);
  (void)r;
  return fold_bits_class(call->dtype, bits) == FOLD_NORMAL ? bits + 2 : bits;
}
RUN(two_away)
