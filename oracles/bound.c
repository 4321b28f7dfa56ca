/* bound.c: how far a reduction's result may be from the exact one, by theorem, computed in MPFR and rounded outward.
 *
 * Promised: the bound, and what else may come, hold for every input for which fold_bound_outcomes answers FOLD_OK; where
 * there is no theorem it answers FOLD_UNSUPPORTED and says why. The judge depends on it.
 *
 * Notation: x_i the n terms, s their exact sum, S = sum |x_i|, p their exact product; u the unit roundoff of the
 * accumulator (2^-24 for f16, bf16, f32; 2^-53 for f64; v for NARROW), v = 2^-precision of the result's dtype, eta its
 * smallest subnormal, gamma_k = k u / (1 - k u). Higham = N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed.,
 * SIAM 2002.
 *
 * A(method) bounds the error in the accumulator:
 *
 *   PLAIN sum      gamma_h S: a term passes through at most h roundings (Higham, section 4.2). Addition has no
 *                  underflow error: all values are multiples of the accumulator's smallest subnormal. Where h u >= 1/2:
 *                  (n - 1) u S, for any order and any n (Jeannerod, Rump, SIAM J. Matrix Anal. Appl. 34 (2013), 338).
 *   PLAIN product  gamma_(n-1) |p|: n - 1 roundings in any order (Higham, Lemma 3.1), while no partial product falls below
 *                  the normal range. Else (n - 1) tau B (1 + gamma_(n-1)) more, derived below.
 *   NARROW         PLAIN's, with dtype as the accumulator: whoever adds two elements of dtype rounds their sum to dtype, by
 *                  at most v of it, and by nothing below the normal range; sums and products alike. Partial results must
 *                  fit in dtype.
 *   NEUMAIER       u |s| + gamma_(n-1)^2 S: its sum and error terms are those of Sum2, since the branch by magnitude
 *                  makes Fast2Sum exact, and it adds them up in the same order: Ogita, Rump, Oishi, Accurate sum and dot
 *                  product, SIAM J. Sci. Comput. 26 (2005), Proposition 4.5; n u < 1.
 *   FLOAT64        gamma_(n-1) S with u = 2^-53, for the sequential order, and so for any.
 *   KAHAN          (u |s| + (2 u + 8 n u^2) S) / (1 - u), n u <= 1/10: the (2 u + O(n u^2)) S of Higham, eq. (4.8),
 *                  with the rounding of the last addition apart and an explicit constant, derived below.
 *   EXACT          0
 *
 * Exact sums. Let all terms be multiples of 2^g, and R = max over all sets of terms of |their sum| = (S + |s|) / 2: what the
 * positive terms add up to, or the negative ones. Let R <= 2^(g + precision). The sum of any set of terms is 2^g times an
 * integer of at most 2^precision, so that it is a number of the accumulator, unless it is beyond its largest one. So A = 0:
 *   PLAIN, NARROW, FLOAT64   by induction over the tree: both operands are sums of terms, and so is what is added up; a
 *                  number of the format is not rounded. In any order, and with any starting zeros.
 *   KAHAN          c_0 = 0; while c_(k-1) = 0, y_k = x_k, s_k = s_(k-1) + x_k, a sum of terms, is exact,
 *                  s_k - s_(k-1) = x_k and c_k = x_k - y_k = 0.
 *   NEUMAIER       t = sum + x is exact, so that (sum - t) + x = 0 or (x - t) + sum = 0: what is added up beside stays 0.
 * Above that edge an odd integer can be 2^precision + 1, and be rounded.
 *
 * Exact products. The odd part of a product of terms divides the odd part of the whole product. So where that has at most
 * `precision` bits, and every partial product is in the normal range, all of them are numbers of the accumulator.
 *
 * Gradual underflow of products. tau = half of the accumulator's smallest subnormal: fl(x) = x (1 + d) + e, |d| <= u,
 * |e| <= tau. B_T = the product of max(1, |x_i|) over a set T of terms, and B that over all. Over any tree, as long as
 * nothing overflows, a node of k terms holds c_T with |c_T| <= B_T (1 + u)^(k - 1), for rounding is monotone and what stands
 * on the right is never below 1; and c_T = p_T (1 + t) + E_T, 1 + t a product of k - 1 factors 1 + d, and
 * |E_T| <= (k - 1) tau B_T (1 + u)^(k - 1): with the operands (p_a (1 + t_a) + E_a) and c_b = p_b (1 + t_b) + E_b, what is not
 * p_a p_b (1 + t_a) (1 + t_b) is p_a (1 + t_a) E_b + E_a c_b, at most (k - 2) tau B_T (1 + u)^(k - 2) and, rounded, 1 + u of
 * that and tau more. (1 + u)^(n - 1) <= 1 + gamma_(n-1).  []
 *
 * Overflow. An infinity or NaN among the partial results stays one: inf + x and inf x are never finite. So a finite result
 * had no overflow on its way, and its bound holds, whatever else the order might have done. With T the threshold from which
 * on a format rounds to infinity, P and N the sums of the positive terms and of the negative ones' magnitudes (R the
 * larger), F the error of any partial sum:
 *   +infinity   may come if a partial sum may reach it, P + F >= T of the accumulator, or the result, s + A >= T of the
 *               dtype; -infinity likewise, by N and -s;
 *   NaN         if partial sums may reach both;
 *   finite      unless |s| - A >= T of the dtype: a finite accumulator holds s but for A, and is rounded to infinity; the
 *               accumulator's own T is no lower.
 * So where A is small beside |s| and the other sign can't overflow, an overflow is demanded, and else it is refuted. F = A
 * for plain sums; for compensated ones, with their differences, F = S (2 gamma + 16 u) is above gamma_(n+3) S (Neumaier) and
 * 6 u S (Kahan), and an overflow may give any infinity, or NaN from a compensation infinity - infinity. An exact product
 * overflows where B may: partial products reach 2^most_exponent, but for 1 + gamma <= 2. NaN then needs a zero: a term, or an
 * underflow. Terms that are not finite: NaN stays, an infinity stays unless the finite terms overflow the other way (sum) or
 * underflow to a zero that meets it (product).
 *
 * A product in a declared order is judged by that order's own partial products as well (running_product.c): by whichever bound is
 * smaller. Over any order the absolute term says little of a long row whose factors above 1 reach far.
 *
 * A 16-bit result but NARROW's, and FLOAT64's and EXACT's, is rounded once more: by at most v times what is rounded, or by eta / 2
 * below the normal range. A sum is a multiple of eta, so that below the normal range it is not rounded at all.
 *
 * Kahan's sum: y_k = x_k - c_(k-1), s_k = s_(k-1) + y_k, c_k = (s_k - s_(k-1)) - y_k, rounded to nearest each;
 * c_0 = s_0 = 0. Let a_k, b_k, g_k, d_k be the absolute errors of y_k, s_k, the difference z_k = s_k - s_(k-1), and c_k.
 *   (1) |b_k| <= u |s_k|; so the exact difference is y_k + b_k.
 *   (2) |g_k| <= |b_k|, for y_k is representable and lies |b_k| from what is rounded to nearest; and
 *       |g_k| <= u |y_k + b_k|.
 *   (3) c_k = b_k + g_k + d_k, |d_k| <= u |b_k + g_k| <= 2 u |b_k|: |c_k| <= 2 u (1 + u) |s_k|, |d_k| <= 2 u^2 |s_k|.
 *   (4) |a_k| <= u (|x_k| + |c_(k-1)|), and by (2) |g_k| <= u (1 + u) (|x_k| + |c_(k-1)|) + u^2 |s_k|.
 * E_k = (s_k - c_k) - (x_1 + ... + x_k) grows by a_k - g_k - d_k. With M = max |s_k|, over the first n - 1 steps
 *   |E_(n-1)| <= (2 u + u^2) sum_(k<n) |x_k| + (7 + 8 u) u^2 (n - 1) M.
 * The last step gives s_n - s = E_(n-1) + a_n + b_n, where |a_n| <= u |x_n| + 2 u^2 (1 + u) M and |b_n| <= u |s_n|:
 *   |s_n - s| <= u |s_n| + (2 u + u^2) S + (7 + 8 u) n u^2 M.
 * The same for each prefix gives M (1 - u - (7 + 8 u) n u^2) <= (1 + 2 u + u^2) S, hence M <= (1 + 5 u) S as
 * n u <= 1/10. For n >= 2, u^2 + (7 + 8 u) (1 + 5 u) n u^2 <= 8 n u^2; for n = 1 nothing is rounded. Put
 * |s_n| <= |s| + |s_n - s|.  []
 */
