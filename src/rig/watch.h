/* watch.h: tells the process that watches this one whether a subject is running.
 *
 * A counter in shared memory goes up when a run begins and again when it ends: it is odd while a subject runs. A process that
 * hangs cannot report anything else.
 */
#ifndef FOLD_WATCH_H
#define FOLD_WATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct fold_watch {
  _Atomic uint64_t turns;    /* odd: a run is under way */
  _Atomic uint64_t elements; /* of the run that began last */
  _Atomic bool by_twin;      /* the run is of the twin of who is judged */
  _Atomic unsigned judging;  /* the claim whose judge is at work, counted from 1; 0: none is */
};

/* From now on the runs of this process are told to `watch`; NULL (as at first): to nobody. */
void fold_watch_set(struct fold_watch *watch);
bool fold_watch_is_set(void);
void fold_watch_twin(bool is_twin);
void fold_watch_judging(unsigned claim);
void fold_watch_begin(uint64_t elements);
/* A child of the process that set the watch ends here. */
void fold_watch_end(void);

#endif
