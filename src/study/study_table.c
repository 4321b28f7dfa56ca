/* study_table.c: prints points as tables: errors by size and, at the largest size, bounds and curves. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "study.h"

const char *fold_study_count(uint64_t n, char text[32]) {
  char digits[24];
  int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)n), at = 0;
  for (int k = 0; k < length; k++) {
    if (k > 0 && (length - k) % 3 == 0) text[at++] = ',';
    text[at++] = digits[k];
  }
  text[at] = '\0';
  return text;
}

const char *fold_study_number(double value, char text[16]) {
  if (isnan(value))
    snprintf(text, 16, "-");
  else if (value == 0 || (fabs(value) >= 0.001 && fabs(value) < 9999.5))
    snprintf(text, 16, fabs(value) >= 999.5 ? "%.0f" : "%.3g", value);
  else
    snprintf(text, 16, "%.2e", value);
  return text;
}

enum { MOST_COLUMNS = 16, NAME_WIDTH = 34 }; /* "cub/reduce_not_guaranteed on cuda" */

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

static void print_name(const struct fold_subject *subject, FILE *out) {
  char name[64];
  snprintf(name, sizeof name, "%s%s%s", subject->name, fold_engine_is_here(subject->engine) ? "" : " on ",
           fold_engine_is_here(subject->engine) ? "" : fold_engine_name(subject->engine));
  fprintf(out, "  %-*s", NAME_WIDTH, name);
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

static void print_heads(const struct group *g, FILE *out) {
  char text[32];
  const struct fold_study_case *c = &g->first->c;
  fprintf(out, "\n%s, %s %s, seed %llu: |error| in ulps of the exact result, by size\n", c->generator->name,
          fold_dtype_name(c->dtype), fold_op_name(c->op), (unsigned long long)c->seed);
  fprintf(out, "  %-*s", NAME_WIDTH, "n");
  for (size_t k = 0; k < g->n_sizes; k++) fprintf(out, " %12s", fold_study_count(g->size[k]->c.n, text));
  fprintf(out, "\n  %-*s", NAME_WIDTH, "exact result");
  for (size_t k = 0; k < g->n_sizes; k++) fprintf(out, " %12s", exact_text(g->size[k]->exact, text));
  if (c->op == FOLD_SUM) fprintf(out, "\n  %-*s", NAME_WIDTH, "condition");
  for (size_t k = 0; k < g->n_sizes && c->op == FOLD_SUM; k++)
    fprintf(out, " %12s", fold_study_number(g->size[k]->condition, text));
  fputc('\n', out);
}

static void print_ulps(const struct group *g, FILE *out) {
  char text[16];
  for (size_t i = 0; i < g->study->n; i++) {
    const struct fold_study_point *p = &g->study->at[i];
    if (!same_group(&p->c, &g->first->c) || !is_first_of_subject(g, p)) continue;
    print_name(p->subject, out);
    for (size_t k = 0; k < g->n_sizes; k++) {
      const struct fold_study_point *at = point_of(g, k, p->subject);
      fprintf(out, " %12s", fold_study_number(at ? at->ulps : NAN, text));
    }
    fputc('\n', out);
  }
}

static void print_theory_line(const struct fold_study_point *p, FILE *out) {
  char text[32];
  double unit = p->c.op == FOLD_SUM ? p->abs_sum : fabs(p->exact);
  bool counts = p->subject->order && p->subject->method == FOLD_PLAIN;
  print_name(p->subject, out);
  fprintf(out, " %13s", counts ? fold_study_count(p->height, text) : "-");
  fprintf(out, " %11s", fold_study_number(p->error, text));
  fprintf(out, " %11s", fold_study_number(p->relative, text));
  fprintf(out, " %11s", fold_study_number(unit > 0 ? p->probabilistic / unit : NAN, text));
  fprintf(out, " %11s", fold_study_number(unit > 0 ? p->bound / unit : NAN, text));
  fprintf(out, " %11s", fold_study_number(p->error == 0 && p->bound == 0 ? 0 : p->error / p->bound, text));
  fprintf(out, "%s%s\n", p->note[0] ? "  " : "", p->note);
}

static void print_theory(const struct group *g, FILE *out) {
  char text[32];
  const struct fold_study_case *c = &g->size[g->n_sizes - 1]->c;
  const char *unit = c->op == FOLD_SUM ? "sum|x|" : "|exact|";
  char heading[3][32];
  snprintf(heading[0], sizeof heading[0], "/%s", unit);
  snprintf(heading[1], sizeof heading[1], "curve/%s", c->op == FOLD_SUM ? "S" : "|p|");
  snprintf(heading[2], sizeof heading[2], "bound/%s", c->op == FOLD_SUM ? "S" : "|p|");
  fprintf(out, "  at n = %-*s %13s %11s %11s %11s %11s %11s\n", NAME_WIDTH - 7, fold_study_count(c->n, text), "height",
          "|error|", heading[0], heading[1], heading[2], "error/bound");
  for (size_t i = 0; i < g->study->n; i++) {
    const struct fold_study_point *p = &g->study->at[i];
    if (same_group(&p->c, c) && p->c.n == c->n) print_theory_line(p, out);
  }
}

void fold_study_print(const struct fold_study *study, FILE *out) {
  if (study->n == 0) return;
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
    print_heads(&g, out);
    print_ulps(&g, out);
    print_theory(&g, out);
  }
}
