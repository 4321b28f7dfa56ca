/* bound_sum.c: the errors of sums, in bound.c's notation.
 *
 * Exact sums. Let all terms be multiples of 2^g, and R = max over all sets of terms of |their sum| = (S + |s|) / 2: what the
 * positive terms add up to, or the negative ones. Let R <= 2^(g + precision). The sum of any set of terms is 2^g times an
 * integer of at most 2^precision, so that it is a number of the accumulator, unless it is beyond its largest one. So A = 0:
 *   PLAIN          by induction over the tree: both operands are sums of terms, and so is what is added up; a
 *                  number of the format is not rounded. In any order, and with any starting zeros.
 *   KAHAN          c_0 = 0; while c_(k-1) = 0, y_k = x_k, s_k = s_(k-1) + x_k, a sum of terms, is exact,
 *                  s_k - s_(k-1) = x_k and c_k = x_k - y_k = 0.
 *   NEUMAIER       t = sum + x is exact, so that (sum - t) + x = 0 or (x - t) + sum = 0: what is added up beside stays 0.
 * Above that edge an odd integer can be 2^precision + 1, and be rounded.
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
 *
 * Truncated sums, as tensor cores make them (Fasi, Higham, Mikaitis, Pranesh, PeerJ Computer Science 7 (2021), e330): a step adds a block
 * of j >= 1 exact terms to a partial sum. All j + 1 addends are aligned to the one of the largest exponent, M, and cut at its last
 * place, which changes each by less than 2 u M; their sum is cut to the accumulator, which changes it by less than 2 u times itself.
 * So a step adds less than (j + 2) 2 u m, where m is the largest magnitude of an addend or a sum, and the first step of a part, whose
 * partial sum is 0, less than (j + 1) 2 u m. A join of two parts adds at most 2 u m, rounded or cut. There are at most n steps, and one
 * join fewer than parts: less than (n + 2 n) 2 u m in all, and n u m more where terms are no numbers of the accumulator. 8 n u m is
 * taken; m <= S + the error so far, whence gamma. What is cut below the accumulator's least bit e is below e once a term (twice that of
 * rounding).
 * A product of a subnormal factor is aligned as if the factor were the least normal number: so M may exceed all addends, and what is cut
 * is bounded by it (fold_alignment_of, counted as what rounding the factors changes).
 * Exact sums are exact here, too, while R < 2^(g + precision): then no addend has a bit below the last place of M.
 */
#include "oracles/bound_terms.h"

/* P = (S + s) / 2 and N = (S - s) / 2 of the finite terms, from exact numbers, each rounded once, and what rounded factors may add; R is
 * the larger. */
static void set_sides(struct fold_bound_terms *t) {
  mpfr_add(t->side[0], t->truth->abs_sum, t->truth->finite, MPFR_RNDU);
  mpfr_div_2ui(t->side[0], t->side[0], 1, MPFR_RNDU);
  mpfr_sub(t->side[1], t->truth->abs_sum, t->truth->finite, MPFR_RNDU);
  mpfr_div_2ui(t->side[1], t->side[1], 1, MPFR_RNDU);
  for (int k = 0; k < 2; k++) mpfr_add_d(t->side[k], t->side[k], t->narrowed, MPFR_RNDU);
}

/* The exponent of the accumulator's smallest subnormal. No element has a bit below it, but a product of two may. */
static long least_bit(const struct fold_bound_terms *t) { return fold_format_least(t->accumulator); }

bool fold_product_is_rounded(const struct fold_bound_terms *t) {
  return t->truth->factors > 1 && 2 * fold_format_of(t->truth->dtype).precision > t->accumulator.precision;
}

/* Adds n e / 2 (1 + gamma). */
static void add_underflow(struct fold_bound_terms *t, mpfr_t error) {
  if (t->truth->lowest >= least_bit(t)) return;
  const long half = t->how.method == FOLD_TRUNCATED ? 0 : 1;
  mpfr_set_uj_2exp(t->scratch, t->truth->n, least_bit(t) - half, MPFR_RNDU);
  mpfr_add(error, error, t->scratch, MPFR_RNDU);
  mpfr_mul(t->scratch, t->scratch, t->gamma, MPFR_RNDU);
  mpfr_add(error, error, t->scratch, MPFR_RNDU);
}

