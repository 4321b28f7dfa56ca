/* mutants_integers.c: mutants of integers: sums that wrap where that is not declared, or do not where it is, and accumulators that lose
 * high bits or units. */
#include "mutants_row.h"

static int64_t term(const struct fold_call *call, size_t r, size_t i) {
  return fold_integer_value(fold_format_of(call->dtype), fold_bits_load(call->dtype, call->in[0], r * call->cols + i));
}

/* Each row, summed by `one`, in the subject's result. */
typedef int64_t sum(const struct fold_call *call, size_t r);
static fold_status rows(const struct fold_subject *subject, const struct fold_call *call, sum *one) {
  for (size_t r = 0; r < call->rows; r++)
    fold_bits_store(fold_subject_result(subject, call->dtype), call->out, r, (uint64_t)one(call, r));
  return fold_ok();
}
#define SUM(name)                                                                                   \
  static fold_status run_##name(const struct fold_subject *subject, const struct fold_call *call) { \
    return rows(subject, call, name);                                                               \
  }

static int64_t modulo(const struct fold_call *call, size_t r) {
  uint64_t all = 0;
  for (size_t i = 0; i < call->cols; i++) all += (uint64_t)term(call, r, i);
  return (int64_t)all;
}
SUM(modulo)

static int64_t in_32_bits(const struct fold_call *call, size_t r) { return (int32_t)modulo(call, r); }
SUM(in_32_bits)

static int64_t in_f32(const struct fold_call *call, size_t r) {
  float all = 0;
  for (size_t i = 0; i < call->cols; i++) all += (float)term(call, r, i);
  return all < 0x1p63f && all >= -0x1p63f ? (int64_t)all : 0;
}
SUM(in_f32)

static int64_t in_f64(const struct fold_call *call, size_t r) {
  double all = 0;
  for (size_t i = 0; i < call->cols; i++) all += (double)term(call, r, i);
  return all < 0x1p63 && all >= -0x1p63 ? (int64_t)all : 0;
}
SUM(in_f64)

/* Stays at the end of the range of 32 bits. */
static int64_t saturated(const struct fold_call *call, size_t r) {
  int64_t all = 0;
  for (size_t i = 0; i < call->cols; i++) {
    all += term(call, r, i);
    all = all > INT32_MAX ? INT32_MAX : all < INT32_MIN ? INT32_MIN : all;
  }
  return all;
}
SUM(saturated)

/* A maximum that begins at 0. */
static int64_t max_from_zero(const struct fold_call *call, size_t r) {
  int64_t most = 0;
  for (size_t i = 0; i < call->cols; i++) most = term(call, r, i) > most ? term(call, r, i) : most;
  return most;
}
SUM(max_from_zero)

/* A product of bytes kept in a byte. */
static fold_status run_byte_products(const struct fold_subject *subject, const struct fold_call *call) {
  const int8_t *x = call->in[0], *y = call->in[1];
  (void)subject;
  for (size_t r = 0; r < call->rows; r++) {
    int32_t all = 0;
    for (size_t i = r * call->cols; i < (r + 1) * call->cols; i++) all += (int8_t)(uint8_t)(x[i] * y[i]);
    fold_bits_store(FOLD_I32, call->out, r, (uint64_t)all);
  }
  return fold_ok();
}

#define ADDS (SOUND | C(BOUNDED))
#define INTO(type) .accumulator = FOLD_ALWAYS(FOLD_##type), .result = FOLD_ALWAYS(FOLD_##type)

static const struct fold_mutant integers[] = {
    {.subject = {BASE("wraps_in_32_bits", "sums of i32 in 32 bits, results in i64", I32, SUM, run_in_32_bits),
                 INTO(I64), .claims = ADDS},
     .breaks = C(BOUNDED),
     .fixtures = "three_billion/i32/*"},
    {.subject = {BASE("wraps_unsaid", "sums of i64 that wrap, undeclared", I64, SUM, run_modulo), .claims = ADDS},
     .breaks = C(BOUNDED),
     .fixtures = "overflow_sum/i64/sum/*,overflow_partial/i64/sum/*"},
    {.subject = {BASE("in_f32", "sums of i32 in f32", I32, SUM, run_in_f32), .wraps = true, .claims = ADDS},
     .breaks = C(BOUNDED),
     .fixtures = "past_f32/i32/*"},
    {.subject = {BASE("in_f64", "sums of i64 in f64", I64, SUM, run_in_f64), .wraps = true, .claims = ADDS},
     .breaks = C(BOUNDED),
     .fixtures = "past_f64/i64/*"},
    {.subject = {BASE("narrow_i64", "sums of i64 in 32 bits", I64, SUM, run_in_32_bits), .wraps = true, .claims = ADDS},
     .breaks = C(BOUNDED),
     .fixtures = "overflow_sum/i64/sum/*"},
    {.subject = {BASE("saturated", "stays at the end of the range, and says that it wraps", I32, SUM, run_saturated),
                 .wraps = true, .claims = ADDS},
     .breaks = C(BOUNDED),
     .fixtures = "overflow_sum/i32/sum/*"},
    {.subject = {BASE("integer_max_from_zero", "a maximum of i32 that begins at 0", I32, MAX, run_max_from_zero),
                 .claims = SOUND},
     .breaks = C(CORRECTLY_ROUNDED),
     .fixtures = "full_range/i32/max/3x1/*,full_range/i32/max/3x2/*"},
    {.subject = {BASE("byte_products", "products of i8 kept in 8 bits", I8, DOT, run_byte_products), INTO(I32),
                 .claims = ADDS},
     .breaks = C(BOUNDED),
     .fixtures = "bytes/i8/dot/*"},
};
END(integers)
