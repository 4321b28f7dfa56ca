/* bound.c: how far a reduction's result may be from the exact one, by theorem, computed in MPFR and rounded outward.
 *
 * Promised: the bound, and what else may come, hold for every input for which fold_bound_outcomes answers FOLD_OK; where
 * there is no theorem it answers FOLD_UNSUPPORTED and says why. The judge depends on it.
 *
 * Notation: x_i the n terms, s their exact sum, S = sum |x_i|, p their exact product; u the unit roundoff of the
 * accumulator (2^-24 of f32, 2^-53 of f64), v = 2^-precision of the result's dtype, eta its smallest subnormal,
 * gamma_k = k u / (1 - k u). Higham = N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed.,
 * SIAM 2002.
 *
 * A(method) bounds the error in the accumulator:
 *
 *   PLAIN sum      gamma_h S: a term passes through at most h roundings (Higham, section 4.2). Addition has no
 *                  underflow error: all values are multiples of the accumulator's smallest subnormal. Where h u >= 1/2:
 *                  (n - 1) u S, for any order and any n (Jeannerod, Rump, SIAM J. Matrix Anal. Appl. 34 (2013), 338).
 *   PLAIN product  gamma_(n-1) |p|: n - 1 roundings in any order (Higham, Lemma 3.1), while no partial product falls below
 *                  the normal range. Else (n - 1) tau B (1 + gamma_(n-1)) more (bound_product.c).
 *   PLAIN dot      terms x_i y_i, S = sum |x_i y_i|. A product that is not exact in the accumulator passes through one rounding more,
 *                  by itself or in the FMA that joins it: gamma_(h+1) S. What lies below the accumulator's normal range is wrong by
 *                  at most half of its smallest subnormal e, once a product, and passes through the same roundings:
 *                  n e / 2 (1 + gamma_(h+1)) more (Ogita, Rump, Oishi, SIAM J. Sci. Comput. 26 (2005), section 2). Products of
 *                  16-bit formats are exact in f32 but for that. Where no product has a bit below e, none underflows.
 *   NEUMAIER       u |s| + gamma_(n-1)^2 S: its sum and error terms are those of Sum2, since the branch by magnitude
 *                  makes Fast2Sum exact, and it adds them up in the same order: Ogita, Rump, Oishi, Accurate sum and dot
 *                  product, SIAM J. Sci. Comput. 26 (2005), Proposition 4.5; n u < 1.
 *   KAHAN          (u |s| + (2 u + 8 n u^2) S) / (1 - u), n u <= 1/10: the (2 u + O(n u^2)) S of Higham, eq. (4.8),
 *                  with the rounding of the last addition apart and an explicit constant (bound_sum.c).
 *   TRUNCATED      gamma_(8 n) S, a sum or dot of n terms in any order and any blocks (bound_sum.c).
 *   EXACT          0
 *   any but EXACT  0 too where every partial result is a number of the accumulator (exact sums: bound_sum.c; exact products:
 *                  bound_product.c).
 *
 * Overflow. An infinity or NaN among the partial results stays one: inf + x and inf x are never finite. So a finite result
 * had no overflow on its way, and its bound holds, whatever else the order might have done. With T the threshold from which
 * on a format rounds to infinity, P and N the sums of the positive terms and of the negative ones' magnitudes (R the
 * larger), F the error of any partial sum:
 *   +infinity   may come if a partial sum may reach it, P + F >= T of the accumulator, or the result, s + A >= T of the
 *               dtype; -infinity likewise, by N and -s;
 *   NaN         if partial sums may reach both;
 *   finite      unless |s| - A >= T of the dtype or of the accumulator: a finite accumulator holds s but for A, and is below its
 *               own T, and from the dtype's on it is rounded to infinity.
 * So where A is small beside |s| and the other sign can't overflow, an overflow is demanded, and else it is refuted. F of plain sums
 * is A with P, or N, in place of S: rounding is monotone, so a tree's partial sums are no more than what it makes of the positive
 * terms, with zeros for the others. Of compensated ones, with their differences, F = S (2 gamma + 16 u) is above gamma_(n+3) S
 * (Neumaier) and 6 u S (Kahan), and an overflow may give any infinity, or NaN from a compensation infinity - infinity. A product
 * may overflow where B (1 + gamma_(n-1)) >= T (bound_product.c). NaN then needs a zero: a term, or an
 * underflow. Terms that are not finite: NaN stays, an infinity stays unless the finite terms overflow the other way (sum) or
 * underflow to a zero that meets it (product).
 *
 * Factors that are rounded first (narrowing.h) change the sum of any terms by at most D: what is summed are the rounded products, so
 * that S, P and N grow by D in all of the above, and A by D besides. Their lowest bits are no lower than
 * those of exact products, which stand for both. Where D = 0 nothing changes.
 *
 * A format without infinities (e4m3), of the accumulator or of the result, has NaN for both: what may come then is NaN.
 *
 * A result whose format does not hold the accumulator's numbers is rounded once more: by at most v times what is rounded, or by
 * eta / 2 below the normal range. A sum of elements that are multiples of eta is not rounded at all there.
 */
