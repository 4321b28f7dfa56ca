/* bound_product.c: the errors of products, in bound.c's notation.
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
 * Overflow. A node that overflows first has operands that did not, of k terms in all: what it rounds is at most
 * B_T (1 + u)^(k - 2) <= B (1 + gamma_(n-1)). So none overflows while that is below the accumulator's threshold.  []
 *
 * A product in a declared order is judged by that order's own partial products as well (running_product.c): by whichever bound is
 * smaller. Over any order the absolute term says little of a long row whose factors above 1 reach far.
 */
#include <math.h>

#include "oracles/bound_terms.h"

bool fold_products_are_exact(const struct fold_bound_terms *t) {
  const struct fold_truth *truth = t->truth;
  if (truth->enclosed || (mpfr_prec_t)mpfr_min_prec(truth->exact) > t->accumulator.precision) return false;
  return truth->least_exponent >= t->accumulator.emin && mpfr_get_exp(truth->largest) <= t->accumulator.emax + 1;
}

/* B (1 + gamma), in the scratch number. */
static mpfr_ptr largest_partial(struct fold_bound_terms *t) {
  mpfr_add_ui(t->scratch, t->gamma, 1, MPFR_RNDU);
  mpfr_mul(t->scratch, t->scratch, t->truth->largest, MPFR_RNDU);
  return t->scratch;
}

/* Adds (n - 1) tau B (1 + gamma), or 0 if nothing falls below the normal range. */
static void add_underflow(struct fold_bound_terms *t, mpfr_t error) {
  if (t->truth->least_exponent >= t->accumulator.emin + 1) return;
  mpfr_mul_2si(t->scratch, largest_partial(t), t->accumulator.emin - t->accumulator.precision, MPFR_RNDU);
  mpfr_mul_ui(t->scratch, t->scratch, t->truth->n - 1, MPFR_RNDU);
  mpfr_add(error, error, t->scratch, MPFR_RNDU);
}

/* k = n - 1 roundings with k u < 1/2 change a partial product by a factor of at least (1 - u)^k >= 1/2; the exact
 * partial products are at least 2^least. With a zero factor a finite result is an exact zero, whatever underflows
 * beside it. */
static fold_status any_order(struct fold_bound_terms *t, struct fold_outcomes *outcomes, mpfr_t error) {
  const struct fold_truth *truth = t->truth;
  bool zero = mpfr_zero_p(t->magnitude);
  mpfr_set_ui(error, 0, MPFR_RNDU); /* unseen: 1 */
  if (outcomes->exact) return fold_ok();
  const bool overflows = fold_reaches_overflow(t->accumulator, largest_partial(t));
  outcomes->nan = overflows && (zero || truth->least_exponent < t->accumulator.emin + 1);
  outcomes->exact = zero;
  if (zero) return fold_ok();
  t->partial[mpfr_signbit(truth->exact) != 0] = overflows;
  mpfr_mul(error, t->gamma, t->magnitude, MPFR_RNDU);
  add_underflow(t, error);
  return fold_ok();
}

/* In a known order, the overflows are known too, and each underflow is weighed where it occurs. */
static fold_status use_order(struct fold_bound_terms *t, struct fold_outcomes *outcomes, mpfr_t error) {
  const double value = t->running->value;
  t->partial[0] = t->partial[1] = false;
  outcomes->nan = isnan(value);
  if (isinf(value)) t->partial[value < 0] = true;
  if (!isfinite(value) || outcomes->exact) return fold_ok(); /* unseen: && */
  mpfr_set_ld(t->scratch, t->running->error, MPFR_RNDU);
  if (mpfr_less_p(t->scratch, error)) mpfr_set(error, t->scratch, MPFR_RNDU);
  if (mpfr_inf_p(error)) return fold_no_bound("what underflowed on the way weighs too much");
  return fold_ok();
}

fold_status fold_product_error(struct fold_bound_terms *t, struct fold_outcomes *outcomes, mpfr_t error) {
  FOLD_TRY(any_order(t, outcomes, error));
  return t->running ? use_order(t, outcomes, error) : fold_ok();
}
