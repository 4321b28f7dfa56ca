/* mutants_numbers.c: mutants that join the right terms in the right order by the wrong arithmetic. */
#include <math.h>

#include "mutants_row.h"
#include "oracles/exact.h"
#include "oracles/super.h"

static float flushed(float x) { return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x; }

/* As a GPU adds under -ftz=true. */
static float flush(const fold_element_f32 *x, size_t n) {
  float sum = 0;
  for (size_t i = 0; i < n; i++) sum = flushed(sum + flushed(x[i]));
  return sum;
}
static RUN_F32(flush)

    /* A float where the claim says double. */
    static uint64_t narrow_f64(const struct fold_call *call, const void *row, size_t r) {
  const fold_element_f64 *x = row;
  float sum = 0;
  (void)r;
  for (size_t i = 0; i < call->cols; i++) sum += (float)x[i];
  return fold_f64_bits((double)sum);
}
static RUN(narrow_f64)

    /* Each partial sum is rounded to f16; the accumulator should be f32. */
    static uint64_t narrow_f16(const struct fold_call *call, const void *row, size_t r) {
  const fold_element_f16 *x = row;
  uint16_t sum = 0;
  (void)r;
  for (size_t i = 0; i < call->cols; i++) sum = fold_f32_to_f16(fold_f16_to_f32(sum) + fold_f16_to_f32(x[i]));
  return sum;
}
static RUN(narrow_f16)

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
static RUN(narrow_truncated)

    /* Joined in f32, and f16 comes out: where f16 is declared to be the accumulator too. */
    static uint64_t wide_f16(const struct fold_call *call, const void *row, size_t r) {
  const fold_element_f16 *x = row;
  float sum = 0;
  (void)r;
  for (size_t i = 0; i < call->cols; i++) sum += fold_f16_to_f32(x[i]);
  return fold_f32_to_f16(sum);
}
static RUN(wide_f16)

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
static RUN_TO_F32(narrowed_f32)

    /* The last result lies where results of the terms' size have ended. */
    static fold_status mutant_last_f32_unwritten(const struct fold_subject *subject, const struct fold_call *call) {
  struct fold_call others = *call;
  (void)subject;
  others.rows -= call->rows > 0;
  return rows_to_f32(&others, summed_in_f32);
}