#include <math.h>

#include "base/bits.h"
#include "oracles/bound_terms.h"

const char *fold_bound_formula(enum fold_method method) {
  switch (method) {
    case FOLD_PLAIN:
      return "gamma_h sum|x| (product: gamma_(n-1) |p|), gamma_k = k u / (1 - k u); 0 where nothing can round";
    case FOLD_KAHAN: return "(u |s| + (2 u + 8 n u^2) sum|x|) / (1 - u)";
    case FOLD_NEUMAIER: return "u |s| + gamma_(n-1)^2 sum|x|";
    case FOLD_TRUNCATED: return "gamma_8n sum|x|; 0 where nothing can round";
    case FOLD_EXACT: return "v |s|, or half the smallest subnormal";
  }
  return "unknown method";
}

fold_status fold_no_bound(const char *reason) { return fold_error(FOLD_UNSUPPORTED, "no bound: %s", reason); }

bool fold_reaches_overflow(struct fold_format format, mpfr_srcptr value) {
  MPFR_DECL_INIT(threshold, FOLD_BOUND_BITS);
  MPFR_DECL_INIT(half_ulp, FOLD_BOUND_BITS);
  mpfr_set_ui_2exp(threshold, 1, format.emax + 1, MPFR_RNDD);
  mpfr_set_ui_2exp(half_ulp, 1, format.emax - format.precision, MPFR_RNDD);
  mpfr_sub(threshold, threshold, half_ulp, MPFR_RNDD); /* exact */
  /* Without infinities the largest number is even, one place lower: half an ulp above it is rounded to it. */
  if (!format.infinities)
    mpfr_mul_2ui(half_ulp, half_ulp, 1, MPFR_RNDD), mpfr_sub(threshold, threshold, half_ulp, MPFR_RNDD);
  bool reaches = format.infinities ? mpfr_greaterequal_p(value, threshold) : mpfr_greater_p(value, threshold);
  return reaches;
}

/* gamma_k = k u / (1 - k u), or false where k u >= 1/2: theorems ask for k u < 1, and partial products for gamma <= 1. */
static bool set_gamma(mpfr_t gamma, uint64_t k, int u) {
  MPFR_DECL_INIT(denominator, FOLD_BOUND_BITS);
  mpfr_set_uj_2exp(gamma, k, u, MPFR_RNDU);
  mpfr_ui_sub(denominator, 1, gamma, MPFR_RNDD);
  bool small = mpfr_cmp_ui_2exp(gamma, 1, -1) < 0;
  if (small) mpfr_div(gamma, gamma, denominator, MPFR_RNDU);
  return small;
}

/* |s| - A >= T, from numbers that are rounded towards that being false. */
static bool overflow_is_certain(struct fold_bound_terms *t, mpfr_srcptr error) {
  mpfr_abs(t->scratch, t->truth->exact, MPFR_RNDD); /* of an enclosed product the lower end */
  mpfr_sub(t->scratch, t->scratch, error, MPFR_RNDD);
  return fold_reaches_overflow(t->result, t->scratch) || fold_reaches_overflow(t->accumulator, t->scratch);
}

/* Sets what may come instead of a finite result. */
static void set_outcomes(struct fold_bound_terms *t, mpfr_srcptr error, struct fold_outcomes *outcomes) {
  const enum fold_dtype dtype = t->how.result;
  int sign = mpfr_signbit(t->truth->exact) != 0;
  bool sum = t->truth->op == FOLD_SUM, right, wrong = false;
  if (outcomes->exact) {
    right = fold_bits_class(dtype, t->truth->rounded[dtype]) >= FOLD_INFINITE;
    outcomes->finite = !right && !overflow_is_certain(t, error);
  } else {
    mpfr_add(t->scratch, t->magnitude, error, MPFR_RNDU);
    right = fold_reaches_overflow(t->result, t->scratch);
    outcomes->finite = !overflow_is_certain(t, error);
    /* An error above |s| may change the sign of a sum; the sign of a product is always right. */
    mpfr_abs(t->scratch, t->truth->exact, MPFR_RNDD);
    mpfr_sub(t->scratch, error, t->scratch, MPFR_RNDU);
    wrong = sum && fold_reaches_overflow(t->result, t->scratch);
  }
  if (t->running && !isfinite(t->running->value)) {
    outcomes->finite = right = wrong = false;
  }
  outcomes->infinite[sign] = t->partial[sign] || right;
  outcomes->infinite[!sign] = t->partial[!sign] || wrong;
  outcomes->nan = outcomes->nan || (sum && t->partial[0] && t->partial[1]);
}

