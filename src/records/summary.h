/* summary.h: shows a run on one screen: the reasons of skips, and how much held on order-insensitive inputs; and if
 * verbose each claim over all subjects, and what took longest.
 *
 * Times are wall-clock times from one judgement to the next. They are for people, and go into no record.
 */
#ifndef FOLD_SUMMARY_H
#define FOLD_SUMMARY_H

#include "records/table.h"

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
  struct fold_skip *skip; /* the reasons for which promised claims were skipped, each once */
  size_t n_skips, room_skips;
  struct fold_off {
    double ulps; /* 0: none */
    char name[160];
  } * off; /* for each subject: its largest error that deserves a notice, and the case */
  struct {
    size_t n;           /* verdicts that held over a sample of the results */
    size_t judged, all; /* of the first, and its case: */
    char name[160];
  } sampled;
  /* Of claims that a guest does not make, which are judged without being asked for (run/judged_claims.c): neither counted nor a
   * failure. */
  struct fold_unclaimed {
    uint64_t tried;                 /* a mask */
    const struct fold_claim *claim; /* the first of them that is refuted; NULL: none is */
    size_t refuted;
    char first[160];                        /* the first case in which it is */
  } * unclaimed;                            /* for each subject */
  double *seconds;                          /* for each subject */
  double before;                            /* the time of the last judgement */
  struct fold_slow now, slow[FOLD_SLOWEST]; /* slow: the worst first */
};

fold_status fold_summary_open(struct fold_summary *summary, const struct fold_registry *registry);
void fold_summary_close(struct fold_summary *summary);
/* `counted`: it is in the table, too; else it was judged for information. */
fold_status fold_summary_add(struct fold_summary *summary, const struct fold_judgement *judgement, bool counted);
/* The claim of subject `i` that was judged for information, as a mask. */
uint64_t fold_summary_unclaimed(const struct fold_summary *summary, size_t i);
/* Uses the table's counts. The table prints the line "N held, N refuted, N skipped". */
void fold_summary_print(struct fold_summary *summary, const struct fold_table *table, bool strict, bool verbose,
                        FILE *out);

#endif
