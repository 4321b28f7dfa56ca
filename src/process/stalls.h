/* stalls.h: for how long a process could not go on, through no fault of its own: it was stopped from outside, or other processes had all
 * processors. A limit for a run leaves out that time.
 *
 * The programs that it has started are looked at, too: its children that lead a group of their own, and what these have started.
 */
#ifndef FOLD_STALLS_H
#define FOLD_STALLS_H

#include <sys/types.h>

struct fold_stalls {
  double looked; /* when */
  double used;   /* the processors' time by then; below 0: not known, since nobody has looked yet */
};
struct fold_stalls fold_stalls_begin(void);
/* To be called again and again. How many seconds since the last call, or the begin, are lost so. A gap of more than a second is this
 * process's own (limit.h). */
double fold_stalls_look(struct fold_stalls *stalls, pid_t process);

#endif
