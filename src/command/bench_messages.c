/* command/bench_messages.c: foldproof bench for collectives: all-reduces of vectors, by length and by settings of the
 * library. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "command/bench_world.h"
#include "ranks/setting.h"

/* The library's time for each length under "default", which its other settings are compared with. */
struct lengths {
  const uint64_t *bytes;
  size_t n;
  double library[FOLD_BENCH_SIZES];
};

static fold_status time_length(struct world_bench *w, enum fold_dtype dtype, unsigned ranks, uint64_t bytes,
                               double *library) {
  struct fold_world_shape shape = {.engine = w->b->engine,
                                   .dtype = dtype,
                                   .op = w->b->problem->op,
                                   .vectors = true,
                                   .rows = bytes / fold_dtype_size(dtype),
                                   .cols = ranks,
                                   .ranks = ranks};
  FOLD_TRY(fold_bench_time_shape(w, &shape));
  if (strcmp(w->setting, "default") == 0) *library = fold_bench_library(w);
  for (size_t k = 0; k < w->n; k++) {
    struct line l = {.t = &w->now[k]};
    fold_bench_world_figures(l.t, NULL, false, &w->limits, &l.figures);
    l.to_library = *library / l.t->share[FOLD_SHARE_ALL].median;
    FOLD_TRY(fold_bench_take_message(w, &l));
  }
  return fold_ok();
}

static fold_status time_lengths(struct world_bench *w, enum fold_dtype dtype, unsigned ranks, struct lengths *lengths) {
  fold_status status = fold_ok();
  for (size_t k = 0; k < lengths->n && status.code == FOLD_OK && !*fold_watch_interrupt(); k++)
    status = time_length(w, dtype, ranks, lengths->bytes[k], &lengths->library[k]);
  const fold_status shown = fold_measuring_show(&w->b->measuring);
  return status.code == FOLD_OK ? shown : status;
}

static bool is_timed(const struct world_bench *w, const struct fold_world_setting *setting) {
  if (setting->engine != w->b->engine || !setting->variable[0].name) return false;
  return w->b->settings ? fold_glob_match(w->b->settings, setting->name) : setting->timed;
}

/* Times the library alone, each setting in a world of its own. */
static fold_status time_settings(struct world_bench *w, enum fold_dtype dtype, unsigned ranks,
                                 struct lengths *lengths) {
  size_t n;
  const struct fold_world_setting *settings = fold_world_settings(&n);
  const char *subjects = w->options.subjects;
  fold_status status = fold_ok();
  if (!fold_glob_match(subjects, w->peer)) return status;
  for (size_t i = 0; i < n && status.code == FOLD_OK && !*fold_watch_interrupt(); i++) {
    struct fold_setting_before before;
    if (!is_timed(w, &settings[i])) continue;
    status = fold_setting_enter(&settings[i], &before);
    if (status.code != FOLD_OK) break;
    w->setting = settings[i].name;
    w->options.subjects = w->peer;
    status = time_lengths(w, dtype, ranks, lengths);
    fold_status left = fold_setting_leave(&settings[i], &before);
    if (status.code == FOLD_OK) status = left;
  }
  w->setting = "default";
  w->options.subjects = subjects;
  return status;
}

fold_status fold_bench_messages(struct world_bench *w, enum fold_dtype dtype) {
  struct lengths lengths = {w->b->bytes, w->b->n_bytes, {0}};
  const struct fold_bench_usual *usual = fold_bench_usual(w->b->engine);
  if (lengths.n == 0) lengths.bytes = usual->lengths.at, lengths.n = usual->lengths.n;
  for (size_t k = 0; k < lengths.n; k++) lengths.library[k] = NAN;
  if (!fold_bench_is_selected(w, true)) return fold_ok();
  unsigned ranks = (unsigned)w->b->workers[w->b->n_workers - 1];
  snprintf(w->peer, sizeof w->peer, "%s", usual->vector);
  FOLD_TRY(time_lengths(w, dtype, ranks, &lengths));
  return time_settings(w, dtype, ranks, &lengths);
}

size_t fold_bench_count_messages(const struct world_bench *w) {
  const struct fold_bench_usual *usual = fold_bench_usual(w->b->engine);
  size_t n, worlds = 1;
  const struct fold_world_setting *settings = fold_world_settings(&n);
  if (!fold_bench_is_selected(w, true)) return 0;
  for (size_t i = 0; i < n && fold_glob_match(w->options.subjects, usual->vector); i++)
    worlds += is_timed(w, &settings[i]);
  return (w->b->n_bytes ? w->b->n_bytes : usual->lengths.n) * worlds;
}
