/* report_markdown.c: the summary of a CI job: counts, what was refuted, the table subject x claim. Short: GitHub takes
 * one mebibyte, people less. */
#include <stdlib.h>
#include <string.h>

#include "report_section.h"

enum { MOST_LINES = 20 };

static const char *mark_of(const struct fold_model_cell *cell) {
  if (cell->count[FOLD_REFUTED] > cell->known) return "**REFUTED** ";
  if (cell->count[FOLD_BROKEN]) return "**BROKEN** ";
  if (cell->known) return "known ";
  return cell->count[FOLD_HELD] ? "" : "skipped ";
}

static size_t count_of(const struct fold_model_cell *cell) {
  if (cell->count[FOLD_REFUTED] > cell->known) return cell->count[FOLD_REFUTED] - cell->known;
  if (cell->count[FOLD_BROKEN]) return cell->count[FOLD_BROKEN];
  if (cell->known) return cell->known;
  return cell->count[FOLD_HELD] ? cell->count[FOLD_HELD] : cell->count[FOLD_SKIPPED];
}

static void put_table(const struct fold_model *m, FILE *out) {
  char title[160];
  fputs("\n| subject |", out);
  for (size_t k = 0; k < m->n_claims; k++) {
    fputc(' ', out);
    fold_put_markdown(out, m->claims[k]);
    fputs(" |", out);
  }
  fputs("\n| --- |", out);
  for (size_t k = 0; k < m->n_claims; k++) fputs(" ---: |", out);
  fputc('\n', out);
  for (size_t s = 0; s < m->n_subjects; s++) {
    fputs("| ", out);
    fold_put_markdown(out, fold_model_title(&m->subjects[s], title));
    fputs(" |", out);
    for (size_t k = 0; k < m->n_claims; k++) {
      const struct fold_model_cell *cell = m->subjects[s].cells[true][k];
      if (cell)
        fprintf(out, " %s%zu%s%s |", mark_of(cell), count_of(cell), cell->unbounded ? "\\*" : "",
                fold_model_untold(cell) ? "†" : "");
      else
        fputs(" |", out);
    }
    fputc('\n', out);
  }
  fputs("\nCounts of cases that held, or else as marked; what is not promised is empty.\n", out);
}

/* What held about order, and how much of that could have told. */
static void put_telling(const struct fold_model *m, FILE *out) {
  size_t telling = 0, idle = 0, untold = 0;
  for (size_t s = 0; s < m->n_subjects; s++)
    for (size_t k = 0; k < m->n_claims; k++) {
      const struct fold_model_cell *cell = m->subjects[s].cells[true][k];
      if (cell == NULL) continue;
      telling += cell->telling;
      idle += cell->idle;
      untold += fold_model_untold(cell);
    }
  if (telling + idle == 0) return;
  fprintf(out, "\nOf what held about order, %zu telling, %zu idle (the input has the same bits in eight orders).\n",
          telling, idle);
  if (untold)
    fprintf(out, "† Nothing telling: %zu promise%s held on idle inputs alone.\n", untold, untold == 1 ? "" : "s");
}

/* Of claims that held, the rows that were not judged. */
static void put_unbounded(const struct fold_model *m, FILE *out) {
  char title[160], text[240];
  size_t shown = 0, all = 0;
  for (size_t s = 0; s < m->n_subjects; s++)
    for (size_t k = 0; k < m->n_claims; k++) {
      const struct fold_model_cell *cell = m->subjects[s].cells[true][k];
      if (cell == NULL || cell->unbounded == 0 || all++ >= MOST_LINES) continue;
      if (shown++ == 0) fputs("\n\\* Rows that were not judged:\n\n", out);
      fputs("* ", out);
      fold_put_markdown(out, fold_model_title(&m->subjects[s], title));
      fputs(", ", out);
      fold_put_markdown(out, m->claims[k]);
      fputs(": ", out);
      fold_put_markdown(out, fold_model_unbounded(cell, text));
      fputc('\n', out);
    }
  if (all > shown) fprintf(out, "* and %zu more in the records\n", all - shown);
}

