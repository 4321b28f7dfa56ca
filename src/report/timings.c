/* report/timings.c: what was timed: throughput against n below its ceiling, and what one order for all
 * launches costs.
 *
 * Figures are for one machine, dtype, operation and kind of data each; medians of different machines or data are never
 * drawn together, nor set against each other.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "report/methods.h"
#include "report/section.h"

enum { MOST_PAIRS = 24, MOST_FIGURES = 16, UNFOLDED = 2, LEAST_SIZES = 2 };

static double threads_of(const struct fold_model_timed *t) { return t->threads >= 1 ? t->threads : 0; }

/* ", on the host, 2 threads"; "" for a GPU. */
static const char *place_text(const struct fold_model_timed *t, char text[80]) {
  text[0] = '\0';
  if (strcmp(t->engine, "host") == 0)
    snprintf(text, 80, ", on the host, %.0f thread%s", threads_of(t), threads_of(t) == 1 ? "" : "s");
  return text;
}

#define BY(member) FOLD_BY(fold_model_timed, member)
#define ASKED(member) FOLD_ASKED(fold_model_timed, member)
#define GROUP_KEYS BY(environment), ASKED(op), ASKED(dtype), ASKED(generator), BY(rows)
enum { GROUP = 5, METHOD = 8, SHAPE = 8 };
/* A method is a subject in one place. Only times of one shape in one place are compared as twins. */
static const struct fold_keys by_subject = {sizeof(struct fold_model_timed),
                                            {GROUP_KEYS, BY(subject), BY(engine), BY(threads), BY(cols)}};
static const struct fold_keys by_shape = {sizeof(struct fold_model_timed),
                                          {GROUP_KEYS, BY(engine), BY(threads), BY(cols), BY(subject)}};

static const char *shape_text(const struct fold_model_timed *t, char text[80]) {
  char rows[32], cols[32], n[32];
  if (t->m > 0)
    snprintf(text, 80, "%s x %s x %s", fold_text_grouped(t->m, rows), fold_text_grouped(t->rows / t->m, n),
             fold_text_grouped(t->cols, cols));
  else if (t->rows == 1)
    snprintf(text, 80, "%s", fold_text_grouped(t->cols, cols));
  else
    snprintf(text, 80, "%s x %s", fold_text_grouped(t->rows, rows), fold_text_grouped(t->cols, cols));
  return text;
}

/* One method of a group over its sizes. */
struct method {
  const struct fold_model_timed *t;
  size_t n;
};

/* The ceiling of each engine that has a method here, once. It is taken from the method with the most sizes, because the
 * record of each size has its own ceiling. */
static size_t add_ceilings(const struct method *const *m, size_t n, const struct fold_model_timed *group,
                           const double *x, const double *ceiling, struct fold_series *series) {
  size_t added = 0;
  for (size_t i = 0; i < n; i++) {
    const struct method *most = m[i];
    bool first = true;
    for (size_t k = 0; k < n; k++) {
      const bool same = strcmp(m[k]->t->engine, m[i]->t->engine) == 0;
      first &= !(same && k < i);
      if (same && m[k]->n > most->n) most = m[k];
    }
    if (!first) continue;
    const size_t at = (size_t)(most->t - group);
    struct fold_series *s = &series[added++];
    *s = (struct fold_series){.look = FOLD_LOOK_LIMIT, .x = x + at, .y = ceiling + at, .n = most->n};
    snprintf(s->label, sizeof s->label, "ceiling of %.20s: a plain read", most->t->engine);
  }
  return added;
}

/* A group's arrays, as long as the group. */
struct throughput {
  const struct fold_model_timed *group;
  const double *x, *y, *ceiling;
};

