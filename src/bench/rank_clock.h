/* rank_clock.h: a clock for runs on a GPU or on the host: CUDA events in the default stream, or the host's monotonic
 * clock. */
#ifndef FOLD_RANK_CLOCK_H
#define FOLD_RANK_CLOCK_H

#include "base/fold.h"

struct fold_rank_clock {
  bool gpu;
  unsigned n;
  void **event; /* 2 n events */
  double *time; /* host: 2 n times */
};

/* A clock for n runs. All zeros: it holds nothing. */
fold_status fold_rank_clock_open(struct fold_rank_clock *clock, bool gpu, unsigned n);
void fold_rank_clock_close(struct fold_rank_clock *clock);
/* Mark the begin and the end of run i; on a GPU they only enqueue. */
fold_status fold_rank_clock_begin(struct fold_rank_clock *clock, unsigned i);
fold_status fold_rank_clock_end(struct fold_rank_clock *clock, unsigned i);
/* Waits for run i and gives its seconds. */
fold_status fold_rank_clock_read(struct fold_rank_clock *clock, unsigned i, double *seconds);

#endif
