/* report/junit.c: JUnit's test cases: one suite a subject, one case for each claim and fixture that it was judged on.
 *
 * A case fails when any of the fixture's inputs refuted the claim, is an error when the environment broke on one, is skipped when
 * all were skipped. Claims that are not promised are left out. A known defect of another library is no failure: the case is
 * skipped, with the refutation as its message. Incomplete records are an error, so that an interrupted run is not green. A suite's
 * properties count the claims about order that held, on order-sensitive (telling) and order-insensitive (idle) inputs; a case whose inputs were all order-insensitive says so.
 */
#include <stdint.h>
#include <stdlib.h>

#include "records/counts.h"
#include "report/section.h"

static const char *const tags[FOLD_GRAVEST] = {[FOLD_IS_REFUTED] = "failure",
                                               [FOLD_IS_BROKEN] = "error",
                                               [FOLD_IS_KNOWN] = "skipped",
                                               [FOLD_IS_HELD] = "",
                                               [FOLD_IS_SKIPPED] = "skipped"};

static void add_case(struct fold_sheet *sheet, const char *suite, const char *claim,
                     const struct fold_model_fixture *f) {
  size_t n;
  const enum fold_gravest kind = fold_counts_gravest(f->count, f->known, &n);
  const bool failed = kind == FOLD_IS_REFUTED || kind == FOLD_IS_BROKEN;
  const bool idle = kind == FOLD_IS_HELD && f->idle > 0 && f->telling == 0;
  char text[160] = "", *evidence = f->first ? fold_text_evidence(f->first) : NULL;
  char *replay = failed ? fold_text_replay(f->first) : NULL;
  if (kind == FOLD_IS_KNOWN) snprintf(text, sizeof text, "known of another library");
  if (idle)
    snprintf(text, sizeof text, "order-insensitive: %zu held, each on an input that has the same bits in eight orders",
             f->idle);
  if (failed)
    snprintf(text, sizeof text, "%zu held, %zu refuted, %zu skipped, %zu broken", f->count[FOLD_HELD],
             f->count[FOLD_REFUTED], f->count[FOLD_SKIPPED], f->count[FOLD_BROKEN]);
  const char *first = evidence ? evidence : f->first ? "not enough memory for the evidence" : "";
  FOLD_ROW(sheet, T(suite), T(claim), T(f->name), T(idle ? "system-out" : tags[kind]),
           T(kind == FOLD_IS_SKIPPED && f->why ? f->why : first), T(text), T(failed ? first : ""),
           T(replay ? replay : ""), N(f->telling), N(f->idle));
  free(evidence);
  free(replay);
}

static void list_cases(struct fold_sheet *sheet, const struct fold_model *m) {
  char title[160];
  fold_sheet_open(sheet, "Cases", "Suite;Claim;Fixture;Outcome;Message;;the first;replay;#telling;#idle");
  for (size_t i = 0; i < m->n_files; i++)
    if (m->files[i].incomplete[0])
      FOLD_ROW(sheet, T("records"), T("complete"), T(m->files[i].path), T("error"), T(m->files[i].incomplete), T(""),
               T(""), T(""), N(0), N(0));
  for (size_t s = 0; s < m->n_subjects; s++)
    for (size_t k = 0; k < m->n_claims; k++) {
      const struct fold_model_cell *cell = m->subjects[s].cells[true][k];
      for (size_t i = 0; cell && i < cell->n_fixtures; i++)
        add_case(sheet, fold_model_title(&m->subjects[s], title), m->claims[k], &cell->fixtures[i]);
    }
}

fold_status fold_report_junit(const struct fold_model *model, FILE *out) {
  return fold_view_put(list_cases, model, FOLD_REPORT_JUNIT, SIZE_MAX, out);
}
