/* bound.h: how far a result may be from the exact one: theorems, computed in MPFR and rounded outward.
 *
 * Each method has its theorem; `h` is the height of the order's own tree. u is the unit roundoff of the accumulator, v that of the
 * result (a last rounding where it does not hold the accumulator), eta the result's smallest subnormal.
 */
#ifndef FOLD_BOUND_H
#define FOLD_BOUND_H

#include <mpfr.h>

#include "model/claim.h"
#include "oracles/exact.h"

/* The formula of the method's bound as text, for tables and messages. */
const char *fold_bound_formula(enum fold_method method);

/* The outcomes that the theorem allows. A finite result's error is bounded; which results that are not finite may come, and
 * whether a finite one may, follows from the overflow thresholds of accumulator and result. */
struct fold_outcomes {
  bool exact;       /* rounded only at the end: a finite result is the correctly rounded one, up to a zero's sign */
  bool finite;      /* false: overflow is certain */
  bool infinite[2]; /* +infinity, -infinity */
  bool nan;         /* both infinities may meet, or a zero may meet an infinity */
};

struct fold_running_product; /* order.h */

/* For a row of truth->n terms: sets `bound` (rounded up) for |result - exact| of a finite result, and which other
 * results may come. `running` is what the order gives, for a product by FOLD_PLAIN in a known order and the usual
 * accumulator; NULL for any order, and for sums. FOLD_UNSUPPORTED, with the reason, if there is no theorem: for max and
 * min, which round nothing; if n u is too large for the method; for a product by a compensated method. */
fold_status fold_bound_outcomes(struct fold_arithmetic how, const struct fold_truth *truth, uint64_t height,
                                const struct fold_running_product *running, mpfr_t bound,
                                struct fold_outcomes *outcomes);

/* The same for a sum of products whose factors may be rounded before they are multiplied. FOLD_UNSUPPORTED also where one of them may
 * overflow then. */
struct fold_narrowing; /* narrowing.h */
fold_status fold_bound_narrowed(struct fold_arithmetic how, const struct fold_truth *truth, uint64_t height,
                                const struct fold_narrowing *narrowing, const struct fold_running_product *running,
                                mpfr_t bound, struct fold_outcomes *outcomes);

/* The bound alone, if the result is certainly finite; FOLD_UNSUPPORTED also if it may not be. */
fold_status fold_bound(struct fold_arithmetic how, const struct fold_truth *truth, uint64_t height, mpfr_t bound);

#endif
