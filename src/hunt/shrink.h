/* shrink.h: makes a refuted case small, while the same claim of the same subject is refuted on it. */
#ifndef FOLD_SHRINK_H
#define FOLD_SHRINK_H

#include "hunt/judged.h"

/* What a hunt has found: a claim of a subject, and the case that refutes it. */
struct fold_found {
  size_t subject; /* its place in the registry */
  enum fold_claim_id claim;
  bool worst;              /* nothing is refuted: its error is the greatest over its bound (worst.h) */
  bool broken;             /* the run failed, or its process ended */
  struct fold_cases cases; /* the last one refutes; the others ran before it in the same process */
  struct fold_case origin; /* the last one as it was drawn */
  bool whole;              /* it has too many values to be written: it stays as it was drawn */
  struct fold_finding finding;
  size_t tries;          /* cases that were judged to make it small */
  unsigned seen, looked; /* of so many runs of `cases`, each in a new process, how many were refuted */
  char threshold[160];   /* for which sizes it is refuted; "": not known */
};

/* What the hunt judges by. */
struct fold_shrink {
  const struct fold_registry *registry;
  const struct fold_selection *selection;
  const volatile int *stop; /* what is found by then is kept */
  double seconds;           /* at most so long for each */
  bool lost_tail; /* its results go on to lack their last terms: another error of that claim is found already */
};

/* `before`: the cases that ran in the same process, in their order; the last one is refuted. Cases that need not run before it are
 * left out. */
fold_status fold_shrink(const struct fold_shrink *shrink, const struct fold_case *before, size_t n,
                        const struct fold_against *against, struct fold_found *found);
void fold_found_close(struct fold_found *found);

#endif
