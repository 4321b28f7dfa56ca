/* command/bench_world.c: foldproof bench --engine mpi|nccl: sharded sums by size of the world, and all-reduces by length
 * (command/bench_messages.c). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/bench_world.h"
#include "ranks/setting.h"

double fold_bench_library(const struct world_bench *w) {
  for (size_t k = 0; k < w->n; k++)
    if (strcmp(w->now[k].subject->name, w->peer) == 0) return w->now[k].share[FOLD_SHARE_ALL].median;
  return NAN;
}

fold_status fold_bench_time_shape(struct world_bench *w, const struct fold_world_shape *shape) {
  struct fold_world *world;
  char what[80];
  snprintf(what, sizeof what, "%s, %zu x %zu over %u ranks, %s", fold_dtype_name(shape->dtype), shape->rows,
           shape->cols, shape->ranks, w->setting);
  fold_bench_begin_shape(w->b, what);
  fold_status status = fold_bench_world(w->registry, &w->options, shape, w->now, &w->n, fold_watch_interrupt());
  w->b->done++;
  if (status.code != FOLD_NO_MEMORY || fold_world_of(shape->engine, &world).code != FOLD_OK) return status;
  fold_progress_clear(&w->b->measuring.progress);
  printf("not timed: %s\n", status.text);
  w->n = 0;
  return fold_ok();
}

bool fold_bench_is_selected(const struct world_bench *w, bool vectors) {
  for (size_t i = 0; i < w->registry->n; i++) {
    const struct fold_subject *s = &w->registry->subjects[i];
    if (s->engine == w->b->engine && s->vector == vectors && fold_glob_match(w->options.subjects, s->name)) return true;
  }
  return false;
}

static const struct fold_world_timing *find_one(const struct fold_world_timing *ones, size_t n,
                                                const struct fold_subject *subject) {
  for (size_t k = 0; k < n; k++)
    if (ones[k].subject == subject) return &ones[k];
  return NULL;
}

/* The terms are the same in all worlds, so that a subject that promises the same bits in any world must give those of
 * one rank. */
static void judge_worlds(struct fold_world_timing *t, const struct fold_world_timing *one, bool verify) {
  uint64_t promised = fold_claims_of(t->subject, t->shape.op);
  if (!one || !one->checked || !t->checked || !(promised & FOLD_CLAIM(FOLD_WORLD_INVARIANT))) return;
  struct fold_finding finding = fold_finding_open(t->shape.rows);
  if (fold_find_same_hash(&finding, t->hash, one->hash, "different bits than with one rank at this size")) {
    if (!verify) return;
    fold_find_held(&finding);
  }
  fold_judged_count(&t->judged, "world_invariant", &finding);
}

/* Times one number of elements over all worlds. `ones` has the timings with one rank, on which speed-ups are based. */
static fold_status time_size(struct world_bench *w, enum fold_dtype dtype, uint64_t n, bool weak,
                             struct fold_world_timing *ones) {
  size_t n_ones = 0;
  for (size_t i = 0; i < w->b->n_workers && !*fold_watch_interrupt(); i++) {
    unsigned ranks = (unsigned)w->b->workers[i];
    struct fold_world_shape shape = {.engine = w->b->engine,
                                     .dtype = dtype,
                                     .op = w->b->problem->op,
                                     .rows = 1,
                                     .cols = weak ? n * ranks : n,
                                     .ranks = ranks};
    FOLD_TRY(fold_bench_time_shape(w, &shape));
    if (ranks == 1) memcpy(ones, w->now, (n_ones = w->n) * sizeof *ones);
    double library = fold_bench_library(w);
    for (size_t k = 0; k < w->n; k++) {
      struct line l = {.t = &w->now[k]};
      const struct fold_world_timing *one = find_one(ones, n_ones, l.t->subject);
      if (!weak && ranks > 1) judge_worlds(&w->now[k], one, w->options.verify);
      fold_bench_world_figures(l.t, one, weak, &w->limits, &l.figures);
      l.to_library = library / l.t->share[FOLD_SHARE_ALL].median;
      FOLD_TRY(fold_bench_take_scaling(w, &l, weak, n));
    }
  }
  return fold_ok();
}

