/* bench/too_fast.h: whether calls on large inputs are faster than their inputs can be read, or faster on an input that was seen before.
 *
 * The times are those of calls whose results are judged (struct fold_traces), so a subject that works only when it is looked at can't
 * choose. The ceiling is the host's nearest cache, read by all processors at once, or the device's memory.
 */
#ifndef FOLD_BENCH_TOO_FAST_H
#define FOLD_BENCH_TOO_FAST_H

#include "run/runner.h"

/* Appends cases of each problem that the subject takes, but sums by key: the first is not timed, and each further input comes twice in turn. */
fold_status fold_too_fast_cases(const struct fold_subject *subject, uint64_t seed, struct fold_cases *cases);

/* `seconds`: of each of these cases, 0 where it was not run. *timed: how many were. `why` says what is implausible, in a line; "": all
 * is plausible. */
fold_status fold_too_fast_judge(const struct fold_subject *subject, const struct fold_cases *cases,
                                const double *seconds, size_t *timed, char why[300]);

#endif
