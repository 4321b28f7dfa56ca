/* unclaimed.h: what is told of a claim that a guest does not make, which is judged without being asked for: neither counted nor
 * a failure (judges.c).
 */
#ifndef FOLD_UNCLAIMED_H
#define FOLD_UNCLAIMED_H

#include <stdio.h>

#include "run/runner.h"

struct fold_unclaimed {
  const struct fold_registry *registry;
  struct fold_unclaimed_of {
    const struct fold_claim *claim; /* NULL: none was judged */
    size_t refuted;
    char first[160]; /* the first case in which it is refuted */
  } * of;            /* for each subject */
};

fold_status fold_unclaimed_open(struct fold_unclaimed *unclaimed, const struct fold_registry *registry);
void fold_unclaimed_close(struct fold_unclaimed *unclaimed);
void fold_unclaimed_add(struct fold_unclaimed *unclaimed, const struct fold_judgement *judgement);
/* The claim of subject `i` that was judged so, as a mask. */
uint64_t fold_unclaimed_tried(const struct fold_unclaimed *unclaimed, size_t i);
/* A line for each subject that refutes it; what holds is no news. */
void fold_unclaimed_print(const struct fold_unclaimed *unclaimed, FILE *out);

#endif
