/* report_verdicts.c: the matrix subject x claim, and below it each cell's evidence.
 *
 * A cell's mark, word and colour say the same thing, so that a reader needs only one of them. Every cell links to its row of
 * evidence.
 */
#include <stdlib.h>
#include <string.h>

#include "report_section.h"
#include "counts.h"

struct look {
  const char *class, *mark, *word;
};

/* The gravest verdict decides. Known defects of libraries have a look of their own; a claim that is not promised is in parentheses. */
static struct look look_of(const struct fold_model_cell *cell, bool promised) {
  if (cell->count[FOLD_REFUTED] > cell->known && promised) return (struct look){"refuted", "&#10007;", "refuted"};
  if (cell->count[FOLD_BROKEN]) return (struct look){"broken", "!", "broken"};
  if (cell->count[FOLD_REFUTED]) return (struct look){"fact", "&#10007;", promised ? "known" : "does not hold"};
  if (cell->count[FOLD_HELD]) return (struct look){"held", "&#10003;", "held"};
  return (struct look){"skipped", "&ndash;", "skipped"};
}

static void put_cell(struct fold_page *page, const struct fold_model_subject *subject, size_t s, size_t k) {
  bool promised = subject->cells[true][k] != NULL;
  const struct fold_model_cell *cell = subject->cells[promised][k];
  if (cell == NULL) {
    fputs("<td></td>", page->out);
    return;
  }
  struct look look = look_of(cell, promised);
  enum fold_gravest kind;
  const size_t n = fold_model_gravest(cell, &kind);
  char unbounded[240];
  fprintf(page->out,
          "<td class=\"%s\"><a href=\"#e%zu-%zu\" title=\"%s: %zu held, %zu refuted, %zu skipped, %zu broken",
          promised || look.class[0] != 'h' ? look.class : "probed", s, k, look.word, cell->count[FOLD_HELD],
          cell->count[FOLD_REFUTED], cell->count[FOLD_SKIPPED], cell->count[FOLD_BROKEN]);
  if (cell->telling + cell->idle) fprintf(page->out, "; of the held %zu telling, %zu idle", cell->telling, cell->idle);
  if (cell->unbounded) {
    fputs("; ", page->out);
    fold_put_html(page->out, fold_model_unbounded(cell, unbounded));
  }
  fputs("\">", page->out);
  fprintf(page->out, promised ? "%s&nbsp;%zu%s%s" : "(%s&nbsp;%zu%s%s)", look.mark, n, cell->unbounded ? "*" : "",
          fold_model_untold(cell) ? "&dagger;" : "");
  if (cell->count[FOLD_SKIPPED] && look.class[0] != 's')
    fprintf(page->out, "<small>&ndash;&nbsp;%zu</small>", cell->count[FOLD_SKIPPED]);
  fputs("</a></td>", page->out);
}

/* Lets a name break at the ends of its words: a phone's column is narrow. */
static void put_breakable(struct fold_page *page, const char *name) {
  while (*name) {
    char part[160];
    size_t n = strcspn(name, "/_@"), end = n + (name[n] != '\0');
    snprintf(part, sizeof part, "%.*s", (int)end, name);
    fold_put_html(page->out, part);
    name += end;
    if (*name) fputs("<wbr>", page->out);
  }
}

static void put_matrix(struct fold_page *page) {
  const struct fold_model *m = page->model;
  char title[160];
  fputs(
      "<div class=\"wide\" tabindex=\"0\"><table class=\"matrix\">\n<caption>How many cases, by subject and claim; "
      "below "
      "it, smaller, how many were skipped</caption>\n<thead><tr><th scope=\"col\" class=\"text\">Subject</th>",
      page->out);
  for (size_t k = 0; k < m->n_claims; k++) {
    fputs("<th scope=\"col\"><span>", page->out);
    fold_put_html(page->out, m->claims[k]);
    fputs("</span></th>", page->out);
  }
  fputs("</tr></thead>\n<tbody>\n", page->out);
  for (size_t s = 0; s < m->n_subjects; s++) {
    fprintf(page->out, "<tr><th scope=\"row\"><a href=\"#s%zu\">", s);
    put_breakable(page, fold_model_title(&m->subjects[s], title));
    fputs("</a></th>", page->out);
    for (size_t k = 0; k < m->n_claims; k++) put_cell(page, &m->subjects[s], s, k);
    fputs("</tr>\n", page->out);
  }
  fputs(
      "</tbody></table></div>\n<p class=\"legend\"><span class=\"held\">&#10003; held</span> <span class=\"refuted\">"
      "&#10007; refuted</span> <span class=\"skipped\">&ndash; skipped</span> <span class=\"broken\">! broken: the "
      "environment failed</span> <span class=\"fact\">&#10007; known of another library, or (in parentheses) not "
      "promised</span> An empty cell: not promised, not tried. *: some rows have no bound, and were not judged. "
      "&dagger;: held on idle inputs alone: each has the same bits in eight orders.</p>\n",
      page->out);
}

