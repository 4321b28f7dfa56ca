/* sweep.h: what a guest's choice of method may depend on, tried value by value: the number of rows, a row's place, the addresses of
 * its arguments. Where a compiled subject changes its method is known, and fixtures have these sizes.
 */
#ifndef FOLD_SWEEP_H
#define FOLD_SWEEP_H

#include "judge.h"

/* Each is false when the finding is closed. Several rows: */
bool fold_sweep_batches(struct fold_trial *trial, struct fold_finding *finding);
bool fold_sweep_places(struct fold_trial *trial, struct fold_finding *finding);
/* Short rows, after the trial's plan (vary.h): */
bool fold_sweep_offsets(struct fold_trial *trial, struct fold_finding *finding);

#endif
