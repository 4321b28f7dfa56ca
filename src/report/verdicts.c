/* report/verdicts.c: the matrix subject x claim, the evidence for each cell, and what failed.
 *
 * A cell's mark and colour say the same thing, so that a reader needs only one of them. Every cell of the matrix links to its row of
 * evidence, and that links to its failures.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "records/counts.h"
#include "records/read.h"
#include "report/answer.h"
#include "report/section.h"

struct look {
  const char *class, *row, *mark, *word; /* row: the class of its rows, which the filters use */
};

/* How a cell looks. The worst verdict in it decides. Known defects of libraries look different from refutations, and
 * claims that are not promised are in parentheses. */
static struct look look_of(const struct fold_model_cell *cell, bool promised) {
  if (cell->count[FOLD_REFUTED] > cell->known && promised)
    return (struct look){"refuted", "v v-refuted", "✗ ", "refuted"};
  if (cell->count[FOLD_BROKEN]) return (struct look){"broken", "v v-broken", "! ", "broken"};
  if (cell->count[FOLD_REFUTED])
    return (struct look){"fact", "v v-fact", promised ? "known " : "✗ ", promised ? "known" : "does not hold"};
  if (cell->count[FOLD_HELD])
    return (struct look){promised ? "held" : "probed", fold_model_untold(cell) ? "v v-held v-idle" : "v v-held", "✓ ",
                         "held"};
  return (struct look){"skipped", "v v-skipped", "skipped ", "skipped"};
}

/* A claim that the subject makes and one that is only probed have different rows. */
struct fold_cell fold_page_link(const char *sign, size_t s, size_t k, bool promised, const char *text) {
  struct fold_cell cell = {.text = text};
  snprintf(cell.link, sizeof cell.link, "%s%zu-%zu%s", sign, s, k, promised ? "" : "p");
  return cell;
}

/* Writes the count, and on the line below how many cases were skipped. */
static void add_counts(struct fold_sheet *sheet, const struct fold_model_subject *subject, size_t s, size_t k) {
  const bool promised = subject->cells[true][k] != NULL;
  const struct fold_model_cell *cell = subject->cells[promised][k];
  char text[120], skipped[48] = "", count[32];
  if (cell == NULL) {
    FOLD_ROW(sheet, T(""));
    return;
  }
  const struct look look = look_of(cell, promised);
  size_t n;
  const enum fold_gravest kind = fold_counts_gravest(cell->count, cell->known, &n);
  if (kind != FOLD_IS_SKIPPED && cell->count[FOLD_SKIPPED])
    snprintf(skipped, sizeof skipped, "\n%s skipped", fold_text_grouped((double)cell->count[FOLD_SKIPPED], count));
  snprintf(text, sizeof text, promised ? "%s%s%s%s%s" : "(%s%s%s%s)%s", look.mark, fold_text_grouped((double)n, count),
           cell->unbounded ? "*" : "", fold_model_untold(cell) ? "†" : "", skipped);
  struct fold_cell counts = fold_page_link("#e", s, k, promised, text);
  counts.class = look.class;
  fold_sheet_add(sheet, &counts, 1);
}

void fold_sheet_matrix(struct fold_sheet *sheet, const struct fold_model *m) {
  char title[160];
  fold_sheet_open(sheet, "How many cases, by subject and claim", "Subject");
  sheet->class = "matrix";
  for (size_t k = 0; k < m->n_claims; k++) fold_sheet_column(sheet, FOLD_COLUMN_TEXT, m->claims[k]);
  for (size_t s = 0; s < m->n_subjects; s++) {
    FOLD_ROW(sheet, T(fold_model_title(&m->subjects[s], title)));
    for (size_t k = 0; k < m->n_claims; k++) add_counts(sheet, &m->subjects[s], s, k);
  }
}

const char fold_matrix_legend[] =
    "✓ held, ✗ refuted, known: refuted by a known defect of another library, !: the environment failed. In "
    "parentheses: not "
    "claimed. Empty: not claimed, not tried. *: some rows have no bound, and were not judged. †: held on "
    "order-insensitive inputs only: each has the same bits in eight orders.";

