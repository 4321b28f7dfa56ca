/* exact_dot.c: the truth about terms, products of two factors among them, from both oracles.
 *
 * The fast one holds products in super_dot.h's superaccumulators; the slow one multiplies in MPFR, with as many bits as both
 * factors have together, and adds by mpfr_sum: they share the closing alone. Policy: a product follows IEEE-754 where a factor is
 * infinite, NaN or zero (0 times infinity is NaN), is exact otherwise, and is then a term of a sum (exact.c).
 */
#include <stdlib.h>

#include "bits.h"
#include "super_dot.h"
#include "truth.h"

/* Any sum of 2^64 products of two f64: its bits weigh from 2^-2148 to 2^2112. */
enum { CHUNK = 512, SUM_BITS = 4352 };

static fold_status start(const struct fold_terms *terms, struct fold_truth *truth) {
  if (terms->factors != 2 || terms->op != FOLD_SUM)
    return fold_error(FOLD_BAD_INPUT, "the oracle has no terms of %u factors joined by %s", terms->factors,
                      fold_op_name(terms->op));
  FOLD_TRY(fold_truth_start(truth, terms->dtype, terms->op, terms->n));
  truth->factors = terms->factors;
  return fold_ok();
}

static fold_status exact_dot(const struct fold_terms *terms, unsigned threads, struct fold_truth *truth) {
  struct fold_super_dot *state = calloc(1, sizeof *state);
  if (!state) return fold_error(FOLD_NO_MEMORY, "not enough memory for an exact dot product");
  fold_status status = fold_super_dot_add(terms->dtype, terms->factor[0], terms->factor[1], terms->n, threads, state);
  if (status.code == FOLD_OK) {
    truth->finite_terms = fold_super_dot_magnitude(state, truth->abs_sum);
    fold_super_dot_value(state, truth->exact);
    if (!mpfr_zero_p(truth->abs_sum)) truth->lowest = state->lowest;
    fold_truth_close(truth);
  }
  free(state);
  return status;
}

fold_status fold_oracle_terms(const struct fold_terms *terms, unsigned threads, struct fold_truth *truth) {
  if (terms->factors == 1)
    return fold_oracle_exact(terms->dtype, terms->op, terms->factor[0], terms->n, threads, truth);
  FOLD_TRY(start(terms, truth));
  return exact_dot(terms, threads, truth);
}

/* A chunk of products, and of their magnitudes. */
struct products {
  mpfr_t product[CHUNK], magnitude[CHUNK], part;
  mpfr_ptr products[CHUNK], magnitudes[CHUNK];
};

static void set_product(const struct fold_terms *terms, size_t i, mpfr_t product) {
  mpfr_t factor;
  mpfr_init2(factor, 53);
  fold_mpfr_set_bits(product, terms->dtype, fold_bits_load(terms->dtype, terms->factor[0], i));
  fold_mpfr_set_bits(factor, terms->dtype, fold_bits_load(terms->dtype, terms->factor[1], i));
  mpfr_prec_round(product, 106, MPFR_RNDN);
  mpfr_mul(product, product, factor, MPFR_RNDN); /* exact */
  mpfr_clear(factor);
}

/* A product's magnitude < 2^exp, of whose significand so many bits are needed. */
static void look_at(const struct products *p, size_t i, struct fold_truth *truth) {
  mpfr_srcptr product = p->product[i];
  if (!mpfr_number_p(product)) truth->finite_terms = false;
  if (!mpfr_regular_p(product)) return;
  long lowest = (long)mpfr_get_exp(product) - (long)mpfr_min_prec(product);
  if (lowest < truth->lowest) truth->lowest = lowest;
}

static bool add_all(const struct fold_terms *terms, struct products *p, struct fold_truth *truth) {
  bool inexact = false;
  for (size_t done = 0; done < terms->n; done += CHUNK) {
    size_t length = terms->n - done < CHUNK ? terms->n - done : CHUNK;
    for (size_t i = 0; i < length; i++) {
      set_product(terms, done + i, p->product[i]);
      look_at(p, i, truth);
      mpfr_abs(p->magnitude[i], p->product[i], MPFR_RNDN);
      if (!mpfr_number_p(p->product[i])) mpfr_set_zero(p->magnitude[i], 1);
    }
    inexact |= fold_mpfr_add_chunk(truth->exact, p->part, p->products, length, done == 0);
    inexact |= fold_mpfr_add_chunk(truth->abs_sum, p->part, p->magnitudes, length, done == 0);
  }
  return inexact;
}

static fold_status slow_dot(const struct fold_terms *terms, struct fold_truth *truth) {
  struct products *p = malloc(sizeof *p);
  if (!p) return fold_error(FOLD_NO_MEMORY, "no memory for %d MPFR numbers", 2 * CHUNK);
  for (int i = 0; i < CHUNK; i++) {
    p->products[i] = p->product[i];
    p->magnitudes[i] = p->magnitude[i];
    mpfr_inits2(106, p->product[i], p->magnitude[i], (mpfr_ptr)0);
  }
  mpfr_init2(p->part, SUM_BITS);
  mpfr_set_prec(truth->exact, SUM_BITS);
  mpfr_set_prec(truth->abs_sum, SUM_BITS);
  mpfr_set_zero(truth->exact, 1);
  mpfr_set_zero(truth->abs_sum, 1);
  truth->finite_terms = true;
  bool inexact = add_all(terms, p, truth);
  fold_truth_close(truth);
  for (int i = 0; i < CHUNK; i++) mpfr_clears(p->product[i], p->magnitude[i], (mpfr_ptr)0);
  mpfr_clear(p->part);
  free(p);
  return inexact ? fold_error(FOLD_ENVIRONMENT, "MPFR rounded a sum that fits %d bits", SUM_BITS) : fold_ok();
}

fold_status fold_oracle_mpfr_terms(const struct fold_terms *terms, struct fold_truth *truth) {
  if (terms->factors == 1) return fold_oracle_mpfr(terms->dtype, terms->op, terms->factor[0], terms->n, truth);
  FOLD_TRY(start(terms, truth));
  return slow_dot(terms, truth);
}
