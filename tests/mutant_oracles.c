/* mutant_oracles.c: oracles and generators that are right but for one fault each, if possible in one field only. */
#include "mutant_oracles.h"

#include <math.h>
#include <stdlib.h>

#include "base/bits.h"

static fold_status right(enum fold_dtype dtype, const void *in, size_t n, struct fold_truth *truth) {
  return fold_oracle_exact(dtype, FOLD_SUM, in, n, 1, truth);
}

/* Rounds every dtype's pattern anew from `value`; `exact` stays. */
static void round_all(struct fold_truth *truth, mpfr_srcptr value) {
  for (int d = 0; d < FOLD_FLOATS; d++) truth->rounded[d] = fold_mpfr_round((enum fold_dtype)d, value);
}

static fold_status plain_f64(enum fold_dtype dtype, const void *in, size_t n, struct fold_truth *truth) {
  double sum = n > 0 ? -0.0 : 0.0;
  FOLD_TRY(right(dtype, in, n, truth));
  for (size_t i = 0; i < n; i++) sum += fold_bits_to_double(dtype, fold_bits_load(dtype, in, i));
  mpfr_set_prec(truth->exact, 53);
  mpfr_set_d(truth->exact, sum, MPFR_RNDN);
  round_all(truth, truth->exact);
  return fold_ok();
}

/* Two halves' states whose limbs are added as words of 32 bits: what does not fit is lost, or becomes a sign. */
static fold_status merge_words(enum fold_dtype dtype, const void *in, size_t n, struct fold_truth *truth,
                               int64_t (*word)(int64_t)) {
  struct fold_super left = {0}, other = {0};
  FOLD_TRY(right(dtype, in, n, truth));
  fold_super_add(dtype, in, n / 2, &left, NULL);
  fold_super_add(dtype, (const char *)in + n / 2 * fold_dtype_size(dtype), n - n / 2, &other, NULL);
  int last = fold_super_limbs(dtype) - 1;
  for (int k = 0; k <= last; k++)
    left.limb[k] = k < last ? word(left.limb[k] + other.limb[k]) : left.limb[k] + other.limb[k];
  left.nan += other.nan;
  left.positive_infinity += other.positive_infinity;
  left.negative_infinity += other.negative_infinity;
  left.other_than_negative_zero += other.other_than_negative_zero;
  left.terms += other.terms;
  fold_super_value(dtype, &left, truth->exact);
  round_all(truth, truth->exact);
  return fold_ok();
}
static int64_t low_word(int64_t limb) { return limb & 0xffffffff; }
static int64_t signed_word(int64_t limb) { return (limb & 0x7fffffff) - (limb & 0x80000000); }

static fold_status carry_lost(enum fold_dtype dtype, const void *in, size_t n, struct fold_truth *truth) {
  return merge_words(dtype, in, n, truth, low_word);
}
static fold_status limb_overflows(enum fold_dtype dtype, const void *in, size_t n, struct fold_truth *truth) {
  return merge_words(dtype, in, n, truth, signed_word);
}

/* 64 bits of the exact sum, and no sticky bit for the rest. */
static fold_status sticky_lost(enum fold_dtype dtype, const void *in, size_t n, struct fold_truth *truth) {
  mpfr_t cut;
  FOLD_TRY(right(dtype, in, n, truth));
  mpfr_init2(cut, 64);
  mpfr_set(cut, truth->exact, MPFR_RNDZ);
  round_all(truth, cut);
  mpfr_clear(cut);
  return fold_ok();
}

/* To each format's precision, as if there were no subnormals, by `round`; then to the format. */
static fold_status round_twice(enum fold_dtype dtype, const void *in, size_t n, struct fold_truth *truth, bool away) {
  FOLD_TRY(right(dtype, in, n, truth));
  for (int d = 0; d < FOLD_FLOATS; d++) {
    mpfr_t wide;
    mpfr_init2(wide, fold_format_of((enum fold_dtype)d).precision);
    if (away)
      mpfr_round_nearest_away(mpfr_set, wide, truth->exact);
    else
      mpfr_set(wide, truth->exact, MPFR_RNDN);
    truth->rounded[d] = fold_mpfr_round((enum fold_dtype)d, wide);
    mpfr_clear(wide);
  }
  return fold_ok();
}
static fold_status subnormal_rounded_twice(enum fold_dtype dtype, const void *in, size_t n, struct fold_truth *truth) {
  return round_twice(dtype, in, n, truth, false);
}
static fold_status ties_away(enum fold_dtype dtype, const void *in, size_t n, struct fold_truth *truth) {
  return round_twice(dtype, in, n, truth, true);
}

static fold_status subnormal_flushed(enum fold_dtype dtype, const void *in, size_t n, struct fold_truth *truth) {
  FOLD_TRY(right(dtype, in, n, truth));
  for (int d = 0; d < FOLD_FLOATS; d++)
    if (fold_bits_class((enum fold_dtype)d, truth->rounded[d]) == FOLD_SUBNORMAL)
      truth->rounded[d] &= fold_format_of((enum fold_dtype)d).sign;
  return fold_ok();
}