typedef void take_cell(struct fold_sheet *sheet, const struct fold_model *m, size_t s, size_t k, bool promised);

static void each_cell(struct fold_sheet *sheet, const struct fold_model *m, take_cell *take) {
  for (size_t s = 0; s < m->n_subjects; s++)
    for (int promised = 1; promised >= 0; promised--)
      for (size_t k = 0; k < m->n_claims; k++)
        if (m->subjects[s].cells[promised][k]) take(sheet, m, s, k, promised);
}

/* Why rows were not judged and cases were skipped: "12: no GPU", one reason a line. */
static void say_reasons(const struct fold_model_cell *cell, char *text, size_t size) {
  char unbounded[240];
  int used = snprintf(text, size, "%s", fold_model_unbounded(cell, unbounded));
  for (size_t i = 0; i < cell->n_reasons && (size_t)used < size; i++)
    used += snprintf(text + used, size - (size_t)used, "%s%zu: %s", used ? "\n" : "", cell->reasons[i].count,
                     cell->reasons[i].text);
  if (cell->other_reasons && (size_t)used < size)
    snprintf(text + used, size - (size_t)used, "\n%zu: other reasons", cell->other_reasons);
}

static void add_evidence(struct fold_sheet *sheet, const struct fold_model *m, size_t s, size_t k, bool promised) {
  const struct fold_model_cell *cell = m->subjects[s].cells[promised][k];
  const struct look look = look_of(cell, promised);
  char title[160], reasons[2000], number[16], backward[32] = "";
  if (!isnan(cell->backward))
    snprintf(backward, sizeof backward, "%s %s", fold_text_number(cell->backward, number), fold_dtype_name(cell->unit));
  struct fold_cell verdict = fold_page_link("#f", s, k, promised, look.word);
  verdict.class = look.class;
  if (cell->n_evidence == 0) verdict.link[0] = '\0';
  say_reasons(cell, reasons, sizeof reasons);
  FOLD_ROW(sheet, fold_page_link("e", s, k, promised, fold_model_title(&m->subjects[s], title)), verdict,
           T(m->claims[k]), T(promised ? "yes" : "no"), N(cell->count[FOLD_HELD]), N(cell->count[FOLD_REFUTED]),
           N(cell->known), N(cell->count[FOLD_SKIPPED]), N(cell->count[FOLD_BROKEN]), N(cell->telling), N(cell->idle),
           T(backward), N(cell->ulps), N(cell->fraction), N(cell->unbounded), T(reasons));
  fold_sheet_mark(sheet, look.row);
}

static void fill_evidence(struct fold_sheet *sheet, const struct fold_model *m) {
  fold_sheet_open(sheet, "Each subject and claim",
                  "Subject;Verdict;Claim;Claimed;#Held;#Refuted;#of them "
                  "known;#Skipped;#Broken;#Order-sensitive;#Order-insensitive;"
                  "Worst error / (u sum |x|);=Worst error (ulps);=Worst error / bound;#Rows not judged;Skipped, or not "
                  "judged, because");
  sheet->class = "numbers";
  each_cell(sheet, m, add_evidence);
}

/* Adds the failures of a claim; of one that is not promised only a few examples. */
static void add_failures(struct fold_sheet *sheet, const struct fold_model *m, size_t s, size_t k, bool promised) {
  const struct fold_model_cell *cell = m->subjects[s].cells[promised][k];
  const size_t shown = promised || cell->n_evidence < 3 ? cell->n_evidence : 3;
  const size_t all = cell->count[FOLD_REFUTED] + cell->count[FOLD_BROKEN];
  char title[160], place[200], more[60];
  fold_model_title(&m->subjects[s], title);
  for (size_t i = 0; i < shown; i++) {
    const json_t *record = cell->evidence[i];
    char *text = fold_text_evidence(record), *replay = fold_text_replay(record);
    const int environment = (int)json_integer_value(json_object_get(record, "environment_index"));
    FOLD_ROW(sheet, i ? (struct fold_cell)T(title) : fold_page_link("f", s, k, promised, title), T(m->claims[k]),
             T(fold_record_text(record, "verdict")), T(text ? text : "not enough memory for the evidence"),
             T(fold_text_place(m, environment, place)), T(replay ? replay : ""));
    fold_sheet_mark(sheet, look_of(cell, promised).row);
    free(text);
    free(replay);
  }
  if (all <= shown) return;
  snprintf(more, sizeof more, "%zu more in the records", all - shown);
  FOLD_ROW(sheet, T(title), T(m->claims[k]), T(more), T(""), T(""), T(""));
  fold_sheet_mark(sheet, look_of(cell, promised).row);
}