/* The numbers of elements of the sums, in all or for each rank. */
static size_t choose_sums(const struct bench_command *b, bool weak, const uint64_t **sizes) {
  const struct fold_bench_usual *all = fold_bench_usual(b->engine);
  const struct fold_bench_numbers *usual = weak ? &all->weak : &all->strong;
  *sizes = b->n_sizes ? b->sizes : usual->at;
  return b->n_sizes ? b->n_sizes : usual->n;
}

static fold_status time_sums(struct world_bench *w, enum fold_dtype dtype, bool weak) {
  const uint64_t *sizes;
  size_t n = choose_sums(w->b, weak, &sizes);
  struct fold_world_timing *ones = calloc(w->registry->n + 1, sizeof *ones);
  fold_status status = ones ? fold_ok() : fold_no_memory("for timings");
  if (!fold_bench_is_selected(w, false)) n = 0;
  snprintf(w->peer, sizeof w->peer, "%s", fold_bench_usual(w->b->engine)->sum);
  for (size_t k = 0; k < n && status.code == FOLD_OK && !*fold_watch_interrupt(); k++) {
    status = time_size(w, dtype, sizes[k], weak, ones);
    const fold_status shown = fold_measuring_show(&w->b->measuring);
    if (status.code == FOLD_OK) status = shown;
  }
  free(ones);
  return status;
}

/* How many shapes there are to time, for the estimate. */
static size_t count_shapes(const struct world_bench *w) {
  const struct bench_command *b = w->b;
  const uint64_t *sizes;
  size_t shapes = 0;
  if (b->what & FOLD_BENCH_STRONG && fold_bench_is_selected(w, false))
    shapes += choose_sums(b, false, &sizes) * b->n_workers;
  if (b->what & FOLD_BENCH_WEAK && fold_bench_is_selected(w, false))
    shapes += choose_sums(b, true, &sizes) * b->n_workers;
  if (b->what & FOLD_BENCH_MESSAGES) shapes += fold_bench_count_messages(w);
  return shapes * (size_t)__builtin_popcount(b->dtypes);
}

/* If the user named no numbers of ranks: 1, 2, 4 ... and all ranks that there are. */
static fold_status choose_workers(struct bench_command *b, unsigned ranks) {
  for (size_t k = 0; k < b->n_workers; k++)
    if (b->workers[k] > ranks)
      return fold_error(FOLD_UNSUPPORTED, "needs %llu ranks, there are %u", (unsigned long long)b->workers[k], ranks);
  if (b->n_workers > 0) return fold_ok();
  for (unsigned p = 1; p < ranks; p *= 2) b->workers[b->n_workers++] = p;
  b->workers[b->n_workers++] = ranks;
  return fold_ok();
}

/* Refuses globs that choose no setting: they are probably a mistake. */
static fold_status check_settings(const struct bench_command *b) {
  size_t n;
  const struct fold_world_setting *settings = fold_world_settings(&n);
  for (size_t i = 0; i < n; i++)
    if (settings[i].engine == b->engine && fold_glob_match(b->settings, settings[i].name)) return fold_ok();
  return fold_world_no_setting(b->engine, b->settings);
}

/* The speed of the slowest rank's link; NaN if that of one rank is not known, or for MPI, whose link may be
 * anything. */
static double find_link(const struct fold_world *world, enum fold_engine engine) {
  double slowest = NAN;
  for (unsigned r = 0; !fold_engine_is_host(engine) && r < fold_world_ranks(world); r++) {
    double own = fold_world_link(fold_world_hello(world, r)->device);
    if (isnan(own)) return NAN;
    if (!(own >= slowest)) slowest = own;
  }
  return slowest;
}

