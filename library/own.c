/* own.c: exact results and replays do not depend on the caller's arithmetic. A process that flushes subnormals, as
 * after loading something that was linked with -ffast-math, or that rounds upward, gets the same bits as any other, and
 * keeps its settings.
 *
 * OpenMP's other threads have the arithmetic of the thread that created them. A forked child has none of these threads,
 * and OpenMP would wait for them there for ever. So they are ended if the caller's arithmetic is not the default, and
 * before a fork. */
#include "library/own.h"

#include <pthread.h>

#include "rig/fp_state.h"

static _Thread_local bool called;

static void before_fork(void) {
  if (called) fold_fp_state_end_threads();
}

__attribute__((constructor)) static void mind_forks(void) { pthread_atfork(before_fork, NULL, NULL); }

void fold_own_begin(struct fold_own *own) {
  called = true;
  fegetenv(&own->callers);
  own->other = fold_fp_state_take();
  if (own->other) fold_fp_state_end_threads();
}

void fold_own_end(const struct fold_own *own) {
  if (own->other) fold_fp_state_end_threads();
  fesetenv(&own->callers);
}