static fold_status zero_unsigned(enum fold_dtype dtype, const void *in, size_t n, struct fold_truth *truth) {
  FOLD_TRY(right(dtype, in, n, truth));
  if (mpfr_zero_p(truth->exact)) {
    mpfr_set_zero(truth->exact, 1);
    round_all(truth, truth->exact);
  }
  return fold_ok();
}

static fold_status nan_swallowed(enum fold_dtype dtype, const void *in, size_t n, struct fold_truth *truth) {
  size_t size = fold_dtype_size(dtype);
  void *copy = malloc(n * size + 1);
  if (!copy) return fold_error(FOLD_NO_MEMORY, "no memory");
  for (size_t i = 0; i < n; i++) {
    uint64_t bits = fold_bits_load(dtype, in, i);
    fold_bits_store(dtype, copy, i, fold_bits_class(dtype, bits) == FOLD_NAN ? 0 : bits);
  }
  fold_status status = right(dtype, copy, n, truth);
  free(copy);
  return status;
}

static fold_status infinities_cancel(enum fold_dtype dtype, const void *in, size_t n, struct fold_truth *truth) {
  bool nan = false;
  FOLD_TRY(right(dtype, in, n, truth));
  for (size_t i = 0; i < n; i++) nan |= fold_bits_class(dtype, fold_bits_load(dtype, in, i)) == FOLD_NAN;
  if (!nan && mpfr_nan_p(truth->exact)) {
    mpfr_set_zero(truth->exact, 1);
    round_all(truth, truth->exact);
  }
  return fold_ok();
}

static fold_status overflow_saturates(enum fold_dtype dtype, const void *in, size_t n, struct fold_truth *truth) {
  FOLD_TRY(right(dtype, in, n, truth));
  for (int d = 0; d < FOLD_FLOATS; d++)
    if (mpfr_number_p(truth->exact) && fold_bits_class((enum fold_dtype)d, truth->rounded[d]) == FOLD_INFINITE)
      truth->rounded[d]--;
  return fold_ok();
}

static fold_status last_dropped(enum fold_dtype dtype, const void *in, size_t n, struct fold_truth *truth) {
  return right(dtype, in, n > 1 ? n - 1 : n, truth);
}

static fold_status magnitudes_signed(enum fold_dtype dtype, const void *in, size_t n, struct fold_truth *truth) {
  FOLD_TRY(right(dtype, in, n, truth));
  if (!mpfr_number_p(truth->exact)) return fold_ok();
  mpfr_set_prec(truth->abs_sum, mpfr_get_prec(truth->exact));
  mpfr_abs(truth->abs_sum, truth->exact, MPFR_RNDN);
  return fold_ok();
}

static const struct fold_mutant_oracle oracles[] = {
    {"plain_f64", plain_f64},
    {"carry_lost", carry_lost},
    {"limb_overflows", limb_overflows},
    {"sticky_lost", sticky_lost},
    {"subnormal_rounded_twice", subnormal_rounded_twice},
    {"ties_away", ties_away},
    {"subnormal_flushed", subnormal_flushed},
    {"zero_unsigned", zero_unsigned},
    {"nan_swallowed", nan_swallowed},
    {"infinities_cancel", infinities_cancel},
    {"overflow_saturates", overflow_saturates},
    {"last_dropped", last_dropped},
    {"magnitudes_signed", magnitudes_signed},
};
const struct fold_mutant_oracle *fold_mutant_oracles(size_t *n) {
  *n = sizeof oracles / sizeof *oracles;
  return oracles;
}

static void seed_ignored(const struct fold_source *source, uint64_t first, size_t n, void *out) {
  struct fold_source same = *source;
  same.seed = 42;
  fold_generate(&same, first, n, out);
}
static void part_restarts(const struct fold_source *source, uint64_t first, size_t n, void *out) {
  (void)first;
  fold_generate(source, 0, n, out);
}
static void length_matters(const struct fold_source *source, uint64_t first, size_t n, void *out) {
  fold_generate(source, first + (n % 4 == 3), n, out);
}
static void neighbours_swapped(const struct fold_source *source, uint64_t first, size_t n, void *out) {
  for (size_t i = 0; i < n; i++)
    fold_generate(source, (first + i) ^ 1, 1, (char *)out + i * fold_dtype_size(source->dtype));
}

static const struct fold_mutant_generator generators[] = {{"seed_ignored", seed_ignored},
                                                          {"part_restarts", part_restarts},
                                                          {"length_matters", length_matters},
                                                          {"neighbours_swapped", neighbours_swapped}};
const struct fold_mutant_generator *fold_mutant_generators(size_t *n) {
  *n = sizeof generators / sizeof *generators;
  return generators;
}
