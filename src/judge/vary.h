/* vary.h: runs of the whole case that differ from the base run in their launch, in where their arguments lie, or in what the
 * output held before.
 *
 * Such runs are evidence for several claims at once. A run in which launch and addresses both differ, and which has the base
 * run's bits, speaks for launch_invariant and for alignment_invariant; one that has other bits speaks against neither before
 * runs that differ in one thing alone have told which it is. What was run once is not run again for another claim.
 *
 * On the host, up to FOLD_VARY_APART terms, each thing is varied by itself. Above FOLD_VARY_FEW terms a part of the plan is run: which,
 * the input's hash decides, so that other cases run the rest.
 */
#ifndef FOLD_VARY_H
#define FOLD_VARY_H

#include "rig.h"

#define FOLD_VARY_APART 4096
#define FOLD_VARY_FEW 65536

/* All zero: the base run. */
struct fold_variation {
  struct fold_launch launch;
  ptrdiff_t shift; /* of the input, in elements */
  unsigned out_shift, scratch_shift;
  enum fold_placement placement;
  bool nan;       /* output and scratch held NaN */
  unsigned again; /* tells repeats apart */
};

/* What a claim holds fixed or varies: a mask. */
enum fold_factor { FOLD_VARIES_LAUNCH = 1, FOLD_VARIES_ADDRESS = 2, FOLD_VARIES_POISON = 4 };

/* A run that was made. */
struct fold_varied {
  struct fold_variation how;
  bool same; /* the base run's bits in every row */
  size_t row;
  uint64_t got, want;
  bool read_nan; /* some result is NaN where the base run's is not */
};

#define FOLD_VARIED_MOST 64
struct fold_varied_log {
  struct fold_varied at[FOLD_VARIED_MOST];
  size_t n;
};

struct fold_trial;
struct fold_finding;

/* Makes that run, unless it was made; UNSUPPORTED where the subject takes no such launch. trial->other is not kept. */
fold_status fold_trial_vary(struct fold_trial *trial, const struct fold_variation *how, struct fold_varied *seen);
/* Judges one factor by the trial's plan; false when the finding is closed. *ran: how many runs of it could be made. */
bool fold_judge_varied(struct fold_trial *trial, struct fold_finding *finding, enum fold_factor factor, size_t *ran);

#endif
