/* narrowing.h: what sums of products may change by when each factor is rounded to a narrower format before it is multiplied, as
 * matrix units do: to nearest or toward zero, or not at all.
 *
 * Toward zero a factor x loses l(x) = |x| - t(x), t the largest number of the format that is not above |x|; to nearest it moves by no
 * more, for else t would be nearer. So x' y' is at most |x| l(y) + |y| l(x) + l(x) l(y) from x y. That is 0 where both are numbers of the
 * format. Below the format's normal range its numbers are multiples of its smallest subnormal; l says so.
 */
#ifndef FOLD_NARROWING_H
#define FOLD_NARROWING_H

#include "base/bits.h"
#include "model/claim.h"
#include "model/problem.h"

struct fold_narrowing {
  double error; /* at least the sum of these differences over the terms that are finite; 0 if no factor is rounded */
  bool
      overflows; /* a factor may be rounded to infinity, or toward zero to a finite number: nothing bounds the difference */
  bool
      meets_zero; /* a factor is infinite, and the other may be rounded to zero: NaN may come where that infinity should */
};

/* Of terms that are products of two factors, which are floats; else no factor is rounded. */
fold_status fold_narrowing_of(const struct fold_terms *terms, enum fold_factor_dtype to,
                              struct fold_narrowing *narrowing);
/* Adds to the error what truncated sums of products may cut off besides (bound_sum.c) where a factor is subnormal: its product is aligned as
 * if the factor had the least exponent of a normal number, so that it can be far smaller than what the others are aligned to. */
fold_status fold_alignment_of(const struct fold_terms *terms, enum fold_dtype accumulator,
                              struct fold_narrowing *narrowing);
/* Whether each of n elements is a number of the format, infinite or NaN. */
bool fold_factors_fit(enum fold_dtype dtype, const void *in, size_t n, enum fold_factor_dtype to);

#endif
