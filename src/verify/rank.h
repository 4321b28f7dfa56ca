/* rank.h: what a rank of a world does: it answers the harness's questions (wire.h) until it is told to end. */
#ifndef FOLD_RANK_H
#define FOLD_RANK_H

#include <stdatomic.h>

#include "judge.h"
#include "wire.h"

struct fold_rank_seat {
  const struct fold_registry *registry;
  enum fold_engine engine;
  uint64_t secret;
  unsigned rank, ranks;
  unsigned launched; /* how many ranks the launcher says that it started */
  int fd;            /* to the harness; owned by the caller */
  atomic_bool ended; /* set once all is put away: that the harness hangs up now is no fault */
};

/* Returns when the harness said so, or is gone. */
void fold_rank_serve(struct fold_rank_seat *seat);

#endif
