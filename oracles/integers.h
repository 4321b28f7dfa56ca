/* integers.h: folds of integer terms, which no order and no rounding change: each is exact, or exact modulo 2^64.
 *
 * Twice: by the machine's own integers, and by GMP, which shares no arithmetic with them. Terms lie side by side
 * (fold_terms_line). What leaves a dtype's range wraps into it, as two's complement does.
 */
#ifndef FOLD_INTEGERS_H
#define FOLD_INTEGERS_H

#include <mpfr.h>

#include "model/claim.h"
#include "model/problem.h"

/* A sum or product modulo 2^64; the greatest or least term, sign-extended to 64 bits: of no terms the least or the greatest
 * number of their dtype. */
uint64_t fold_integers_fold(const struct fold_terms *line);
uint64_t fold_integers_fold_gmp(const struct fold_terms *line);

/* What is left of an integer, of which 64 bits are given, as a pattern of a dtype: its low bits. */
uint64_t fold_integer_wrap(enum fold_dtype to, uint64_t integer);
/* The same where it was accumulated in an accumulator that may have fewer bits than the result. */
uint64_t fold_integer_result(struct fold_arithmetic how, uint64_t integer);

/* The exact sum of products of two factors, and that of their magnitudes; the precision is raised as needed. */
void fold_integers_dot(const struct fold_terms *line, mpfr_t sum, mpfr_t magnitudes);

/* The exponent of two of the lowest bit that is set in any term, or product; FOLD_NO_BIT (exact.h) if none is set. */
long fold_integers_lowest(const struct fold_terms *line);

#endif
