/* report/sum.c: computes the model's totals, and frees the model. */
#include "records/counts.h"
#include "report/model.h"
#include "sheet/text.h"

#include <stdlib.h>
#include <string.h>

bool fold_model_untold(const struct fold_model_cell *cell) {
  return fold_counts_untold(cell->count, cell->telling, cell->idle);
}

static size_t rank_of(const char *name) {
  const struct fold_claim *claim = fold_claim_find(name);
  return claim ? claim->id : FOLD_CLAIMS;
}

static void swap_claims(struct fold_model *model, size_t a, size_t b) {
  const char *name = model->claims[a];
  model->claims[a] = model->claims[b];
  model->claims[b] = name;
  for (size_t s = 0; s < model->n_subjects; s++)
    for (int promised = 0; promised < 2; promised++) {
      struct fold_model_cell **cells = model->subjects[s].cells[promised], *cell = cells[a];
      cells[a] = cells[b];
      cells[b] = cell;
    }
}

void fold_model_arrange(struct fold_model *model) {
  for (size_t i = 1; i < model->n_claims; i++)
    for (size_t k = i; k > 0 && rank_of(model->claims[k]) < rank_of(model->claims[k - 1]); k--)
      swap_claims(model, k, k - 1);
}

void fold_model_total(const struct fold_model *model, size_t total[FOLD_VERDICTS], size_t *known) {
  for (int v = 0; v < FOLD_VERDICTS; v++) total[v] = 0;
  *known = 0;
  for (size_t s = 0; s < model->n_subjects; s++)
    for (size_t k = 0; k < model->n_claims; k++) {
      const struct fold_model_cell *cell = model->subjects[s].cells[true][k];
      if (cell) fold_counts_add(total, known, cell->count, cell->known);
    }
}

void fold_model_summary(const struct fold_model *model, char text[200]) {
  size_t total[FOLD_VERDICTS], known;
  fold_model_total(model, total, &known);
  static const enum fold_verdict order[] = {FOLD_HELD, FOLD_REFUTED, FOLD_SKIPPED, FOLD_BROKEN};
  char count[32];
  int used = 0;
  for (size_t i = 0; i < sizeof order / sizeof *order; i++)
    if (order[i] != FOLD_BROKEN || total[FOLD_BROKEN])
      used += snprintf(text + used, 200 - (size_t)used, "%s%s %s", i ? ", " : "",
                       fold_text_grouped((double)total[order[i]], count), fold_verdict_name(order[i]));
  if (known) snprintf(text + used, 200 - (size_t)used, ", %s known defects", fold_text_grouped((double)known, count));
}

const char *fold_model_title(const struct fold_model_subject *subject, char text[160]) {
  snprintf(text, 160, "%.110s on %.30s", subject->name, subject->engine);
  return text;
}

static void free_cell(struct fold_model_cell *cell) {
  if (cell == NULL) return;
  for (size_t i = 0; i < cell->n_fixtures; i++) {
    free(cell->fixtures[i].name);
    free(cell->fixtures[i].why);
    json_decref(cell->fixtures[i].first);
  }
  for (size_t i = 0; i < cell->n_evidence; i++) json_decref(cell->evidence[i]);
  for (size_t i = 0; i < cell->n_reasons; i++) free(cell->reasons[i].text);
  json_decref(cell->index);
  free(cell->fixtures);
  free(cell);
}

void fold_model_close(struct fold_model *model) {
  for (size_t s = 0; s < model->n_subjects; s++)
    for (int promised = 0; promised < 2; promised++)
      for (size_t k = 0; k < MODEL_CLAIMS; k++) free_cell(model->subjects[s].cells[promised][k]);
  for (size_t i = 0; i < model->n_environments; i++) json_decref(model->environments[i]);
  for (size_t i = 0; i < model->n_files; i++) free(model->files[i].path);
  for (size_t i = 0; i < model->n_words; i++) free(model->words[i]);
  json_decref(model->index.words);
  json_decref(model->index.subjects);
  json_decref(model->index.environments);
#define LIST(name, type) free(model->name);
  FOLD_MODEL_LISTS(LIST)
#undef LIST
  fold_repeated_free(&model->repeated);
  *model = (struct fold_model){0};
}
