/* super_dot.h: sums of products of two numbers, held exactly.
 *
 * A product of two f64 has 106 bits between 2^-2148 and 2^2048: it is split without error into two f64, high and low (the product
 * in f64, and the rest that an FMA computes: Ogita, Rump, Oishi, Accurate sum and dot product, SIAM J. Sci. Comput. 26 (2005),
 * TwoProductFMA). A product that would overflow or underflow is scaled by a power of two first. Each of the scales has its own
 * superaccumulator of f64. f64 holds products of narrower formats exactly.
 */
#ifndef FOLD_SUPER_DOT_H
#define FOLD_SUPER_DOT_H

#include <mpfr.h>

#include "oracles/super.h"

enum { FOLD_DOT_SCALES = 3 };

/* All zero: no term was added. Scale s holds products times 2^(1100 (1 - s)). */
struct fold_super_dot {
  struct fold_super sum[FOLD_DOT_SCALES]; /* of the products */
  struct fold_super abs[FOLD_DOT_SCALES]; /* of their magnitudes */
  long lowest; /* every finite product is a multiple of 2^lowest; defined if `abs` is not zero */
};

/* Adds x[i] y[i], i < n, both of dtype, on `threads` threads (0: as many as there are); the value does not depend on
 * how many. */
fold_status fold_super_dot_add(enum fold_dtype dtype, const void *x, const void *y, size_t n, unsigned threads,
                               struct fold_super_dot *state);
/* The exact sum, with special values as for all sums (exact.c). */
void fold_super_dot_value(const struct fold_super_dot *state, mpfr_t value);
/* The exact sum of the finite products. */
void fold_super_dot_finite(const struct fold_super_dot *state, mpfr_t value);
/* Sets `value` to the exact sum of the finite products' magnitudes. Returns whether all products were finite. */
bool fold_super_dot_magnitude(const struct fold_super_dot *state, mpfr_t value);
/* The sum, rounded once. */
uint64_t fold_super_dot_close(const struct fold_super_dot *state, enum fold_dtype to);

#endif
