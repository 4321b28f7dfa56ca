/* summary.h: a run on one screen: each claim over all subjects, what was skipped by its reason, what took longest.
 *
 * Times are of the wall, from one judgement to the next: they are for people, and go into no record.
 */
#ifndef FOLD_SUMMARY_H
#define FOLD_SUMMARY_H

#include "table.h"

enum { FOLD_SLOWEST = 3 };

struct fold_skip {
  char *reason;
  size_t n;
};

struct fold_slow {
  char name[160]; /* of a case */
  double seconds;
};

struct fold_summary {
  const struct fold_registry *registry;
  struct fold_skip *skip; /* of promised claims, each reason once */
  size_t n_skips, room_skips;
  double *seconds;                          /* of each subject */
  double before;                            /* when the last judgement came */
  struct fold_slow now, slow[FOLD_SLOWEST]; /* slow: the worst first */
};

fold_status fold_summary_open(struct fold_summary *summary, const struct fold_registry *registry);
void fold_summary_close(struct fold_summary *summary);
fold_status fold_summary_add(struct fold_summary *summary, const struct fold_judgement *judgement);
/* Counts are the table's; the line "N held, N refuted, N skipped" is left to it. */
void fold_summary_print(struct fold_summary *summary, const struct fold_table *table, bool strict, FILE *out);

#endif