static void draw_methods(struct fold_page *page, const struct throughput *of, const struct method *const *m, size_t n) {
  struct fold_series series[2 * FOLD_METHODS_TOGETHER];
  const struct fold_model_timed *t = of->group;
  size_t n_doubtful = 0;
  for (size_t i = 0; i < n; i++) {
    const size_t at = (size_t)(m[i]->t - t);
    char place[80];
    series[i] = (struct fold_series){.style = (int)i, .x = of->x + at, .y = of->y + at, .n = m[i]->n};
    snprintf(series[i].label, sizeof series->label, "%.100s%s", m[i]->t->subject, place_text(m[i]->t, place));
    for (size_t k = 0; k < m[i]->n; k++) n_doubtful += m[i]->t[k].implausible;
  }
  const size_t all = n + add_ceilings(m, n, t, of->x, of->ceiling, series + n);
  struct fold_plot plot = {.x_label = "n (elements)",
                           .y_label = "throughput (GB/s)",
                           .log_x = true,
                           .log_y = true,
                           .series = series,
                           .n = all};
  char caption[500], where[210], rows[32], without[60];
  snprintf(caption, sizeof caption, "Throughput, %.20s %.20s%s%.40s%s, %s row%s%s. Medians%s.", t->dtype, t->op,
           t->generator[0] ? " of " : "", t->generator, t->generator[0] ? " data" : "",
           fold_text_grouped(t->rows, rows), t->rows == 1 ? "" : "s", fold_page_where(page, t->environment, where),
           fold_page_without(n_doubtful, without));
  fold_page_plot(page, &plot, caption);
}

/* Finds the methods of one group that have enough sizes. The input is sorted by method, then n. */
static size_t find_methods(const struct fold_model_timed *t, size_t n, struct method methods[FOLD_METHODS_MOST]) {
  size_t found = 0;
  for (size_t i = 0, end; i < n && found < FOLD_METHODS_MOST; i = end) {
    end = fold_keys_end(&by_subject, METHOD, t, i, n);
    if (end - i >= LEAST_SIZES) methods[found++] = (struct method){t + i, end - i};
  }
  return found;
}

/* Draws one group, five methods at a time: first those of most interest, then the rest. Returns how many figures it
 * drew. */
static size_t draw_throughput(struct fold_page *page, const void *items, size_t n, double *room) {
  const struct fold_model_timed *t = items;
  struct method methods[FOLD_METHODS_MOST];
  const struct method *some[FOLD_METHODS_TOGETHER];
  const char *subjects[FOLD_METHODS_MOST];
  size_t order[FOLD_METHODS_MOST], end[FOLD_METHODS_MOST];
  double *x = room, *y = room + n, *ceiling = room + 2 * n;
  for (size_t i = 0; i < n; i++) {
    x[i] = t[i].rows * t[i].cols;
    /* A logarithmic axis cannot show NaN, and gnuplot would draw a zero. */
    y[i] = t[i].implausible || !(t[i].bytes_per_second > 0) ? NAN : 1e-9 * t[i].bytes_per_second;
    ceiling[i] = t[i].ceiling > 0 ? 1e-9 * t[i].ceiling : NAN;
  }
  const struct throughput of = {t, x, y, ceiling};
  const size_t n_methods = find_methods(t, n, methods);
  for (size_t i = 0; i < n_methods; i++) subjects[i] = methods[i].t->subject;
  const size_t figures = fold_methods_split(subjects, n_methods, order, end);
  for (size_t f = 0, at = 0; f < figures; at = end[f++]) {
    for (size_t i = at; i < end[f]; i++) some[i - at] = &methods[order[i]];
    draw_methods(page, &of, some, end[f] - at);
  }
  return figures;
}

/* The name of the plain twin of a subject whose order is fixed for all launches: without _determ, but with its version
 * after '@' (for one thread a row it is single_for). The twin of the canonical flat sum is the reference study's
 * kernel. */
static void twin_of(const char *name, char twin[160]) {
  const char *at = strstr(name, "_determ");
  twin[0] = '\0';
  if (strcmp(name, "flat/canonical") == 0) strcpy(twin, "flat/shuffle");
  if (at == NULL || (at[7] != '\0' && at[7] != '@')) return;
  int stem = (int)(at - name);
  bool single = stem >= 6 && strncmp(at - 6, "single", 6) == 0;
  snprintf(twin, 160, "%.*s%s%.60s", stem < 80 ? stem : 80, name, single ? "_for" : "", at + 7);
}

