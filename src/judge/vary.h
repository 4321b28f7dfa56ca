/* vary.h: runs of the whole case that differ from the base run by a plan (plan.h), and which claim a difference refutes.
 *
 * Such runs are evidence for several claims at once. A run in which launch and addresses both differ, and which has the base
 * run's bits, supports both launch_invariant and alignment_invariant. If it has different bits, runs that differ in less decide which of
 * them is refuted. A run that was made for one claim is not repeated for another.
 *
 * On the host every other run has a second input, with one term's last bit changed. So a stored result can't pass.
 */
#ifndef FOLD_VARY_H
#define FOLD_VARY_H

#include "plan.h"

/* A run that was made. */
struct fold_varied {
  struct fold_variation how;
  bool same; /* the base run's bits in every row */
  size_t row;
  uint64_t got, want;
  uint64_t hash; /* of its results, where they are not the base run's */
  bool read_nan; /* some result is NaN where the base run's is not */
};

#define FOLD_VARIED_MOST 64
struct fold_varied_log {
  struct fold_varied at[FOLD_VARIED_MOST];
  size_t n;
};

struct fold_trial;
struct fold_finding;

/* Whether launches can be varied at all: not of whom the claim about them is known to be unseen. */
bool fold_trial_takes_launches(const struct fold_trial *trial);
/* Makes that run, unless it was made; UNSUPPORTED where the subject takes no such launch. trial->other is not kept. */
fold_status fold_trial_vary(struct fold_trial *trial, const struct fold_variation *how, struct fold_varied *seen);
/* The same, made whatever was made before, and not kept. */
fold_status fold_trial_try(struct fold_trial *trial, const struct fold_variation *how, struct fold_varied *seen);
/* Whether both have the same bits. */
bool fold_varied_same(const struct fold_varied *a, const struct fold_varied *b);
/* Refutes by a run with different bits: false. */
bool fold_find_varied(struct fold_trial *trial, struct fold_finding *finding, const struct fold_varied *seen);
/* Judges one factor by the trial's plan; false when the finding is closed. *ran: how many runs of it could be made. */
bool fold_judge_varied(struct fold_trial *trial, struct fold_finding *finding, enum fold_factor factor, size_t *ran);
/* Makes the runs that claims over all runs are judged by and that no judge made yet: of a host's subject the whole plan, whatever it
 * promises; of ranks' those between closed pages. */
fold_status fold_trial_guard(struct fold_trial *trial);

#endif