#include "bound.h"

#include <math.h>

#include "bits.h"
#include "order.h"

/* Enough for n u and n^2 u^2 of any 64-bit n; each result is rounded outward, so no claim rests on this number. */
#define PRECISION 128

const char *fold_bound_formula(enum fold_method method) {
  switch (method) {
    case FOLD_PLAIN:
      return "gamma_h sum|x| (product: gamma_(n-1) |p|), gamma_k = k u / (1 - k u); 0 where nothing can round";
    case FOLD_KAHAN: return "(u |s| + (2 u + 8 n u^2) sum|x|) / (1 - u)";
    case FOLD_NEUMAIER: return "u |s| + gamma_(n-1)^2 sum|x|";
    case FOLD_FLOAT64: return "v |s| + (1 + v) gamma_(n-1) sum|x|, gamma in f64";
    case FOLD_NARROW: return "gamma_h sum|x| (product: gamma_(n-1) |p|), gamma_k = k v / (1 - k v)";
    case FOLD_EXACT: return "v |s|, or half the smallest subnormal";
  }
  return "unknown method";
}

/* What the formulas speak of; numbers rounded up. */
struct terms {
  enum fold_method method;
  const struct fold_truth *truth;
  const struct fold_running_product *running;
  struct fold_format result, accumulator;
  int u;            /* unit roundoff 2^u */
  uint64_t height;  /* roundings that a term may pass through */
  mpfr_t gamma;     /* of height */
  mpfr_t magnitude; /* |s| or |p| */
  mpfr_t side[2];   /* P and N of a sum */
  mpfr_t scratch;
  bool partial[2]; /* a partial result may overflow to +infinity, to -infinity */
};

