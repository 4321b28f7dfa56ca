/* report/allreduces.c: all-reduces of vectors: bus bandwidth and time by length, and which bits agree. It needs records of types
 * "allreduce" and "messages".
 *
 * A figure is for one machine, world, dtype and operation. Each setting of the library gives a subject another series.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "report/section.h"

enum { MOST_SERIES = 40 };

#define BY(member) FOLD_BY(fold_model_timed, member)
enum { GROUP = 4, SERIES = 6 };
static const struct fold_keys keys = {
    sizeof(struct fold_model_timed),
    {BY(environment), BY(dtype), BY(op), BY(workers), BY(subject), FOLD_ASKED(fold_model_timed, setting), BY(bytes)}};
#undef BY

/* Draws one group: bus bandwidth, with the link's as limit, or the time. Doubtful values are in the table only. */
static void draw(struct fold_page *page, const struct fold_model_timed *m, size_t n, double *room, bool bandwidth) {
  struct fold_series series[MOST_SERIES];
  double *x = room, *y = room + n, least = INFINITY, most = 0;
  size_t n_series = 0, n_doubtful = 0;
  for (size_t i = 0, end; i < n && n_series < MOST_SERIES; i = end) {
    end = fold_keys_end(&keys, SERIES, m, i, n);
    for (size_t k = i; k < end; k++) {
      x[k] = m[k].bytes;
      bool doubtful = m[k].implausible || m[k].noisy;
      y[k] = doubtful ? NAN : bandwidth ? 1e-9 * m[k].bus : 1e6 * m[k].median;
      n_doubtful += doubtful;
      least = fmin(least, x[k]);
      most = fmax(most, x[k]);
    }
    struct fold_series *s = &series[n_series];
    *s = (struct fold_series){.style = (int)n_series, .x = x + i, .y = y + i, .n = end - i};
    snprintf(s->label, sizeof s->label, "%.100s%s%.60s", m[i].subject, strcmp(m[i].setting, "default") ? ", " : "",
             strcmp(m[i].setting, "default") ? m[i].setting : "");
    n_series++;
  }
  double link_x[] = {least, most}, link_y[] = {1e-9 * m->link, 1e-9 * m->link};
  const struct fold_series link = {
      .label = "the link's ceiling", .look = FOLD_LOOK_LIMIT, .x = link_x, .y = link_y, .n = 2};
  char caption[400], where[210], without[60];
  snprintf(caption, sizeof caption, "%s of an all-reduce by length, %.0f ranks, %.20s %.20s%s. Medians%s.",
           bandwidth ? "Bus bandwidth" : "Time", m->workers, m->dtype, m->op,
           fold_page_where(page, m->environment, where), fold_page_without(n_doubtful, without));
  const struct fold_plot plot = {.x_label = "length (bytes)",
                                 .y_label = bandwidth ? "bus bandwidth (GB/s)" : "median time (us)",
                                 .log_x = true,
                                 .log_y = true,
                                 .series = series,
                                 .n = n_series};
  fold_page_plots(page, &plot, bandwidth && isfinite(m->link) ? &link : NULL, caption);
}

void fold_sheet_messages(struct fold_sheet *sheet, const struct fold_model *m) {
  fold_sheet_open(
      sheet,
      "All-reduces of vectors; each setting of the library has a world of its own, and is compared with the "
      "default's",
      "Subject;^Setting;^dtype;^op;^Data;^#Ranks;#Bytes;=Median (us);=10 % (us);=90 % (us);=Algorithm "
      "(GB/s);=Bus (GB/s);=Library's time / own;Judged first;^Machine");
  struct fold_model_timed *all = fold_sheet_sorted(sheet, &keys, m->messages, m->n_messages);
  for (size_t i = 0; all && i < m->n_messages; i++) {
    const struct fold_model_timed *s = &all[i];
    FOLD_ROW(sheet, T(s->subject), T(s->setting), T(s->dtype), T(s->op), T(s->generator), N(s->workers), N(s->bytes),
             N(1e6 * s->median), N(1e6 * s->p10), N(1e6 * s->p90), N(1e-9 * s->algorithm), N(1e-9 * s->bus),
             N(s->to_library));
    fold_sheet_judged(sheet, m, s);
  }
  free(all);
}

