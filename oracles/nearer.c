/* nearer.c: see nearer.h. Special values are compared by class: if the exact result is special, only the same one is
 * right, and anything else is infinitely far. */
#include "oracles/nearer.h"

#include <math.h>
#include <stdio.h>

#include "base/bits.h"

static void measure(mpfr_t error, double *ulps, const struct fold_truth *truth, enum fold_dtype dtype, uint64_t got) {
  const uint64_t want = truth->rounded[dtype];
  const bool finite = fold_bits_class(dtype, got) < FOLD_INFINITE && mpfr_number_p(truth->exact);
  mpfr_set_inf(error, 1);
  *ulps = INFINITY;
  if (finite) {
    fold_truth_error(error, truth, dtype, got);
    *ulps = fold_truth_ulps(error, truth, dtype);
  } else if (fold_bits_same(dtype, got, want)) {
    mpfr_set_zero(error, 1);
    *ulps = 0;
  }
}

void fold_nearer_ask(struct fold_nearer *n, const struct fold_truth *truth, enum fold_dtype dtype, uint64_t a,
                     uint64_t b) {
  mpfr_t error[2];
  mpfr_inits2(256, error[0], error[1], (mpfr_ptr)0);
  measure(error[0], &n->ulps[0], truth, dtype, a);
  measure(error[1], &n->ulps[1], truth, dtype, b);
  const int order = mpfr_cmp(error[0], error[1]);
  n->nearer = order == 0 ? -1 : order > 0;
  n->apart = fold_bits_apart(dtype, a, b);
  n->zeros = fold_bits_class(dtype, a) == FOLD_ZERO && fold_bits_class(dtype, b) == FOLD_ZERO;
  mpfr_clears(error[0], error[1], (mpfr_ptr)0);
}

const char *fold_nearer_print(const struct fold_nearer *n, const char *first, const char *second, char text[200]) {
  char apart[40] = "";
  if (n->zeros)
    snprintf(apart, sizeof apart, "the other zero; ");
  else if (n->apart)
    snprintf(apart, sizeof apart, "%llu float%s apart; ", (unsigned long long)n->apart, n->apart == 1 ? "" : "s");
  const char *who = n->nearer < 0 ? "both are as near" : n->nearer ? second : first;
  snprintf(text, 200, "%serrors %.3g and %.3g ulps: %.60s%s to the exact result", apart, n->ulps[0], n->ulps[1], who,
           n->nearer < 0 ? "" : " is nearer");
  return text;
}