static fold_status unsupported(const char *reason) { return fold_error(FOLD_UNSUPPORTED, "no bound: %s", reason); }

/* gamma_k = k u / (1 - k u), or false where k u >= 1/2: theorems ask for k u < 1, and partial products for gamma <= 1. */
static bool set_gamma(mpfr_t gamma, uint64_t k, int u) {
  mpfr_t denominator;
  mpfr_init2(denominator, PRECISION);
  mpfr_set_uj_2exp(gamma, k, u, MPFR_RNDU);
  mpfr_ui_sub(denominator, 1, gamma, MPFR_RNDD);
  bool small = mpfr_cmp_ui_2exp(gamma, 1, -1) < 0;
  if (small) mpfr_div(gamma, gamma, denominator, MPFR_RNDU);
  mpfr_clear(denominator);
  return small;
}

/* value >= 2^(emax + 1) - 2^(emax - precision), from where on a format rounds to infinity. */
static bool reaches_overflow(struct fold_format format, mpfr_srcptr value) {
  mpfr_t threshold, half_ulp;
  mpfr_inits2(PRECISION, threshold, half_ulp, (mpfr_ptr)0);
  mpfr_set_ui_2exp(threshold, 1, format.emax + 1, MPFR_RNDD);
  mpfr_set_ui_2exp(half_ulp, 1, format.emax - format.precision, MPFR_RNDD);
  mpfr_sub(threshold, threshold, half_ulp, MPFR_RNDD); /* exact */
  bool reaches = mpfr_greaterequal_p(value, threshold);
  mpfr_clears(threshold, half_ulp, (mpfr_ptr)0);
  return reaches;
}

