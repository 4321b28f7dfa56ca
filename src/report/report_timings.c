/* report_timings.c: what was timed: throughput against n below its ceiling, and the price of one order for all
 * launches.
 *
 * Figures are for one machine, dtype, operation and kind of data each; medians of different machines or data are never
 * drawn together, nor set against each other.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report_section.h"

enum { MOST_SUBJECTS = 40, MOST_PAIRS = 24, MOST_FIGURES = 16 };

static double threads_of(const struct fold_model_timing *t) { return t->threads >= 1 ? t->threads : 0; }

/* ", on the host, 2 threads"; "" of a GPU. */
static const char *place_text(const struct fold_model_timing *t, char text[80]) {
  text[0] = '\0';
  if (strcmp(t->engine, "host") == 0)
    snprintf(text, 80, ", on the host, %.0f thread%s", threads_of(t), threads_of(t) == 1 ? "" : "s");
  return text;
}

static int compare_groups(const struct fold_model_timing *a, const struct fold_model_timing *b) {
  int d = a->environment - b->environment;
  if (!d) d = strcmp(a->dtype, b->dtype);
  if (!d) d = strcmp(a->op, b->op);
  if (!d) d = strcmp(a->generator, b->generator);
  if (!d) d = strcmp(a->engine, b->engine);
  if (!d) d = (threads_of(a) > threads_of(b)) - (threads_of(a) < threads_of(b));
  return d ? d : (a->rows > b->rows) - (a->rows < b->rows);
}

static int compare_shapes(const struct fold_model_timing *a, const struct fold_model_timing *b) {
  int d = compare_groups(a, b);
  return d ? d : (a->cols > b->cols) - (a->cols < b->cols);
}

static int by_shape(const void *left, const void *right) {
  const struct fold_model_timing *a = left, *b = right;
  int d = compare_shapes(a, b);
  return d ? d : strcmp(a->subject, b->subject);
}

static int by_subject(const void *left, const void *right) {
  const struct fold_model_timing *a = left, *b = right;
  int d = compare_groups(a, b);
  if (!d) d = strcmp(a->subject, b->subject);
  return d ? d : (a->cols > b->cols) - (a->cols < b->cols);
}

static const char *shape_text(const struct fold_model_timing *t, char text[80]) {
  char rows[32], cols[32];
  if (t->rows == 1)
    snprintf(text, 80, "%s", fold_text_grouped(t->cols, cols));
  else
    snprintf(text, 80, "%s x %s", fold_text_grouped(t->rows, rows), fold_text_grouped(t->cols, cols));
  return text;
}

/* One group, sorted by subject, then n: a series for each subject, then the ceiling over all of its sizes. */
static void draw_throughput(struct fold_page *page, const struct fold_model_timing *t, size_t n, double *room) {
  struct fold_series series[MOST_SUBJECTS + 1];
  size_t n_series = 0, sizes = 0, n_doubtful = 0;
  double *x = room, *y = room + n, *ceiling = room + 2 * n;
  for (size_t i = 0, end; i < n && n_series < MOST_SUBJECTS; i = end) {
    for (end = i; end < n && strcmp(t[i].subject, t[end].subject) == 0; end++) {
      x[end] = t[end].rows * t[end].cols;
      y[end] = t[end].implausible ? NAN : 1e-9 * t[end].bytes_per_second;
      n_doubtful += t[end].implausible;
    }
    struct fold_series *s = &series[n_series];
    *s = (struct fold_series){.style = (int)n_series, .x = x + i, .y = y + i, .n = end - i};
    snprintf(s->label, sizeof s->label, "%.100s", t[i].subject);
    if (end - i > sizes) sizes = end - i;
    n_series++;
  }
  for (size_t i = 0; i < n; i++) ceiling[i] = 1e-9 * t[i].ceiling;
  if (sizes < 2) return;
  /* The subject with the most sizes carries the ceiling: every size has its own record of it. */
  for (size_t k = 0; k < n_series; k++)
    if (series[k].n == sizes) {
      size_t first = (size_t)(series[k].x - x);
      series[n_series] = (struct fold_series){
          .label = "ceiling: a plain read", .look = FOLD_LOOK_LIMIT, .x = x + first, .y = ceiling + first, .n = sizes};
      n_series++;
      break;
    }
  struct fold_plot plot = {"n (elements)", "throughput (GB/s)", true, false, series, n_series};
  char caption[500], where[200], rows[32], without[60], place[80];
  snprintf(caption, sizeof caption, "Throughput, %.20s %.20s%s%.40s%s, %s row%s%s%s. Medians%s.", t->dtype, t->op,
           t->generator[0] ? " of " : "", t->generator, t->generator[0] ? " data" : "",
           fold_text_grouped(t->rows, rows), t->rows == 1 ? "" : "s", place_text(t, place),
           fold_page_where(page, t->environment, where), fold_page_without(n_doubtful, without));
  fold_page_plot(page, &plot, caption);
}

