/* judge/weighing.c: one result against the theorem of its method.
 *
 * Special values are compared by class before any subtraction, and a result is accepted by a positive condition
 * (error <= bound), so that NaN never passes.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/bits.h"
#include "judge/evidence.h"
#include "oracles/bound.h"

void fold_find_row(struct fold_finding *finding, size_t row, uint64_t got, uint64_t want, double ulps) {
  finding->row = row;
  finding->compared = true;
  finding->got = got;
  finding->want = want;
  if (!isnan(ulps)) finding->ulps = ulps;
}

void fold_find_worst(struct fold_finding *finding, size_t row, uint64_t got, uint64_t want, double ulps,
                     double fraction) {
  bool worse = isnan(finding->ulps) || fraction > finding->fraction || (isnan(fraction) && ulps > finding->ulps);
  if (isnan(finding->ulps) || ulps > finding->ulps) finding->ulps = ulps;
  if (isnan(finding->fraction) || fraction > finding->fraction) finding->fraction = fraction;
  if (worse) fold_find_row(finding, row, got, want, NAN);
}

enum fold_dtype fold_error_unit(struct fold_arithmetic how) {
  const int wide = fold_format_of(how.accumulator).precision;
  return wide < fold_format_of(how.result).precision ? how.accumulator : how.result;
}

double fold_error_backward(mpfr_srcptr error, const struct fold_truth *truth, struct fold_arithmetic how) {
  const struct fold_format unit = fold_format_of(fold_error_unit(how));
  if (truth->op != FOLD_SUM) return NAN;
  MPFR_DECL_INIT(normal, 2);
  mpfr_set_ui_2exp(normal, 1, unit.emin, MPFR_RNDN);
  const bool normally = mpfr_greaterequal_p(truth->abs_sum, normal);
  return ldexp(fold_ratio_up(error, normally ? truth->abs_sum : normal), unit.precision);
}

void fold_find_backward(struct fold_finding *finding, double backward) {
  if (isnan(finding->backward) || backward > finding->backward) finding->backward = backward;
}

/* A result of another class that the theorem leaves possible: the exact one, or what an overflow gives. */
static uint64_t possible(const struct fold_weighing *w, const struct fold_outcomes *may) {
  const struct fold_truth *truth = w->truth;
  const struct fold_format format = fold_format_of(w->how.result);
  const bool negative = mpfr_signbit(truth->exact) != 0;
  if (may->finite || !truth->finite_terms) return truth->rounded[w->how.result];
  if (!may->infinite[0] && !may->infinite[1]) return format.nan;
  return format.beyond | ((may->infinite[negative] ? negative : !negative) ? format.sign : 0);
}

/* Judges a result by its class: NaN, infinite or finite, as the theorem leaves possible. */
static bool judge_class(const struct fold_weighing *w, const struct fold_outcomes *may, struct fold_finding *finding) {
  const struct fold_truth *truth = w->truth;
  const enum fold_dtype dtype = w->how.result;
  enum fold_class class = fold_bits_class(dtype, w->got);
  bool finite = class < FOLD_INFINITE, negative = fold_bits_negative(dtype, w->got);
  if (class == FOLD_NAN ? may->nan : finite ? may->finite : may->infinite[negative]) return true;
  fold_find_row(finding, w->row, w->got, possible(w, may), truth->finite_terms ? INFINITY : NAN);
  if (!truth->finite_terms)
    fold_find_refuted(finding, "the rules for special values require a different result (docs/claims.md, Numbers)");
  else if (finite)
    fold_find_refuted(finding, "the result is finite, and every order overflows");
  else if (may->infinite[0] || may->infinite[1])
    fold_find_refuted(finding, "no order overflows that way");
  else
    fold_find_refuted(finding, "the result is not finite, and no partial result can overflow");
  return false;
}