static size_t draw_both(struct fold_page *page, const void *items, size_t n, double *room) {
  draw(page, items, n, room, true);
  draw(page, items, n, room, false);
  return 2;
}

static fold_status put_timed(struct fold_page *page, const struct fold_model *m) {
  const struct fold_groups groups = {m->messages, m->n_messages, &keys, GROUP, SIZE_MAX, draw_both, 2};
  FOLD_TRY(fold_page_groups(page, &groups));
  return fold_page_sheet(page, fold_sheet_messages);
}

/* Probes come in the order in which they were written, row by row. Neighbours on one machine, dtype and data make one table. */
#define BY(member) FOLD_BY(fold_model_probe, member)
enum { TABLE = 5, ROW = 7 };
static const struct fold_keys probe_keys = {
    sizeof(struct fold_model_probe),
    {BY(environment), BY(dtype), BY(workers), BY(generator), BY(head), BY(subject), BY(setting)}};
#undef BY

enum { MOST_LENGTHS = 60 };

/* The columns are the lengths of the longest row; a row whose world ended early has fewer. */
static void open_probe(struct fold_sheet *sheet, const struct fold_model *m, const struct fold_model_probe *p,
                       size_t width) {
  char title[FOLD_SHEET_TITLE], text[32], place[200], left[60] = "";
  fold_text_place(m, p->environment, place);
  if (width > MOST_LENGTHS) snprintf(left, sizeof left, "; %zu longer messages are not shown", width - MOST_LENGTHS);
  snprintf(
      title, sizeof title,
      "Which bits agree: the same letter, the same bits of the first %s elements (~: a repeat of the call differs); "
      "%.0f ranks%s, %.20s, %.60s%s%.60s%s%s%s; by bytes of the message%s",
      fold_text_grouped(p->head, text), p->workers, p->workers < 3 ? " (too few: all orders agree)" : "", p->dtype,
      p->generator, p->library[0] ? ", " : "", p->library, place[0] ? " (" : "", place, place[0] ? ")" : "", left);
  fold_sheet_open(sheet, title, "Subject;Setting");
}

static void fill_probe(struct fold_sheet *sheet, const struct fold_model *m, const struct fold_model_probe *p,
                       size_t n) {
  size_t widest = 0, width = 0;
  char text[48];
  for (size_t i = 0, end; i < n; i = end) {
    end = fold_keys_end(&probe_keys, ROW, p, i, n);
    if (end - i > width) widest = i, width = end - i;
  }
  open_probe(sheet, m, p, width);
  if (width > MOST_LENGTHS) width = MOST_LENGTHS;
  for (size_t k = 0; k < width; k++) fold_sheet_columns(sheet, fold_text_grouped(p[widest + k].bytes, text));
  for (size_t i = 0, end; i < n; i = end) {
    end = fold_keys_end(&probe_keys, ROW, p, i, n);
    FOLD_ROW(sheet, T(p[i].subject), T(p[i].setting));
    for (size_t k = i; k < i + width; k++) {
      if (k < end)
        snprintf(text, sizeof text, "%.12s%s%s", p[k].letter, p[k].rank_agreement ? "" : " (ranks differ)",
                 p[k].run_to_run ? "" : " ~");
      FOLD_ROW(sheet, T(k < end ? text : ""));
    }
  }
}

fold_status fold_sheets_probes(const struct fold_model *m, enum fold_report_format format, size_t most, FILE *out) {
  fold_status status = fold_ok();
  for (size_t i = 0, end; i < m->n_probes && status.code == FOLD_OK; i = end) {
    end = fold_keys_end(&probe_keys, TABLE, m->probes, i, m->n_probes);
    struct fold_sheet sheet;
    fill_probe(&sheet, m, m->probes + i, end - i);
    status = fold_sheet_put(&sheet, format, most, out);
  }
  return status;
}

fold_status fold_page_allreduces(struct fold_page *page) {
  const struct fold_model *m = page->model;
  if (m->n_messages) FOLD_TRY(put_timed(page, m));
  if (m->n_probes == 0) return fold_ok();
  fputs("<details><summary>Which bits agree, by length</summary>\n", page->out);
  FOLD_TRY(fold_sheets_probes(m, FOLD_REPORT_HTML, SIZE_MAX, page->out));
  fputs("</details>", page->out);
  return fold_ok();
}
