/* fresh_environment.h: another environment for the new process, in which nothing that a sum may depend on has changed.
 *
 * Folders are the same by another name, the user and the terminal are others, the stack begins elsewhere, and glibc fills
 * memory that is handed out, and handed back, with bytes that are no zeros (MALLOC_PERTURB_). So a result that depends on
 * memory that nobody set, or on the environment, is another there.
 */
#ifndef FOLD_FRESH_ENVIRONMENT_H
#define FOLD_FRESH_ENVIRONMENT_H

#include "fold.h"

/* This process's variables, changed: a NULL-terminated list, to be freed with fold_fresh_environment_free. NO_MEMORY. */
fold_status fold_fresh_environment(char ***variables);
void fold_fresh_environment_free(char **variables);

#endif
