/* threshold.h: for which sizes a case that was made small is refuted: from where on, up to where, or with which period. */
#ifndef FOLD_THRESHOLD_H
#define FOLD_THRESHOLD_H

#include "fixtures/fixture.h"

struct fold_threshold {
  /* Sets refuted[i], which is false, where case i is refuted as the one that was made small. */
  fold_status (*ask)(void *context, const struct fold_cases *cases, bool *refuted);
  void *context;
  const volatile int *stop;
  double end; /* of the time that it may take (fold_now) */
  bool whole; /* all errors of the claim are asked for, so that a case that is not refuted holds */
};

/* "refuted from m = 20 to 30, at k = 1101, not 1102"; "at m = 20 to 30" where one place less is refuted, too, or not known to hold; "" where nothing was found out. */
fold_status fold_threshold_find(const struct fold_threshold *threshold, const struct fold_case *c, char text[160]);

#endif
