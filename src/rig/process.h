/* process.h: the state of the process that only system calls tell: limits of resources, how signals are handled,
 * timers, the priority, the user, the group, where and how it is scheduled, what it may do, its standard descriptors
 * and free ones, the mask of files' modes, and processes that it started. surroundings.c decides when to look. Harness
 * code that starts a process must report it by fold_process_own_child.
 */
#ifndef FOLD_PROCESS_H
#define FOLD_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

/* Keeps the state of now; the functions below compare with it. */
void fold_process_keep(void);
/* Puts changed limits back, and names the first one in `changed` if that is still empty. Unless `all` is set, looks
 * only at the limits without which the harness could not go on, since each takes a system call. */
void fold_process_restore_limits(bool all, char changed[80]);
/* The same for everything but limits. It takes as long as a short run, so it is called only at the end of a trial. */
void fold_process_restore(char changed[80]);
/* Ends the comparison: closes the descriptors that were kept open for it. */
void fold_process_forget(void);
/* Whether something could not be put back. */
bool fold_process_is_spoilt(void);
/* Reports a process that the harness itself started, so that no subject is blamed for it. */
void fold_process_own_child(pid_t child);

/* From now on, in a process that judges guests: looks also for processes that have left their parents, which become the
 * children of the process that watches this one (orphans.h), and for namespaces. */
void fold_process_watch_guests(void);

#endif