/* P = (S + s) / 2 and N = (S - s) / 2, from exact numbers, each rounded once; R is the larger. */
static void set_sides(struct terms *t) {
  mpfr_add(t->side[0], t->truth->abs_sum, t->truth->exact, MPFR_RNDU);
  mpfr_sub(t->side[1], t->truth->abs_sum, t->truth->exact, MPFR_RNDU);
  for (int k = 0; k < 2; k++) mpfr_div_2ui(t->side[k], t->side[k], 1, MPFR_RNDU);
}

/* Whether every sum of terms is a number of the accumulator, or beyond its largest. R is rounded up to 128 bits: as a
 * multiple of 2^g that is not above 2^(g + precision) it has fewer. */
static bool sums_are_exact(const struct terms *t) {
  long lowest = t->truth->lowest;
  mpfr_srcptr largest = t->side[mpfr_less_p(t->side[0], t->side[1])];
  return lowest == FOLD_NO_BIT || mpfr_cmp_ui_2exp(largest, 1, lowest + t->accumulator.precision) <= 0;
}

static bool products_are_exact(const struct terms *t) {
  const struct fold_truth *truth = t->truth;
  if (truth->enclosed || (mpfr_prec_t)mpfr_min_prec(truth->exact) > t->accumulator.precision) return false;
  return truth->least_exponent >= t->accumulator.emin && truth->most_exponent <= t->accumulator.emax + 1;
}

/* (u |s| + (2 u + 8 n u^2) S) / (1 - u) */
static fold_status kahan(struct terms *t, mpfr_t error) {
  uint64_t n = t->truth->n;
  mpfr_set_uj_2exp(t->scratch, n, t->u, MPFR_RNDU);
  if (mpfr_cmp_d(t->scratch, 0.1) > 0) return unsupported("Kahan's needs n u <= 1/10");
  mpfr_mul_2si(t->scratch, t->scratch, t->u + 3, MPFR_RNDU);
  mpfr_set_ui_2exp(error, 1, t->u + 1, MPFR_RNDU);
  mpfr_add(t->scratch, t->scratch, error, MPFR_RNDU);
  mpfr_mul(error, t->scratch, t->truth->abs_sum, MPFR_RNDU);
  mpfr_mul_2si(t->scratch, t->magnitude, t->u, MPFR_RNDU);
  mpfr_add(error, error, t->scratch, MPFR_RNDU);
  mpfr_set_ui_2exp(t->scratch, 1, t->u, MPFR_RNDU);
  mpfr_ui_sub(t->scratch, 1, t->scratch, MPFR_RNDD);
  mpfr_div(error, error, t->scratch, MPFR_RNDU);
  return fold_ok();
}

/* u |s| + gamma^2 S */
static void neumaier(struct terms *t, mpfr_t error) {
  mpfr_sqr(error, t->gamma, MPFR_RNDU);
  mpfr_mul(error, error, t->truth->abs_sum, MPFR_RNDU);
  mpfr_mul_2si(t->scratch, t->magnitude, t->u, MPFR_RNDU);
  mpfr_add(error, error, t->scratch, MPFR_RNDU);
}

static bool is_compensated(const struct terms *t) { return t->method == FOLD_KAHAN || t->method == FOLD_NEUMAIER; }

/* Which infinities partial sums may reach, when they are wrong by at most `error`. */
static void look_at_partial_sums(struct terms *t, mpfr_srcptr error) {
  for (int k = 0; k < 2; k++) {
    mpfr_add(t->scratch, t->side[k], error, MPFR_RNDU);
    t->partial[k] = reaches_overflow(t->accumulator, t->scratch);
  }
  if (is_compensated(t)) t->partial[0] = t->partial[1] = t->partial[0] || t->partial[1];
}

