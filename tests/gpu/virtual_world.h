/* virtual_world.h: what a world of virtual_ranks.h holds: inputs of each type, the results that are wanted, and what the watch tells of. */
#ifndef VIRTUAL_WORLD_H
#define VIRTUAL_WORLD_H

#include <pthread.h>

#include "virtual_ranks.h"

enum { MOST = FOLD_REACH_MOST, POISON = 0xa5, ALIGNMENT = 256 };

struct virtual_world {
  int ranks;
  size_t nbytes, arena_bytes;
  unsigned step_blocks, line_blocks; /* of all ranks together */
  struct fold_comm_reach *reach[MOST];
  void *stream[MOST];
  unsigned char *d_in[MOST];                /* VIRTUAL_SHIFTS copies of each type's vector, and of the words */
  unsigned char *d_arena[MOST], *got[MOST]; /* results */
  /* Each rank's vector, rank by rank, and the host's word; made when first asked for. */
  unsigned char *terms[FOLD_DTYPES + 1]; /* the last: words and bytes */
  unsigned char *want[FOLD_DTYPES][FOLD_OPS];
  unsigned char *sums, *joined; /* of words; of a gather */
  size_t ran, faults;
  /* What the watch tells of. */
  pthread_mutex_t lock;
  double moved, timeout;
  char doing[300];
};

static inline size_t padded(size_t nbytes) { return (nbytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }
/* Which of the world's inputs a call takes: its dtype's, or the words. */
int virtual_type_of(const struct virtual_job *job);
unsigned char *virtual_in_of(const struct virtual_world *w, int rank, int type, int shift);
/* Inputs of that type, for all ranks, and the host's word on them; made once. */
fold_status virtual_make_terms(struct virtual_world *w, int type);
fold_status virtual_make_want(struct virtual_world *w, enum fold_dtype dtype, enum fold_op op);
/* To the watch; "": nothing that may hang. */
void virtual_tell(struct virtual_world *w, const char *doing);

#endif
