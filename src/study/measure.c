/* study/measure.c: compares one result with the truth: its error, and what theory says about it. */
#include <math.h>
#include <stdio.h>

#include "base/bits.h"
#include "oracles/bound.h"
#include "study/study.h"

/* a / b rounded up as a double; NaN for 0 / 0. */
static double ratio(mpfr_srcptr a, mpfr_srcptr b) {
  mpfr_t q;
  mpfr_init2(q, 64);
  mpfr_div(q, a, b, MPFR_RNDU);
  double value = mpfr_get_d(q, MPFR_RNDU);
  mpfr_clear(q);
  return value;
}

static double bound_of(struct fold_study_point *point, const struct fold_truth *truth) {
  if (truth->op == FOLD_MAX || truth->op == FOLD_MIN) return truth->finite_terms ? 0 : NAN;
  mpfr_t bound;
  mpfr_init2(bound, 128);
  fold_status status = fold_bound(fold_subject_arithmetic(point->subject, truth->dtype), truth, point->height, bound);
  double value = status.code == FOLD_OK ? mpfr_get_d(bound, MPFR_RNDU) : NAN;
  if (status.code != FOLD_OK)
    snprintf(point->note, sizeof point->note, "%.*s", (int)sizeof point->note - 1, status.text);
  mpfr_clear(bound);
  return value;
}

/* sqrt(h) u sum |x|: where the error of independent roundings of mean zero lies, up to a small factor, taken as 1:
 * Higham and Mary, A new approach to probabilistic rounding error analysis, SIAM J. Sci. Comput. 41 (2019), A2815; for
 * trees Hallman and Ipsen (2023). A product has sqrt(n - 1) u |p|; a result that is narrower
 * than its accumulator is rounded once more. NaN for the compensated and exact methods, whose errors do not grow so. */
static double curve_of(struct fold_arithmetic how, const struct fold_truth *truth, uint64_t height) {
  bool sum = truth->op == FOLD_SUM, product = truth->op == FOLD_PROD;
  if (how.method != FOLD_PLAIN || !(sum || product) || !truth->finite_terms) return NAN;
  if (truth->n <= 1) return 0;
  int precision = fold_format_of(how.result).precision, wide = fold_format_of(how.accumulator).precision;
  double u = ldexp(1, -wide), magnitude = fabs(mpfr_get_d(truth->exact, MPFR_RNDN));
  uint64_t roundings = sum ? height : truth->n - 1;
  double curve = sqrt((double)roundings) * u * (sum ? mpfr_get_d(truth->abs_sum, MPFR_RNDN) : magnitude);
  if (precision < wide) curve += ldexp(magnitude, -precision);
  return curve;
}

void fold_study_measure(struct fold_study_point *point, const struct fold_truth *truth) {
  const struct fold_arithmetic how = fold_subject_arithmetic(point->subject, truth->dtype);
  const enum fold_dtype dtype = how.result;
  point->want = truth->rounded[dtype];
  point->exact = mpfr_get_d(truth->exact, MPFR_RNDN);
  point->abs_sum = truth->finite_terms ? mpfr_get_d(truth->abs_sum, MPFR_RNDN) : NAN;
  point->condition = truth->condition;
  point->bound = bound_of(point, truth);
  point->probabilistic = curve_of(how, truth, point->height);
  point->error = point->ulps = point->relative = NAN;
  if (!mpfr_number_p(truth->exact)) {
    snprintf(point->note, sizeof point->note, "the exact result is not finite");
  } else if (fold_bits_class(dtype, point->want) >= FOLD_INFINITE) {
    snprintf(point->note, sizeof point->note, "the exact result overflows its dtype");
  } else if (fold_bits_class(dtype, point->got) >= FOLD_INFINITE) {
    char text[80];
    snprintf(point->note, sizeof point->note, "the result is not finite: %s", fold_bits_print(dtype, point->got, text));
  } else {
    mpfr_t error;
    mpfr_init2(error, 256);
    fold_truth_error(error, truth, dtype, point->got);
    point->error = mpfr_get_d(error, MPFR_RNDU);
    point->ulps = fold_truth_ulps(error, truth, dtype);
    point->relative = ratio(error, truth->op == FOLD_SUM ? truth->abs_sum : truth->exact);
    if (mpfr_zero_p(error)) point->relative = 0;
    point->relative = fabs(point->relative);
    mpfr_clear(error);
  }
}
