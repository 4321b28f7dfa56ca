/* report/head.c: what stands above the page's first section: the outcome, and when, by which command, of which version and where it
 * was found.
 */
#include "records/counts.h"
#include "records/read.h"
#include "report/answer.h"
#include "report/section.h"

/* The page's style sheet: one column on a phone, wide tables scroll, print has no colours to rely on. */

/* Hides all verdicts but those that the radio button of that name selects. */
#define FILTER(name) "#show-" name ":checked~* .v:not(.v-" name "){display:none}\n"

static const char fold_report_style[] =
    ":root{color-scheme:light}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;padding:1rem;max-width:78rem;font:1rem/1.5 "
    "system-ui,sans-serif;color:#1a1a1a;background:#fff}\n"
    "h1{font-size:1.6rem;margin:.2rem 0}h2{font-size:1.3rem;margin:2rem 0 .5rem;border-bottom:2px solid #ccc}\n"
    "h3{font-size:1.05rem;margin:1.5rem 0 .3rem}\n"
    "a{color:#00558a}\n"
    "p,footer{overflow-wrap:anywhere}\n"
    ".summary{font-size:1.15rem;font-weight:600;padding:.6rem .8rem;border-left:.5rem solid "
    "#0072B2;background:#eef5fa}\n"
    ".summary.bad{border-color:#D55E00;background:#fdf0e6}.summary.none{border-color:#777;background:#f2f2f2}\n"
    ".runs{list-style:none;padding:0;font-size:.9rem}.runs li{margin:.3rem 0;overflow-wrap:anywhere}\n"
    "nav a{display:inline-block;margin-right:1rem;padding:.3rem 0}\n"
    ".wide{overflow-x:auto;max-width:100%}\n"
    "table{border-collapse:collapse;font-size:.85rem;font-variant-numeric:tabular-nums}\n"
    ".environment{margin-bottom:1rem}\n"
    "caption{text-align:left;color:#555;padding:.2rem 0}\n"
    "th,td{padding:.2rem .5rem;border:1px solid #ddd;text-align:left;vertical-align:top}\n"
    "th{font-weight:600}.n{text-align:right;white-space:nowrap}\n"
    "thead th{background:#f4f4f4;vertical-align:bottom}\n"
    ".numbers td{white-space:nowrap}.numbers td:last-child{white-space:normal;min-width:14rem}\n"
    ".environment th{white-space:nowrap}.environment td{overflow-wrap:anywhere}\n"
    ".matrix th[scope=row]{position:sticky;left:0;background:#fff;white-space:nowrap}\n"
    ".matrix thead th:first-child{position:sticky;left:0;z-index:1}\n"
    ".matrix thead span{writing-mode:vertical-rl;transform:rotate(180deg);white-space:nowrap;padding-top:.2rem}\n"
    ".matrix td{padding:0;text-align:center;min-width:3.6rem}\n"
    ".matrix td a{display:block;padding:.2rem .3rem;color:inherit;text-decoration:none;white-space:nowrap}\n"
    ".matrix td a:hover,.matrix td a:focus{text-decoration:underline}\n"
    ".held{background:#dcebf5}.refuted{background:#b84a00;color:#fff;font-weight:700}.skipped{background:#eee;color:#"
    "444}\n"
    ".broken{background:#000;color:#fff;font-weight:700}.fact{background:#fbe8c4;outline:1px dashed #a66b00}\n"
    ".refuted a,.broken a{color:#fff}\n"
    ".filter{font-weight:600}input+label{margin-right:1rem}\n"
    FILTER("refuted") FILTER("broken") FILTER("fact") FILTER("idle") FILTER("held") FILTER("skipped")
    "#answer ul{padding-left:1.2rem}#answer li{margin:.4rem 0;overflow-wrap:anywhere}\n"
    "#answer table,details table{margin:.4rem 0}\n"
    "tr:target,li:target{outline:3px solid #E69F00}\n"
    ".bad td,.bad th{background:#fdf0e6}\n"
    "details li{margin:.3rem 0;overflow-wrap:anywhere;max-width:70rem}\n"
    "code{font:.82rem/1.4 ui-monospace,monospace;overflow-wrap:anywhere}\n"
    ".figures{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,33rem),1fr));grid-auto-flow:dense;gap:1.5rem}\n"
    ".more{grid-column:1/-1}summary{cursor:pointer;padding:.3rem 0;color:#00558a}\n"
    "figure{margin:0;break-inside:avoid}figure svg{width:100%;height:auto;display:block}\n"
    ".key{list-style:none;margin:.2rem 0;padding:0;font-size:.8rem;display:flex;flex-wrap:wrap;gap:.1rem 1rem}\n"
    ".key li{padding-left:2.8rem;position:relative;overflow-wrap:anywhere}\n"
    "figure .key svg{position:absolute;left:0;top:.15rem;width:2.5rem;height:.9rem}\n"
    "figcaption{font-size:.85rem;color:#333;overflow-wrap:anywhere}\n"
    "footer{margin-top:2rem;border-top:2px solid #ccc;font-size:.85rem;color:#444}\n"
    "@media(max-width:40rem){body{padding:.6rem}.matrix th[scope=row]{white-space:normal;min-width:8rem;"
    "max-width:9rem;overflow-wrap:break-word;font-size:.75rem}.environment th{white-space:normal}}\n"
    "@page{margin:12mm}\n"
    "@media print{body{max-width:none;padding:0;font-size:9pt}nav{display:none}.wide{overflow:visible}"
    "nav,input,input+label,.filter{display:none}table,.key,figcaption,code,footer{font-size:7pt}.matrix td{min-width:0}.matrix td a{padding:.1rem}"
    ".matrix th[scope=row]{position:static;white-space:normal}th,td{padding:.1rem .25rem}"
    ".held,.skipped,.refuted,.broken,.fact{print-color-adjust:exact;-webkit-print-color-adjust:exact}"
    ".figures{grid-template-columns:1fr 1fr}tr,h2,h3{break-inside:avoid}h2,h3{break-after:avoid}"
    ".numbers td:last-child{min-width:0}a{color:inherit;text-decoration:none}}\n";

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
