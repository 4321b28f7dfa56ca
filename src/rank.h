/* rank.h: what a rank of a world does: it answers the harness's questions (wire.h) until it is told to end. */
#ifndef FOLD_RANK_H
#define FOLD_RANK_H

#include "judge.h"
#include "wire.h"

struct fold_rank_seat {
  const struct fold_registry *registry;
  enum fold_engine engine;
  uint64_t secret;
  unsigned rank, ranks;
  int fd; /* to the harness; owned by the caller */
};

/* Returns when the harness said so, or is gone. */
void fold_rank_serve(const struct fold_rank_seat *seat);

#endif
