/* fresh.h: the same runs in a new process of this very program, for the claims fresh_process and launch_invariant. */
#ifndef FOLD_FRESH_H
#define FOLD_FRESH_H

#include "run/runner.h"

/* Starts this executable again as `record` with the same selection, waits for it, and has it write its records to the
 * file `records`. Its exit code does not matter: a run that it did not record is not found later. FOLD_ENVIRONMENT if
 * it was killed. For guests it starts as many processes as there are repeats, or one where that takes long, and further
 * ones for a few of the cases. For launch_invariant of guests it starts some with variables that say a number of threads.
 * `claims`: a mask of those two. */
fold_status fold_fresh_ask(const struct fold_selection *selection, const struct fold_cases *cases, uint64_t claims,
                           int records);
/* Reads the records, from the file's beginning. Free with fold_fresh_free. */
fold_status fold_fresh_read(int records, struct fold_fresh **fresh);
void fold_fresh_free(struct fold_fresh *fresh);

/* This process's variables, changed, in one of two ways: a NULL-terminated list, to be freed with fold_fresh_environment_free. NO_MEMORY. */
fold_status fold_fresh_environment(bool one_way, char ***variables);
/* This process's variables, and so many threads in those by which OpenMP and BLAS libraries take their number; 0: none is
 * changed. */
fold_status fold_threads_environment(unsigned threads, char ***variables);
void fold_fresh_environment_free(char **variables);

#endif
