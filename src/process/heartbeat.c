/* heartbeat.c: see heartbeat.h. One pointer for the whole process: many callers open rigs, and the runs of each must be
 * reported. */
#include "process/heartbeat.h"

#include <stddef.h>
#include <unistd.h>

#include "base/fold.h"

/* Seconds for an element of a run. */
static const double AN_ELEMENT = 1e-6;

static struct fold_watch *watching;
static pid_t owner;

void fold_watch_set(struct fold_watch *watch) {
  watching = watch;
  owner = getpid();
}

bool fold_watch_is_set(void) { return watching != NULL; }

void fold_watch_twin(bool is_twin) {
  if (watching) atomic_store(&watching->by_twin, is_twin);
}

void fold_watch_judging(unsigned claim) {
  if (watching) atomic_store(&watching->judging, claim);
}

void fold_watch_begin(uint64_t elements) {
  if (watching == NULL) return;
  atomic_store(&watching->elements, elements);
  atomic_fetch_add(&watching->turns, 1);
}

void fold_watch_end(void) {
  if (watching == NULL) return;
  /* A child that a subject forked, and that came back from the run as well, must not go on as a worker. */
  if (getpid() != owner) _exit(99);
  atomic_fetch_add(&watching->turns, 1);
}

bool fold_watch_hangs(const struct fold_watch *watch, struct fold_timeout *timeout) {
  const uint64_t turns = atomic_load(&watch->turns);
  if (turns != timeout->turns) {
    const double elements = (double)atomic_load(&watch->elements);
    timeout->limit = fold_limit_until(fold_now() + timeout->seconds + AN_ELEMENT * elements);
    timeout->turns = turns;
  }
  return (turns & 1) && fold_limit_left(&timeout->limit) <= 0;
}
