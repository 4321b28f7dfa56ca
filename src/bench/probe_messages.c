/* probe_messages.c: starts a world for each setting, runs messages of each length in it, and assigns the letters. */
#include "bench/probe_messages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixtures/fixture.h"
#include "ranks/world.h"

static fold_status lay(const struct fold_probe *p, struct fold_world *world, size_t length) {
  struct fold_wire_lay head = {.dtype = p->dtype,
                               .op = p->op,
                               .ranks = p->ranks,
                               .vectors = true,
                               .seed = p->seed,
                               .rows = p->n[length],
                               .all_cols = p->ranks,
                               .n_entrants = (uint32_t)p->n_subjects};
  snprintf(head.generator, sizeof head.generator, "%s", p->generator->name);
  for (size_t k = 0; k < p->n_subjects; k++)
    snprintf(head.entrant[k].subject, FOLD_WIRE_NAME, "%s", p->subject[k]->name);
  struct fold_wire_lay *heads = calloc(p->ranks, sizeof *heads);
  if (!heads) return fold_no_memory("for %u ranks", p->ranks);
  for (unsigned r = 0; r < p->ranks; r++) {
    heads[r] = head;
    for (size_t k = 0; k < p->n_subjects; k++) heads[r].entrant[k].first_col = r, heads[r].entrant[k].cols = 1;
  }
  struct fold_question question = {
      .kind = WIRE_LAY, .head = heads, .head_bytes = sizeof *heads, .what = "making its part of the input"};
  fold_status status = fold_world_ask(world, 0, p->ranks, &question, NULL);
  free(heads);
  return status;
}

/* Makes two runs on every rank and notes them in the cell; `first` says that it is the first check of this message. */
static fold_status check(const struct fold_probe *p, struct fold_world *world, size_t subject, bool first,
                         struct fold_wire_checked *checked, uint64_t *hash, struct fold_probe_cell *cell) {
  struct fold_wire_check head = {.entrant = (uint32_t)subject, .head = p->n[0]};
  struct fold_question question = {.kind = WIRE_CHECK,
                                   .head = &head,
                                   .one_head = true,
                                   .head_bytes = sizeof head,
                                   .answer_bytes = sizeof *checked,
                                   .what = p->subject[subject]->name};
  FOLD_TRY(fold_world_ask(world, 0, p->ranks, &question, checked));
  if (first) {
    *cell = (struct fold_probe_cell){.ran = true, .rank_agreement = true, .run_to_run = true};
    cell->bits = checked[0].head_hash;
    *hash = checked[0].hash;
  }
  for (unsigned r = 0; r < p->ranks; r++) {
    cell->rank_agreement &= checked[r].hash == checked[0].hash;
    cell->run_to_run &= checked[r].again == checked[r].hash;
  }
  cell->run_to_run &= checked[0].hash == *hash;
  return fold_ok();
}

static fold_status probe_world(const struct fold_probe *p, struct fold_probe_row *row,
                               struct fold_wire_checked *checked, const volatile int *stop) {
  struct fold_world *world;
  uint64_t hash = 0;
  FOLD_TRY(fold_world_of(p->engine, &world));
  snprintf(row->library, sizeof row->library, "%.63s", fold_world_hello(world, 0)->library);
  FOLD_TRY(fold_world_need(world, p->ranks));
  for (size_t length = 0; length < p->n_lengths && !*stop; length++) {
    FOLD_TRY(lay(p, world, length));
    for (size_t k = 0; k < p->n_subjects; k++)
      for (unsigned i = 0; i < p->checks; i++)
        FOLD_TRY(check(p, world, k, i == 0, checked, &hash, &row->cell[k][length]));
  }
  return fold_ok();
}

static bool is_wanted(const struct fold_probe *p, const struct fold_world_setting *setting) {
  return setting->engine == p->engine && fold_glob_match(p->settings, setting->name);
}

fold_status fold_probe_run(const struct fold_probe *p, struct fold_probe_table *table, const volatile int *stop) {
  size_t n;
  const struct fold_world_setting *settings = fold_world_settings(&n);
  *table = (struct fold_probe_table){.row = calloc(n, sizeof *table->row)};
  struct fold_wire_checked *checked = calloc(p->ranks, sizeof *checked);
  fold_status status = table->row && checked ? fold_ok() : fold_no_memory("to probe");
  for (size_t i = 0; i < n && status.code == FOLD_OK && !*stop; i++) {
    struct fold_setting_before before;
    if (!is_wanted(p, &settings[i])) continue;
    status = fold_setting_enter(&settings[i], &before);
    if (status.code != FOLD_OK) break;
    struct fold_probe_row *row = &table->row[table->n_rows++];
    row->setting = &settings[i];
    row->status = probe_world(p, row, checked, stop);
    status = fold_setting_leave(&settings[i], &before);
  }
  free(checked);
  return status.code == FOLD_OK ? fold_probe_letters(p, table) : status;
}

fold_status fold_probe_letters(const struct fold_probe *p, struct fold_probe_table *table) {
  uint64_t *class = calloc(table->n_rows * p->n_subjects * p->n_lengths + 1, sizeof *class);
  if (!class) return fold_no_memory("to probe");
  table->n_letters = 0;
  for (size_t k = 0; k < p->n_subjects; k++)
    for (size_t i = 0; i < table->n_rows; i++)
      for (size_t length = 0; length < p->n_lengths; length++) {
        struct fold_probe_cell *cell = &table->row[i].cell[k][length];
        size_t letter = 0;
        if (!cell->ran) continue;
        while (letter < table->n_letters && class[letter] != cell->bits) letter++;
        if (letter == table->n_letters) class[table->n_letters++] = cell->bits;
        cell->letter = (int)letter;
      }
  free(class);
  return fold_ok();
}

const char *fold_probe_letter(int letter, char text[8]) {
  if (letter < 52)
    snprintf(text, 8, "%c", letter < 26 ? 'A' + letter : 'a' + letter - 26);
  else
    snprintf(text, 8, "%d", letter % 1000000);
  return text;
}

void fold_probe_summarise(const struct fold_probe *p, const struct fold_probe_table *table, size_t subject,
                          struct fold_probe_summary *s) {
  uint64_t promised = fold_claims_of(p->subject[subject], p->op);
  *s = (struct fold_probe_summary){0};
  for (size_t letter = 0; letter < table->n_letters; letter++) {
    bool seen = false;
    for (size_t at = 0; at < table->n_rows * p->n_lengths && !seen; at++) {
      const struct fold_probe_cell *cell = &table->row[at / p->n_lengths].cell[subject][at % p->n_lengths];
      seen = cell->ran && cell->letter == (int)letter;
    }
    s->letters += seen;
  }
  for (size_t at = 0; at < table->n_rows * p->n_lengths; at++) {
    const struct fold_probe_cell *cell = &table->row[at / p->n_lengths].cell[subject][at % p->n_lengths];
    s->ran += cell->ran;
    s->ranks_differ += cell->ran && !cell->rank_agreement;
    s->repeats_differ += cell->ran && !cell->run_to_run;
  }
  s->refuted = (s->letters > 1 && (promised & FOLD_CLAIM(FOLD_MESSAGE_INVARIANT))) ||
               (s->ranks_differ && (promised & FOLD_CLAIM(FOLD_RANK_AGREEMENT))) ||
               (s->repeats_differ && (promised & FOLD_CLAIM(FOLD_RUN_TO_RUN)));
}
