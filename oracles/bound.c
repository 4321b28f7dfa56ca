/* bound.c: how far a reduction's result may be from the exact one, by theorem, computed in MPFR and rounded outward.
 *
 * Promised: the bound holds for every input for which fold_bound answers FOLD_OK; where a theorem's conditions fail it
 * answers FOLD_UNSUPPORTED and says which. The judge depends on it.
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
 *   PLAIN product  gamma_(n-1) |p|: n - 1 roundings in any order (Higham, Lemma 3.1), while no partial product leaves
 *                  the normal range.
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

#include "bits.h"

/* Enough for n u and n^2 u^2 of any 64-bit n; each result is rounded outward, so no claim rests on this number. */
#define PRECISION 128

const char *fold_bound_formula(enum fold_method method) {
  switch (method) {
    case FOLD_PLAIN: return "gamma_h sum|x| (product: gamma_(n-1) |p|), gamma_k = k u / (1 - k u)";
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
  struct fold_format result, accumulator;
  int u;            /* unit roundoff 2^u */
  uint64_t height;  /* roundings that a term may pass through */
  mpfr_t gamma;     /* of height */
  mpfr_t magnitude; /* |s| or |p| */
  mpfr_t scratch;
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

/* value < 2^(emax + 1) - 2^(emax - precision), from where on a format rounds to infinity. */
static bool stays_below_overflow(struct fold_format format, mpfr_srcptr value) {
  mpfr_t threshold, half_ulp;
  mpfr_inits2(PRECISION, threshold, half_ulp, (mpfr_ptr)0);
  mpfr_set_ui_2exp(threshold, 1, format.emax + 1, MPFR_RNDD);
  mpfr_set_ui_2exp(half_ulp, 1, format.emax - format.precision, MPFR_RNDD);
  mpfr_sub(threshold, threshold, half_ulp, MPFR_RNDD); /* exact */
  bool below = mpfr_less_p(value, threshold);
  mpfr_clears(threshold, half_ulp, (mpfr_ptr)0);
  return below;
}

/* Whether no partial result of a sum can overflow: S (1 + 2 gamma + 16 u) is above them all: S (1 + gamma_h) for plain
 * sums; for the compensated ones, with their differences, S (1 + gamma_(n+3)) (Neumaier) and S (1 + 6 u) (Kahan). */
static bool partial_sums_fit(struct terms *t) {
  mpfr_t largest;
  mpfr_init2(largest, PRECISION);
  mpfr_set_ui_2exp(largest, 1, t->u + 4, MPFR_RNDU);
  mpfr_mul_2ui(t->scratch, t->gamma, 1, MPFR_RNDU);
  mpfr_add(largest, largest, t->scratch, MPFR_RNDU);
  mpfr_add_ui(largest, largest, 1, MPFR_RNDU);
  mpfr_mul(largest, largest, t->truth->abs_sum, MPFR_RNDU);
  bool fit = stays_below_overflow(t->accumulator, largest);
  mpfr_clear(largest);
  return fit;
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

/* The error in the accumulator. */
static fold_status sum_error(struct terms *t, mpfr_t error) {
  mpfr_set_zero(error, 1);
  if (t->method == FOLD_EXACT) return fold_ok();
  if (!partial_sums_fit(t)) return unsupported("partial sums may overflow");
  switch (t->method) {
    case FOLD_KAHAN: return kahan(t, error);
    case FOLD_NEUMAIER: neumaier(t, error); break;
    default: mpfr_mul(error, t->gamma, t->truth->abs_sum, MPFR_RNDU); break;
  }
  return fold_ok();
}

/* k = n - 1 roundings, k u < 1/2, change a partial product by a factor between (1 - u)^k >= 1/2 and (1 + u)^k <= 2; the
 * exact ones lie in [2^least, 2^most). */
static fold_status product_error(struct terms *t, mpfr_t error) {
  mpfr_set_zero(error, 1);
  if (t->method == FOLD_EXACT) return fold_ok();
  if (t->method != FOLD_PLAIN && t->method != FOLD_NARROW) return unsupported("the method has no theorem for products");
  if (t->truth->most_exponent > t->accumulator.emax - 1) return unsupported("partial products may overflow");
  /* A zero factor makes the result an exact zero, whatever underflows beside it. */
  if (mpfr_zero_p(t->magnitude)) return fold_ok();
  if (t->truth->least_exponent < t->accumulator.emin + 1) return unsupported("partial products may underflow");
  mpfr_mul(error, t->gamma, t->magnitude, MPFR_RNDU);
  return fold_ok();
}

/* Adds the error of the last rounding to the dtype of the result. */
static fold_status round_last(struct terms *t, mpfr_t error) {
  bool narrower = t->accumulator.precision != t->result.precision;
  if (!narrower && t->method != FOLD_EXACT) return fold_ok();
  mpfr_t half;
  mpfr_init2(half, PRECISION);
  mpfr_add(half, t->magnitude, error, MPFR_RNDU);
  bool below = t->method == FOLD_EXACT || stays_below_overflow(t->result, half);
  mpfr_mul_2si(half, half, -t->result.precision, MPFR_RNDU);
  mpfr_set_ui_2exp(t->scratch, 1, t->result.emin - t->result.precision, MPFR_RNDU);
  if (t->truth->op == FOLD_PROD && mpfr_less_p(half, t->scratch)) mpfr_set(half, t->scratch, MPFR_RNDU);
  mpfr_add(error, error, half, MPFR_RNDU);
  mpfr_clear(half);
  return below ? fold_ok() : unsupported("the result may overflow its dtype");
}

/* The format in which the method adds. */
static struct fold_format accumulator_of(enum fold_method method, enum fold_dtype dtype) {
  if (method == FOLD_NARROW) return fold_format_of(dtype);
  if (method == FOLD_FLOAT64 || dtype == FOLD_F64) return fold_format_of(FOLD_F64);
  return fold_format_of(FOLD_F32);
}

static fold_status check(const struct fold_truth *truth) {
  if (truth->op != FOLD_SUM && truth->op != FOLD_PROD) return unsupported("max and min round nothing");
  if (!truth->finite_terms) return unsupported("a term is not finite");
  if (fold_bits_class(truth->dtype, truth->rounded[truth->dtype]) == FOLD_INFINITE)
    return unsupported("the exact result overflows its dtype");
  return fold_ok();
}

fold_status fold_bound(enum fold_method method, const struct fold_truth *truth, uint64_t height, mpfr_t bound) {
  FOLD_TRY(check(truth));
  mpfr_set_zero(bound, 1);
  if (truth->n <= 1) return fold_ok(); /* the term itself, or the identity: nothing is rounded */
  struct terms t = {.method = method, .truth = truth, .result = fold_format_of(truth->dtype)};
  t.accumulator = accumulator_of(method, truth->dtype);
  t.u = -t.accumulator.precision;
  bool by_height = (method == FOLD_PLAIN || method == FOLD_NARROW) && truth->op == FOLD_SUM;
  t.height = by_height ? height : truth->n - 1;
  mpfr_t error;
  mpfr_inits2(PRECISION, t.gamma, t.magnitude, t.scratch, error, (mpfr_ptr)0);
  mpfr_abs(t.magnitude, truth->exact_up, MPFR_RNDU);
  bool needed = method != FOLD_EXACT && method != FOLD_KAHAN;
  fold_status status = fold_ok();
  if (!set_gamma(t.gamma, needed ? t.height : 0, t.u)) {
    if (by_height)
      mpfr_set_uj_2exp(t.gamma, truth->n - 1, t.u, MPFR_RNDU);
    else
      status = unsupported("n u is not below 1/2");
  }
  if (status.code == FOLD_OK) status = (truth->op == FOLD_SUM ? sum_error : product_error)(&t, error);
  if (status.code == FOLD_OK) status = round_last(&t, error);
  if (status.code == FOLD_OK) mpfr_set(bound, error, MPFR_RNDU);
  mpfr_clears(t.gamma, t.magnitude, t.scratch, error, (mpfr_ptr)0);
  return status;
}
