/* sweep.h: what a guest's way of working may hang on, tried value by value: its number of rows, a row's place among them, where its
 * arguments lie. A compiled subject's way is known, and its fixtures lie where that changes.
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
