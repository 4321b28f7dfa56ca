/* patience.h: whether a run in another process (watch.h) takes too long. */
#ifndef FOLD_PATIENCE_H
#define FOLD_PATIENCE_H

#include "ranks/wire.h"
#include "rig/watch.h"

struct fold_patience {
  double seconds; /* for a run, in addition to the time for its elements */
  uint64_t turns; /* the watch's count at the last call */
  struct fold_limit limit;
};

/* To be called again and again: a run's time begins when a call first sees it. */
bool fold_watch_hangs(const struct fold_watch *watch, struct fold_patience *patience);

#endif
