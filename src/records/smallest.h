/* smallest.h: the smallest counterexample of each subject and claim. Cases come in the order of fixtures, so that the first
 * one may be an input of thousands of terms, where one of five shows the fault as well.
 */
#ifndef FOLD_SMALLEST_H
#define FOLD_SMALLEST_H

#include <stdio.h>

#include "runner.h"

struct fold_smallest_of {
  char *text; /* of its refutation */
  size_t terms, rows;
  bool first; /* it is the claim's first refutation */
};

struct fold_smallest {
  const struct fold_registry *registry;
  struct fold_smallest_of *of; /* registry->n x FOLD_CLAIMS */
};

fold_status fold_smallest_open(struct fold_smallest *smallest, const struct fold_registry *registry);
void fold_smallest_close(struct fold_smallest *smallest);
/* Keeps a refutation if it is the smallest yet; program and folder as for fold_print_refuted. */
fold_status fold_smallest_add(struct fold_smallest *smallest, const struct fold_judgement *judgement,
                              const char *program, const char *folder);
/* Prints those that are smaller than the first refutation of their claim: values first, then order, traces last. */
void fold_smallest_print(const struct fold_smallest *smallest, FILE *out);

#endif
