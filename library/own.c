/* own.c: exact results and replays do not depend on the caller's arithmetic: a process that flushes subnormals, as after loading
 * whatever was linked with -ffast-math, or that rounds upward, gets the same bits as any, and keeps its settings.
 *
 * OpenMP's other threads have the arithmetic of the thread that made them, and a child of fork has none of them: OpenMP would wait for
 * them there for ever. So they are ended where a caller's arithmetic is another one, and before it forks. */
#include "own.h"

#include <pthread.h>

#include "footing.h"

static _Thread_local bool called;

static void before_fork(void) {
  if (called) fold_footing_end_threads();
}

__attribute__((constructor)) static void mind_forks(void) { pthread_atfork(before_fork, NULL, NULL); }

void fold_own_begin(struct fold_own *own) {
  called = true;
  fegetenv(&own->callers);
  own->other = fold_footing_take();
  if (own->other) fold_footing_end_threads();
}

void fold_own_end(const struct fold_own *own) {
  if (own->other) fold_footing_end_threads();
  fesetenv(&own->callers);
}
