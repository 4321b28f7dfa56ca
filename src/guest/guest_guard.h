/* guest_guard.h: a process that outlives this one just long enough to end what guests have started.
 *
 * Why: a process that is killed by SIGKILL can end nobody. Its workers end with it, by the system's doing, and so do programs' shells; but
 * not what a shell runs, nor a child of a shared object. They are in process groups that are noted here; a process that leaves its group
 * is not seen.
 */
#ifndef FOLD_GUEST_GUARD_H
#define FOLD_GUEST_GUARD_H

#include <sys/types.h>

#include "guest.h"

/* Once a process, by a thread that lives as long: from its end on, whatever the cause, all that is in noted groups is killed, and
 * what the guests' doors have opened is removed. */
fold_status fold_guest_guard(const struct fold_guest *guests, size_t n);
/* To be noted, by this process or one that it has forked; nothing where there is no guard. */
void fold_guest_guard_group(pid_t group);
/* All groups are ended now, and the guard too. */
void fold_guest_guard_end(void);

#endif
