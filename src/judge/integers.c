/* judge/integers.c: a result that is an integer: right or wrong, for integers are not rounded.
 *
 * Right is the exact result; where it leaves the result's range, and the subject says that it wraps, its value modulo 2^bits. A wrong
 * result is explained where the two numbers show how it came about: it wrapped, or a float has lost units.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "judge/evidence.h"
#include "oracles/integers.h"

static const char *name_of(const struct fold_truth *truth) { return truth->op == FOLD_PROD ? "product" : "sum"; }

/* The two results as messages have them. */
struct told {
  char exact[64], got[40];
};

/* All digits of the exact result, or, of a long one, its first. */
static struct told tell(const struct fold_weighing *w) {
  const struct fold_truth *truth = w->truth;
  const bool is_long = mpfr_regular_p(truth->exact) && mpfr_get_exp(truth->exact) > 130;
  struct told told;
  mpfr_snprintf(told.exact, sizeof told.exact, is_long ? "%.6Re" : "%.0Rf", truth->exact);
  fold_bits_decimal(w->how.result, w->got, told.got);
  return told;
}

/* Whether got is the exact result modulo 2^bits, in two's complement, and not the exact result; *times 2^bits lie between. */
static bool has_wrapped(const struct fold_weighing *w, int bits, mpfr_t times) {
  const int64_t got = fold_integer_value(fold_format_of(w->how.result), w->got);
  if (bits < 64 && (got >> (bits - 1) != 0 && got >> (bits - 1) != -1)) return false;
  mpfr_sub_si(times, w->truth->exact, got, MPFR_RNDN);
  mpfr_div_2ui(times, times, (unsigned long)bits, MPFR_RNDN);
  return mpfr_integer_p(times) && !mpfr_zero_p(times);
}

static bool say_wrapped(const struct fold_weighing *w, const struct told *told, int bits,
                        struct fold_finding *finding) {
  const struct fold_truth *truth = w->truth;
  char by[64] = "";
  mpfr_t times;
  mpfr_init2(times, mpfr_get_prec(truth->exact) + 70);
  const bool wrapped = has_wrapped(w, bits, times);
  const bool may = !w->wraps && bits == fold_format_of(w->how.result).bits;
  const bool up = wrapped && mpfr_sgn(times) < 0;
  mpfr_abs(times, times, MPFR_RNDN);
  if (wrapped && mpfr_cmp_ui(times, 1) > 0) mpfr_snprintf(by, sizeof by, "%.*Rg x ", 20, times);
  mpfr_clear(times);
  if (!wrapped) return false;
  fold_find_refuted(finding, "the %s wrapped: %s is %s %c %s2^%d%s", name_of(truth), told->got, told->exact,
                    up ? '+' : '-', by, bits, may ? "; where that is meant, declare `wraps`" : "");
  return true;
}

/* An exact product is not held that is longer than a sum ever is: but its low bits are. */
static bool say_long_product(const struct fold_weighing *w, const struct told *told, struct fold_finding *finding) {
  if (!w->truth->enclosed) return false;
  fold_find_refuted(finding, "the product is about %s%s%s", told->exact,
                    w->got == w->truth->rounded[w->how.result] ? ": it wrapped to " : ", not ", told->got);
  return true;
}

/* Whether got is a number that the float holds, from where on it does not hold all integers, no farther from the exact result than
 * a sum in it may be: n u sum |x|. */
static bool may_be_sum_of(enum fold_dtype dtype, const struct fold_weighing *w) {
  const int precision = fold_format_of(dtype).precision;
  const int64_t got = fold_integer_value(fold_format_of(w->how.result), w->got);
  const uint64_t magnitude = got < 0 ? 0 - (uint64_t)got : (uint64_t)got;
  if (magnitude >> precision == 0) return false;
  if (64 - __builtin_clzll(magnitude) - __builtin_ctzll(magnitude) > precision) return false;
  const double bound = ldexp(mpfr_get_d(w->truth->abs_sum, MPFR_RNDU) * (double)w->truth->n, -precision);
  return mpfr_cmp_d(w->error, bound) <= 0;
}

static bool say_float(const struct fold_weighing *w, const struct told *told, struct fold_finding *finding) {
  static const enum fold_dtype floats[] = {FOLD_F64, FOLD_F32};
  for (size_t i = 0; i < sizeof floats / sizeof *floats; i++) {
    if (w->truth->op != FOLD_SUM || !may_be_sum_of(floats[i], w)) continue;
    fold_find_refuted(finding,
                      "the sum is %s, not %s: it is a number of %s, which has lost units as an accumulator in %s does",
                      told->exact, told->got, fold_dtype_name(floats[i]), fold_dtype_name(floats[i]));
    return true;
  }
  return false;
}

static void explain(struct fold_weighing *w, struct fold_finding *finding) {
  const int bits = fold_format_of(w->how.result).bits;
  const struct told told = tell(w);
  w->explained = true;
  if (say_long_product(w, &told, finding)) return;
  if (mpfr_number_p(w->truth->exact))
    for (int narrow = bits; narrow >= 8; narrow /= 2)
      if (!fold_truth_is_within(w->truth, narrow) && say_wrapped(w, &told, narrow, finding)) return;
  if (say_float(w, &told, finding)) return;
  w->explained = false;
  fold_find_refuted(finding, "the exact result is %s, not %s", told.exact, told.got);
}

/* In front of the reason: no line of got and want follows, which would name it. */
static void name_result(const struct fold_weighing *w, struct fold_finding *finding) {
  char reason[sizeof finding->reason], name[120];
  memcpy(reason, finding->reason, sizeof reason);
  fold_find_refuted(finding, "%s: %s", fold_result_name(w->c->problem, &w->c->shape, w->row, name), reason);
}

bool fold_weigh_integer(struct fold_weighing *w, struct fold_finding *finding) {
  const struct fold_truth *truth = w->truth;
  const enum fold_dtype dtype = w->how.result;
  const bool within = fold_truth_is_within(truth, fold_format_of(dtype).bits);
  uint64_t want = truth->rounded[dtype];
  if (w->wraps && mpfr_number_p(truth->exact) && fold_dtype_is_integer(w->how.accumulator))
    want = fold_integer_result(w->how, truth->rounded[w->how.accumulator]);
  w->explained = false;
  mpfr_set_ui(w->bound, 0, MPFR_RNDU);
  finding->ulps = isnan(finding->ulps) ? 0 : finding->ulps;
  w->ulps = w->backward = w->fraction = 0;
  if (w->got == want && (within || w->wraps)) return true;
  fold_truth_error(w->error, truth, dtype, w->got);
  w->ulps = finding->ulps = mpfr_get_d(w->error, MPFR_RNDU);
  w->fraction = finding->fraction = INFINITY;
  finding->row = w->row;
  finding->compared = w->got != want; /* what has wrapped is the pattern that is wanted, of another number */
  finding->got = w->got;
  finding->want = want;
  explain(w, finding);
  if (!finding->compared) name_result(w, finding);
  return false;
}
