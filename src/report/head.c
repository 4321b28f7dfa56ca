/* report/head.c: what stands above the page's first section: the outcome, and when, by which command, of which version and where it
 * was found.
 */
#include "records/counts.h"
#include "report/answer.h"
#include "records/lines.h"
#include "report/section.h"
#include "report/style.h"

static void put_paragraph(FILE *out, const char *class, const char *text) {
  fprintf(out, "<p%s>", class);
  fold_put_html(out, text);
  fputs("</p>\n", out);
}

static void put_outcome(const struct fold_model *m, const char *headline, FILE *out) {
  size_t total[FOLD_VERDICTS], known;
  char text[300];
  fold_model_total(m, total, &known);
  put_paragraph(out,
                fold_answer_is_bad(m) ? " class=\"summary bad\""
                : total[FOLD_HELD]    ? " class=\"summary\""
                                      : " class=\"summary none\"",
                headline);
  fold_answer_sentence(m, text);
  if (total[FOLD_HELD] + total[FOLD_REFUTED] > 0) put_paragraph(out, "", text);
}

enum { MOST_RUNS = 4, MOST_ENVIRONMENTS = 6 };

/* An environment: version, commit, system and machine, as far as they are recorded; then its runs, each "date: command". */
static void put_environment(const struct fold_model *m, size_t i, FILE *out) {
  const json_t *e = m->environments[i], *runs = json_object_get(e, "runs");
  static const char *const names[][2] = {{"foldproof ", "foldproof"}, {"commit ", "build"}, {"", "system"}};
  char machine[160];
  fputs("<li>", out);
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    const char *text = fold_record_text(e, names[k][1]);
    if (*text == '\0') continue;
    fputs(names[k][0], out);
    fold_put_html(out, text);
    fputs(", ", out);
  }
  fold_put_html(out, fold_text_machine(m, (int)i, machine));
  for (size_t k = 0; k < json_array_size(runs) && k < MOST_RUNS; k++) {
    fputs("<br><code>", out);
    fold_put_html(out, json_string_value(json_array_get(runs, k)));
    fputs("</code>", out);
  }
  if (json_array_size(runs) > MOST_RUNS) fprintf(out, "<br>and %zu more runs", json_array_size(runs) - MOST_RUNS);
  fputs("</li>\n", out);
}

static void put_origin(const struct fold_model *m, FILE *out) {
  fputs("<ul class=\"runs\">\n", out);
  for (size_t i = 0; i < m->n_environments && i < MOST_ENVIRONMENTS; i++) put_environment(m, i, out);
  if (m->n_environments > MOST_ENVIRONMENTS)
    fprintf(out, "<li>and %zu more: <a href=\"#environment\">Environment</a></li>\n",
            m->n_environments - MOST_ENVIRONMENTS);
  fputs("<li>Records: ", out);
  for (size_t i = 0; i < m->n_files; i++) {
    char count[32];
    fputs(i ? ", " : "", out);
    fold_put_html(out, m->files[i].path);
    fprintf(out, " (%s)", fold_text_grouped((double)m->files[i].records, count));
  }
  fputs("</li>\n</ul>\n", out);
}

void fold_page_head(struct fold_page *page) {
  char text[300];
  fold_answer_headline(page->model, text);
  fputs(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>foldproof: ",
      page->out);
  fold_put_html(page->out, text);
  fprintf(page->out, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<header><h1>foldproof report</h1>\n",
          fold_report_style);
  put_outcome(page->model, text, page->out);
  /* First, because incomplete records must not pass for a whole run. */
  fold_text_incomplete(page->model, fold_put_html, "<p class=\"summary bad\">Incomplete records: ", ": ", "</p>\n",
                       page->out);
  fold_text_repeated(page->model, "<p class=\"summary bad\">", "</p>\n", page->out);
  fold_answer_measured(page->model, text);
  if (page->model->n_subjects && text[0]) fprintf(page->out, "<p>Measured: %s.</p>\n", text);
  put_origin(page->model, page->out);
}