/* Whether every sum of terms is a number of the accumulator, or beyond its largest. R is rounded up to 128 bits: as a
 * multiple of 2^g that is not above 2^(g + precision) it has fewer. */
bool fold_sums_are_exact(struct fold_bound_terms *t) {
  set_sides(t);
  long lowest = t->truth->lowest;
  if (lowest < least_bit(t)) return false;
  mpfr_srcptr largest = t->side[mpfr_less_p(t->side[0], t->side[1])];
  if (lowest == FOLD_NO_BIT) return true;
  const int beside = mpfr_cmp_ui_2exp(largest, 1, lowest + t->accumulator.precision);
  return t->how.method == FOLD_TRUNCATED ? beside < 0 : beside <= 0;
}

/* (u |s| + (2 u + 8 n u^2) S) / (1 - u) */
static fold_status kahan(struct fold_bound_terms *t, mpfr_t error) {
  uint64_t n = t->truth->n;
  mpfr_set_uj_2exp(t->scratch, n, t->u, MPFR_RNDU);
  if (mpfr_cmp_d(t->scratch, 0.1) > 0) return fold_no_bound("Kahan's needs n u <= 1/10");
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
static void neumaier(struct fold_bound_terms *t, mpfr_t error) {
  mpfr_sqr(error, t->gamma, MPFR_RNDU);
  mpfr_mul(error, error, t->truth->abs_sum, MPFR_RNDU);
  mpfr_mul_2si(t->scratch, t->magnitude, t->u, MPFR_RNDU);
  mpfr_add(error, error, t->scratch, MPFR_RNDU);
}

static bool is_compensated(const struct fold_bound_terms *t) {
  return t->how.method == FOLD_KAHAN || t->how.method == FOLD_NEUMAIER;
}

/* Sets A of a plain sum, given the sum of its terms' magnitudes. */
static void set_plain_error(struct fold_bound_terms *t, mpfr_srcptr sum, mpfr_t error) {
  mpfr_mul(error, t->gamma, sum, MPFR_RNDU);
  add_underflow(t, error);
}

/* Sets F: by how much a partial sum may exceed side k. */
static void set_partial_error(struct fold_bound_terms *t, int k, mpfr_t error) {
  if (is_compensated(t)) {
    mpfr_set_ui_2exp(error, 1, t->u + 3, MPFR_RNDU);
    mpfr_add(error, error, t->gamma, MPFR_RNDU);
    mpfr_mul_2ui(error, error, 1, MPFR_RNDU); /* 2 gamma + 16 u */
    mpfr_mul(error, error, t->truth->abs_sum, MPFR_RNDU);
  } else {
    set_plain_error(t, t->side[k], error);
  }
}

void fold_look_at_partial_sums(struct fold_bound_terms *t) {
  MPFR_DECL_INIT(error, FOLD_BOUND_BITS);
  mpfr_set_ui(error, 0, MPFR_RNDU);
  for (int k = 0; k < 2; k++) {
    if (!t->exact) set_partial_error(t, k, error);
    mpfr_add(t->scratch, t->side[k], error, MPFR_RNDU);
    t->partial[k] = fold_reaches_overflow(t->accumulator, t->scratch);
  }
  if (is_compensated(t)) t->partial[0] = t->partial[1] = t->partial[0] || t->partial[1];
}

/* A of a sum whose factors are as they are; of others of the sum of the rounded products, of at most S + D. */
static fold_status own_error(struct fold_bound_terms *t, mpfr_t error) {
  MPFR_DECL_INIT(sum, FOLD_BOUND_BITS);
  if (t->exact) return fold_ok();
  if (t->how.method == FOLD_KAHAN) return kahan(t, error);
  if (t->how.method == FOLD_NEUMAIER) return neumaier(t, error), fold_ok();
  mpfr_add_d(sum, t->truth->abs_sum, t->narrowed, MPFR_RNDU);
  set_plain_error(t, sum, error);
  return fold_ok();
}

fold_status fold_sum_error(struct fold_bound_terms *t, struct fold_outcomes *outcomes, mpfr_t error) {
  (void)outcomes; /* of products */
  mpfr_set_ui(error, 0, MPFR_RNDU);
  if (t->how.method != FOLD_EXACT) fold_look_at_partial_sums(t);
  FOLD_TRY(own_error(t, error));
  mpfr_add_d(error, error, t->narrowed, MPFR_RNDU);
  return fold_ok();
}
