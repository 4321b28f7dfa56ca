/* command_bench_messages.c: foldproof bench of collectives: all-reduces of vectors, by length and by the library's
 * settings. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "command_bench_world.h"
#include "world_setting.h"

/* "1 KiB", "1 GiB"; "1000 B" where it is no power of 1024. */
static const char *bytes_text(uint64_t bytes, char text[24]) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  for (; unit < 4 && bytes >= 1024 && bytes % 1024 == 0; unit++) bytes /= 1024;
  snprintf(text, 24, "%llu %s", (unsigned long long)bytes, units[unit]);
  return text;
}

/* The library's time of each length under "default", for the ratios of its other settings. */
struct lengths {
  const uint64_t *bytes;
  size_t n;
  double library[FOLD_BENCH_SIZES];
};

static fold_status time_length(struct world_bench *w, enum fold_dtype dtype, unsigned ranks, uint64_t bytes,
                               double *library) {
  struct fold_world_shape shape = {.engine = (enum fold_engine)w->b->engine,
                                   .dtype = dtype,
                                   .op = w->b->problem->op,
                                   .vectors = true,
                                   .rows = bytes / fold_dtype_size(dtype),
                                   .cols = ranks,
                                   .ranks = ranks};
  FOLD_TRY(fold_bench_time_shape(w, &shape));
  if (strcmp(w->setting, "default") == 0) *library = fold_bench_library(w);
  for (size_t k = 0; k < w->n; k++) {
    char text[24];
    struct line l = {.t = &w->now[k]};
    const struct fold_span *all = &l.t->share[FOLD_SHARE_ALL];
    fold_bench_world_figures(l.t, NULL, false, &w->limits, &l.figures);
    l.to_library = *library / all->median;
    printf("%-10s %-24s", bytes_text(bytes, text), l.t->subject->name);
    fold_bench_put(11, 2, 1e6 * all->median);
    fold_bench_put(11, 2, 1e6 * all->p10);
    fold_bench_put(11, 2, 1e6 * all->p90);
    fold_bench_put(9, 2, 1e-9 * l.figures.algorithm);
    fold_bench_put(9, 2, 1e-9 * l.figures.bus);
    fold_bench_put(10, 3, l.to_library);
    fold_bench_end_line(w, &l);
    FOLD_TRY(fold_bench_write_message(w, &l));
  }
  fflush(stdout);
  return fold_ok();
}

static fold_status time_lengths(struct world_bench *w, enum fold_dtype dtype, unsigned ranks, struct lengths *lengths) {
  bool other = strcmp(w->setting, "default") != 0;
  printf("\nall-reduce of vectors, %s %s, %u ranks, %s, setting: %s%s\n", fold_dtype_name(dtype), w->b->problem->name,
         ranks, w->b->generator, w->setting,
         other ? ": a world of its own, in new processes; x library is against the default's world" : "");
  printf("%-10s %-24s %11s %11s %11s %9s %9s %10s  %s\n", "length", "subject", "median us", "p10 us", "p90 us",
         "alg GB/s", "bus GB/s", "x library", "judged first");
  for (size_t k = 0; k < lengths->n && !*fold_watch_interrupt(); k++)
    FOLD_TRY(time_length(w, dtype, ranks, lengths->bytes[k], &lengths->library[k]));
  return fold_ok();
}

static bool is_timed(const struct world_bench *w, const struct fold_world_setting *setting) {
  if ((int)setting->engine != w->b->engine || !setting->variable[0].name) return false;
  return w->b->settings ? fold_glob_match(w->b->settings, setting->name) : setting->timed;
}

/* The library alone, each setting in a world of its own. */
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