/* A, the error in the accumulator. */
static fold_status sum_error(struct terms *t, struct fold_outcomes *outcomes, mpfr_t error) {
  mpfr_set_zero(error, 1);
  if (t->method == FOLD_EXACT) return fold_ok();
  fold_status status = fold_ok();
  if (!outcomes->exact) {
    mpfr_set_ui_2exp(error, 1, t->u + 3, MPFR_RNDU);
    mpfr_add(error, error, t->gamma, MPFR_RNDU);
    mpfr_mul_2ui(error, error, 1, MPFR_RNDU); /* 2 gamma + 16 u */
    if (!is_compensated(t)) mpfr_set(error, t->gamma, MPFR_RNDU);
    mpfr_mul(error, error, t->truth->abs_sum, MPFR_RNDU);
  }
  look_at_partial_sums(t, error);
  if (outcomes->exact) return status;
  if (t->method == FOLD_KAHAN) status = kahan(t, error);
  if (t->method == FOLD_NEUMAIER) neumaier(t, error);
  return status;
}

/* (n - 1) tau B (1 + gamma), and 0 where nothing is below the normal range. */
static void add_underflow(struct terms *t, mpfr_t error) {
  if (t->truth->least_exponent >= t->accumulator.emin + 1) return;
  mpfr_add_ui(t->scratch, t->gamma, 1, MPFR_RNDU);
  mpfr_mul_2si(t->scratch, t->scratch, (long)t->truth->most_exponent + t->accumulator.emin - t->accumulator.precision,
               MPFR_RNDU);
  mpfr_mul_ui(t->scratch, t->scratch, t->truth->n - 1, MPFR_RNDU);
  mpfr_add(error, error, t->scratch, MPFR_RNDU);
}

/* k = n - 1 roundings, k u < 1/2, change a partial product by a factor between (1 - u)^k >= 1/2 and (1 + u)^k <= 2; the
 * exact ones lie in [2^least, 2^most). A zero factor makes a finite result an exact zero, whatever underflows beside it. */
static fold_status product_error(struct terms *t, struct fold_outcomes *outcomes, mpfr_t error) {
  const struct fold_truth *truth = t->truth;
  bool zero = mpfr_zero_p(t->magnitude);
  mpfr_set_zero(error, 1);
  if (outcomes->exact) return fold_ok();
  bool overflows = truth->most_exponent > t->accumulator.emax - 1;
  outcomes->nan = overflows && (zero || truth->least_exponent < t->accumulator.emin + 1);
  outcomes->exact = zero;
  if (zero) return fold_ok();
  t->partial[mpfr_signbit(truth->exact) != 0] = overflows;
  mpfr_mul(error, t->gamma, t->magnitude, MPFR_RNDU);
  add_underflow(t, error);
  return fold_ok();
}

/* Where the order is known so are its overflows, and its underflows weigh what they do there. */
static fold_status use_order(struct terms *t, struct fold_outcomes *outcomes, mpfr_t error) {
  const double value = t->running->value;
  t->partial[0] = t->partial[1] = false;
  outcomes->nan = isnan(value);
  if (isinf(value)) t->partial[value < 0] = true;
  if (!isfinite(value) || outcomes->exact) return fold_ok();
  mpfr_set_ld(t->scratch, t->running->error, MPFR_RNDU);
  if (mpfr_less_p(t->scratch, error)) mpfr_set(error, t->scratch, MPFR_RNDU);
  if (mpfr_inf_p(error)) return unsupported("what underflowed on the way weighs too much");
  return fold_ok();
}

/* |s| - A >= T, from numbers that are rounded towards that being false. */
static bool overflow_is_certain(struct terms *t, mpfr_srcptr error) {
  mpfr_abs(t->scratch, t->truth->exact, MPFR_RNDD); /* of an enclosed product the lower end */
  mpfr_sub(t->scratch, t->scratch, error, MPFR_RNDD);
  return reaches_overflow(t->result, t->scratch);
}