static void put_reasons(struct fold_page *page, const struct fold_model_cell *cell) {
  char unbounded[240];
  fputs("<td class=\"text\">", page->out);
  fold_put_html(page->out, fold_model_unbounded(cell, unbounded));
  for (size_t i = 0; i < cell->n_reasons; i++) {
    fprintf(page->out, "%s%zu: ", i || cell->unbounded ? "<br>" : "", cell->reasons[i].count);
    fold_put_html(page->out, cell->reasons[i].text);
  }
  if (cell->other_reasons) fprintf(page->out, "<br>%zu: other reasons", cell->other_reasons);
  fputs("</td>", page->out);
}

static void put_counts(struct fold_page *page, const char *claim, const struct fold_model_cell *cell, bool promised) {
  struct look look = look_of(cell, promised);
  fprintf(page->out, "<th scope=\"row\">");
  fold_put_html(page->out, claim);
  fprintf(page->out, "%s</th><td class=\"%s\">%s&nbsp;%s</td>", promised ? "" : " (not promised)", look.class,
          look.mark, look.word);
  char text[32];
  for (int v = 0; v < FOLD_VERDICTS; v++)
    fprintf(page->out, "<td class=\"n\">%s</td>", fold_text_grouped((double)cell->count[v], text));
  fprintf(page->out, "<td class=\"n\">%s</td>",
          cell->telling + cell->idle ? fold_text_grouped((double)cell->idle, text) : "&ndash;");
  fold_page_number(page, cell->ulps);
  fold_page_number(page, cell->fraction);
  put_reasons(page, cell);
}

/* Of a claim that is not promised, a few examples are shown. */
static void put_failures(struct fold_page *page, const struct fold_model_cell *cell, bool promised) {
  char where[210];
  size_t shown = promised || cell->n_evidence < 3 ? cell->n_evidence : 3;
  for (size_t i = 0; i < shown; i++) {
    const json_t *record = cell->evidence[i];
    char *text = fold_text_evidence(record), *replay = fold_text_replay(record);
    const char *verdict = json_string_value(json_object_get(record, "verdict"));
    fprintf(page->out, "<li><b>%s</b>: ", verdict ? verdict : "");
    fold_put_html(page->out, text ? text : "not enough memory for the evidence");
    fold_put_html(page->out,
                  fold_page_where(page, (int)json_integer_value(json_object_get(record, "environment_index")), where));
    fputs("<br><code>", page->out);
    fold_put_html(page->out, replay ? replay : "");
    fputs("</code></li>\n", page->out);
    free(text);
    free(replay);
  }
  size_t all = cell->count[FOLD_REFUTED] + cell->count[FOLD_BROKEN];
  if (all > shown) fprintf(page->out, "<li>and %zu more in the records</li>\n", all - shown);
}

/* The row that the matrix links to has the cell's id: of a promised claim, or else of the probed one. */
static void put_evidence(struct fold_page *page, size_t s) {
  const struct fold_model *m = page->model;
  const struct fold_model_subject *subject = &m->subjects[s];
  for (int promised = 1; promised >= 0; promised--)
    for (size_t k = 0; k < m->n_claims; k++) {
      const struct fold_model_cell *cell = subject->cells[promised][k];
      if (cell == NULL) continue;
      const char *class = look_of(cell, promised).class, *idle = fold_model_untold(cell) ? " v-idle" : "";
      fprintf(page->out, "<tr class=\"v v-%s%s\"", class, idle);
      if (promised || !subject->cells[true][k]) fprintf(page->out, " id=\"e%zu-%zu\"", s, k);
      fputs(">", page->out);
      put_counts(page, m->claims[k], cell, promised);
      fputs("</tr>\n", page->out);
      if (cell->n_evidence == 0) continue;
      fprintf(page->out, "<tr class=\"failures v v-%s\"><td colspan=\"10\"><ul>\n", class);
      put_failures(page, cell, promised);
      fputs("</ul></td></tr>\n", page->out);
    }
}

