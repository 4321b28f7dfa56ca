/* report/answer.c: makes the sheets of the answer from the model. See report/answer.h. */
#include "report/answer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "records/counts.h"
#include "records/read.h"
#include "report/index.h"
#include "report/section.h"
#include "report/text.h"

enum { MOST_ENTRIES = 20, MOST_REASONS = 10 };

static const char failure_columns[] = "Subject;Claim;Reason;got;want;first case;#cases;$Replay";

static enum fold_gravest kind_of(const json_t *record) {
  if (strcmp(fold_record_text(record, "verdict"), fold_verdict_name(FOLD_BROKEN)) == 0) return FOLD_IS_BROKEN;
  return fold_model_is_known(record) ? FOLD_IS_KNOWN : FOLD_IS_REFUTED;
}

/* The reason, and how the order of additions changed, if one of the cell's records says that. */
static void reason_of(const struct fold_model_cell *cell, const json_t *record, char text[1200]) {
  const char *change = "";
  for (size_t i = 0; i < cell->n_evidence && !*change; i++)
    change = fold_record_text(cell->evidence[i], "order_change");
  snprintf(text, 1200, "%s%s%s%s", fold_record_text(record, "reason"), *change ? " (order: " : "", change,
           *change ? ")" : "");
}

/* If no record of this kind was kept, only the count is shown. */
static void add_failure(struct fold_sheet *sheet, const struct fold_model *m, size_t s, size_t k,
                        enum fold_gravest kind) {
  const struct fold_model_cell *cell = m->subjects[s].cells[true][k];
  const json_t *record = NULL;
  char title[160], why[1200] = "", got[100] = "", want[100] = "";
  for (size_t i = 0; i < cell->n_evidence && record == NULL; i++)
    if (kind_of(cell->evidence[i]) == kind) record = cell->evidence[i];
  char *replay = record ? fold_text_replay(record) : NULL;
  if (record) reason_of(cell, record, why), fold_text_bits(record, "got", got), fold_text_bits(record, "want", want);
  const struct fold_cell subject = T(fold_model_title(&m->subjects[s], title));
  FOLD_ROW(sheet, subject, fold_page_link(record ? "#f" : "#e", s, k, true, m->claims[k]), T(why), T(got), T(want),
           T(record ? fold_record_text(record, "case") : ""), N(fold_counts_of(cell->count, cell->known, kind)),
           T(replay ? replay : ""));
  free(replay);
}

/* Sums over worlds were judged when they were measured; their records hold the verdict. */
static void add_validations(struct fold_sheet *sheet, const struct fold_model *m) {
  for (size_t i = 0; i < m->n_validations; i++) {
    const struct fold_model_validation *v = &m->validations[i];
    char ranks[40], data[200];
    if (strcmp(v->verdict, fold_verdict_name(FOLD_REFUTED)) != 0) continue;
    snprintf(ranks, sizeof ranks, "%.0f ranks", v->workers);
    int used = snprintf(data, sizeof data, "%.100s %.20s", v->generator, v->dtype);
    if (v->seed >= 0) snprintf(data + used, 60, ", seed %lld", v->seed);
    FOLD_ROW(sheet, T(v->subject), T(ranks), T(v->note), T(v->got), T(""), T(data), N(NAN), T(""));
  }
}

static void fill_failures(struct fold_sheet *sheet, const struct fold_model *m, enum fold_gravest kind) {
  for (size_t s = 0; s < m->n_subjects; s++)
    for (size_t k = 0; k < m->n_claims; k++) {
      const struct fold_model_cell *cell = m->subjects[s].cells[true][k];
      if (cell && fold_counts_of(cell->count, cell->known, kind)) add_failure(sheet, m, s, k, kind);
    }
  if (kind == FOLD_IS_REFUTED) add_validations(sheet, m);
}

static void fill_idle(struct fold_sheet *sheet, const struct fold_model *m) {
  char title[160];
  for (size_t s = 0; s < m->n_subjects; s++)
    for (size_t k = 0; k < m->n_claims; k++) {
      const struct fold_model_cell *cell = m->subjects[s].cells[true][k];
      if (cell == NULL || !fold_model_untold(cell)) continue;
      FOLD_ROW(sheet, T(fold_model_title(&m->subjects[s], title)), T(m->claims[k]), N(cell->idle));
    }
}

/* Adds claims that held. A claim that was refuted for a subject is not among them; the cases in which it held are
 * counted apart. */