/* What may come instead of a finite result. */
static void set_outcomes(struct terms *t, mpfr_srcptr error, struct fold_outcomes *outcomes) {
  enum fold_dtype dtype = t->truth->dtype;
  int sign = mpfr_signbit(t->truth->exact) != 0;
  bool sum = t->truth->op == FOLD_SUM, right, wrong = false;
  if (outcomes->exact) {
    right = fold_bits_class(dtype, t->truth->rounded[dtype]) == FOLD_INFINITE;
    outcomes->finite = !right;
  } else {
    mpfr_add(t->scratch, t->magnitude, error, MPFR_RNDU);
    right = reaches_overflow(t->result, t->scratch);
    outcomes->finite = !overflow_is_certain(t, error);
    /* An error above |s| may turn its sign; that of a product is always right. */
    mpfr_abs(t->scratch, t->truth->exact, MPFR_RNDD);
    mpfr_sub(t->scratch, error, t->scratch, MPFR_RNDU);
    wrong = sum && reaches_overflow(t->result, t->scratch);
  }
  if (t->running && !isfinite(t->running->value)) {
    outcomes->finite = right = wrong = false;
  }
  outcomes->infinite[sign] = t->partial[sign] || right;
  outcomes->infinite[!sign] = t->partial[!sign] || wrong;
  outcomes->nan = outcomes->nan || (sum && t->partial[0] && t->partial[1]);
}

/* Adds the error of the last rounding to the dtype of the result: all of it is known of an exact accumulator. */
static void round_last(struct terms *t, bool exact, mpfr_t error) {
  enum fold_dtype dtype = t->truth->dtype;
  if (exact) {
    if (fold_bits_class(dtype, t->truth->rounded[dtype]) != FOLD_INFINITE)
      fold_truth_error(error, t->truth, dtype, t->truth->rounded[dtype]);
    return;
  }
  if (t->accumulator.precision == t->result.precision) return;
  mpfr_t half;
  mpfr_init2(half, PRECISION);
  mpfr_add(half, t->magnitude, error, MPFR_RNDU);
  mpfr_mul_2si(half, half, -t->result.precision, MPFR_RNDU);
  mpfr_set_ui_2exp(t->scratch, 1, t->result.emin - t->result.precision, MPFR_RNDU);
  if (t->truth->op == FOLD_PROD && mpfr_less_p(half, t->scratch)) mpfr_set(half, t->scratch, MPFR_RNDU);
  mpfr_add(error, error, half, MPFR_RNDU);
  mpfr_clear(half);
}

/* The format in which the method adds. */
static struct fold_format accumulator_of(enum fold_method method, enum fold_dtype dtype) {
  if (method == FOLD_NARROW) return fold_format_of(dtype);
  if (method == FOLD_FLOAT64 || dtype == FOLD_F64) return fold_format_of(FOLD_F64);
  return fold_format_of(FOLD_F32);
}

/* Of terms that are not finite. */
static void special_outcomes(enum fold_method method, const struct fold_truth *truth,
                             const struct fold_running_product *running, struct fold_outcomes *outcomes) {
  struct fold_format f = accumulator_of(method, truth->dtype);
  *outcomes = (struct fold_outcomes){.nan = mpfr_nan_p(truth->exact) != 0};
  if (outcomes->nan) return;
  if (running) {
    outcomes->nan = isnan(running->value);
    outcomes->infinite[signbit(running->value) != 0] = isinf(running->value);
    return;
  }
  outcomes->infinite[mpfr_signbit(truth->exact) != 0] = true;
  if (method == FOLD_EXACT) return;
  /* Below half of the accumulator's range no partial sum overflows, as gamma <= 1; normal partial products are not 0. */
  if (truth->op == FOLD_SUM)
    outcomes->nan = mpfr_cmp_ui_2exp(truth->abs_sum, 1, f.emax) >= 0;
  else
    outcomes->nan = truth->least_exponent < f.emin + 1;
}

