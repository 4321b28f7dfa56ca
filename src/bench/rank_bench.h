/* rank_bench.h: what a rank does when it is timed: it makes its part of the input, runs, and reports how long each run took.
 *
 * Promised: before each timed run all ranks meet in a one-element all-reduce, so that none starts late; a run's time is this
 * rank's own, by CUDA events on its GPU or by the monotonic clock of its host; the slowest rank's is the collective's
 * (bench/world.c). Nothing is announced to the harness while the clock runs. Inputs rotate through a pool past the caches, of
 * more inputs than there are entrants where memory has the room.
 */
#ifndef FOLD_RANK_BENCH_H
#define FOLD_RANK_BENCH_H

#include "bench/ceiling.h"
#include "bench/rank_clock.h"
#include "bench/rank_wire.h"
#include "kernels/collective/parts.h"
#include "model/engine.h"
#include "run/rank.h"

/* Inputs of one rank's part, one after another, `stride` bytes apart. */
struct fold_rank_pool {
  unsigned char *in;
  size_t slots, stride, n_bytes;
  uint64_t first_col, cols;
};

struct fold_rank_entrant {
  const struct fold_subject *subject;
  struct fold_rank_pool *pool;
  void *scratch;
  struct fold_comm comm; /* the comm that this share of the subject uses */
  struct fold_parts parts;
};

/* All zeros: it holds nothing. */
struct fold_rank_bench {
  const struct fold_engine_ops *memory;
  struct fold_comm *comm;
  struct fold_wire_lay lay;
  bool lean; /* memory is short: the pool gets no more slots than fill it */
  struct fold_rank_pool pool[FOLD_WIRE_ENTRANTS];
  struct fold_rank_entrant entrant[FOLD_WIRE_ENTRANTS];
  size_t n_pools, n_entrants;
  unsigned char *out, *meeting; /* results; the all-reduce's one element, in and out */
  struct fold_rank_clock clock;
};

/* The questions that a rank answers when it is timed. */
extern const struct fold_rank_service fold_rank_bench_service;

/* One function for each question (rank_wire.h). fold_rank_lay drops what was laid before; what is laid with no repeats
 * can be checked but not raced. */
fold_status fold_rank_lay(struct fold_rank_bench *b, const struct fold_registry *registry, enum fold_engine engine,
                          struct fold_comm *comm, const struct fold_wire_lay *lay);
fold_status fold_rank_check(struct fold_rank_bench *b, const struct fold_wire_check *check,
                            struct fold_wire_checked *checked);
/* `seconds` gets as many times as the mask has entrants, times `repeats`. */
fold_status fold_rank_race(struct fold_rank_bench *b, const struct fold_wire_race *race, double *seconds);
size_t fold_rank_race_entrants(const struct fold_rank_bench *b, const struct fold_wire_race *race);
/* On a host it is the fastest read of the nearest cache. */
fold_status fold_rank_ceiling(enum fold_engine memory, const struct fold_wire_ceiling *asked,
                              struct fold_ceiling *ceiling);
void fold_rank_bench_drop(struct fold_rank_bench *b);

/* Sets e->comm and e->parts: what that share of a subject sees of the rank's comm (rank_share.c). */
void fold_rank_take_share(struct fold_rank_entrant *e, const struct fold_comm *comm, enum fold_share share);

#endif