/* Adds the error of the last rounding, to the dtype of the result. If `exact`, this is the only error. */
static void round_last(struct fold_bound_terms *t, bool exact, mpfr_t error) {
  const enum fold_dtype dtype = t->how.result;
  if (exact) {
    if (fold_bits_class(dtype, t->truth->rounded[dtype]) < FOLD_INFINITE)
      fold_truth_error(error, t->truth, dtype, t->truth->rounded[dtype]);
    return;
  }
  if (t->how.method != FOLD_EXACT && fold_format_holds(t->result, t->accumulator)) return;
  MPFR_DECL_INIT(half, FOLD_BOUND_BITS);
  mpfr_add(half, t->magnitude, error, MPFR_RNDU);
  mpfr_mul_2si(half, half, -t->result.precision, MPFR_RNDU);
  mpfr_set_ui_2exp(t->scratch, 1, t->result.emin - t->result.precision, MPFR_RNDU);
  /* Whether the result may have bits below eta. */
  bool below = t->truth->op == FOLD_PROD || t->truth->factors > 1 ||
               fold_format_least(fold_format_of(t->truth->dtype)) < fold_format_least(t->result);
  if (below && mpfr_less_p(half, t->scratch)) mpfr_set(half, t->scratch, MPFR_RNDU);
  mpfr_add(error, error, half, MPFR_RNDU);
}

/* Sets gamma for the height, or for 0 if no gamma is needed. If the theorem does not hold at that height, takes (n - 1)
 * u for sums by height; else returns false. */
static bool set_gamma_of_height(struct fold_bound_terms *t, bool needed, bool by_height) {
  if (set_gamma(t->gamma, needed ? t->height : 0, t->u)) return true;
  if (by_height && t->truth->factors == 1) return mpfr_set_uj_2exp(t->gamma, t->truth->n - 1, t->u, MPFR_RNDU), true;
  mpfr_set_inf(t->gamma, 1);
  return false;
}

/* Whether an infinite term may meet the opposite infinity, to which the partial sums of the finite terms overflow; that
 * is NaN. */
static bool finite_terms_may_overflow(struct fold_bound_terms *t, bool negative) {
  t->exact = fold_sums_are_exact(t);
  set_gamma_of_height(t, !t->exact, t->how.method == FOLD_PLAIN);
  fold_look_at_partial_sums(t);
  return t->partial[negative];
}

/* What may come if some terms are not finite. */
static void special_outcomes(struct fold_bound_terms *t, struct fold_outcomes *outcomes) {
  const struct fold_truth *truth = t->truth;
  const struct fold_running_product *running = t->running;
  *outcomes = (struct fold_outcomes){.nan = mpfr_nan_p(truth->exact) != 0};
  if (outcomes->nan) return;
  if (running) {
    outcomes->nan = isnan(running->value);
    outcomes->infinite[signbit(running->value) != 0] = isinf(running->value);
    return;
  }
  const bool negative = mpfr_signbit(truth->exact) != 0;
  outcomes->infinite[negative] = true;
  outcomes->nan = t->meets_zero;
  if (t->how.method == FOLD_EXACT) return;
  if (truth->op == FOLD_SUM)
    outcomes->nan |= finite_terms_may_overflow(t, !negative);
  else
    outcomes->nan = truth->least_exponent < t->accumulator.emin + 1; /* normal partial products are not 0 */
}

static fold_status find(struct fold_bound_terms *t, struct fold_outcomes *outcomes, mpfr_t bound) {
  const struct fold_truth *truth = t->truth;
  const enum fold_method method = t->how.method;
  bool by_height = method == FOLD_PLAIN && truth->op == FOLD_SUM;
  bool of_product = method == FOLD_PLAIN || method == FOLD_EXACT;
  if (truth->factors > 1 && !of_product && method != FOLD_TRUNCATED)
    return fold_no_bound("the method has no theorem for products of two factors");
  if (truth->op == FOLD_PROD && !of_product) return fold_no_bound("the method has no theorem for products");
  mpfr_abs(t->magnitude, truth->exact_up, MPFR_RNDU);
  bool fits = truth->op == FOLD_SUM ? fold_sums_are_exact(t) : fold_products_are_exact(t);
  t->exact = fits || method == FOLD_EXACT;
  outcomes->exact = t->exact && t->narrowed == 0;
  bool needed = !t->exact && method != FOLD_KAHAN;
  if (!set_gamma_of_height(t, needed, by_height) && !t->running) return fold_no_bound("n u is not below 1/2");
  MPFR_DECL_INIT(error, FOLD_BOUND_BITS);
  fold_status status = (truth->op == FOLD_SUM ? fold_sum_error : fold_product_error)(t, outcomes, error);
  if (status.code == FOLD_OK) {
    set_outcomes(t, error, outcomes);
    round_last(t, outcomes->exact, error);
    mpfr_set(bound, error, MPFR_RNDU);
  }
  return status;
}

