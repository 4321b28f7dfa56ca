/* smallest.h: for each subject and claim the smallest case on which it is refuted, and the smallest on which it broke.
 * Cases come in the order of fixtures, so that the first one may be an input of thousands of terms, where one of five
 * shows the fault as well. A case of which all wrong results lack the same last terms comes before any other.
 */
#ifndef FOLD_SMALLEST_H
#define FOLD_SMALLEST_H

#include <stdio.h>

#include "records/refutation.h"

struct fold_smallest_of {
  size_t n;           /* cases; 0: none */
  bool lost_tail;     /* of the smallest (fold_finding) */
  size_t terms, rows; /* of the smallest */
  struct fold_refutation text;
  char *name, *order, *order_on; /* its name; how the order of additions changed, and on which case; or NULL */
};

struct fold_smallest {
  const struct fold_registry *registry;
  struct fold_smallest_of *refuted, *broken; /* registry->n x FOLD_CLAIMS each */
};

fold_status fold_smallest_open(struct fold_smallest *smallest, const struct fold_registry *registry);
void fold_smallest_close(struct fold_smallest *smallest);
/* Counts what is refuted or broken, and keeps it if it is the smallest yet; program and folder as for
 * fold_print_refuted. */
fold_status fold_smallest_add(struct fold_smallest *smallest, const struct fold_judgement *judgement,
                              const char *program, const char *folder);
/* Keeps how the order changed behind a refutation, perhaps on a case that is not the smallest: once for each claim. */
fold_status fold_smallest_explain(struct fold_smallest *smallest, const struct fold_judgement *of,
                                  const struct fold_order_change *change);
/* Prints of each subject what broke, and its first refuted claim, in lines as fold_print_refuted has them, with the
 * other claims that are refuted: claims about values first, then order, traces last; but a result that is not written before all of these, which
 * it causes. At most `most` such blocks; or
 * with `every` one for each claim. */
void fold_smallest_print(const struct fold_smallest *smallest, bool every, size_t most, FILE *out);

#endif