/* Every other run. */
static fold_status mutant_last_f32_varies(const struct fold_subject *subject, const struct fold_call *call) {
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
static RUN_TO_F32(joined_in_f16)

    /* The exact sum goes through f16. */
    static float narrowed_exact(const fold_element_f16 *x, size_t n) {
  struct fold_super state = {0};
  fold_super_add(FOLD_F16, x, n, &state, NULL);
  return fold_f16_to_f32((uint16_t)fold_super_close(FOLD_F16, &state, FOLD_F16));
}
static RUN_TO_F32(narrowed_exact)

    /* More precision than the order says: within every bound, and different bits. */
    static float excess(const fold_element_f32 *x, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += (double)x[i];
  return (float)sum;
}
static RUN_F32(excess)

    static float nan_swallowed(const fold_element_f32 *x, size_t n) {
  float sum = 0;
  for (size_t i = 0; i < n; i++) sum += isnan(x[i]) ? 0.0f : x[i];
  return sum;
}
static RUN_F32(nan_swallowed)

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
static RUN_F32(nan_made)

    /* The usual macro: every comparison with NaN is false, so that the term after a NaN wins. */
    static float nan_in_max(const fold_element_f32 *x, size_t n) {
  float greatest = -INFINITY;
  for (size_t i = 0; i < n; i++) greatest = greatest > x[i] ? greatest : x[i];
  return greatest;
}
static RUN_F32(nan_in_max)

    /* NaN stays, but the first of two zeros wins, whatever its sign. */
    static float zero_in_max(const fold_element_f32 *x, size_t n) {
  float greatest = -INFINITY;
  for (size_t i = 0; i < n; i++) greatest = isnan(greatest) || greatest >= x[i] ? greatest : x[i];
  return greatest;
}
static RUN_F32(zero_in_max)

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
static RUN(zero_in_exact)

    /* Kahan's sum but that the compensation is never applied. */
    static float kahan_plain(const fold_element_f32 *x, size_t n) {
  return mutant_sum_f32(x, n);
}
static RUN_F32(kahan_plain)

    /* Neumaier's sum but that the compensation is not added at the end. */
    static float neumaier_open(const fold_element_f32 *x, size_t n) {
  return mutant_sum_f32(x, n);
}
static RUN_F32(neumaier_open)

    static float kahan_back(const fold_element_f32 *x, size_t n) {
  float s = 0, c = 0;
  while (n-- > 0) {
    float y = x[n] - c, t = s + y;
    c = isfinite(t) ? (t - s) - y : 0;
    s = t;
  }
  return s;
}
static RUN_F32(kahan_back)

    static float neumaier_one_sided(const fold_element_f32 *x, size_t n) {
  float s = 0, c = 0;
  for (size_t i = 0; i < n; i++) {
    float t = s + x[i];
    c = isfinite(t) ? c + ((s - t) + x[i]) : 0;
    s = t;
  }
  return s + c;
}
static RUN_F32(neumaier_one_sided)

    static uint64_t float64_lanes(const struct fold_call *call, const void *row, size_t r) {
  const fold_element_f64 *x = row;
  double sum[2] = {0, 0};
  for (size_t i = 0; i < call->cols; i++) sum[i % 2] += x[i];
  (void)r;
  return fold_f64_bits(sum[0] + sum[1]);
}
static RUN(float64_lanes)

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
static RUN(truncated)

    /* The exact sum to f64, then to f32. */
    static uint64_t rounded_twice(const struct fold_call *call, const void *row, size_t r) {
  struct fold_super state = exact_state(call, row);
  (void)r;
  return fold_bits_from_double(call->dtype, fold_bits_f64(fold_super_close(call->dtype, &state, FOLD_F64)));
}
static RUN(rounded_twice)

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
static RUN(subnormal_twice)

    static uint64_t two_away(const struct fold_call *call, const void *row, size_t r) {
  int side;
  uint64_t bits = nearest(call, row, &side);
  (void)r;
  return fold_bits_class(call->dtype, bits) == FOLD_NORMAL ? bits + 2 : bits;
}
static RUN(two_away)

    static const struct fold_mutant numbers[] = {
        PLAIN("flush", mutant_flush, "host/sequential", C(BOUNDED) | C(REPLAYS), 0,
              "subnormals/f32/sum/*,normal/f32/sum/1x33/*", "flushes subnormal numbers to zero"),
        {.subject = {BASE("narrow_f64", "f32 where f64 is claimed", F64, SUM, mutant_narrow_f64),
                     .order = "host/sequential", .claims = ORDERED},
         .breaks = C(BOUNDED) | C(REPLAYS),
         .fixtures = "normal/f64/sum/1x33/*"},
        {.subject = {BASE("narrow_f16", "f16 where f32 is claimed", F16, SUM, mutant_narrow_f16),
                     .order = "host/sequential", .claims = ORDERED},
         .breaks = C(BOUNDED) | C(REPLAYS),
         .fixtures = "constant/f16/sum/1x300/*,normal/f16/sum/1x257/*"},
        {.subject = {BASE("wide_f16", "f32 where f16 is declared", F16, SUM, mutant_wide_f16),
                     .order = "host/sequential", .accumulator = FOLD_OF_TERMS, .claims = ORDERED},
         .breaks = C(REPLAYS),
         .fixtures = "constant/f16/sum/1x300/*,normal/f16/sum/1x257/*"},
        {.subject = {BASE("narrowed_f32", "results in f32, rounded to f16 first", F16, SUM, mutant_narrowed_f32),
                     .order = "host/sequential", .result = FOLD_ALWAYS(FOLD_F32), .claims = ORDERED},
         .breaks = C(BOUNDED) | C(REPLAYS),
         .fixtures = "constant/f16/sum/1x300/*,normal/f16/sum/1x257/*"},
        {.subject = {BASE("joined_in_f16", "results in f32, joined in f16", F16, SUM, mutant_joined_in_f16),
                     .order = "host/sequential", .result = FOLD_OF_ACCUMULATOR, .claims = ORDERED},
         .breaks = C(BOUNDED) | C(REPLAYS),
         .fixtures = "constant/f16/sum/1x300/*,normal/f16/sum/1x257/*"},
        {.subject = {BASE("last_f32_unwritten", "leaves the last result in f32 unwritten", F16, SUM,
                          mutant_last_f32_unwritten),
                     .order = "host/sequential", .result = FOLD_ALWAYS(FOLD_F32), .claims = ORDERED},
         .breaks = C(WRITES_OUTPUT) | C(BOUNDED) | C(REPLAYS),
         .may = REPEATS,
         .fixtures = "normal/f16/sum/17x257/*"},
        {.subject = {BASE("last_f32_varies", "gives another last result every other run", F16, SUM,
                          mutant_last_f32_varies),
                     .result = FOLD_ALWAYS(FOLD_F32), .claims = SOUND | C(BOUNDED)},
         .breaks = C(RUN_TO_RUN),
         .may = REPEATS,
         .fixtures = "normal/f16/sum/17x257/*"},
        {.subject = {BASE("narrowed_exact", "exact, results in f32, rounded to f16 first", F16, SUM,
                          mutant_narrowed_exact),
                     .method = FOLD_EXACT, .result = FOLD_ALWAYS(FOLD_F32), .claims = EXACTLY},
         .breaks = C(FAITHFUL) | C(CORRECTLY_ROUNDED),
         .fixtures = "constant/f16/sum/1x300/*,normal/f16/sum/1x257/*"},
        {.subject = {BASE("as_accurate_as_pairwise", "a sequential sum, called as accurate as a pairwise one", F32, SUM,
                          fold_host_ordered),
                     .order = "host/sequential", .accurate_as = "host/pairwise", .claims = ORDERED | C(ACCURATE_AS)},
         .breaks = C(ACCURATE_AS),
         .fixtures = "constant/f32/sum/1x4097/*,normal/f32/sum/1x31/*"},
        {.subject = {BASE("within_an_ulp", "a pairwise sum, called within one ulp whatever the terms", F32, SUM,
                          fold_host_ordered),
                     .order = "host/pairwise", .accurate_as = "host/pairwise", .most_ulps = 1,
                     .claims = ORDERED | C(ACCURATE_AS) | C(ULPS)},
         .breaks = C(ULPS),
         .fixtures = "ill_conditioned/f32/sum/1x127/*,normal/f32/sum/1x31/*"},
        PLAIN("excess", mutant_excess, "host/sequential", C(REPLAYS), 0, "normal/f32/sum/1x1023/*",
              "adds f32 in f64: more precision than declared"),
        PLAIN("nan_swallowed", mutant_nan_swallowed, "host/sequential", C(BOUNDED) | C(REPLAYS), 0,
              "nan_*/f32/sum/1x31/*", "takes NaN for 0"),
        PLAIN("nan_made", mutant_nan_made, "host/sequential", C(BOUNDED) | C(REPLAYS), 0, "inf_middle/f32/sum/1x31/*",
              "infinity - infinity on the way"),
        {.subject = {BASE("nan_in_max", "a > b ? a : b", F32, MAX, mutant_nan_in_max), .order = "host/sequential",
                     .claims = ORDERED},
         .breaks = C(CORRECTLY_ROUNDED) | C(REPLAYS) | C(PERMUTATION_INVARIANT),
         .may = C(BATCH_INVARIANT),
         .fixtures = "nan_middle/f32/max/*,nan_first/f32/max/*"},
        {.subject = {BASE("zero_in_max", "the first of two zeros wins", F32, MAX, mutant_zero_in_max),
                     .order = "host/sequential", .claims = ORDERED},
         .breaks = C(CORRECTLY_ROUNDED) | C(REPLAYS) | C(PERMUTATION_INVARIANT),
         .fixtures = "zeros_mixed/f32/max/*,both_zeros/f32/max/*"},
        {.subject = {BASE("zero_in_exact", "the sum of only -0 is +0", F32, SUM, mutant_zero_in_exact),
                     .method = FOLD_EXACT, .claims = EXACTLY},
         .breaks = C(FAITHFUL) | C(CORRECTLY_ROUNDED),
         .fixtures = "negative_zeros/f32/sum/*,zeros_mixed/f32/sum/1x33/*"},
        {.subject = {BASE("kahan_plain", "Kahan without the correction", F32, SUM, mutant_kahan_plain),
                     .order = "host/sequential", .method = FOLD_KAHAN, .claims = SOUND | C(COMPENSATED) | C(REPLAYS)},
         .breaks = C(COMPENSATED) | C(REPLAYS),
         .fixtures = "constant/f32/sum/1x4097/*,normal/f32/sum/1x33/*"},
        {.subject = {BASE("neumaier_open", "Neumaier without the last addition", F32, SUM, mutant_neumaier_open),
                     .order = "host/sequential", .method = FOLD_NEUMAIER,
                     .claims = SOUND | C(COMPENSATED) | C(REPLAYS)},
         .breaks = C(COMPENSATED) | C(REPLAYS),
         .fixtures = "normal/f32/sum/1x1023/*"},
        {.subject = {BASE("kahan_back", "Kahan's sum in falling index", F32, SUM, mutant_kahan_back),
                     .order = "host/sequential", .method = FOLD_KAHAN, .claims = SOUND | C(COMPENSATED) | C(REPLAYS)},
         .breaks = C(REPLAYS),
         .fixtures = "normal/f32/sum/1x1023/*,mixed/f32/sum/1x1023/*"},
        {.subject = {BASE("neumaier_one_sided", "Neumaier's without a look at which is larger", F32, SUM,
                          mutant_neumaier_one_sided),
                     .order = "host/sequential", .method = FOLD_NEUMAIER,
                     .claims = SOUND | C(COMPENSATED) | C(REPLAYS)},
         .breaks = C(REPLAYS),
         .may = C(COMPENSATED),
         .fixtures = "normal/f32/sum/1x33/*,normal/f32/sum/1x1023/*"},
        {.subject = {BASE("float64_lanes", "two sums in f64, added at the end", F64, SUM, mutant_float64_lanes),
                     .order = "host/sequential", .accumulator = FOLD_ALWAYS(FOLD_F64), .claims = ORDERED},
         .breaks = C(REPLAYS),
         .fixtures = "normal/f64/sum/1x1023/*"},
        {.subject = {BASE("truncated", "exact, but rounded towards zero", F32, SUM, mutant_truncated),
                     .method = FOLD_EXACT, .claims = EXACTLY},
         .breaks = C(CORRECTLY_ROUNDED),
         .fixtures = "normal/f32/sum/1x3[0-6]/*,ties/f32/sum/1x33/*"},
        {.subject = {BASE("rounded_twice", "exact to f64, then to f32", F32, SUM, mutant_rounded_twice),
                     .method = FOLD_EXACT, .claims = EXACTLY},
         .breaks = C(CORRECTLY_ROUNDED),
         .fixtures = "tie_broken_far_away/f32/*,normal/f32/sum/1x33/*"},
        {.subject = {BASE("subnormal_twice", "to 11 bits, then to a subnormal", F16, PROD, mutant_subnormal_twice),
                     .method = FOLD_EXACT, .claims = EXACTLY},
         .breaks = C(CORRECTLY_ROUNDED),
         .fixtures = "product_double_rounding/*"},
        {.subject = {BASE("two_away", "two ulps from the exact sum", F32, SUM, mutant_two_away), .method = FOLD_EXACT,
                     .claims = SOUND | C(FAITHFUL) | C(PERMUTATION_INVARIANT)},
         .breaks = C(FAITHFUL),
         .fixtures = "normal/f32/sum/1x3[0-6]/*"},
        {.subject = {BASE("narrow_truncated", "adds in f16, towards zero", F16, SUM, mutant_narrow_truncated),
                     .accumulator = FOLD_OF_TERMS, .claims = SOUND | C(BOUNDED)},
         .breaks = C(BOUNDED),
         .fixtures = "narrow_truncated/*"},
};
END(numbers)
