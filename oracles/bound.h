/* bound.h: how far a result may be from the exact one: theorems, computed in MPFR and rounded outward.
 *
 * Each method has its theorem; `h` is the height of the order's own tree. u is the unit roundoff of the accumulator (the
 * dtype itself for FOLD_NARROW), v of the dtype of the result (a last rounding where they differ), eta the dtype's smallest subnormal.
 */
#ifndef FOLD_BOUND_H
#define FOLD_BOUND_H

#include <mpfr.h>

#include "claim.h"
#include "exact.h"

/* The formula of the method's bound as text, for tables and messages. */
const char *fold_bound_formula(enum fold_method method);

/* Sets `bound` (rounded up) for |result - exact| of a sum or product of truth->n terms. FOLD_UNSUPPORTED, with the
 * reason, where the theorem's conditions fail (terms not finite; partial results that may overflow or, for a product, underflow; n u >= 1): the claim is
 * then skipped for that input unless the result is judged by class. */
fold_status fold_bound(enum fold_method method, const struct fold_truth *truth, uint64_t height, mpfr_t bound);

#endif