void fold_page_verdicts(struct fold_page *page) {
  if (page->model->n_subjects == 0) return;
  fputs(
      "<section id=\"verdicts\"><h2>By subject and claim</h2>\n<p>&ldquo;Held&rdquo; covers only the cases tried, in "
      "these "
      "environments. Each cell leads to its evidence.</p>\n<details><summary>Every subject and claim</summary>\n",
      page->out);
  put_matrix(page);
  fputs("</details></section>\n", page->out);
}

static void add_evidence(struct fold_sheet *sheet, const char *title, const char *claim,
                         const struct fold_model_cell *cell, bool promised) {
  FOLD_ROW(sheet, T(title), T(claim), T(promised ? "yes" : "no"), T(look_of(cell, promised).word),
           N(cell->count[FOLD_HELD]), N(cell->count[FOLD_REFUTED]), N(cell->known), N(cell->count[FOLD_SKIPPED]),
           N(cell->count[FOLD_BROKEN]), N(cell->telling), N(cell->idle), N(cell->ulps), N(cell->fraction),
           N(cell->unbounded), T(cell->n_reasons ? cell->reasons[0].text : ""));
}

void fold_sheet_evidence(struct fold_sheet *sheet, const struct fold_model *m) {
  char title[160];
  fold_sheet_open(sheet, "evidence", "Each subject and claim",
                  "Subject;Claim;Promised;Verdict;#Held;#Refuted;#of them known;#Skipped;#Broken;#Telling;#Idle;=Worst "
                  "error (ulps);=Worst error / bound;#Rows not judged;First reason of a skip");
  for (size_t s = 0; s < m->n_subjects; s++)
    for (int promised = 1; promised >= 0; promised--)
      for (size_t k = 0; k < m->n_claims; k++) {
        const struct fold_model_cell *cell = m->subjects[s].cells[promised][k];
        if (cell) add_evidence(sheet, fold_model_title(&m->subjects[s], title), m->claims[k], cell, promised);
      }
}

/* The filters are radio buttons and a style sheet, without a script. A filter hides rows; a subject may be left without rows. */
static void put_filters(struct fold_page *page) {
  static const char *const filters[][2] = {
      {"all", "all"},        {"refuted", "refuted"}, {"broken", "broken"},  {"fact", "known or not promised"},
      {"idle", "idle only"}, {"held", "held"},       {"skipped", "skipped"}};
  fputs("<div class=\"filter\">Show:</div>", page->out);
  for (size_t i = 0; i < sizeof filters / sizeof *filters; i++)
    fprintf(page->out, "<input type=\"radio\" name=\"show\" id=\"show-%s\"%s><label for=\"show-%s\">%s</label>\n",
            filters[i][0], i ? "" : " checked", filters[i][0], filters[i][1]);
}

void fold_page_evidence(struct fold_page *page) {
  static const char *const head[] = {"<th scope=\"col\" class=\"text\">Claim",
                                     "Verdict",
                                     "Held",
                                     "Refuted",
                                     "Skipped",
                                     "Broken",
                                     "Idle",
                                     "Worst error (ulps)",
                                     "Worst error / bound",
                                     "<th scope=\"col\" class=\"text\">Skipped, or not judged, because"};
  const struct fold_model *m = page->model;
  char title[160];
  if (m->n_subjects == 0) return;
  fputs(
      "<section id=\"evidence\"><h2>Evidence</h2>\n<details><summary>Each subject and claim: counts, worst errors, "
      "what "
      "failed, why it was skipped</summary>\n<p>Of each subject and claim, how many cases; the worst error in "
      "units of the exact result&rsquo;s last place, and as a fraction of the bound that theory gives. A sum that "
      "cancels "
      "to almost nothing can be many of its own last places off and within its bound, which goes by the sum of "
      "magnitudes. Idle: of the held, "
      "those of claims about order whose input has the same bits in eight orders, on which no other order could "
      "show.</p>\n",
      page->out);
  put_filters(page);
  fputs("<div class=\"wide\" tabindex=\"0\"><table class=\"numbers\"><thead><tr>", page->out);
  for (size_t i = 0; i < sizeof head / sizeof *head; i++)
    fprintf(page->out, "%s%s</th>", head[i][0] == '<' ? "" : "<th scope=\"col\">", head[i]);
  fputs("</tr></thead>\n", page->out);
  for (size_t s = 0; s < m->n_subjects; s++) {
    fprintf(page->out, "<tbody>\n<tr id=\"s%zu\"><th scope=\"rowgroup\" colspan=\"10\">", s);
    fold_put_html(page->out, fold_model_title(&m->subjects[s], title));
    fputs("</th></tr>\n", page->out);
    put_evidence(page, s);
    fputs("</tbody>\n", page->out);
  }
  fputs("</table></div>\n</details></section>\n", page->out);
}
