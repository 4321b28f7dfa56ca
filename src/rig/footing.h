/* footing.h: the arithmetic settings of a run, and what changed them: the floating-point environment of a thread and of
 * OpenMP's other threads, and OpenMP's settings.
 *
 * If a subject leaves another rounding mode or flushes subnormals, the next subjects are refuted wrongly, and the oracles
 * round wrongly. Rounding, flushing, precision and trapped exceptions are compared; the flags of raised exceptions
 * are not.
 */
#ifndef FOLD_FOOTING_H
#define FOLD_FOOTING_H

#include "fold.h"

/* OpenMP's settings of this thread. */
struct fold_footing {
  int threads, dynamic, levels, schedule, chunk;
};

/* How many threads this process has; 0 where the system does not say. */
unsigned fold_footing_threads(void);

/* The default environment for this thread, and no other thread's; whether it had another one. */
bool fold_footing_take(void);
/* Of OpenMP's other threads those that wait for work of this one: new ones will have this thread's environment. */
void fold_footing_end_threads(void);

/* The default environment for this thread; OpenMP's other threads, where there are any, are ended, and new ones will have
 * this thread's environment. */
void fold_footing_reset(void);
/* The same, once in a process. */
void fold_footing_begin(void);
/* Before OpenMP's first thread in a process: those that there are, as a library's, stay, and no reset waits for them to end. */
void fold_footing_begin_without_openmp(void);

/* To be compared with after a run. */
struct fold_footing fold_footing_now(void);

/* Whether this thread's environment is the default one and OpenMP's settings are `before`, and, if asked, the environments of OpenMP's
 * other threads are the default ones; what differs first is named. All is put back. */
bool fold_footing_restore(const struct fold_footing *before, bool threads, char changed[80]);
/* Whether there were threads, when that looked at OpenMP's last, that are none of these. */
bool fold_footing_has_company(void);

#endif
