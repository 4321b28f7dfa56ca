/* heartbeat.c: see heartbeat.h. One pointer for the whole process: many callers open rigs, and the runs of each must be
 * reported. */
#include "process/heartbeat.h"

#include <math.h>
#include <stddef.h>
#include <unistd.h>

#include "base/fold.h"

/* Seconds: for an element of a run; by which a run's limit is put off at most. */
static const double AN_ELEMENT = 1e-6, MOST_GIVEN = 10;

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

static void put_off(struct fold_timeout *timeout, pid_t process) {
  const double given = fmin(fold_stalls_look(&timeout->stalls, process), MOST_GIVEN - timeout->given);
  timeout->limit.end += given;
  timeout->given += given;
}

bool fold_watch_hangs(const struct fold_watch *watch, pid_t process, struct fold_timeout *timeout) {
  const uint64_t turns = atomic_load(&watch->turns);
  if (turns != timeout->turns) {
    const double elements = (double)atomic_load(&watch->elements);
    timeout->limit = fold_limit_until(fold_now() + timeout->seconds + AN_ELEMENT * elements);
    timeout->turns = turns;
    timeout->stalls = fold_stalls_begin();
    timeout->given = 0;
  }
  if (!(turns & 1)) return false;
  put_off(timeout, process);
  return fold_limit_left(&timeout->limit) <= 0;
}
