/* rank.h: what a rank of a world does: it answers the harness's requests (wire.h) until the one that ends it. */
#ifndef FOLD_RANK_H
#define FOLD_RANK_H

#include <stdatomic.h>

#include "judge/judge.h"
#include "ranks/wire.h"

struct fold_rank_seat;
/* Answers questions beyond a world's own, from WIRE_SERVICE on. Code that measures ranks gives them a service. */
struct fold_rank_service {
  size_t state_bytes; /* of the state that it keeps between questions, zeroed at first */
  size_t head_bytes;  /* of the longest question */
  /* comm[k] is that of k + 1 ranks, or NULL. *bytes: the answer, *n bytes, which the caller frees. */
  fold_status (*answer)(void *state, const struct fold_rank_seat *seat, struct fold_comm *const *comm, uint32_t kind,
                        const void *head, void **bytes, size_t *n);
  void (*drop)(void *state);
};

struct fold_rank_seat {
  const struct fold_registry *registry;
  enum fold_engine engine;
  const struct fold_rank_service *service; /* or NULL */
  uint64_t secret;
  unsigned rank, ranks;
  unsigned launched; /* how many ranks the launcher says that it started */
  int fd;            /* to the harness; owned by the caller */
  atomic_bool ended; /* set once all is put away: from then on the harness may close the connection */
};

/* Returns when the harness says so, or is gone. */
void fold_rank_serve(struct fold_rank_seat *seat);

#endif