static void fill_held(struct fold_sheet *sheet, const struct fold_model *m) {
  for (size_t k = 0; k < m->n_claims; k++) {
    size_t subjects = 0, held = 0, idle = 0, unbounded = 0, refuted = 0;
    for (size_t s = 0; s < m->n_subjects; s++) {
      const struct fold_model_cell *cell = m->subjects[s].cells[true][k];
      if (cell == NULL || cell->count[FOLD_HELD] == 0) continue;
      if (cell->count[FOLD_REFUTED]) {
        refuted += cell->count[FOLD_HELD];
        continue;
      }
      subjects++;
      held += cell->count[FOLD_HELD];
      idle += cell->idle;
      unbounded += cell->unbounded;
    }
    if (held + refuted)
      FOLD_ROW(sheet, T(m->claims[k]), N(subjects), N(held), N(idle ? (double)idle : NAN),
               N(unbounded ? (double)unbounded : NAN), N(refuted ? (double)refuted : NAN));
  }
}

/* Adds to the reason's row; makes the row if the reason is new. */
static void count_reason(struct fold_sheet *sheet, json_t **index, const char *reason, size_t cases, bool new_subject) {
  const json_int_t known = fold_index_find(*index, reason, strlen(reason));
  if (known >= 0) {
    struct fold_cell *row = fold_sheet_row(sheet, (size_t)known);
    row[1].number += (double)cases;
    row[2].number += new_subject;
    return;
  }
  if (!fold_index_add(index, reason, strlen(reason), fold_sheet_rows(sheet))) sheet->failed = true;
  FOLD_ROW(sheet, T(reason), N(cases), N(1));
}

static bool has_reason(const struct fold_model_subject *subject, size_t claims, const char *reason) {
  for (size_t k = 0; k < claims; k++) {
    const struct fold_model_cell *cell = subject->cells[true][k];
    for (size_t i = 0; cell && i < cell->n_reasons; i++)
      if (strcmp(cell->reasons[i].text, reason) == 0) return true;
  }
  return false;
}

static void fill_skipped(struct fold_sheet *sheet, const struct fold_model *m) {
  size_t others = 0;
  json_t *index = NULL;
  for (size_t s = 0; s < m->n_subjects && !sheet->failed; s++)
    for (size_t k = 0; k < m->n_claims; k++) {
      const struct fold_model_cell *cell = m->subjects[s].cells[true][k];
      for (size_t i = 0; cell && i < cell->n_reasons; i++)
        count_reason(sheet, &index, cell->reasons[i].text, cell->reasons[i].count,
                     !has_reason(&m->subjects[s], k, cell->reasons[i].text));
      if (cell) others += cell->other_reasons;
    }
  json_decref(index);
  fold_sheet_sort(sheet, 1);
  if (others) FOLD_ROW(sheet, T("other reasons"), N(others), N(NAN));
}

static void fill_refuted(struct fold_sheet *sheet, const struct fold_model *m) {
  fill_failures(sheet, m, FOLD_IS_REFUTED);
}
static void fill_broken(struct fold_sheet *sheet, const struct fold_model *m) {
  fill_failures(sheet, m, FOLD_IS_BROKEN);
}
static void fill_known(struct fold_sheet *sheet, const struct fold_model *m) { fill_failures(sheet, m, FOLD_IS_KNOWN); }

static const struct view {
  const char *title;
  void (*fill)(struct fold_sheet *sheet, const struct fold_model *model);
  const char *columns;
  size_t most;
  bool list;
} views[] = {
    {"Refuted", fill_refuted, failure_columns, MOST_ENTRIES, true},
    {"Broken: the environment failed, so these were not judged", fill_broken, failure_columns, MOST_ENTRIES, true},
    {"Known defects of other libraries", fill_known, failure_columns, MOST_ENTRIES, true},
    {"Held on order-insensitive inputs only: a change of order would probably not have shown", fill_idle,
     "Subject;Claim;#Cases, all order-insensitive", MOST_ENTRIES, false},
    {"Held, over the cases that were tried", fill_held,
     "Claim;#Subjects;#Cases that held;#of them order-insensitive;#Rows not judged;#Passed cases of subjects that "
     "failed elsewhere",
     64, false},
    {"Skipped", fill_skipped, "Skipped because;#Cases;#Subjects", MOST_REASONS, false},
};

