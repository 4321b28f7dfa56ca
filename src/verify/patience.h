/* patience.h: whether a run in another process (watch.h) takes too long. */
#ifndef FOLD_PATIENCE_H
#define FOLD_PATIENCE_H

#include "watch.h"
#include "wire.h"

struct fold_patience {
  double seconds; /* for a run, beside what its elements may take */
  uint64_t turns; /* of the watch, when it was last looked at */
  struct fold_limit limit;
};

/* Asked again and again: a run has its time from when it was first seen. */
bool fold_watch_hangs(const struct fold_watch *watch, struct fold_patience *patience);

#endif