/* Whose order for all launches costs something: a name that ends in _determ, before a version behind '@', has its plain
 * twin in the name without it (of one thread a row: single_for); the canonical flat sum has the report's kernel. */
static void twin_of(const char *name, char twin[160]) {
  const char *at = strstr(name, "_determ");
  twin[0] = '\0';
  if (strcmp(name, "flat/canonical") == 0) strcpy(twin, "flat/shuffle");
  if (at == NULL || (at[7] != '\0' && at[7] != '@')) return;
  int stem = (int)(at - name);
  bool single = stem >= 6 && strncmp(at - 6, "single", 6) == 0;
  snprintf(twin, 160, "%.*s%s%.60s", stem < 80 ? stem : 80, name, single ? "_for" : "", at + 7);
}

/* Among timings sorted by subject. */
static const struct fold_model_timing *find_timing(const struct fold_model_timing *t, size_t n, const char *subject) {
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

/* Where a range is not recorded the bar has none. */
static void fill_bar(struct fold_bar_pair *pair, int k, const struct fold_model_timing *t) {
  pair->value[k] = 1e6 * t->median;
  pair->low[k] = isfinite(t->p10) ? 1e6 * t->p10 : pair->value[k];
  pair->high[k] = isfinite(t->p90) ? 1e6 * t->p90 : pair->value[k];
}

/* The pairs of one shape, into both arrays; how many there are. */
static size_t find_pairs(const struct fold_model_timing *t, size_t n, const struct fold_model_timing *fixed[MOST_PAIRS],
                         const struct fold_model_timing *plain[MOST_PAIRS]) {
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

/* All timings of one shape. One pair alone is no figure: its line in the table says as much. */
static void draw_pairs(struct fold_page *page, const struct fold_model_timing *t, size_t n) {
  const struct fold_model_timing *fixed[MOST_PAIRS], *plain[MOST_PAIRS];
  struct fold_bar_pair pairs[MOST_PAIRS];
  size_t n_pairs = find_pairs(t, n, fixed, plain);
  char caption[500], shape[80], where[200], place[80];
  if (n_pairs < 2) return;
  for (size_t i = 0; i < n_pairs; i++) {
    snprintf(pairs[i].label, sizeof pairs[i].label, "%.79s", fixed[i]->subject);
    fill_bar(&pairs[i], 0, fixed[i]);
    fill_bar(&pairs[i], 1, plain[i]);
  }
  struct fold_bars bars = {"median time (us)", "fixed order", "its plain twin", n_pairs, pairs};
  snprintf(caption, sizeof caption,
           "Fixed order against its plain twin, %.20s %.20s%s%.40s%s, %s elements%s%s. Medians; whiskers from 10 %% to "
           "90 %%.",
           t->dtype, t->op, t->generator[0] ? " of " : "", t->generator, t->generator[0] ? " data" : "",
           shape_text(t, shape), place_text(t, place), fold_page_where(page, t->environment, where));
  fold_page_bars(page, &bars, caption);
}

static void put_pairs(struct fold_page *page, const struct fold_model_timing *t, size_t n, bool *opened) {
  const struct fold_model_timing *fixed[MOST_PAIRS], *plain[MOST_PAIRS];
  size_t n_pairs = find_pairs(t, n, fixed, plain);
  for (size_t i = 0; i < n_pairs; i++) {
    char text[80];
    if (!*opened)
      fputs(
          "<div class=\"wide\" tabindex=\"0\"><table class=\"numbers\"><caption>The price of a fixed order</caption>\n"
          "<thead><tr><th scope=\"col\" class=\"text\">Fixed order</th><th scope=\"col\" class=\"text\">Plain twin</th>"
          "<th scope=\"col\">dtype</th><th scope=\"col\">Data</th><th scope=\"col\">Elements</th><th scope=\"col\">"
          "Fixed (&micro;s)</th>"
          "<th scope=\"col\">Plain (&micro;s)</th><th scope=\"col\">Fixed / plain</th></tr></thead>\n<tbody>\n",
          page->out);
    *opened = true;
    fputs("<tr><th scope=\"row\">", page->out);
    fold_put_html(page->out, fixed[i]->subject);
    fold_put_html(page->out, place_text(fixed[i], text));
    fputs("</th><td class=\"text\">", page->out);
    fold_put_html(page->out, plain[i]->subject);
    fputs("</td>", page->out);
    fold_page_cell(page, fixed[i]->dtype);
    fold_page_cell(page, fixed[i]->generator);
    fold_page_cell(page, shape_text(fixed[i], text));
    fold_page_number(page, 1e6 * fixed[i]->median);
    fold_page_number(page, 1e6 * plain[i]->median);
    fold_page_number(page, fixed[i]->median / plain[i]->median);
    fputs("</tr>\n", page->out);
  }
}

static void put_row(struct fold_page *page, const struct fold_model_timing *t) {
  char text[160];
  bool bad = strcmp(t->verdict, "held") != 0 || t->implausible;
  fprintf(page->out, "<tr%s><th scope=\"row\">", bad ? " class=\"bad\"" : "");
  fold_put_html(page->out, t->subject);
  fold_put_html(page->out, place_text(t, text));
  fputs("</th>", page->out);
  fold_page_cell(page, t->dtype);
  fold_page_cell(page, t->op);
  fold_page_cell(page, t->generator);
  fold_page_cell(page, shape_text(t, text));
  fold_page_number(page, 1e6 * t->median);
  fold_page_number(page, 1e6 * t->p10);
  fold_page_number(page, 1e6 * t->p90);
  fold_page_number(page, 1e-9 * t->bytes_per_second);
  fold_page_number(page, 100 * t->of_ceiling);
  fold_page_number(page, t->to_peer);
  snprintf(text, sizeof text, "%.40s%s%s%.80s", t->verdict, t->implausible ? ", implausible" : "",
           t->note[0] ? "; " : "", t->note);
  fold_page_cell(page, text);
  fputs("</tr>\n", page->out);
}

/* Whom the ratios are against: it may differ from shape to shape. Equal names are one pointer (fold_model_word). */
static void put_peers(struct fold_page *page, const struct fold_model_timing *t, size_t n) {
  const char *between = "; peer: ";
  for (size_t i = 0; i < n; i++) {
    size_t k = 0;
    while (k < i && t[k].peer != t[i].peer) k++;
    if (k < i || !t[i].peer[0]) continue;
    fputs(between, page->out);
    fold_put_html(page->out, t[i].peer);
    between = ", ";
  }
}

static void put_table(struct fold_page *page, const struct fold_model_timing *t, size_t n) {
  static const char *const head[] = {"Subject",
                                     "dtype",
                                     "op",
                                     "Data",
                                     "Elements",
                                     "Median (&micro;s)",
                                     "10 % (&micro;s)",
                                     "90 % (&micro;s)",
                                     "Throughput (GB/s)",
                                     "Of the ceiling (%)",
                                     "Peer&rsquo;s time / its",
                                     "Judged first"};
  fputs("<div class=\"wide\" tabindex=\"0\"><table class=\"numbers\"><caption>All timings", page->out);
  put_peers(page, t, n);
  fputs("</caption>\n<thead><tr>", page->out);
  for (size_t i = 0; i < sizeof head / sizeof *head; i++) fprintf(page->out, "<th scope=\"col\">%s</th>", head[i]);
  fputs("</tr></thead>\n<tbody>\n", page->out);
  for (size_t i = 0; i < n; i++) {
    char where[200];
    if (i > 0 && t[i].environment != t[i - 1].environment) {
      fputs("<tr><th colspan=\"12\" scope=\"rowgroup\">", page->out);
      fold_put_html(page->out, fold_page_where(page, t[i].environment, where));
      fputs("</th></tr>\n", page->out);
    }
    put_row(page, &t[i]);
  }
  fputs("</tbody></table></div>\n", page->out);
}

static void draw_by_group(struct fold_page *page, struct fold_model_timing *t, size_t n, double *room) {
  int figures = 0;
  qsort(t, n, sizeof *t, by_subject);
  for (size_t i = 0, end; i < n && figures < MOST_FIGURES; i = end, figures++) {
    for (end = i + 1; end < n && compare_groups(&t[i], &t[end]) == 0;) end++;
    draw_throughput(page, &t[i], end - i, room);
  }
}

/* Once for the figures and once for the table. */
static void put_by_shape(struct fold_page *page, const struct fold_model_timing *t, size_t n, bool drawing) {
  bool opened = false;
  for (size_t i = 0, end; i < n; i = end) {
    for (end = i + 1; end < n && compare_shapes(&t[i], &t[end]) == 0;) end++;
    if (drawing)
      draw_pairs(page, &t[i], end - i);
    else
      put_pairs(page, &t[i], end - i, &opened);
  }
  if (opened) fputs("</tbody></table></div>\n", page->out);
}

fold_status fold_page_timings(struct fold_page *page) {
  size_t n = page->model->n_timings;
  if (n == 0) return fold_ok();
  struct fold_model_timing *t = malloc(n * sizeof *t);
  double *room = malloc(3 * n * sizeof *room);
  fold_status status = t && room ? fold_ok() : fold_error(FOLD_NO_MEMORY, "not enough memory for the timings");
  if (status.code == FOLD_OK) {
    memcpy(t, page->model->timings, n * sizeof *t);
    fputs(
        "<section id=\"timings\"><h2>Throughput</h2>\n<p>Medians; dashed: the ceiling, a plain read of memory measured "
        "in the same run.</p>\n<div class=\"figures\">\n",
        page->out);
    draw_by_group(page, t, n, room);
    qsort(t, n, sizeof *t, by_shape);
    put_by_shape(page, t, n, true);
    fputs("</div>\n", page->out);
    put_by_shape(page, t, n, false);
    put_table(page, t, n);
    fputs("</section>\n", page->out);
  }
  free(t);
  free(room);
  return status;
}