/* How many bytes the read for the ceiling takes: as many as a rank's largest input has, because 16 GiB stream faster
 * than 4. */
static size_t ceiling_bytes(const struct bench_command *b) {
  size_t largest = (size_t)1 << 30;
  for (int weak = 0; weak < 2; weak++) {
    const uint64_t *sizes;
    size_t n = choose_sums(b, weak, &sizes);
    if (!(b->what & (unsigned)(weak ? FOLD_BENCH_WEAK : FOLD_BENCH_STRONG))) continue;
    for (int d = 0; d < FOLD_DTYPES; d++)
      for (size_t k = 0; k < n && (b->dtypes >> d & 1); k++) {
        size_t n_bytes = sizes[k] / (weak ? 1 : b->workers[0]) * fold_dtype_size((enum fold_dtype)d);
        if (n_bytes > largest) largest = n_bytes;
      }
  }
  return largest < (size_t)1 << 35 ? largest : (size_t)1 << 35;
}

static fold_status find_limits(struct world_bench *w, const struct fold_world *world) {
  w->limits = (struct fold_world_limits){.link = w->b->link, .memory = {.rate = w->b->memory, .most = w->b->memory}};
  if (isnan(w->limits.link)) w->limits.link = find_link(world, w->b->engine);
  if (!isnan(w->limits.memory.rate)) return fold_ok();
  return fold_bench_world_ceiling(w->b->engine, ceiling_bytes(w->b), &w->limits.memory);
}

static void print_world(const struct world_bench *w, const struct fold_world *world) {
  const struct fold_wire_hello *hello = fold_world_hello(world, 0);
  bool cache =
      fold_engine_is_host(w->b->engine) && isnan(w->b->memory); /* inputs may lie in a cache (rank_ceiling.c) */
  printf("%u ranks, %s%s%s; the slowest rank's time of %u runs; %s: %.1f GB/s a rank; link: ", fold_world_ranks(world),
         hello->library, hello->device[0] ? ", " : "", hello->device, w->options.iterations,
         cache ? "nearest cache" : "memory", 1e-9 * w->limits.memory.rate);
  if (isnan(w->limits.link))
    printf("unknown, and not checked (--link)\n");
  else
    printf("%.1f GB/s a direction\n", 1e-9 * w->limits.link);
}

fold_status fold_bench_collectives(struct bench_command *b, const struct fold_registry *registry) {
  struct fold_world *world;
  struct world_bench w = {.b = b, .registry = registry, .setting = "default"};
  w.options = (struct fold_world_options){.subjects = b->options.subjects,
                                          .generator = b->options.generator,
                                          .seed = b->options.seed,
                                          .iterations = b->options.iterations,
                                          .verify = b->options.verify};
  FOLD_TRY(check_settings(b));
  FOLD_TRY(fold_world_of(b->engine, &world));
  FOLD_TRY(choose_workers(b, fold_world_ranks(world)));
  FOLD_TRY(find_limits(&w, world));
  print_world(&w, world);
  b->shapes = count_shapes(&w);
  w.now = calloc(registry->n + 1, sizeof *w.now);
  fold_status status = w.now ? fold_ok() : fold_no_memory("for timings");
  if (status.code == FOLD_OK) status = fold_world_sums_open(&w.options.sums);
  for (int d = 0; d < FOLD_DTYPES && status.code == FOLD_OK; d++) {
    enum fold_dtype dtype = (enum fold_dtype)d;
    if (!(b->dtypes >> d & 1)) continue;
    if (b->what & FOLD_BENCH_STRONG) status = time_sums(&w, dtype, false);
    if (status.code == FOLD_OK && b->what & FOLD_BENCH_WEAK) status = time_sums(&w, dtype, true);
    if (status.code == FOLD_OK && b->what & FOLD_BENCH_MESSAGES) status = fold_bench_messages(&w, dtype);
  }
  fold_world_sums_close(w.options.sums);
  free(w.now);
  return status;
}
