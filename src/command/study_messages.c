/* command/study_messages.c: foldproof study --messages: a table of what the bits of an all-reduce depend on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/probe_messages.h"
#include "command/study.h"
#include "ranks/world.h"

enum { CHECKS = 2 };

static void choose_subjects(struct fold_probe *p, const struct fold_registry *registry) {
  for (size_t i = 0; i < registry->n && p->n_subjects < FOLD_PROBE_SUBJECTS; i++) {
    const struct fold_subject *s = &registry->subjects[i];
    if (s->engine == p->engine && s->vector && (s->dtypes >> p->dtype & 1) && (s->problems >> p->op & 1) &&
        fold_subject_result(s, p->dtype) == p->dtype)
      p->subject[p->n_subjects++] = s;
  }
}

static fold_status take_cell(struct study_command *s, const struct fold_probe *p, const struct fold_probe_row *row,
                             size_t subject, size_t length) {
  const struct fold_probe_cell *cell = &row->cell[subject][length];
  char hash[24], letter[8];
  snprintf(hash, sizeof hash, "0x%016llx", (unsigned long long)cell->bits);
  return fold_measuring_take(
      &s->measuring,
      json_pack("{s:i, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:i, s:I, s:I, s:I, s:s, s:s, s:b, s:b, s:i}", "schema",
                FOLD_SCHEMA, "type", "messages", "subject", p->subject[subject]->name, "engine",
                fold_engine_name(p->engine), "setting", row->setting->name, "library", row->library, "dtype",
                fold_dtype_name(p->dtype), "generator", p->generator->name, "seed", (json_int_t)p->seed, "workers",
                (int)p->ranks, "n", (json_int_t)p->n[length], "bytes",
                (json_int_t)(p->n[length] * fold_dtype_size(p->dtype)), "head", (json_int_t)p->n[0], "head_xxh3", hash,
                "letter", fold_probe_letter(cell->letter, letter), "rank_agreement", (int)cell->rank_agreement,
                "run_to_run", (int)cell->run_to_run, "runs", 2 * (int)p->checks));
}

static void print_summary(const struct fold_probe *p, const struct fold_probe_table *table, size_t subject) {
  struct fold_probe_summary s;
  fold_probe_summarise(p, table, subject, &s);
  printf("%s: %zu messages, %zu letter%s; ranks agreed in %zu, repeats in %zu%s\n", p->subject[subject]->name, s.ran,
         s.letters, s.letters == 1 ? "" : "s", s.ran - s.ranks_differ, s.ran - s.repeats_differ,
         s.refuted ? ": REFUTED, it claims that they agree" : "");
}

/* Prints the findings subject by subject, then the settings whose worlds failed. */
static fold_status tell(struct study_command *s, const struct fold_probe *p, const struct fold_probe_table *table) {
  for (size_t k = 0; k < p->n_subjects; k++)
    for (size_t i = 0; i < table->n_rows; i++)
      for (size_t length = 0; length < p->n_lengths; length++)
        if (table->row[i].cell[k][length].ran) FOLD_TRY(take_cell(s, p, &table->row[i], k, length));
  FOLD_TRY(fold_measuring_show(&s->measuring));
  for (size_t i = 0; i < table->n_rows; i++)
    if (table->row[i].status.code != FOLD_OK)
      printf("setting %s: %s\n", table->row[i].setting->name, table->row[i].status.text);
  printf("\n");
  for (size_t k = 0; k < p->n_subjects; k++) print_summary(p, table, k);
  fflush(stdout);
  return fold_ok();
}

/* 1 if a promise is refuted; 99 if the library's default settings gave no results; 77 if nothing ran. */
static int code_of(const struct fold_probe *p, const struct fold_probe_table *table) {
  size_t ran = 0;
  for (size_t k = 0; k < p->n_subjects; k++) {
    struct fold_probe_summary s;
    fold_probe_summarise(p, table, k, &s);
    if (s.refuted && !p->subject[k]->peer) return 1;
    ran += s.ran;
  }
  for (size_t i = 0; i < table->n_rows; i++)
    if (!table->row[i].setting->variable[0].name && table->row[i].status.code == FOLD_ENVIRONMENT) return 99;
  return ran ? 0 : 77;
}

static fold_status probe_one(struct study_command *s, struct fold_probe *p, const struct fold_registry *registry,
                             int *exit_code) {
  struct fold_probe_table table = {0};
  p->n_subjects = 0;
  choose_subjects(p, registry);
  if (p->n_subjects == 0)
    return fold_error(FOLD_UNSUPPORTED, "no all-reduce of vectors takes %s", fold_dtype_name(p->dtype));
  fold_status status = fold_probe_run(p, &table, fold_watch_interrupt());
  if (status.code == FOLD_OK && table.n_rows == 0) status = fold_world_no_setting(p->engine, p->settings);
  if (status.code == FOLD_OK) status = tell(s, p, &table);
  int code = status.code == FOLD_OK ? code_of(p, &table) : 0;
  if (code == 1 || *exit_code == 0) *exit_code = code;
  free(table.row);
  return status;
}

static fold_status probe_all(struct study_command *s, const struct fold_registry *registry, int *exit_code) {
  struct fold_world *world;
  struct fold_probe p = {.engine = (enum fold_engine)s->engine,
                         .op = FOLD_SUM,
                         .seed = s->seed,
                         .checks = CHECKS,
                         .settings = s->settings};
  size_t n_generators;
  const struct fold_generator *all = fold_generators(&n_generators);
  FOLD_TRY(fold_world_of(p.engine, &world));
  p.ranks = fold_world_ranks(world);
  fold_study_sort(s);
  for (size_t k = 0; k < s->n_sizes; k++) p.n[p.n_lengths++] = s->sizes[k];
  for (int d = 0; d < FOLD_DTYPES; d++)
    for (size_t g = 0; g < n_generators && !*fold_watch_interrupt(); g++) {
      if (!(s->dtypes >> d & 1) || !fold_glob_match(s->generators, all[g].name)) continue;
      p.dtype = (enum fold_dtype)d;
      p.generator = &all[g];
      FOLD_TRY(probe_one(s, &p, registry, exit_code));
    }
  return fold_ok();
}

fold_status fold_study_messages(struct study_command *s, const struct fold_registry *registry, int *exit_code) {
  fold_status status = fold_measuring_open(&s->measuring, s->jsonl);
  if (status.code == FOLD_OK) status = probe_all(s, registry, exit_code);
  return fold_measuring_close(&s->measuring, "foldproof study", status);
}