/* Prints as many digits as it takes to tell the two apart: "error 1.23457e-05 is above the bound 1.23456e-05". */
static void refute_above(struct fold_finding *finding, mpfr_srcptr error, mpfr_srcptr bound) {
  char text[2][64];
  for (int digits = 3; digits <= 24; digits++) {
    mpfr_snprintf(text[0], sizeof text[0], "%.*Rg", digits, error);
    mpfr_snprintf(text[1], sizeof text[1], "%.*Rg", digits, bound);
    if (strcmp(text[0], text[1]) != 0) break;
  }
  fold_find_refuted(finding, "error %s is above the bound %s", text[0], text[1]);
}

/* A product that is no NaN has the sign of its terms' signs, in whatever order, and if it is zero too. A sum of no terms is +0. */
static bool judge_sign(const struct fold_weighing *w, struct fold_finding *finding) {
  const struct fold_truth *truth = w->truth;
  const uint64_t want = truth->rounded[w->how.result];
  const bool product = truth->op == FOLD_PROD && truth->finite_terms, nothing = truth->op == FOLD_SUM && truth->n == 0;
  const bool negative = fold_bits_negative(w->how.result, want);
  if (!(product || nothing) || fold_bits_negative(w->how.result, w->got) == negative) return true;
  fold_find_row(finding, w->row, w->got, want, NAN);
  if (product)
    fold_find_refuted(finding, "a product of these terms is %s in every order", negative ? "negative" : "positive");
  else
    fold_find_refuted(finding, "a sum of no terms is +0");
  return false;
}

/* Judges a finite result: its error must be within the bound, and where no order rounds on the way it must be the
 * correctly rounded one (a zero sum may have either sign). */
static bool judge_within(struct fold_weighing *w, bool exact, struct fold_finding *finding) {
  const enum fold_dtype dtype = w->how.result;
  uint64_t want = w->truth->rounded[dtype], sign = fold_format_of(dtype).sign;
  bool nearest = w->got == want || !((w->got | want) & ~sign);
  fold_truth_error(w->error, w->truth, dtype, w->got);
  bool within = mpfr_lessequal_p(w->error, w->bound);
  w->ulps = fold_truth_ulps(w->error, w->truth, dtype);
  w->backward = fold_error_backward(w->error, w->truth, w->how);
  w->fraction = fold_ratio_up(w->error, w->bound);
  fold_find_backward(finding, w->backward);
  fold_find_worst(finding, w->row, w->got, want, w->ulps, w->fraction);
  if (within && (nearest || !exact)) return true;
  fold_find_row(finding, w->row, w->got, want, w->ulps);
  if (exact && !nearest)
    fold_find_refuted(finding, "every order gives the %s here, and this is not it",
                      mpfr_zero_p(w->bound) ? "exact result" : "number nearest to the exact result");
  else
    refute_above(finding, w->error, w->bound);
  return false;
}

void fold_weighing_init(struct fold_weighing *w) {
  *w = (struct fold_weighing){.ulps = NAN, .backward = NAN, .fraction = NAN};
  mpfr_init2(w->error, 256); /* unseen: 255 */
  mpfr_init2(w->bound, 128);
}

void fold_weighing_free(struct fold_weighing *w) {
  mpfr_clear(w->error);
  mpfr_clear(w->bound);
}

bool fold_weigh(struct fold_weighing *w, struct fold_finding *finding, fold_status *status) {
  struct fold_outcomes may;
  w->ulps = w->backward = w->fraction = NAN;
  *status = fold_ok();
  if (fold_dtype_is_integer(w->how.result)) return fold_weigh_integer(w, finding);
  *status = fold_bound_narrowed(w->how, w->truth, w->height, &w->narrowing, w->running, w->bound, &may);
  if (status->code != FOLD_OK) return true;
  if (!judge_class(w, &may, finding)) return false;
  if (fold_bits_class(w->how.result, w->got) >= FOLD_INFINITE) return true;
  return judge_sign(w, finding) && judge_within(w, may.exact, finding);
}
