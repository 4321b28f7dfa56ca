/* command_bench_world.h: what the parts of foldproof bench over ranks share: the bench, a line, its records. */
#ifndef FOLD_COMMAND_BENCH_WORLD_H
#define FOLD_COMMAND_BENCH_WORLD_H

#include "bench_world.h"
#include "command_bench.h"

/* One bench of collectives: all that its parts share. */
struct world_bench {
  struct bench_command *b;
  const struct fold_registry *registry;
  struct fold_world_options options;
  struct fold_world_limits limits;
  const char *setting;           /* the world's; "default" */
  char peer[64];                 /* the library's own, that ratios are against */
  struct fold_world_timing *now; /* registry->n: the shape at hand */
  size_t n;
};

/* One timing, and its figures. */
struct line {
  const struct fold_world_timing *t;
  struct fold_world_figures figures;
  double to_library; /* the library's time over this one's; NaN: unknown */
};

/* The median of w->peer among w->now; NaN where it is not there. */
double fold_bench_library(const struct world_bench *w);
/* Whether a subject that is asked for takes vectors, or sums. */
bool fold_bench_is_selected(const struct world_bench *w, bool vectors);
/* The shape's timings into w->now. A shape that memory has no room for is told and left out. */
fold_status fold_bench_time_shape(struct world_bench *w, const struct fold_world_shape *shape);

/* All-reduces of vectors (command_bench_messages.c), and how many shapes these are. */
fold_status fold_bench_messages(struct world_bench *w, enum fold_dtype dtype);
size_t fold_bench_count_messages(const struct world_bench *w);

/* A line as a record, to fold_bench_take (command_bench_records.c). */
fold_status fold_bench_take_message(const struct world_bench *w, const struct line *l);
fold_status fold_bench_take_scaling(const struct world_bench *w, const struct line *l, bool weak, uint64_t n);

#endif
