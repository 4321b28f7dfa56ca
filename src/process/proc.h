/* proc.h: what the system says of processes in /proc (Linux). */
#ifndef FOLD_PROC_H
#define FOLD_PROC_H

#include <stdbool.h>
#include <sys/types.h>

/* Whether /proc is there, and is that of this process's own namespace: otherwise its numbers are those of other
 * processes. */
bool fold_proc_is_ours(void);

struct fold_proc {
  char state; /* 'R', 'S', 'T' (stopped), 'Z' (ended, and not waited for) ... */
  pid_t parent, group;
  unsigned long long start; /* in the system's ticks */
};
/* False, and all zero, if the process is gone or there is no /proc. May be called by a signal handler. */
bool fold_proc_read(pid_t process, struct fold_proc *found);

/* The children of the process's main thread, or of this thread if `process` is 0: how many, at most `most`; 0 if /proc
 * is not ours. Those that have ended are among them until they are waited for. */
int fold_proc_children(pid_t process, pid_t *children, int most);

#endif
