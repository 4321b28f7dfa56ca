/* report/html.c: the page's frame: environments, sections, and what they share.
 *
 * Promised: one file that loads nothing and needs no script. Text from records is always shown as text.
 */
#include <stdlib.h>
#include <string.h>

#include "report/answer.h"
#include "report/methods.h"
#include "report/section.h"

fold_status fold_page_sheet(struct fold_page *page, fold_view *view) {
  struct fold_sheet sheet;
  view(&sheet, page->model);
  const bool folded = fold_sheet_rows(&sheet) > 0;
  if (folded) fputs("<details><summary>", page->out), fold_put_html(page->out, sheet.title);
  if (folded) fprintf(page->out, ": %zu rows</summary>\n", fold_sheet_rows(&sheet));
  fold_status status = fold_sheet_put(&sheet, FOLD_REPORT_HTML, SIZE_MAX, page->out);
  if (folded) fputs("</details>\n", page->out);
  return status;
}

const char *fold_page_where(const struct fold_page *page, int environment, char text[210]) {
  char place[200];
  fold_text_place(page->model, environment, place);
  snprintf(text, 210, place[0] ? " (%s)" : "%s", place);
  return text;
}

const char *fold_page_without(size_t n_doubtful, char text[60]) {
  text[0] = '\0';
  if (n_doubtful) snprintf(text, 60, "; %zu doubtful point%s left out", n_doubtful, n_doubtful == 1 ? "" : "s");
  return text;
}

void fold_page_fold(struct fold_page *page, const char *what) {
  if (page->folds++ > 0) return;
  fputs("<details class=\"more\"><summary>", page->out);
  fold_put_html(page->out, what);
  fputs("</summary>\n<div class=\"figures\">\n", page->out);
}

void fold_page_unfold(struct fold_page *page) {
  if (--page->folds == 0) fputs("</div></details>\n", page->out);
}

void fold_page_figures(struct fold_page *page, int shown) {
  page->shown = shown;
  fputs("<div class=\"figures\">\n", page->out);
}

void fold_page_figures_end(struct fold_page *page) {
  if (page->shown < 0) fold_page_unfold(page);
  fputs("</div>\n", page->out);
}

fold_status fold_page_groups(struct fold_page *page, const struct fold_groups *g) {
  char *items = fold_keys_sorted(g->keys, g->items, g->n);
  double *room = malloc(3 * g->n * sizeof *room);
  fold_status status = items && room ? fold_ok() : fold_no_memory("for the figures");
  fold_page_figures(page, g->shown);
  for (size_t i = 0, end, drawn = 0; i < g->n && drawn < g->most && status.code == FOLD_OK; i = end) {
    end = fold_keys_end(g->keys, g->group, items, i, g->n);
    drawn += g->draw(page, items + i * g->keys->size, end - i, room);
  }
  fold_page_figures_end(page);
  free(items);
  free(room);
  return status;
}

/* Opens a fold after the last figure that may be shown; the group's other figures go into it. */
static void make_room(struct fold_page *page) {
  if (page->folds == 0 && page->shown-- == 0) fold_page_fold(page, "More figures");
}

/* The frame is written after the figure was drawn: a figure is written whole or not at all. */
static void put_figure(struct fold_page *page, const char *caption, fold_status drawn, const char *svg) {
  if (drawn.code != FOLD_OK) {
    /* "Nothing to draw" comes from the records and is no failure of gnuplot. */
    if (page->trouble.code == FOLD_OK && drawn.code != FOLD_BAD_INPUT) page->trouble = drawn;
    fputs("<p class=\"missing\">A figure is missing here (", page->out);
    fold_put_html(page->out, drawn.text);
    fputs("): ", page->out);
    fold_put_html(page->out, caption);
    fputs("</p>\n", page->out);
    return;
  }
  page->figures++;
  fprintf(page->out, "<figure>%s<figcaption><b>Figure %d.</b> ", svg, page->figures);
  fold_put_html(page->out, caption);
  fputs("</figcaption></figure>\n", page->out);
}

enum { MOST_SLOW = 2 };

void fold_page_plot(struct fold_page *page, const struct fold_plot *plot, const char *caption) {
  char *svg = NULL;
  size_t size;
  struct fold_figure figure = {page->figures + 1, caption, page->seconds};
  /* If gnuplot is missing, or took too long twice, it is not started again. */
  bool given_up = page->trouble.code == FOLD_UNSUPPORTED || page->slow >= MOST_SLOW;
  double started = fold_now();
  make_room(page);
  fold_status status = given_up ? page->trouble : fold_ok();
  FILE *out = open_memstream(&svg, &size);
  if (out == NULL) status = fold_no_memory("for a figure");
  if (status.code == FOLD_OK) status = fold_plot_svg(plot, &figure, out);
  page->slow += status.code != FOLD_OK && !given_up && fold_now() - started >= page->seconds;
  if (status.code == FOLD_OK) fold_plot_legend(plot, out);
  if (out && fclose(out) != 0) status = fold_no_memory("for a figure");
  put_figure(page, caption, status, svg);
  free(svg);
}