static void put_failure(const struct fold_model *m, const struct fold_model_subject *subject, size_t k,
                        const json_t *record, FILE *out) {
  char title[160], *text = fold_text_evidence(record), *replay = fold_text_replay(record);
  const char *verdict = json_string_value(json_object_get(record, "verdict"));
  const bool broken = verdict && strcmp(verdict, fold_verdict_name(FOLD_BROKEN)) == 0;
  fprintf(out, "* **%s**: ", fold_model_is_known(record) ? "known" : verdict ? verdict : "");
  fold_put_markdown(out, fold_model_title(subject, title));
  fputs(broken ? ", not judged: " : " violates ", out);
  fold_put_markdown(out, m->claims[k]);
  fputs(": ", out);
  fold_put_markdown(out, text ? text : "");
  fputs("<br><code>", out);
  fold_put_markdown(out, replay ? replay : "");
  fputs("</code>\n", out);
  free(text);
  free(replay);
}

/* The first of each subject and claim before any second one: a summary shows what kinds of failure there are. */
static void put_failures(const struct fold_model *m, FILE *out) {
  size_t shown = 0, all = 0;
  for (size_t depth = 0; depth < MODEL_EVIDENCE; depth++)
    for (size_t s = 0; s < m->n_subjects; s++)
      for (size_t k = 0; k < m->n_claims; k++) {
        const struct fold_model_cell *cell = m->subjects[s].cells[true][k];
        if (cell == NULL) continue;
        if (depth == 0) all += cell->count[FOLD_REFUTED] + cell->count[FOLD_BROKEN];
        if (depth >= cell->n_evidence || shown == MOST_LINES) continue;
        if (shown++ == 0) fputc('\n', out);
        put_failure(m, &m->subjects[s], k, cell->evidence[depth], out);
      }
  if (all > shown) fprintf(out, "* and %zu more in the records\n", all - shown);
}

/* Sums over worlds are judged where they were made: what did not hold is told here too. */
static void put_worlds(const struct fold_model *model, FILE *out) {
  size_t refuted = 0;
  for (size_t i = 0; i < model->n_validations; i++) refuted += strcmp(model->validations[i].verdict, "refuted") == 0;
  fprintf(out, "\nSums over worlds: %zu results, %zu refuted.\n", model->n_validations, refuted);
  for (size_t i = 0; i < model->n_validations; i++) {
    const struct fold_model_validation *v = &model->validations[i];
    if (strcmp(v->verdict, "refuted") != 0) continue;
    fputs("- ", out);
    fold_put_markdown(out, v->subject);
    fprintf(out, ", %.0f ranks, ", v->workers);
    fold_put_markdown(out, v->generator);
    fputs(" ", out);
    fold_put_markdown(out, v->dtype);
    if (v->seed >= 0) fprintf(out, ", seed %lld", v->seed);
    fputs(": ", out);
    fold_put_markdown(out, v->note);
    fputs("\n", out);
  }
}

static void put_incomplete(const struct fold_model *model, FILE *out) {
  for (size_t i = 0; i < model->n_files; i++) {
    if (!model->files[i].incomplete[0]) continue;
    fputs("\n**Incomplete records**: ", out);
    fold_put_markdown(out, model->files[i].path);
    fputs(": ", out);
    fold_put_markdown(out, model->files[i].incomplete);
    fputs("\n", out);
  }
}

fold_status fold_report_markdown(const struct fold_model *model, FILE *out) {
  char text[200];
  fold_model_summary(model, text);
  fprintf(out, "## foldproof: %s\n", model->n_subjects ? text : "nothing was judged in these records");
  put_incomplete(model, out);
  for (size_t i = 0; i < model->n_environments; i++) {
    char machine[160];
    const char *system = json_string_value(json_object_get(model->environments[i], "system"));
    fprintf(out, "%s", i ? "; " : "\nOn ");
    fold_put_markdown(out, fold_text_machine(model, (int)i, machine));
    if (system) fputs(", ", out), fold_put_markdown(out, system);
  }
  if (model->n_environments) fputs(".\n", out);
  put_failures(model, out);
  if (model->n_subjects) put_table(model, out);
  put_telling(model, out);
  put_unbounded(model, out);
  if (model->n_timings + model->n_study + model->n_scalings + model->n_messages)
    fprintf(out, "\nMeasured: %zu timings, %zu errors of a study, %zu points of scaling, %zu all-reduces.\n",
            model->n_timings, model->n_study, model->n_scalings, model->n_messages);
  if (model->n_validations) put_worlds(model, out);
  return fold_ok();
}
