/* report/curves.c: one figure of errors against n: points to curves, worst at each n, with their bounds.
 *
 * Equal curves are drawn once and share a label (an order and its variants that give the same bits). Equal bounds are drawn once,
 * too.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/methods.h"
#include "report/section.h"

/* One subject's points in a group: the worst at each n. */
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

/* Takes the worst error at each n, over all seeds and over all claims that measured one. */
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

/* Whether both are equal at each n of the shorter curve, which must have three points unless both are equally long. */
static bool equal_so_far(const struct curve *a, const struct curve *b, const double *of_a, const double *of_b) {
  const size_t n = a->size < b->size ? a->size : b->size;
  return n >= (a->size == b->size ? 1 : 3) && equal(a->n, b->n, n) && equal(of_a, of_b, n);
}

/* If a subject has the errors and bounds of an earlier curve, that curve gets its name and the sizes that it lacks. If
 * only the errors are equal, the new curve is drawn over the earlier one, and the legend says so. */
static bool joins_earlier(struct curve *curves, size_t n_curves, struct curve *c) {
  for (size_t k = 0; k < n_curves; k++) {
    struct curve *e = &curves[k];
    if (!equal_so_far(e, c, e->error, c->error)) continue;
    if (equal_so_far(e, c, e->bound, c->bound) && equal_so_far(e, c, e->probable, c->probable)) {
      size_t used = strlen(e->label);
      if (strcmp(e->point->subject, c->point->subject) == 0)
        snprintf(e->label + used, sizeof e->label - used, "/%.20s", c->point->engine);
      else
        snprintf(e->label + used, sizeof e->label - used, ", %.100s", c->point->subject);
      if (fold_methods_kind(e->point->subject) < 0)
        e->point = c->point; /* a method that readers ask about gives the curve its place */
      if (c->size > e->size)
        e->n = c->n, e->error = c->error, e->bound = c->bound, e->probable = c->probable, e->size = c->size;
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

/* A bound is drawn once in a group. */
static bool is_new(const struct curve *curves, size_t k, size_t which) {
  const struct curve *c = &curves[k];
  const double *y = which ? c->probable : c->bound;
  if (!is_known(y, c->size)) return false;
  for (size_t e = 0; e < k; e++)
    if (curves[e].size == c->size && equal(which ? curves[e].probable : curves[e].bound, y, c->size)) return false;
  return true;
}

static void describe_group(const struct fold_page *page, const struct fold_model_point *p, char *text, size_t size) {
  char where[210], number[16], n[32];
  int used = snprintf(text, size, "Data: %.40s; %.20s %.20s%s.", p->generator, p->dtype, p->op,
                      fold_page_where(page, p->environment, where));
  if (isfinite(p->condition) && p->condition > 0 && used >= 0 && (size_t)used < size)
    snprintf(text + used, size - (size_t)used, " Condition number %s at n = %s.",
             fold_text_number(p->condition, number), fold_text_grouped(p->n, n));
}

/* The probabilistic curves are left out if methods of several kinds are compared. */
static void draw_curves(struct fold_page *page, struct curve *curves, size_t n_curves,
                        const struct fold_curves_kind *kind, bool probable) {
  struct fold_series series[3 * FOLD_METHODS_TOGETHER];
  char caption[600];
  size_t n = 0;
  for (size_t k = 0; k < n_curves; k++) add_series(series, &n, &curves[k], curves[k].error, (int)k, FOLD_LOOK_MARKS);
  for (size_t k = 0; k < n_curves; k++)
    if (is_new(curves, k, 0)) add_series(series, &n, &curves[k], curves[k].bound, (int)k, FOLD_LOOK_DASHES);
  for (size_t k = 0; k < n_curves && probable; k++)
    if (is_new(curves, k, 1)) add_series(series, &n, &curves[k], curves[k].probable, (int)k, FOLD_LOOK_DOTS);
  struct fold_plot plot = {
      .x_label = kind->x_label, .y_label = kind->y_label, .log_x = true, .log_y = true, .series = series, .n = n};
  describe_group(page, curves[0].point, caption, sizeof caption);
  fold_page_plot(page, &plot, caption);
}

static void draw_figures(struct fold_page *page, const struct curve *curves, size_t n_curves,
                         const struct fold_curves_kind *kind) {
  const char *subjects[FOLD_METHODS_MOST];
  size_t order[FOLD_METHODS_MOST], end[FOLD_METHODS_MOST];
  for (size_t i = 0; i < n_curves; i++) subjects[i] = curves[i].point->subject;
  const size_t figures = fold_methods_split(subjects, n_curves, order, end);
  for (size_t f = 0, at = 0; f < figures; at = end[f++]) {
    struct curve some[FOLD_METHODS_TOGETHER];
    for (size_t i = at; i < end[f]; i++) some[i - at] = curves[order[i]];
    if (f == 1) {
      const struct fold_model_point *p = curves[0].point;
      char what[120];
      snprintf(what, sizeof what, "Other methods of %.40s %.20s %.20s, five at a time", p->generator, p->dtype, p->op);
      fold_page_fold(page, what);
    }
    draw_curves(page, some, end[f] - at, kind, figures == 1 || f > 0);
  }
  if (figures > 1) fold_page_unfold(page);
}

fold_status fold_curves_draw(struct fold_page *page, const struct fold_model_point *p, size_t n,
                             const struct fold_curves_kind *kind) {
  struct curve *curves = calloc(FOLD_METHODS_MOST, sizeof *curves);
  double *room = malloc(4 * n * sizeof *room);
  size_t n_curves = 0;
  if (curves == NULL || room == NULL) {
    free(curves);
    free(room);
    return fold_no_memory("for a figure");
  }
  for (size_t i = 0, end; i < n && n_curves < FOLD_METHODS_MOST; i = end) {
    for (end = i + 1; end < n && same_subject(&p[i], &p[end]);) end++;
    struct curve *c = &curves[n_curves];
    *c = (struct curve){.point = &p[end - 1], .n = room + i, .error = room + n + i, .bound = room + 2 * n + i};
    c->probable = room + 3 * n + i;
    snprintf(c->label, sizeof c->label, "%.100s%s%.20s", c->point->subject, c->point->engine[0] ? " on " : "",
             c->point->engine);
    fill_curve(c, &p[i], end - i);
    /* A subject without results has no curve and no entry in the legend. */
    if (has_error(c) && !joins_earlier(curves, n_curves, c)) n_curves++;
  }
  if (n_curves) draw_figures(page, curves, n_curves, kind);
  free(curves);
  free(room);
  return fold_ok();
}
