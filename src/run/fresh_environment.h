/* fresh_environment.h: another environment for the new process, in which nothing that a sum may depend on has changed.
 *
 * Folders have another name, the user and the terminal are others, variables that libraries read are set to what they mean
 * when they are not set, CI and DEBUG are set if they are not, the stack begins elsewhere, and glibc fills
 * allocated and freed memory with bytes other than zero (MALLOC_PERTURB_). So a result that depends on uninitialised
 * memory, or on the environment, differs there.
 */
#ifndef FOLD_FRESH_ENVIRONMENT_H
#define FOLD_FRESH_ENVIRONMENT_H

#include "base/fold.h"

/* This process's variables, changed, in one of two ways: a NULL-terminated list, to be freed with fold_fresh_environment_free. NO_MEMORY. */
fold_status fold_fresh_environment(bool one_way, char ***variables);
/* This process's variables, and so many threads in those by which OpenMP and BLAS libraries take their number; 0: none is
 * changed. */
fold_status fold_threads_environment(unsigned threads, char ***variables);
void fold_fresh_environment_free(char **variables);

#endif