static void list_failures(struct fold_sheet *sheet, const struct fold_model *m) {
  fold_sheet_open(sheet, "What failed", "Subject;Claim;Verdict;;;$Replay");
  sheet->list = true;
  each_cell(sheet, m, add_failures);
}

static void add_unbounded(struct fold_sheet *sheet, const struct fold_model *m, size_t s, size_t k, bool promised) {
  const struct fold_model_cell *cell = m->subjects[s].cells[promised][k];
  char title[160], text[240];
  if (promised && (cell->unbounded || cell->sampled))
    FOLD_ROW(sheet, T(fold_model_title(&m->subjects[s], title)), T(m->claims[k]), T(fold_model_unbounded(cell, text)));
}

void fold_sheet_unbounded(struct fold_sheet *sheet, const struct fold_model *m) {
  fold_sheet_open(sheet, "* Rows that were not judged", "Subject;Claim;Reason");
  sheet->list = true;
  each_cell(sheet, m, add_unbounded);
}

fold_status fold_page_verdicts(struct fold_page *page) {
  fputs(
      "<p>&ldquo;Held&rdquo; covers only the cases tried, in "
      "these environments. Each cell leads to its evidence.</p>\n",
      page->out);
  FOLD_TRY(fold_view_put(fold_sheet_matrix, page->model, FOLD_REPORT_HTML, SIZE_MAX, page->out));
  fprintf(page->out, "<p>%s</p>\n", fold_matrix_legend);
  return fold_answer_counts(page->model, FOLD_REPORT_HTML, page->out);
}

/* The filters work by radio buttons and a style sheet, without a script. */
static void put_filters(struct fold_page *page) {
  static const char *const filters[][2] = {{"all", "all"},
                                           {"refuted", "refuted"},
                                           {"broken", "broken"},
                                           {"fact", "known or not claimed"},
                                           {"idle", "order-insensitive only"},
                                           {"held", "held"},
                                           {"skipped", "skipped"}};
  fputs("<div class=\"filter\">Show:</div>", page->out);
  for (size_t i = 0; i < sizeof filters / sizeof *filters; i++)
    fprintf(page->out, "<input type=\"radio\" name=\"show\" id=\"show-%s\"%s><label for=\"show-%s\">%s</label>\n",
            filters[i][0], i ? "" : " checked", filters[i][0], filters[i][1]);
}

fold_status fold_page_evidence(struct fold_page *page) {
  fputs(
      "<details><summary>Each subject and claim: counts, worst errors, "
      "what failed, why it was skipped</summary>\n<p>Cases of each subject and claim. The worst error of sums and "
      "dot products is over u times the sum of the terms&rsquo; magnitudes, u being the unit roundoff of the dtype "
      "named "
      "there. It is also in units of the "
      "exact result&rsquo;s last place (ulps), and as a fraction of the bound that theory gives. A sum that cancels to "
      "almost nothing can be many ulps off and yet within its bound, which follows from the sum of magnitudes. "
      "Order-sensitive and "
      "order-insensitive count only claims about order that held. An order-insensitive input is unlikely to reveal a "
      "change of "
      "order: eight orders agree on it, a ninth may not.</p>\n",
      page->out);
  put_filters(page);
  FOLD_TRY(fold_view_put(fill_evidence, page->model, FOLD_REPORT_HTML, SIZE_MAX, page->out));
  FOLD_TRY(fold_view_put(list_failures, page->model, FOLD_REPORT_HTML, SIZE_MAX, page->out));
  fputs("</details>", page->out);
  return fold_ok();
}
