/* judged.h: judges a list of cases in a process of their own, or in this one (fold_selection.here), and keeps what is refuted or broken. */
#ifndef FOLD_JUDGED_H
#define FOLD_JUDGED_H

#include "run/supervise.h"

/* A claim of a subject that was refuted on a case, or whose run failed there. */
struct fold_against {
  size_t subject, c; /* their places in the registry, and in the list of cases */
  enum fold_claim_id claim;
  struct fold_finding finding;
};

/* The greatest errors on a case: over its bound, and in ulps of the exact result; NaN: none was measured. */
struct fold_judged_error {
  double fraction, ulps;
};

struct fold_judged_cases {
  size_t verdicts[FOLD_VERDICTS]; /* of promised claims, or of all if claims are probed */
  size_t trials;                  /* subjects times cases */
  size_t begun;                   /* of the cases: a hunt's end may come before the others */
  struct fold_against *against;
  size_t n, room;
  size_t before_last; /* of `against`: those of all trials but the last one, which an interruption may have failed */
  struct fold_judged_error *error; /* of each case */
  fold_status unexplained;
};

/* The same selection, of one subject and one claim. */
struct fold_selection fold_judged_selection(const struct fold_selection *selection, const struct fold_subject *subject,
                                            enum fold_claim_id claim);
/* Judges by the selection's claims. A known defect of a peer does not count as refuted. A subject that hangs is not run after that: its other
 * cases are not judged. */
fold_status fold_judge_cases(const struct fold_registry *registry, const struct fold_selection *selection,
                             const struct fold_cases *cases, const volatile int *stop,
                             struct fold_judged_cases *judged);
/* Does such a job, of which the sink has trials and judgements alone. */
fold_status fold_hunt_do(const struct fold_job *job, fold_status *unexplained);
void fold_judged_close(struct fold_judged_cases *judged);

#endif
