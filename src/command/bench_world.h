/* command/bench_world.h: what the files of foldproof bench over ranks share: the bench, a line, its records. */
#ifndef FOLD_COMMAND_BENCH_WORLD_H
#define FOLD_COMMAND_BENCH_WORLD_H

#include "bench/world.h"
#include "command/bench.h"

/* One bench of collectives: all that its parts share. */
struct world_bench {
  struct bench_command *b;
  const struct fold_registry *registry;
  struct fold_world_options options;
  struct fold_world_limits limits;
  const char *setting;           /* the setting of the world's library, such as "default" */
  char peer[64];                 /* the library's own subject, which ratios compare with */
  struct fold_world_timing *now; /* registry->n timings of the current shape */
  size_t n;
};

/* One timing with its figures. */
struct line {
  const struct fold_world_timing *t;
  struct fold_world_figures figures;
  double to_library; /* the library's time over this one's; NaN: unknown */
};

/* The median of w->peer among w->now; NaN if it was not timed. */
double fold_bench_library(const struct world_bench *w);
/* Whether a selected subject takes vectors, or sums. */
bool fold_bench_is_selected(const struct world_bench *w, bool vectors);
/* Times the shape into w->now. A shape that does not fit into memory is reported and left out. */
fold_status fold_bench_time_shape(struct world_bench *w, const struct fold_world_shape *shape);

/* Times all-reduces of vectors (command/bench_messages.c); and how many shapes these have. */
fold_status fold_bench_messages(struct world_bench *w, enum fold_dtype dtype);
size_t fold_bench_count_messages(const struct world_bench *w);

/* Writes a line as a record through fold_bench_take (command/bench_records.c). */
fold_status fold_bench_take_message(const struct world_bench *w, const struct line *l);
fold_status fold_bench_take_scaling(const struct world_bench *w, const struct line *l, bool weak, uint64_t n);

#endif
