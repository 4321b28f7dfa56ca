/* plain_data.h: cases with the shape of one that is refuted, and the plainest data on which faults show: for those of a place or a length a
 * single 1, and ones; for those of a rounding a tie, and a square that is not exact; for those of an order one large term, beside which ones
 * are lost or not. */
#ifndef FOLD_PLAIN_DATA_H
#define FOLD_PLAIN_DATA_H

#include "fixtures/fixture.h"

/* Appends them, the plainest first. `result`: one that is refuted, whose terms are chosen; the values of other factors are 1, and keys
 * stay. `large`: so many powers of two above 1 that 1 is lost beside it. */
fold_status fold_plain_data(const struct fold_case *from, size_t result, int large, struct fold_cases *cases);

#endif