/* Writes the views that are lists, which are what failed, or the others. */
static fold_status put_views(const struct fold_model *model, bool lists, enum fold_report_format format, FILE *out) {
  fold_status status = fold_ok();
  for (size_t i = 0; i < sizeof views / sizeof *views && status.code == FOLD_OK; i++) {
    struct fold_sheet sheet;
    if (views[i].list != lists) continue;
    fold_sheet_open(&sheet, views[i].title, views[i].columns);
    sheet.list = views[i].list;
    views[i].fill(&sheet, model);
    status = fold_sheet_put(&sheet, format, views[i].most, out);
  }
  return status;
}

fold_status fold_answer_failures(const struct fold_model *model, enum fold_report_format format, FILE *out) {
  return put_views(model, true, format, out);
}

fold_status fold_answer_counts(const struct fold_model *model, enum fold_report_format format, FILE *out) {
  return put_views(model, false, format, out);
}

fold_status fold_answer_put(const struct fold_model *model, enum fold_report_format format, FILE *out) {
  FOLD_TRY(fold_answer_failures(model, format, out));
  return fold_answer_counts(model, format, out);
}

void fold_answer_sentence(const struct fold_model *model, char text[300]) {
  size_t claims = 0, subjects = 0, telling = 0, idle = 0;
  for (size_t s = 0; s < model->n_subjects; s++) {
    const size_t before = claims;
    for (size_t k = 0; k < model->n_claims; k++) {
      const struct fold_model_cell *cell = model->subjects[s].cells[true][k];
      if (cell == NULL) continue;
      claims += cell->count[FOLD_REFUTED] > cell->known;
      telling += cell->telling;
      idle += cell->idle;
    }
    subjects += claims > before;
  }
  int used = snprintf(text, 300, "No claim was refuted.");
  if (claims)
    used = snprintf(text, 300, "Refuted: %zu claim%s, of %zu subject%s.", claims, claims == 1 ? "" : "s", subjects,
                    subjects == 1 ? "" : "s");
  if (telling + idle)
    snprintf(text + used, 300 - (size_t)used,
             " Of what held about order, %.0f %% are cases whose input is order-insensitive.",
             100 * (double)idle / (double)(telling + idle));
}

bool fold_answer_is_bad(const struct fold_model *model) {
  size_t total[FOLD_VERDICTS], known;
  fold_model_total(model, total, &known);
  bool bad = total[FOLD_REFUTED] || total[FOLD_BROKEN];
  for (size_t i = 0; i < model->n_validations; i++)
    bad |= strcmp(model->validations[i].verdict, fold_verdict_name(FOLD_REFUTED)) == 0;
  return bad;
}

static void put_count(FILE *out, const char **between, size_t n, const char *what) {
  char text[32];
  if (n == 0) return;
  fprintf(out, "%s%s %s%s", *between, fold_text_grouped((double)n, text), what, n == 1 ? "" : "s");
  *between = ", ";
}

/* Writes what was measured, and how much of it was judged meanwhile. */
static void put_measured(const struct fold_model *m, FILE *out) {
  const char *between = "";
  size_t held = 0, refuted = 0, timings = 0;
  char text[32];
  for (size_t i = 0; i < m->n_timings; i++) timings += strcmp(m->timings[i].verdict, "held") == 0;
  for (size_t i = 0; i < m->n_validations; i++) {
    held += strcmp(m->validations[i].verdict, "held") == 0;
    refuted += strcmp(m->validations[i].verdict, "refuted") == 0;
  }
  put_count(out, &between, m->n_timings, "timing");
  if (m->n_timings) fprintf(out, " (%s of results that held)", fold_text_grouped((double)timings, text));
  put_count(out, &between, m->n_study, "study error");
  put_count(out, &between, m->n_scalings, "scaling point");
  put_count(out, &between, m->n_messages, "all-reduce");
  put_count(out, &between, m->n_probes, "message test");
  put_count(out, &between, m->n_ranks + m->n_worlds, "simulated world");
  put_count(out, &between, m->n_validations, "distributed sum");
  if (m->n_validations) fprintf(out, " (%zu held, %zu refuted)", held, refuted);
}

void fold_answer_measured(const struct fold_model *model, char text[300]) {
  FILE *out = fmemopen(text, 300, "w");
  text[0] = '\0';
  if (out == NULL) return;
  put_measured(model, out);
  fclose(out);
  text[299] = '\0';
}

void fold_answer_headline(const struct fold_model *model, char text[300]) {
  if (model->n_subjects)
    fold_model_summary(model, text);
  else
    fold_answer_measured(model, text);
  if (text[0] == '\0') snprintf(text, 300, "no verdict and no measurement in these records");
}
