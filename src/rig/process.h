/* process.h: what a run finds in its process that only system calls tell: limits of resources, how signals are handled, timers, the
 * priority, the user, the group, where and how it is scheduled, what it may do, its standard descriptors and free ones, the mask of
 * files' modes, and processes that it started. surroundings.c looks; who starts a process for the harness says so.
 */
#ifndef FOLD_PROCESS_H
#define FOLD_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

/* All that follows is compared with what there is now. */
void fold_process_keep(void);
/* Puts limits back, and names the first that is another where nothing is named yet: all; or those alone without which the harness could
 * not go on, for each takes a system call. */
void fold_process_restore_limits(bool all, char changed[80]);
/* The same of all but limits. It takes as long as a short run: it is for the end of a trial. */
void fold_process_restore(char changed[80]);
/* Nothing is compared any more, and what was kept open for that is closed. */
void fold_process_forget(void);
/* Whether something could not be put back. */
bool fold_process_is_spoilt(void);
/* A process that the harness has started is no subject's. */
void fold_process_own_child(pid_t child);

#endif
