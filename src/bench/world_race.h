/* bench/world_race.h: one shape of a bench of collectives while it is measured. Private to bench_world*.c. */
#ifndef FOLD_BENCH_WORLD_RACE_H
#define FOLD_BENCH_WORLD_RACE_H

#include "bench/world.h"

struct fold_world_race {
  const struct fold_registry *registry;
  const struct fold_world_options *options;
  const struct fold_world_shape *shape;
  struct fold_world *world;
  struct fold_world_timing *timing;
  size_t n;
  unsigned shares; /* how many shares of each subject run; only FOLD_SHARE_ALL for vectors */
  uint32_t in;     /* mask of the entrants that run */
};

/* The exact sum of the source's first `cols` terms. It is kept in `sums` and valid until the next call. NULL, with
 * FOLD_OK, if *stop was set first. */
fold_status fold_world_sums_find(struct fold_world_sums *sums, const struct fold_source *source,
                                 const volatile int *stop, const struct fold_truth **truth);

/* Judges every entrant on a small shape of the same kind; the verdicts go to its timing. */
fold_status fold_world_race_judge_small(struct fold_world_race *s, const volatile int *stop);
/* Computes the exact sums that a check will need. This comes before the input is made, because GPUs that wait for
 * seconds lower their clocks. */
fold_status fold_world_race_make_sums(const struct fold_world_race *s, const volatile int *stop);
/* Runs subject k at the timed shape, twice on every rank, and judges the results: first on the input that will be
 * timed, then on integers, whose sum no order rounds. */
fold_status fold_world_race_check(const struct fold_world_race *s, size_t k, const volatile int *stop);
fold_status fold_world_race_check_integers(const struct fold_world_race *s, size_t k, const volatile int *stop);
/* The generator of these integers; NULL if none can be used to judge this shape. */
const struct fold_generator *fold_world_race_integers(const struct fold_world_race *s);

#endif
