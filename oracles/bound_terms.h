/* bound_terms.h: the quantities in the formulas of the bounds, shared by bound*.c and a test. */
#ifndef FOLD_BOUND_TERMS_H
#define FOLD_BOUND_TERMS_H

#include "base/bits.h"
#include "oracles/bound.h"
#include "oracles/narrowing.h"
#include "oracles/order.h"

/* Enough for n u and n^2 u^2 of any 64-bit n; each result is rounded outward, so no claim rests on this number. */
#define FOLD_BOUND_BITS 128

/* Numbers rounded up; bound.c's notation. */
struct fold_bound_terms {
  struct fold_arithmetic how;
  const struct fold_truth *truth;
  const struct fold_running_product *running;
  double narrowed; /* by how much rounded factors may change the sum of the terms, and each partial one; D */
  bool meets_zero; /* and may make a NaN of an infinite term (narrowing.h) */
  bool exact;      /* no partial result is rounded */
  struct fold_format result, accumulator;
  int u;           /* unit roundoff 2^u */
  uint64_t height; /* roundings that a term may pass through */
  /* Each has FOLD_BOUND_BITS and is on the stack of the function that made the terms: hundreds of thousands of results
   * are judged. */
  mpfr_ptr gamma;     /* of height */
  mpfr_ptr magnitude; /* |s| or |p| */
  mpfr_ptr side[2];   /* P and N of a sum */
  mpfr_ptr scratch;
  bool partial[2]; /* a partial result may overflow to +infinity, to -infinity */
};

/* Whether each sum, or product, of any terms is a number of the accumulator or beyond its largest one. The first of the
 * two functions also sets `side`. */
bool fold_sums_are_exact(struct fold_bound_terms *t);
bool fold_products_are_exact(const struct fold_bound_terms *t);

/* Sets which infinities the partial sums of finite terms may reach. */
void fold_look_at_partial_sums(struct fold_bound_terms *t);

/* Whether a term, as a product of two factors, may be rounded to the accumulator's precision. */
bool fold_product_is_rounded(const struct fold_bound_terms *t);

/* Sets A, the error in the accumulator, and which partial results may overflow; for a product also whether NaN may
 * come. */
fold_status fold_sum_error(struct fold_bound_terms *t, struct fold_outcomes *outcomes, mpfr_t error);
fold_status fold_product_error(struct fold_bound_terms *t, struct fold_outcomes *outcomes, mpfr_t error);

/* value >= 2^(emax + 1) - 2^(emax - precision): from there on a format rounds to infinity. */
bool fold_reaches_overflow(struct fold_format format, mpfr_srcptr value);
/* FOLD_UNSUPPORTED with the reason. */
fold_status fold_no_bound(const char *reason);

#endif
