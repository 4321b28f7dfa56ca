/* truth.h: what the two exact oracles share: closing, and the product's rigorous parts. Included by exact.c,
 * exact_mpfr.c, exact_rows.c, extreme.c, prefixes.c and product.c; everybody else includes exact.h.
 */
#ifndef FOLD_TRUTH_H
#define FOLD_TRUTH_H

#include "oracles/exact.h"

/* The most significant bits of an exact product that are held; past it the product is enclosed. */
#define FOLD_PRODUCT_BITS 65536

/* Sets dtype, op and n, and clears what an earlier use left. */
fold_status fold_truth_start(struct fold_truth *truth, enum fold_dtype dtype, enum fold_op op, size_t n);
/* The same for general terms; FOLD_BAD_INPUT for products of two factors that are not summed. */
fold_status fold_truth_start_terms(struct fold_truth *truth, const struct fold_terms *terms);
/* Sets `finite` of a sum from `exact`, if all its terms are finite. */
void fold_truth_all_finite(struct fold_truth *truth);
/* Sets `rounded`, `condition` and (unless the product is enclosed) `exact_up` from the rest. */
void fold_truth_close(struct fold_truth *truth);

/* Completes a truth that was started, from the states of its terms and of their magnitudes: a sum, whose terms are multiples of
 * 2^lowest; or the greatest or least term, whose pattern is `bits` (of no terms nothing is read there). */
void fold_truth_of_sum(struct fold_truth *truth, const struct fold_super *sum, const struct fold_super *abs,
                       long lowest);
void fold_truth_of_extreme(struct fold_truth *truth, const struct fold_super *abs, uint64_t bits);

/* The pattern of the largest or smallest of n > 0 terms; of any NaN among them, if there is one. */
uint64_t fold_extreme(enum fold_dtype dtype, enum fold_op op, const void *in, size_t n);

/* Sets `exact` and `enclosed` of a product whose dtype and n are set; also `exact_up` if it is enclosed. */
void fold_product_enclose(const void *in, struct fold_truth *truth);
/* Sets `rounded` in the integer dtypes from the low 64 bits of a product of integers: an enclosure does not have them. */
void fold_product_wrap(struct fold_truth *truth, uint64_t low);
/* Sets least_exponent and largest. */
void fold_product_range(const void *in, struct fold_truth *truth);
/* Whether exact and exact_up round to the same number in every dtype. */
bool fold_product_decided(const struct fold_truth *truth);

#endif
