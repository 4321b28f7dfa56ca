/* heartbeat.h: shows the process that watches this one whether a subject runs, and for how long.
 *
 * A counter in shared memory goes up when a run begins and again when it ends: it is odd while a subject runs. A process that
 * hangs cannot report anything else.
 */
#ifndef FOLD_HEARTBEAT_H
#define FOLD_HEARTBEAT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "process/limit.h"
#include "process/stalls.h"

struct fold_watch {
  _Atomic uint64_t turns;    /* odd: a run is under way */
  _Atomic uint64_t elements; /* of the run that began last */
  _Atomic bool by_twin;      /* the run is the twin's, not the judged subject's */
  _Atomic unsigned judging;  /* the claim whose judge is at work, counted from 1; 0: none is */
};

/* From now on this process reports its runs to `watch`; NULL (as at the start): to none. */
void fold_watch_set(struct fold_watch *watch);
bool fold_watch_is_set(void);
void fold_watch_twin(bool is_twin);
void fold_watch_judging(unsigned claim);
void fold_watch_begin(uint64_t elements);
/* Also ends a child process that a subject forked during the run, where the child comes back from it. */
void fold_watch_end(void);

/* The watching process's limit for a run. */
struct fold_timeout {
  double seconds; /* for a run, in addition to the time for its elements */
  uint64_t turns; /* the watch's count at the last call */
  struct fold_limit limit;
  struct fold_stalls stalls;
  double given; /* of this run: seconds by which stalls have put the limit off */
};
/* To be called again and again for the process that the watch is of: a run's time begins when a call first sees it. In it does not count
 * for how long the process could not go on (stalls.h), up to some seconds: a run may have stopped its process itself. */
bool fold_watch_hangs(const struct fold_watch *watch, pid_t process, struct fold_timeout *timeout);

#endif
