/* worst.h: looks for the input on which a subject's error comes closest to its bound. */
#ifndef FOLD_WORST_H
#define FOLD_WORST_H

#include "hunt/hunt.h"

/* The worst input that was found. */
struct fold_worst {
  struct fold_case c;
  double fraction; /* its error over its bound; NaN: no error was measured */
  size_t tries;
};

/* Draws cases of the one subject, and then changes terms of the one with the greatest error over its bound, as long as that grows,
 * until the time is over. The selection has that subject alone. The caller frees worst->c by fold_case_free. */
fold_status fold_worst_find(const struct fold_hunt *hunt, struct fold_worst *worst);

#endif