static fold_status find(struct terms *t, struct fold_outcomes *outcomes, mpfr_t bound) {
  const struct fold_truth *truth = t->truth;
  bool by_height = (t->method == FOLD_PLAIN || t->method == FOLD_NARROW) && truth->op == FOLD_SUM;
  bool of_product = t->method == FOLD_PLAIN || t->method == FOLD_NARROW || t->method == FOLD_EXACT;
  if (truth->op == FOLD_PROD && !of_product) return unsupported("the method has no theorem for products");
  mpfr_abs(t->magnitude, truth->exact_up, MPFR_RNDU);
  set_sides(t);
  outcomes->exact = t->method == FOLD_EXACT || (truth->op == FOLD_SUM ? sums_are_exact : products_are_exact)(t);
  bool needed = !outcomes->exact && t->method != FOLD_KAHAN;
  if (!set_gamma(t->gamma, needed ? t->height : 0, t->u)) {
    if (!by_height && !t->running) return unsupported("n u is not below 1/2");
    mpfr_set_uj_2exp(t->gamma, truth->n - 1, t->u, MPFR_RNDU);
    if (!by_height) mpfr_set_inf(t->gamma, 1);
  }
  mpfr_t error;
  mpfr_init2(error, PRECISION);
  fold_status status = (truth->op == FOLD_SUM ? sum_error : product_error)(t, outcomes, error);
  if (status.code == FOLD_OK && t->running) status = use_order(t, outcomes, error);
  if (status.code == FOLD_OK) {
    set_outcomes(t, error, outcomes);
    round_last(t, outcomes->exact, error);
    mpfr_set(bound, error, MPFR_RNDU);
  }
  mpfr_clear(error);
  return status;
}

fold_status fold_bound_outcomes(enum fold_method method, const struct fold_truth *truth, uint64_t height,
                                const struct fold_running_product *running, mpfr_t bound,
                                struct fold_outcomes *outcomes) {
  *outcomes = (struct fold_outcomes){0};
  mpfr_set_zero(bound, 1);
  if (truth->op != FOLD_SUM && truth->op != FOLD_PROD) return unsupported("max and min round nothing");
  if (method != FOLD_PLAIN || truth->op != FOLD_PROD) running = NULL;
  if (!truth->finite_terms) {
    special_outcomes(method, truth, running, outcomes);
    return fold_ok();
  }
  outcomes->exact = outcomes->finite = true;
  if (truth->n <= 1) return fold_ok(); /* the term itself, or the identity: nothing is rounded */
  struct terms t = {.method = method, .truth = truth, .running = running, .result = fold_format_of(truth->dtype)};
  t.accumulator = accumulator_of(method, truth->dtype);
  t.u = -t.accumulator.precision;
  t.height = (method == FOLD_PLAIN || method == FOLD_NARROW) && truth->op == FOLD_SUM ? height : truth->n - 1;
  mpfr_inits2(PRECISION, t.gamma, t.magnitude, t.side[0], t.side[1], t.scratch, (mpfr_ptr)0);
  fold_status status = find(&t, outcomes, bound);
  mpfr_clears(t.gamma, t.magnitude, t.side[0], t.side[1], t.scratch, (mpfr_ptr)0);
  return status;
}

fold_status fold_bound(enum fold_method method, const struct fold_truth *truth, uint64_t height, mpfr_t bound) {
  struct fold_outcomes may;
  FOLD_TRY(fold_bound_outcomes(method, truth, height, NULL, bound, &may));
  if (!truth->finite_terms) return unsupported("a term is not finite");
  if (fold_bits_class(truth->dtype, truth->rounded[truth->dtype]) == FOLD_INFINITE)
    return unsupported("the exact result overflows its dtype");
  if (may.nan || may.infinite[0] || may.infinite[1])
    return unsupported(truth->op == FOLD_SUM ? "a sum on the way, or the last, may overflow"
                                             : "a product on the way, or the last, may overflow");
  return fold_ok();
}
