/* report_curves.c: one figure of errors against n: points to curves, worst at each n, with their bounds.
 *
 * Equal curves are drawn once and share a label: an order and its variants with the same bits. So are equal bounds.
 */
#include "report_curves.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SUBJECTS = 40 };

/* One subject's part of a group, the worst at each n. */
struct curve {
  const struct fold_model_point *point;
  double *n, *error, *bound, *probable;
  size_t size;
  char label[480];
};

static bool same_subject(const struct fold_model_point *a, const struct fold_model_point *b) {
  return strcmp(a->subject, b->subject) == 0 && strcmp(a->engine, b->engine) == 0;
}

static double larger(double a, double b) { return isnan(a) || b > a ? b : a; }

/* The worst at each n: over seeds, and over the claims that measured it. */
static void fill_curve(struct curve *c, const struct fold_model_point *p, size_t n) {
  for (size_t i = 0; i < n; i++) {
    size_t at = c->size;
    if (at == 0 || c->n[at - 1] != p[i].n) {
      c->n[at] = p[i].n;
      c->error[at] = c->bound[at] = c->probable[at] = NAN;
      c->size = ++at;
    }
    c->error[at - 1] = larger(c->error[at - 1], p[i].error);
    c->bound[at - 1] = larger(c->bound[at - 1], p[i].bound);
    c->probable[at - 1] = larger(c->probable[at - 1], p[i].probable);
  }
}

static bool equal(const double *a, const double *b, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (!(a[i] == b[i] || (isnan(a[i]) && isnan(b[i])))) return false;
  return true;
}

static bool has_error(const struct curve *c) {
  for (size_t i = 0; i < c->size; i++)
    if (!isnan(c->error[i])) return true;
  return false;
}

static bool is_known(const double *y, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (y[i] > 0 && isfinite(y[i])) return true;
  return false;
}

/* With an earlier curve's errors and bounds a subject only adds its name to the legend; with its errors alone it
 * hides the earlier curve, which the legend then tells. */
static bool joins_earlier(struct curve *curves, size_t n_curves, struct curve *c) {
  for (size_t k = 0; k < n_curves; k++) {
    struct curve *e = &curves[k];
    if (e->size != c->size || !equal(e->n, c->n, c->size) || !equal(e->error, c->error, c->size)) continue;
    if (equal(e->bound, c->bound, c->size) && equal(e->probable, c->probable, c->size)) {
      size_t used = strlen(e->label);
      snprintf(e->label + used, sizeof e->label - used, ", %.100s", c->point->subject);
      return true;
    }
    size_t used = strlen(c->label);
    snprintf(c->label + used, sizeof c->label - used, " (errors as %.100s)", e->point->subject);
    return false;
  }
  return false;
}

static void add_series(struct fold_series *series, size_t *n, const struct curve *c, const double *y, int style,
                       enum fold_series_look look) {
  struct fold_series *s = &series[(*n)++];
  *s = (struct fold_series){.look = look, .style = style, .x = c->n, .y = y, .n = c->size};
  if (look == FOLD_LOOK_MARKS) memcpy(s->label, c->label, sizeof s->label);
}

/* A bound that an earlier curve of the group has too is not drawn again. */
static bool is_new(const struct curve *curves, size_t k, size_t which) {
  const struct curve *c = &curves[k];
  const double *y = which ? c->probable : c->bound;
  if (!is_known(y, c->size)) return false;
  for (size_t e = 0; e < k; e++)
    if (curves[e].size == c->size && equal(which ? curves[e].probable : curves[e].bound, y, c->size)) return false;
  return true;
}

static void describe_group(const struct fold_page *page, const struct fold_model_point *p, char *text, size_t size) {
  char where[200], number[16], n[32];
  int used = snprintf(text, size, "Data: %.40s; %.20s %.20s%s%.20s%s.", p->generator, p->dtype, p->op,
                      p->engine[0] ? " on " : "", p->engine, fold_page_where(page, p->environment, where));
  if (isfinite(p->condition) && p->condition > 0 && used >= 0 && (size_t)used < size)
    snprintf(text + used, size - (size_t)used, " Condition number %s at n = %s.",
             fold_text_number(p->condition, number), fold_text_grouped(p->n, n));
}

static fold_status draw_curves(struct fold_page *page, struct curve *curves, size_t n_curves,
                               const struct fold_curves_kind *kind) {
  struct fold_series *series = calloc(3 * n_curves + 1, sizeof *series);
  if (series == NULL) return fold_error(FOLD_NO_MEMORY, "not enough memory for a figure");
  char caption[600];
  size_t n = 0;
  for (size_t k = 0; k < n_curves; k++) add_series(series, &n, &curves[k], curves[k].error, (int)k, FOLD_LOOK_MARKS);
  for (size_t k = 0; k < n_curves; k++)
    if (is_new(curves, k, 0)) add_series(series, &n, &curves[k], curves[k].bound, (int)k, FOLD_LOOK_DASHES);
  for (size_t k = 0; k < n_curves; k++)
    if (is_new(curves, k, 1)) add_series(series, &n, &curves[k], curves[k].probable, (int)k, FOLD_LOOK_DOTS);
  struct fold_plot plot = {kind->x_label, kind->y_label, true, true, series, n};
  describe_group(page, curves[0].point, caption, sizeof caption);
  fold_page_plot(page, &plot, caption);
  free(series);
  return fold_ok();
}

fold_status fold_curves_draw(struct fold_page *page, const struct fold_model_point *p, size_t n,
                             const struct fold_curves_kind *kind) {
  struct curve *curves = calloc(MOST_SUBJECTS, sizeof *curves);
  double *room = malloc(4 * n * sizeof *room);
  size_t n_curves = 0;
  if (curves == NULL || room == NULL) {
    free(curves);
    free(room);
    return fold_error(FOLD_NO_MEMORY, "not enough memory for a figure");
  }
  for (size_t i = 0, end; i < n && n_curves < MOST_SUBJECTS; i = end) {
    for (end = i + 1; end < n && same_subject(&p[i], &p[end]);) end++;
    struct curve *c = &curves[n_curves];
    *c = (struct curve){.point = &p[end - 1], .n = room + i, .error = room + n + i, .bound = room + 2 * n + i};
    c->probable = room + 3 * n + i;
    snprintf(c->label, sizeof c->label, "%.100s", c->point->subject);
    fill_curve(c, &p[i], end - i);
    /* A subject that gave no result has no curve, nor a place in the legend. */
    if (has_error(c) && !joins_earlier(curves, n_curves, c)) n_curves++;
  }
  fold_status status = n_curves ? draw_curves(page, curves, n_curves, kind) : fold_ok();
  free(curves);
  free(room);
  return status;
}
