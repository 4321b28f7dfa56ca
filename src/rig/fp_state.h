/* fp_state.h: keeps the arithmetic settings that a run finds, and looks for changes: the floating-point environment of
 * this thread and of OpenMP's other threads, and OpenMP's settings.
 *
 * If a subject leaves another rounding mode or flushes subnormals, the next subjects are refuted wrongly, and the oracles
 * round wrongly. Rounding, flushing, precision and trapped exceptions are compared; the flags of raised exceptions
 * are not.
 */
#ifndef FOLD_FP_STATE_H
#define FOLD_FP_STATE_H

#include <sys/types.h>

#include "base/fold.h"

/* The arithmetic of a thread: its control registers, without the flags of exceptions that were raised. */
struct fold_control {
  unsigned sse, x87;
};
struct fold_control fold_fp_state_arithmetic(void);

/* Gives this thread the arithmetic that a guest's code has: the one that loading the guest, or its caller, has set, and
 * that its calls have left. New threads of OpenMP's begin with it. */
void fold_fp_state_enter(struct fold_control theirs);
/* Puts the default back, and returns the arithmetic that the guest's code has left. The next fold_fp_state_restore
 * compares with the one that it began with, and names what has changed. `loaded`: that one was set by loading the guest,
 * and is to be named if nothing else is. */
struct fold_control fold_fp_state_leave(bool loaded);

/* OpenMP's settings of this thread. */
struct fold_openmp {
  int threads, dynamic, levels, schedule, chunk;
};

/* How many threads this process has; 0 where the system does not say. */
unsigned fold_thread_count(void);

/* Gives this thread, and no other, the default environment. True if it had another one. */
bool fold_fp_state_take(void);
/* Ends those of OpenMP's other threads that wait for work from this one. New ones will have this thread's
 * environment. */
void fold_fp_state_end_threads(void);
/* Forks a child that goes on with this program: ends those threads before, which the child would not have but wait for, and
 * writes what is buffered, which otherwise both would write. */
pid_t fold_fork(void);

/* Gives this thread the default environment, and ends OpenMP's other threads if there are any. New ones will have this
 * thread's environment. */
void fold_fp_state_reset(void);
/* The same, once in a process. */
void fold_fp_state_begin(void);
/* To be called before a process has threads of OpenMP's: the other threads that exist now, such as a library's, are
 * taken to stay, so that no reset waits for them to end. */
void fold_fp_state_begin_without_openmp(void);

/* OpenMP's settings as they are now, to compare with after a run. */
struct fold_openmp fold_openmp_now(void);

/* True if this thread's environment is the default one, or after fold_fp_state_leave the one that the guest began with,
 * OpenMP's settings are `before`, and, where `threads` is set, OpenMP's other threads have that environment too.
 * Otherwise `changed` names the first difference. Puts the default back for all. */
bool fold_fp_state_restore(const struct fold_openmp *before, bool threads, char changed[80]);
/* Whether the last look at OpenMP's threads found threads that are not OpenMP's. */
bool fold_fp_state_has_company(void);

#endif
