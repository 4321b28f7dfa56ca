/* sweep.h: tries, value by value, what a guest's choice of method may depend on: the number of rows, a row's place, the
 * addresses of its arguments. For compiled subjects it is known where they change their method, and fixtures have these
 * sizes.
 */
#ifndef FOLD_SWEEP_H
#define FOLD_SWEEP_H

#include "judge.h"

/* Each returns false when the finding is closed. For several rows: */
bool fold_sweep_batches(struct fold_trial *trial, struct fold_finding *finding);
bool fold_sweep_places(struct fold_trial *trial, struct fold_finding *finding);
/* For a claim that is judged by results, and held of the whole batch: batches of fewer rows must keep it too. */
bool fold_sweep_claim(const struct fold_claim *claim, struct fold_trial *trial, struct fold_finding *finding);
/* Whether a row alone has other bits so many elements further from an aligned address: then its number and place do not
 * decide. */
bool fold_address_decides(struct fold_trial *trial, size_t row, size_t further);
/* For short rows, after the trial's plan (vary.h): */
bool fold_sweep_offsets(struct fold_trial *trial, struct fold_finding *finding);

#endif