void fold_page_plots(struct fold_page *page, const struct fold_plot *plot, const struct fold_series *limit,
                     const char *caption) {
  struct fold_series some[FOLD_METHODS_TOGETHER + 1];
  for (size_t at = 0; at < plot->n; at += FOLD_METHODS_TOGETHER) {
    struct fold_plot part = *plot;
    part.n = plot->n - at < FOLD_METHODS_TOGETHER ? plot->n - at : FOLD_METHODS_TOGETHER;
    memcpy(some, plot->series + at, part.n * sizeof *some);
    if (limit) some[part.n++] = *limit;
    part.series = some;
    fold_page_plot(page, &part, caption);
  }
}

static void put_pair(FILE *out, const char *key, const char *value) {
  fputs("<tr><th scope=\"row\">", out);
  fold_put_html(out, key);
  fputs("</th><td>", out);
  fold_put_html(out, value);
  fputs("</td></tr>\n", out);
}

static fold_status put_environments(struct fold_page *page) {
  const struct fold_model *m = page->model;
  char machine[160];
  if (m->n_environments == 0) fputs("<p>The records do not say where they were made.</p>\n", page->out);
  for (size_t i = 0; i < m->n_environments; i++) {
    fputs("<details><summary>", page->out);
    if (m->n_environments > 1) fprintf(page->out, "Environment %zu: ", i + 1);
    fold_put_html(page->out, fold_text_machine(m, (int)i, machine));
    fputs("</summary><div class=\"wide\"><table class=\"environment\">\n", page->out);
    fold_text_environment(m->environments[i], put_pair, page->out);
    fputs("</table></div></details>\n", page->out);
  }
  return fold_ok();
}

/* A part of the page: the text that links to it, and its heading if that says more. */
struct section {
  const char *id, *link, *heading;
  bool there;
  fold_status (*put)(struct fold_page *page);
};

static void put_links(const struct section *sections, size_t n, FILE *out) {
  fputs("<nav aria-label=\"Sections\">", out);
  for (size_t i = 0; i < n; i++)
    if (sections[i].there) fprintf(out, "<a href=\"#%s\">%s</a>", sections[i].id, sections[i].link);
  fputs("</nav>\n", out);
}

static fold_status put_top(struct fold_page *page, const struct section *sections, size_t n) {
  fold_page_head(page);
  put_links(sections, n, page->out);
  fputs("</header>\n<main>\n<section id=\"answer\">\n", page->out);
  fold_status status = fold_answer_failures(page->model, FOLD_REPORT_HTML, page->out);
  fputs("</section>\n", page->out);
  return status;
}

static void put_foot(struct fold_page *page) {
  const struct fold_model *m = page->model;
  fputs("</main>\n<footer><p>Made by foldproof " FOLD_VERSION " from records only.", page->out);
  if (m->runs) fprintf(page->out, " %zu records of runs hold results that nothing here judges.", m->runs);
  if (!m->n_study) fputs(" They have no study of errors.", page->out);
  if (!m->n_timings) fputs(" They have no timings.", page->out);
  if (!m->n_scalings) fputs(" They have no scaling.", page->out);
  fputs("</p></footer>\n</body>\n</html>\n", page->out);
}

static fold_status put_section(struct fold_page *page, const struct section *s) {
  fprintf(page->out, "<section id=\"%s\"><h2>%s</h2>\n", s->id, s->heading ? s->heading : s->link);
  FOLD_TRY(s->put(page));
  fputs("</section>\n", page->out);
  return fold_ok();
}

fold_status fold_report_html(const struct fold_model *m, unsigned seconds, FILE *out, fold_status *trouble) {
  const struct section sections[] = {
      {"verdicts", "By subject and claim", NULL, m->n_subjects > 0, fold_page_verdicts},
      {"errors", "Error against n", NULL, m->n_study + m->n_judged + m->n_judged_ulps > 0, fold_page_errors},
      {"ranks", "Many ranks", "Many ranks, simulated", m->n_ranks + m->n_worlds > 0, fold_page_ranks},
      {"timings", "Throughput", NULL, m->n_timings > 0, fold_page_timings},
      {"scaling", "Scaling", NULL, m->n_scalings > 0, fold_page_scalings},
      {"allreduces", "All-reduces", NULL, m->n_messages + m->n_probes > 0, fold_page_allreduces},
      {"worlds", "Worlds", "Sums over worlds", m->n_validations > 0, fold_page_worlds},
      {"orders", "Orders", NULL, true, fold_page_orders},
      {"evidence", "Evidence", NULL, m->n_subjects > 0, fold_page_evidence},
      {"environment", "Environment", NULL, true, put_environments}};
  const size_t n = sizeof sections / sizeof *sections;
  struct fold_page page = {.out = out, .model = m, .seconds = seconds, .trouble = fold_ok()};
  fold_status status = put_top(&page, sections, n);
  for (size_t i = 0; i < n && status.code == FOLD_OK; i++)
    if (sections[i].there) status = put_section(&page, &sections[i]);
  put_foot(&page);
  *trouble = page.trouble;
  return status;
}
