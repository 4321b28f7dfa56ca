/* worst.h: looks for the input on which a subject's error is greatest: over its bound, or in ulps of the exact result. */
#ifndef FOLD_WORST_H
#define FOLD_WORST_H

#include "hunt/hunt.h"

/* The worst input that was found. */
struct fold_worst {
  struct fold_case c;
  double error; /* in that measure; NaN: none was measured */
  size_t tries;
};

enum fold_worst_by { FOLD_BY_BOUND, FOLD_BY_ULPS };

/* Draws cases of the one subject, and then changes terms of the one with the greatest error, as long as that grows,
 * until the time is over. The selection has that subject alone. The caller frees worst->c by fold_case_free. */
fold_status fold_worst_find(const struct fold_hunt *hunt, enum fold_worst_by by, struct fold_worst *worst);

#endif
