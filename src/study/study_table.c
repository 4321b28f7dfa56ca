/* study_table.c: prints points as tables: errors by size and, at the largest size, bounds and curves. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "sheet.h"
#include "sheet_text.h"
#include "study.h"

enum { MOST_COLUMNS = 16 };

/* The points of one data x dtype x op: a group. */
static bool same_group(const struct fold_study_case *a, const struct fold_study_case *b) {
  return a->generator == b->generator && a->dtype == b->dtype && a->op == b->op && a->seed == b->seed;
}

struct group {
  const struct fold_study *study;
  const struct fold_study_point *first; /* the group's first point, and its first of each size */
  const struct fold_study_point *size[MOST_COLUMNS];
  size_t n_sizes;
};

/* The sizes of the group in rising order. */
static struct group group_of(const struct fold_study *study, const struct fold_study_point *first) {
  struct group g = {.study = study, .first = first};
  for (size_t i = 0; i < study->n; i++) {
    const struct fold_study_point *p = &study->at[i];
    size_t k = 0;
    if (!same_group(&p->c, &first->c)) continue;
    while (k < g.n_sizes && g.size[k]->c.n < p->c.n) k++;
    bool known = k < g.n_sizes && g.size[k]->c.n == p->c.n;
    if (known && !g.size[k]->ran) g.size[k] = p;
    if (known || g.n_sizes == MOST_COLUMNS) continue;
    memmove(&g.size[k + 1], &g.size[k], (g.n_sizes - k) * sizeof g.size[0]);
    g.size[k] = p;
    g.n_sizes++;
  }
  return g;
}

static const char *say_name(const struct fold_subject *subject, char text[80]) {
  const bool here = fold_engine_is_here(subject->engine);
  snprintf(text, 80, "%s%s%s", subject->name, here ? "" : " on ", here ? "" : fold_engine_name(subject->engine));
  return text;
}

/* A subject's first point in the group is where its line is printed. */
static bool is_first_of_subject(const struct group *g, const struct fold_study_point *p) {
  for (size_t i = 0; &g->study->at[i] < p; i++)
    if (same_group(&g->study->at[i].c, &p->c) && g->study->at[i].subject == p->subject) return false;
  return true;
}

static const struct fold_study_point *point_of(const struct group *g, size_t column,
                                               const struct fold_subject *subject) {
  return fold_study_find(g->study, &g->size[column]->c, subject->engine, subject->name);
}

/* An exact result beyond the range of double is still finite. */
static const char *exact_text(double exact, char text[32]) {
  if (isnan(exact))
    snprintf(text, 32, "none");
  else if (isinf(exact))
    snprintf(text, 32, exact > 0 ? "> 1.8e308" : "< -1.8e308");
  else
    snprintf(text, 32, "%.5g", exact);
  return text;
}

/* Errors in ulps by size, below the exact results and their condition numbers. */
static void fill_ulps(struct fold_sheet *sheet, const struct group *g) {
  const struct fold_study_case *c = &g->first->c;
  char title[200], text[80];
  snprintf(title, sizeof title, "%s, %s %s, seed %llu: |error| in ulps of the exact result, by size",
           c->generator->name, fold_dtype_name(c->dtype), fold_op_name(c->op), (unsigned long long)c->seed);
  fold_sheet_open(sheet, "errors", title, "n");
  for (size_t k = 0; k < g->n_sizes; k++) {
    text[0] = '=';
    fold_text_grouped((double)g->size[k]->c.n, text + 1);
    fold_sheet_columns(sheet, text);
  }
  FOLD_ROW(sheet, T("exact result"));
  for (size_t k = 0; k < g->n_sizes; k++) FOLD_ROW(sheet, T(exact_text(g->size[k]->exact, text)));
  if (c->op == FOLD_SUM) FOLD_ROW(sheet, T("condition"));
  for (size_t k = 0; k < g->n_sizes && c->op == FOLD_SUM; k++) FOLD_ROW(sheet, N(g->size[k]->condition));
  for (size_t i = 0; i < g->study->n; i++) {
    const struct fold_study_point *p = &g->study->at[i];
    if (!same_group(&p->c, c) || !is_first_of_subject(g, p)) continue;
    FOLD_ROW(sheet, T(say_name(p->subject, text)));
    for (size_t k = 0; k < g->n_sizes; k++) {
      const struct fold_study_point *at = point_of(g, k, p->subject);
      FOLD_ROW(sheet, N(at ? at->ulps : NAN));
    }
  }
}

static void add_theory(struct fold_sheet *sheet, const struct fold_study_point *p) {
  const double size = p->c.op == FOLD_SUM ? p->abs_sum : fabs(p->exact), unit = size > 0 ? size : NAN;
  const bool counts = p->subject->order && p->subject->method == FOLD_PLAIN;
  char name[80];
  FOLD_ROW(sheet, T(say_name(p->subject, name)), N(counts ? (double)p->height : NAN), N(p->error), N(p->relative),
           N(p->probabilistic / unit), N(p->bound / unit), N(p->error == 0 && p->bound == 0 ? 0 : p->error / p->bound),
           T(p->note));
}

/* The largest size, beside what theory says. */
static void fill_theory(struct fold_sheet *sheet, const struct group *g) {
  const struct fold_study_case *c = &g->size[g->n_sizes - 1]->c;
  char title[60], text[32];
  snprintf(title, sizeof title, "at n = %s", fold_text_grouped((double)c->n, text));
  fold_sheet_open(sheet, "theory", title,
                  c->op == FOLD_SUM ? "subject;#height;=|error|;=/sum|x|;=curve/S;=bound/S;=error/bound;"
                                    : "subject;#height;=|error|;=/|exact|;=curve/|p|;=bound/|p|;=error/bound;");
  for (size_t i = 0; i < g->study->n; i++) {
    const struct fold_study_point *p = &g->study->at[i];
    if (same_group(&p->c, c) && p->c.n == c->n) add_theory(sheet, p);
  }
}

static fold_status print_group(const struct group *g, void (*fill)(struct fold_sheet *sheet, const struct group *g),
                               FILE *out) {
  struct fold_sheet sheet;
  fill(&sheet, g);
  return fold_sheet_put(&sheet, FOLD_REPORT_TEXT, SIZE_MAX, out);
}

fold_status fold_study_print(const struct fold_study *study, FILE *out) {
  if (study->n == 0) return fold_ok();
  fprintf(out,
          "\nErrors by size, data and method\n"
          "S is sum|x|; bound: the method's theorem for the order's own height (foldproof's claim bounded); curve:\n"
          "sqrt(height) u S with its constant taken as 1 (Higham and Mary 2019): statistics, not a bound; condition:\n"
          "sum|x| / |sum x|. Errors are rounded up.\n");
  for (size_t i = 0; i < study->n; i++) {
    const struct fold_study_point *p = &study->at[i];
    size_t k = 0;
    while (k < i && !same_group(&study->at[k].c, &p->c)) k++;
    if (k < i) continue;
    struct group g = group_of(study, p);
    FOLD_TRY(print_group(&g, fill_ulps, out));
    FOLD_TRY(print_group(&g, fill_theory, out));
  }
  return fold_ok();
}
