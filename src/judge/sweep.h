/* sweep.h: tries, value by value, what a guest's choice of method may depend on: the number of rows, a row's place, the
 * addresses of its arguments. For compiled subjects it is known where they change their method, and fixtures have these
 * sizes.
 */
#ifndef FOLD_JUDGE_SWEEP_H
#define FOLD_JUDGE_SWEEP_H

#include "judge/judge.h"

/* The first of these results of the case's rows that is outside its bound, where `base` has another: its row; else `rows`.
 * At most `most` that differ are looked at. */
size_t fold_find_gross(const struct fold_trial *trial, const void *results, const void *base, size_t rows, size_t most);
/* Whether a side of the refutation is outside its bound: no difference of rounding. */
bool fold_is_gross(struct fold_trial *trial, const struct fold_finding *finding);
/* Tries n things, until one is refuted by a result that is outside its bound: that is shown rather than a difference of
 * rounding that came first. False when the finding is closed; `try` too. */
typedef bool fold_try(struct fold_trial *trial, struct fold_finding *finding, size_t k, const void *context);
bool fold_judge_each(struct fold_trial *trial, struct fold_finding *finding, size_t n, fold_try *try,
                     const void *context);

/* Each returns false when the finding is closed. For several rows: */
bool fold_sweep_batches(struct fold_trial *trial, struct fold_finding *finding);
bool fold_sweep_places(struct fold_trial *trial, struct fold_finding *finding);
/* For results along several axes: fewer columns, and columns in other places (columns.c). */
bool fold_sweep_columns(struct fold_trial *trial, struct fold_finding *finding);
/* For a claim that is judged by results, and held of the whole batch: batches of fewer rows must keep it too. */
bool fold_sweep_claim(const struct fold_claim *claim, struct fold_trial *trial, struct fold_finding *finding);
/* Whether a row alone has other bits so many elements further from an aligned address: then its number and place do not
 * decide. */
bool fold_address_decides(struct fold_trial *trial, size_t row, size_t further);
/* For short rows, after the trial's plan (vary.h): */
bool fold_sweep_offsets(struct fold_trial *trial, struct fold_finding *finding);

#endif
