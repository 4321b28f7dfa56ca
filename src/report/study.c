/* report/study.c: errors of each method by size and, at the largest size, beside theoretical bounds: for each kind of data, dtype and
 * operation. It needs records of type "study". */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "report/section.h"

enum { MOST_SIZES = 60, MOST_MARKDOWN = 4 };

typedef struct fold_model_studied point;

/* A table is for one machine, operation, dtype, kind of data and seed. */
#define BY(member) FOLD_BY(fold_model_studied, member)
#define ASKED(member) FOLD_ASKED(fold_model_studied, member)
enum { TABLE = 5, ROW = 7 };
static const struct fold_keys keys = {
    sizeof(point),
    {BY(environment), ASKED(op), ASKED(dtype), ASKED(generator), BY(seed), BY(subject), BY(engine), BY(n)}};

/* The points of one table, and for each size one that knows the exact result. */
struct group {
  const point *p;
  size_t n;
  const point *size[MOST_SIZES];
  size_t n_sizes;
};

static struct group group_of(const point *p, size_t n) {
  struct group g = {.p = p, .n = n};
  for (size_t i = 0; i < n; i++) {
    size_t k = 0;
    while (k < g.n_sizes && g.size[k]->n < p[i].n) k++;
    const bool known = k < g.n_sizes && g.size[k]->n == p[i].n;
    if (known && isnan(g.size[k]->exact)) g.size[k] = &p[i];
    if (known || g.n_sizes == MOST_SIZES) continue;
    memmove(&g.size[k + 1], &g.size[k], (g.n_sizes - k) * sizeof *g.size);
    g.size[k] = &p[i];
    g.n_sizes++;
  }
  return g;
}

static const char *say_name(const point *p, char text[160]) {
  const bool here = strcmp(p->engine, "host") == 0;
  snprintf(text, 160, "%.110s%s%.30s", p->subject, here ? "" : " on ", here ? "" : p->engine);
  return text;
}

static void open_sheet(struct fold_sheet *sheet, const struct fold_model *m, const point *p, const char *what,
                       const char *columns) {
  char title[FOLD_SHEET_TITLE], place[200], seed[40] = "";
  fold_text_place(m, p->environment, place);
  if (p->seed >= 0) snprintf(seed, sizeof seed, ", seed %lld", p->seed);
  snprintf(title, sizeof title, "%.60s, %.20s %.20s%s: %.100s%s%s%s", p->generator, p->dtype, p->op, seed, what,
           place[0] ? " (" : "", place, place[0] ? ")" : "");
  fold_sheet_open(sheet, title, columns);
}

/* Errors in ulps by size, below the exact results and their condition numbers. */
static void fill_errors(struct fold_sheet *sheet, const struct fold_model *m, const struct group *g) {
  char text[160];
  open_sheet(sheet, m, g->p, "|error| in ulps of the exact result, by size", "n");
  for (size_t k = 0; k < g->n_sizes; k++) {
    text[0] = '=';
    fold_text_grouped(g->size[k]->n, text + 1);
    fold_sheet_columns(sheet, text);
  }
  FOLD_ROW(sheet, T("exact result"));
  for (size_t k = 0; k < g->n_sizes; k++) {
    snprintf(text, sizeof text, "%.5g", g->size[k]->exact);
    FOLD_ROW(sheet, T(isnan(g->size[k]->exact) ? "" : text));
  }
  if (strcmp(g->p->op, "sum") == 0) {
    FOLD_ROW(sheet, T("condition"));
    for (size_t k = 0; k < g->n_sizes; k++) FOLD_ROW(sheet, N(g->size[k]->condition));
  }
  for (size_t i = 0, end; i < g->n; i = end) {
    bool known = false;
    end = fold_keys_end(&keys, ROW, g->p, i, g->n);
    for (size_t at = i; at < end; at++) known |= !isnan(g->p[at].ulps);
    if (!known) continue; /* the other table says why */
    FOLD_ROW(sheet, T(say_name(&g->p[i], text)));
    for (size_t k = 0; k < g->n_sizes; k++) {
      double ulps = NAN;
      for (size_t at = i; at < end; at++)
        if (g->p[at].n == g->size[k]->n) ulps = g->p[at].ulps;
      FOLD_ROW(sheet, N(ulps));
    }
  }
}

static void fill_theory(struct fold_sheet *sheet, const struct fold_model *m, const struct group *g) {
  const bool sum = strcmp(g->p->op, "sum") == 0;
  const double largest = g->size[g->n_sizes - 1]->n;
  char what[60], count[32], name[160];
  snprintf(what, sizeof what, "at n = %s", fold_text_grouped(largest, count));
  open_sheet(sheet, m, g->p, what,
             sum ? "Subject;#Height;=|error|;=/ sum |x|;=Curve / sum |x|;=Bound / sum |x|;=Error / bound;Note"
                 : "Subject;#Height;=|error|;=/ |exact|;=Curve / |exact|;=Bound / |exact|;=Error / bound;Note");
  for (size_t i = 0; i < g->n; i++) {
    const point *p = &g->p[i];
    const double size = sum ? p->abs_sum : fabs(p->exact), unit = size > 0 ? size : NAN;
    if (p->n != largest || (isnan(p->error) && !p->note[0])) continue;
    FOLD_ROW(sheet, T(say_name(p, name)), N(p->height), N(p->error), N(p->relative), N(p->probable / unit),
             N(p->bound / unit), N(p->error == 0 && p->bound == 0 ? 0 : p->error / p->bound), T(p->note));
  }
}

static fold_status put_group(const struct fold_model *m, const struct group *g, enum fold_report_format format,
                             size_t most, FILE *out) {
  struct fold_sheet sheet;
  fill_errors(&sheet, m, g);
  FOLD_TRY(fold_sheet_put(&sheet, format, most, out));
  fill_theory(&sheet, m, g);
  return fold_sheet_put(&sheet, format, most, out);
}

fold_status fold_sheets_study(const struct fold_model *m, enum fold_report_format format, size_t most, FILE *out) {
  const size_t n = m->n_study;
  if (n == 0) return fold_ok();
  point *p = fold_keys_sorted(&keys, m->study, n);
  fold_status status = p ? fold_ok() : fold_no_memory("for the errors");
  size_t put = 0, left = 0;
  for (size_t i = 0, end; i < n && status.code == FOLD_OK; i = end) {
    end = fold_keys_end(&keys, TABLE, p, i, n);
    const struct group g = group_of(p + i, end - i);
    if (format == FOLD_REPORT_MARKDOWN && put == MOST_MARKDOWN)
      left++;
    else
      status = put_group(m, &g, format, most, out), put++;
  }
  if (left) fprintf(out, "\n%zu more kinds of data are in the records.\n", left);
  free(p);
  return status;
}
