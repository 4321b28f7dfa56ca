/* report_junit.c: JUnit's XML: one suite a subject, one case for each claim and fixture that it was judged on.
 *
 * A case fails when any of the fixture's inputs refuted the claim, is an error when the environment broke on one, is skipped when
 * all were skipped. Claims that are not promised are left out. A known defect of another library is no failure: the case is
 * skipped, with the refutation as its message. Incomplete records are an error. A suite's properties count what held about order
 * on inputs that could tell another order, and on idle ones; a case of idle ones alone says so.
 */
#include <stdlib.h>

#include "report_section.h"
#include "counts.h"

/* Of cases: how many there are of each kind. */
struct counts {
  size_t of[FOLD_GRAVEST], telling, idle;
};

static enum fold_gravest kind_of(const struct fold_model_fixture *f) {
  size_t n;
  return fold_counts_gravest(f->count, f->known, &n);
}

static void count(const struct fold_model *m, const struct fold_model_subject *subject, struct counts *c) {
  for (size_t k = 0; k < m->n_claims; k++) {
    const struct fold_model_cell *cell = subject->cells[true][k];
    for (size_t i = 0; cell && i < cell->n_fixtures; i++) {
      c->of[kind_of(&cell->fixtures[i])]++;
      c->telling += cell->fixtures[i].telling;
      c->idle += cell->fixtures[i].idle;
    }
  }
}

static size_t count_tests(const struct counts *c) {
  size_t tests = 0;
  for (int kind = 0; kind < FOLD_GRAVEST; kind++) tests += c->of[kind];
  return tests;
}

static void put_counts(const struct counts *c, FILE *out) {
  fprintf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\"", count_tests(c), c->of[FOLD_IS_REFUTED],
          c->of[FOLD_IS_BROKEN], c->of[FOLD_IS_KNOWN] + c->of[FOLD_IS_SKIPPED]);
}

static void put_counted(const struct fold_model_fixture *f, FILE *out) {
  fprintf(out, "%zu held, %zu refuted, %zu skipped, %zu broken", f->count[FOLD_HELD], f->count[FOLD_REFUTED],
          f->count[FOLD_SKIPPED], f->count[FOLD_BROKEN]);
}

static void put_evidence(const struct fold_model_fixture *f, const char *tag, FILE *out) {
  char *text = fold_text_evidence(f->first), *replay = fold_text_replay(f->first);
  fprintf(out, "\n      <%s message=\"", tag);
  fold_put_html(out, text ? text : "not enough memory for the evidence");
  fputs("\">", out);
  put_counted(f, out);
  fputs("; the first: ", out);
  fold_put_html(out, text ? text : "");
  if (replay) fputs("\nreplay: ", out), fold_put_html(out, replay);
  fprintf(out, "</%s>\n    ", tag);
  free(text);
  free(replay);
}

static void put_skip(const struct fold_model_fixture *f, FILE *out) {
  fputs("\n      <skipped message=\"", out);
  if (f->first) {
    char *text = fold_text_evidence(f->first);
    fputs("known of another library: ", out);
    fold_put_html(out, text ? text : "");
    free(text);
  } else {
    fold_put_html(out, f->why ? f->why : "");
  }
  fputs("\"/>\n    ", out);
}

static void put_case(const char *subject, const char *claim, const struct fold_model_fixture *f, FILE *out) {
  fputs("    <testcase classname=\"", out);
  fold_put_html(out, subject);
  fputs("\" name=\"", out);
  fold_put_html(out, claim);
  fputs(" / ", out);
  fold_put_html(out, f->name);
  fputs("\">", out);
  switch (kind_of(f)) {
    case FOLD_IS_REFUTED: put_evidence(f, "failure", out); break;
    case FOLD_IS_BROKEN: put_evidence(f, "error", out); break;
    case FOLD_IS_KNOWN:
    case FOLD_IS_SKIPPED: put_skip(f, out); break;
    case FOLD_IS_HELD:
      if (f->idle > 0 && f->telling == 0)
        fprintf(out, "<system-out>idle: %zu held, each on an input that has the same bits in eight orders</system-out>",
                f->idle);
      break;
  }
  fputs("</testcase>\n", out);
}

static void put_suite(const struct fold_model *m, const struct fold_model_subject *subject, FILE *out) {
  struct counts c = {0};
  char title[160];
  count(m, subject, &c);
  if (count_tests(&c) == 0) return;
  fputs("  <testsuite name=\"", out);
  fold_put_html(out, fold_model_title(subject, title));
  fputs("\"", out);
  put_counts(&c, out);
  fputs(">\n", out);
  if (c.telling + c.idle)
    fprintf(out,
            "    <properties><property name=\"telling\" value=\"%zu\"/><property name=\"idle\" "
            "value=\"%zu\"/></properties>\n",
            c.telling, c.idle);
  for (size_t k = 0; k < m->n_claims; k++) {
    const struct fold_model_cell *cell = subject->cells[true][k];
    for (size_t i = 0; cell && i < cell->n_fixtures; i++) put_case(title, m->claims[k], &cell->fixtures[i], out);
  }
  fputs("  </testsuite>\n", out);
}

/* Incomplete records are an error of their own, so that an interrupted run is not green. */
static void put_incomplete(const struct fold_model *m, FILE *out) {
  const struct counts c = {.of[FOLD_IS_BROKEN] = fold_model_incomplete(m)};
  if (count_tests(&c) == 0) return;
  fputs("  <testsuite name=\"records\"", out);
  put_counts(&c, out);
  fputs(">\n", out);
  fold_text_incomplete(m, fold_put_html, "    <testcase classname=\"records\" name=\"complete / ",
                       "\"><error message=\"", "\"/></testcase>\n", out);
  fputs("  </testsuite>\n", out);
}

fold_status fold_report_junit(const struct fold_model *model, FILE *out) {
  struct counts all = {.of[FOLD_IS_BROKEN] = fold_model_incomplete(model)};
  for (size_t s = 0; s < model->n_subjects; s++) count(model, &model->subjects[s], &all);
  fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"foldproof\"", out);
  put_counts(&all, out);
  fputs(">\n", out);
  put_incomplete(model, out);
  for (size_t s = 0; s < model->n_subjects; s++) put_suite(model, &model->subjects[s], out);
  fputs("</testsuites>\n", out);
  return fold_ok();
}
