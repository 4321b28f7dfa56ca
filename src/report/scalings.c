/* report/scalings.c: strong and weak scaling beside the ideal. It needs records of type "scaling".
 *
 * Such a record has subject, engine, dtype, op, mode ("strong": n terms in all, "weak": n terms for each worker), n, workers
 * (ranks or GPUs) and median_seconds. It may have local_median_seconds and calls_median_seconds (what a rank computes, and its
 * calls to the others, each timed alone), to_library, implausible, noisy and why. Nothing is inferred:
 * without a record of one worker there is no curve.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "report/section.h"

enum { MOST_SUBJECTS = 40 };

#define BY(member) FOLD_BY(fold_model_timed, member)
enum { GROUP = 5, SERIES = 6 };
static const struct fold_keys keys = {sizeof(struct fold_model_timed),
                                      {BY(environment), BY(mode), BY(dtype), BY(op), BY(n), BY(subject), BY(workers)}};

static bool is_doubtful(const struct fold_model_timed *s) { return s->implausible || s->noisy; }

/* Strong: the speed-up t(1)/t(p), ideally p. Weak: the efficiency t(1)/t(p), ideally 1. Doubtful times, and ratios to them, are
 * in the table only. */
static size_t draw_group(struct fold_page *page, const void *items, size_t n, double *room) {
  const struct fold_model_timed *s = items;
  struct fold_series series[MOST_SUBJECTS];
  double *x = room, *y = room + n, most = 1;
  bool weak = strcmp(s->mode, "weak") == 0;
  size_t n_series = 0, n_doubtful = 0;
  for (size_t i = 0, end; i < n && n_series < MOST_SUBJECTS; i = end) {
    end = fold_keys_end(&keys, SERIES, s, i, n);
    for (size_t k = i; k < end; k++) {
      x[k] = s[k].workers;
      bool comparable = s[i].workers == 1, doubtful = comparable && (is_doubtful(&s[i]) || is_doubtful(&s[k]));
      y[k] = comparable && !doubtful ? s[i].median / s[k].median : NAN;
      n_doubtful += doubtful;
      most = fmax(most, x[k]);
    }
    series[n_series] = (struct fold_series){.style = (int)n_series, .x = x + i, .y = y + i, .n = end - i};
    snprintf(series[n_series].label, sizeof series->label, "%.100s", s[i].subject);
    n_series++;
  }
  double ideal_x[] = {1, most}, ideal_y[] = {1, weak ? 1 : most};
  const struct fold_series ideal = {.label = "ideal", .look = FOLD_LOOK_LIMIT, .x = ideal_x, .y = ideal_y, .n = 2};
  struct fold_plot plot = {.x_label = "workers",
                           .y_label = weak ? "efficiency t(1)/t(p)" : "speed-up t(1)/t(p)",
                           .whole_x = true,
                           .series = series,
                           .n = n_series};
  char caption[400], where[210], count[32], without[60];
  snprintf(caption, sizeof caption, "%s scaling, %.20s %.20s, %s elements%s%s%s.", weak ? "Weak" : "Strong", s->dtype,
           s->op, fold_text_grouped(s->n, count), weak ? " a worker" : "", fold_page_where(page, s->environment, where),
           fold_page_without(n_doubtful, without));
  fold_page_plots(page, &plot, &ideal, caption);
  return 1;
}

void fold_sheet_scalings(struct fold_sheet *sheet, const struct fold_model *m) {
  fold_sheet_open(sheet, "Scaling: strong with as many elements in all, weak with as many a worker",
                  "Subject;^Mode;^dtype;^op;^Data;#Elements;#Workers;=Median (us);=10 % (us);=90 % (us);=Local (us);"
                  "=Calls (us);=t(1)/t(p);=Throughput (GB/s);=Of the ceiling (%);=Library's time / own;Judged "
                  "first;^Machine");
  struct fold_model_timed *all = fold_sheet_sorted(sheet, &keys, m->scalings, m->n_scalings);
  double one = NAN; /* the time of one worker */
  for (size_t i = 0, end = 0; all && i < m->n_scalings; i++) {
    const struct fold_model_timed *s = &all[i];
    if (i == end) {
      end = fold_keys_end(&keys, SERIES, all, i, m->n_scalings);
      one = s->workers == 1 ? s->median : NAN;
    }
    FOLD_ROW(sheet, T(s->subject), T(s->mode), T(s->dtype), T(s->op), T(s->generator), N(s->n), N(s->workers),
             N(1e6 * s->median), N(1e6 * s->p10), N(1e6 * s->p90), N(1e6 * s->local_median), N(1e6 * s->calls_median),
             N(one / s->median), N(1e-9 * s->bytes_per_second), N(100 * s->of_ceiling), N(s->to_library));
    fold_sheet_judged(sheet, m, s);
  }
  free(all);
}

fold_status fold_page_scalings(struct fold_page *page) {
  const struct fold_model *m = page->model;
  const struct fold_groups groups = {m->scalings, m->n_scalings, &keys, GROUP, SIZE_MAX, draw_group, 2};
  FOLD_TRY(fold_page_groups(page, &groups));
  return fold_page_sheet(page, fold_sheet_scalings);
}
