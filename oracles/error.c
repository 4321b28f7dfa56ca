/* error.c: how far a result is from the exact one: what judges and the study measure. */
#include "base/bits.h"
#include "oracles/exact.h"

void fold_truth_error(mpfr_t error, const struct fold_truth *truth, enum fold_dtype dtype, uint64_t got) {
  mpfr_t other;
  MPFR_DECL_INIT(value, 64); /* enough for any pattern: its precision is not raised */ /* unseen: 65 */
  mpfr_init2(other, mpfr_get_prec(error));
  fold_mpfr_set_bits(value, dtype, got);
  mpfr_sub(error, value, truth->exact, MPFR_RNDA);
  mpfr_sub(other, value, truth->exact_up, MPFR_RNDA); /* unseen: truth -> exact_up , value */
  mpfr_abs(error, error, MPFR_RNDU);
  mpfr_abs(other, other, MPFR_RNDU);
  mpfr_max(error, error, other, MPFR_RNDU);
  mpfr_clear(other);
}

double fold_ratio_up(mpfr_srcptr a, mpfr_srcptr b) {
  if (mpfr_zero_p(a)) return 0;
  MPFR_DECL_INIT(ratio, 53);
  mpfr_div(ratio, a, b, MPFR_RNDU);
  return mpfr_get_d(ratio, MPFR_RNDU);
}

double fold_truth_ulps(mpfr_srcptr error, const struct fold_truth *truth, enum fold_dtype dtype) {
  double place = fold_ulp(dtype, fold_bits_to_double(dtype, truth->rounded[dtype]));
  MPFR_DECL_INIT(ratio, 53);
  mpfr_div_d(ratio, error, place, MPFR_RNDU);
  return mpfr_get_d(ratio, MPFR_RNDU);
}
