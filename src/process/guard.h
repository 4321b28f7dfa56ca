/* process/guard.h: starts a process that outlives this one just long enough to end what guests have started.
 *
 * Why: a process that is killed by SIGKILL can't end others. The system ends its workers and the programs' shells with
 * it, but not what a shell runs, nor a child of a shared object. These are in process groups that are noted here; a
 * process that leaves its group is missed.
 */
#ifndef FOLD_GUARD_H
#define FOLD_GUARD_H

#include <sys/types.h>

#include "base/fold.h"

/* Starts the guard; to be called once, by a thread that lives as long as the process. When this process ends, for
 * whatever cause, the guard kills all processes in noted groups and removes the guarded folder. */
fold_status fold_guard_begin(void);
enum { FOLD_GUARD_PATH = 300 };
/* The path of the guarded folder, to be written before the folder is made; "" at the start: none. NULL if there is no guard. */
char *fold_guard_folder(void);
/* Notes a group; may be called in this process or in one that it has forked. Does nothing if there is no guard. */
void fold_guard_group(pid_t group);
/* Ends all noted groups, removes the guarded folder, and ends the guard. */
void fold_guard_end(void);

#endif