/* A format without infinities has NaN instead of them. */
static void rename_infinities(struct fold_arithmetic how, struct fold_outcomes *outcomes) {
  if (fold_format_of(how.accumulator).infinities && fold_format_of(how.result).infinities) return;
  outcomes->nan |= outcomes->infinite[0] || outcomes->infinite[1];
  outcomes->infinite[0] = outcomes->infinite[1] = false;
}

fold_status fold_bound_narrowed(struct fold_arithmetic how, const struct fold_truth *truth, uint64_t height,
                                const struct fold_narrowing *narrowing, const struct fold_running_product *running,
                                mpfr_t bound, struct fold_outcomes *outcomes) {
  *outcomes = (struct fold_outcomes){0};
  mpfr_set_ui(bound, 0, MPFR_RNDU);
  if (fold_dtype_is_integer(how.result)) return fold_no_bound("an integer is not rounded");
  if (truth->op != FOLD_SUM && truth->op != FOLD_PROD) return fold_no_bound("max and min round nothing");
  if (how.method == FOLD_EXACT) how.accumulator = how.result; /* an exact sum has no accumulator */
  struct fold_bound_terms t = {.how = how, .truth = truth, .running = running, .result = fold_format_of(how.result)};
  t.accumulator = fold_format_of(how.accumulator);
  t.narrowed = narrowing->error, t.meets_zero = narrowing->meets_zero;
  if (narrowing->overflows)
    return fold_error(FOLD_UNSUPPORTED, "no bound: a factor may overflow when it is rounded to %s",
                      fold_factor_dtype_names[how.factor]);
  const size_t rounded = truth->factors == 1 && fold_format_holds(t.result, fold_format_of(truth->dtype)) ? 2 : 1;
  outcomes->exact = outcomes->finite = true;
  if (truth->n < rounded && truth->finite_terms)
    return fold_ok(); /* the element itself, or the identity: nothing is rounded */
  t.u = -t.accumulator.precision;
  t.height = how.method == FOLD_PLAIN && truth->op == FOLD_SUM ? height : truth->n - 1;
  t.height += fold_product_is_rounded(&t);
  if (how.method == FOLD_TRUNCATED) t.height = 8 * truth->n;
  MPFR_DECL_INIT(gamma, FOLD_BOUND_BITS);
  MPFR_DECL_INIT(magnitude, FOLD_BOUND_BITS);
  MPFR_DECL_INIT(positive, FOLD_BOUND_BITS);
  MPFR_DECL_INIT(negative, FOLD_BOUND_BITS);
  MPFR_DECL_INIT(scratch, FOLD_BOUND_BITS);
  t.gamma = gamma, t.magnitude = magnitude, t.scratch = scratch;
  t.side[0] = positive, t.side[1] = negative;
  fold_status status = fold_ok();
  if (truth->finite_terms)
    status = find(&t, outcomes, bound);
  else
    special_outcomes(&t, outcomes);
  rename_infinities(how, outcomes);
  return status;
}

fold_status fold_bound_outcomes(struct fold_arithmetic how, const struct fold_truth *truth, uint64_t height,
                                const struct fold_running_product *running, mpfr_t bound,
                                struct fold_outcomes *outcomes) {
  return fold_bound_narrowed(how, truth, height, &(struct fold_narrowing){.error = 0}, running, bound, outcomes);
}

fold_status fold_bound(struct fold_arithmetic how, const struct fold_truth *truth, uint64_t height, mpfr_t bound) {
  struct fold_outcomes may;
  FOLD_TRY(fold_bound_outcomes(how, truth, height, NULL, bound, &may));
  if (!truth->finite_terms) return fold_no_bound("a term is not finite");
  if (fold_bits_class(how.result, truth->rounded[how.result]) >= FOLD_INFINITE)
    return fold_no_bound("the exact result overflows its dtype");
  if (may.nan || may.infinite[0] || may.infinite[1])
    return fold_no_bound(truth->op == FOLD_SUM ? "a sum on the way, or the last, may overflow"
                                               : "a product on the way, or the last, may overflow");
  return fold_ok();
}
