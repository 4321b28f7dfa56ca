/* vary.h: runs of the whole case that differ from the base run by a plan (plan.h), and which claim a difference refutes.
 *
 * Such runs are evidence for several claims at once. A run in which launch and addresses both differ, and which has the base
 * run's bits, supports both launch_invariant and alignment_invariant. If it has different bits, runs that differ in less decide which of
 * them is refuted. A run that was made for one claim is not repeated for another.
 *
 * On the host every second run has another input, in which one term's last bit is changed: so a subject can't pass by a
 * stored result.
 */
#ifndef FOLD_VARY_H
#define FOLD_VARY_H

#include "judge/plan.h"

/* A run that was made. */
struct fold_varied {
  struct fold_variation how;
  bool same; /* every row has the base run's bits */
  size_t row;
  uint64_t got, want;
  uint64_t hash; /* of its results, if they are not the base run's */
  bool read_nan; /* some result is NaN where the base run's is not */
};

#define FOLD_VARIED_MOST 64
struct fold_varied_log {
  struct fold_varied at[FOLD_VARIED_MOST];
  size_t n;
};

struct fold_trial;
struct fold_finding;

/* Whether launches can be varied at all. They can't if nothing could refute launch_invariant of this subject. */
bool fold_trial_takes_launches(const struct fold_trial *trial);
/* Makes that run, unless it was made before. UNSUPPORTED where the subject takes no such launch. Overwrites
 * trial->other. */
fold_status fold_trial_vary(struct fold_trial *trial, const struct fold_variation *how, struct fold_varied *seen);
/* The same, but always makes the run, and does not remember it. */
fold_status fold_trial_try(struct fold_trial *trial, const struct fold_variation *how, struct fold_varied *seen);
/* Whether both have the same bits. */
bool fold_varied_same(const struct fold_varied *a, const struct fold_varied *b);
/* What differs in a run's input. All zero: nothing. */
struct fold_edit {
  /* Changes input number k, whose terms are also in `from`. NULL: it does not. */
  void (*apply)(const struct fold_trial *trial, unsigned k, const void *from, void *input, const void *context);
  const void *context;
  bool second;                  /* it is the second input */
  ptrdiff_t shift, other_shift; /* where the first input and the other one lie (fold_rig_move_apart) */
};
/* Makes a run of the trial's subject (NULL: of the whole case) with an edited input, and puts the input back, also after a
 * failure. */
fold_status fold_trial_run_edited(struct fold_trial *trial, const struct fold_edit *edit,
                                  const struct fold_request *request, void *results);
/* Turns the first input into the second one, or back. */
fold_status fold_trial_flip(struct fold_trial *trial, bool to_second);
/* How a run of the trial varied, in words (plan.h). */
void fold_trial_describe(const struct fold_trial *trial, const struct fold_variation *how, char text[200]);
/* Refutes by a run with different bits; returns false. */
bool fold_find_varied(struct fold_trial *trial, struct fold_finding *finding, const struct fold_varied *seen);
/* Judges one factor by the trial's plan; false when the finding is closed. *ran: how many runs varied it. */
bool fold_judge_varied(struct fold_trial *trial, struct fold_finding *finding, enum fold_factor factor, size_t *ran);
/* Makes the runs which claims over all runs need and no judge has made yet: for a subject on the host the whole plan,
 * whatever it promises; over ranks those between closed pages. */
fold_status fold_trial_guard(struct fold_trial *trial);

#endif