/* Finds a timing; they are sorted by subject. */
static const struct fold_model_timed *find_timing(const struct fold_model_timed *t, size_t n, const char *subject) {
  size_t low = 0, high = n;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (strcmp(t[middle].subject, subject) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  for (; low < n && strcmp(t[low].subject, subject) == 0; low++)
    if (t[low].median > 0) return &t[low];
  return NULL;
}

/* Writes the pairs of one shape to both arrays, and returns how many there are. */
static size_t find_pairs(const struct fold_model_timed *t, size_t n, const struct fold_model_timed *fixed[MOST_PAIRS],
                         const struct fold_model_timed *plain[MOST_PAIRS]) {
  size_t n_pairs = 0;
  for (size_t i = 0; i < n && n_pairs < MOST_PAIRS; i++) {
    char twin[160];
    twin_of(t[i].subject, twin);
    plain[n_pairs] = twin[0] && t[i].median > 0 ? find_timing(t, n, twin) : NULL;
    fixed[n_pairs] = &t[i];
    if (plain[n_pairs]) n_pairs++;
  }
  return n_pairs;
}

struct medians {
  double x[MOST_PAIRS], y[MOST_PAIRS], low[MOST_PAIRS], high[MOST_PAIRS];
};

/* The medians of one member of each pair, a little above or below the pair's row. A point has no range if none is
 * recorded. */
static struct fold_series fill_medians(struct medians *m, const struct fold_model_timed *const *t, size_t n, double off,
                                       const char *label, int style) {
  for (size_t i = 0; i < n; i++) {
    m->x[i] = 1e6 * t[i]->median;
    m->y[i] = (double)i + off;
    m->low[i] = isfinite(t[i]->p10) ? 1e6 * t[i]->p10 : m->x[i];
    m->high[i] = isfinite(t[i]->p90) ? 1e6 * t[i]->p90 : m->x[i];
  }
  struct fold_series series = {
      .look = FOLD_LOOK_RANGES, .style = style, .x = m->x, .y = m->y, .low = m->low, .high = m->high, .n = n};
  snprintf(series.label, sizeof series.label, "%s", label);
  return series;
}

/* All timings of one shape. A single pair gets no figure: its row in the table says as much. */
static size_t draw_pairs(struct fold_page *page, const void *items, size_t n, double *room) {
  const struct fold_model_timed *t = items;
  const struct fold_model_timed *fixed[MOST_PAIRS], *plain[MOST_PAIRS];
  struct medians medians[2];
  const char *subjects[MOST_PAIRS];
  size_t n_pairs = find_pairs(t, n, fixed, plain);
  char caption[500], shape[80], where[210], place[80];
  (void)room;
  if (n_pairs < 2) return 0;
  for (size_t i = 0; i < n_pairs; i++) subjects[i] = fixed[i]->subject;
  /* style 17 has the second colour and an open mark */
  const struct fold_series series[] = {fill_medians(&medians[0], fixed, n_pairs, -0.17, "fixed order", 0),
                                       fill_medians(&medians[1], plain, n_pairs, 0.17, "its plain counterpart", 17)};
  const struct fold_plot plot = {
      .x_label = "median time (us)", .log_x = true, .rows = subjects, .n_rows = n_pairs, .series = series, .n = 2};
  snprintf(caption, sizeof caption,
           "Fixed order against its plain counterpart, %.20s %.20s%s%.40s%s, %s elements%s%s. Medians; whiskers from "
           "10 %% to "
           "90 %%.",
           t->dtype, t->op, t->generator[0] ? " of " : "", t->generator, t->generator[0] ? " data" : "",
           shape_text(t, shape), place_text(t, place), fold_page_where(page, t->environment, where));
  fold_page_plot(page, &plot, caption);
  return 1;
}

static void add_prices(struct fold_sheet *sheet, const struct fold_model *m, const struct fold_model_timed *t,
                       size_t n) {
  const struct fold_model_timed *fixed[MOST_PAIRS], *plain[MOST_PAIRS];
  size_t n_pairs = find_pairs(t, n, fixed, plain);
  for (size_t i = 0; i < n_pairs; i++) {
    char shape[80], machine[200];
    FOLD_ROW(sheet, T(fixed[i]->subject), T(plain[i]->subject), T(fixed[i]->engine), N(fixed[i]->threads),
             T(fixed[i]->dtype), T(fixed[i]->generator), T(shape_text(fixed[i], shape)), N(1e6 * fixed[i]->median),
             N(1e6 * plain[i]->median), N(fixed[i]->median / plain[i]->median),
             T(fold_text_place(m, fixed[i]->environment, machine)));
  }
}

void fold_sheet_prices(struct fold_sheet *sheet, const struct fold_model *model) {
  const size_t n = model->n_timings;
  fold_sheet_open(
      sheet, "The price of a fixed order",
      "Fixed order;Plain counterpart;^Engine;^#Threads;^dtype;^Data;^Elements;=Fixed (us);=Plain (us);=Fixed / "
      "plain;^Machine");
  struct fold_model_timed *t = fold_sheet_sorted(sheet, &by_shape, model->timings, n);
  if (t == NULL) return;
  for (size_t i = 0, end; i < n; i = end) {
    end = fold_keys_end(&by_shape, SHAPE, t, i, n);
    add_prices(sheet, model, &t[i], end - i);
  }
  free(t);
}

static void add_timing(struct fold_sheet *sheet, const struct fold_model *m, const struct fold_model_timed *t) {
  char shape[80];
  FOLD_ROW(sheet, T(t->subject), T(t->engine), N(t->threads), T(t->dtype), T(t->op), T(t->generator),
           T(shape_text(t, shape)), N(t->calls > 1 ? t->calls : NAN), N(1e-9 * t->ceiling),
           T(isnan(t->to_peer) ? "" : t->peer_name), N(1e6 * t->median), N(1e6 * t->p10), N(1e6 * t->p90),
           N(1e-9 * t->bytes_per_second), N(100 * t->of_ceiling), N(1e-12 * t->flop_per_second), N(t->to_peer));
  fold_sheet_judged(sheet, m, t);
}

void fold_sheet_timings(struct fold_sheet *sheet, const struct fold_model *model) {
  fold_sheet_open(
      sheet, "Timings",
      "Subject;^Engine;^#Threads;^dtype;^op;^Data;^Elements;^#Calls in a graph;^=Ceiling (GB/s);^Peer;"
      "=Median (us);=10 % (us);=90 % (us);=Throughput (GB/s);=Of the ceiling (%);=TFLOP/s;=Peer's time / its;Judged "
      "first;^Machine");
  struct fold_model_timed *t = fold_sheet_sorted(sheet, &by_shape, model->timings, model->n_timings);
  for (size_t i = 0; t && i < model->n_timings; i++) add_timing(sheet, model, &t[i]);
  free(t);
}

fold_status fold_page_timings(struct fold_page *page) {
  const struct fold_model *m = page->model;
  const struct fold_groups throughputs = {m->timings,   m->n_timings,    &by_subject, GROUP,
                                          MOST_FIGURES, draw_throughput, UNFOLDED};
  const struct fold_groups twins = {m->timings, m->n_timings, &by_shape, SHAPE, SIZE_MAX, draw_pairs, UNFOLDED};
  fputs("<p>Medians; dashed: the ceiling, a plain read of memory measured in the same run.</p>\n", page->out);
  FOLD_TRY(fold_page_groups(page, &throughputs));
  FOLD_TRY(fold_page_groups(page, &twins));
  FOLD_TRY(fold_page_sheet(page, fold_sheet_prices));
  return fold_page_sheet(page, fold_sheet_timings);
}
