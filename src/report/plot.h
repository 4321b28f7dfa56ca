/* report/plot.h: a plot as inline SVG, drawn by gnuplot when the report is made.
 *
 * The colours are those of Okabe and Ito, which colour-blind people can distinguish; each series has its own mark and dash as well.
 * In labels from records everything but plain letters, digits and a few signs is replaced before they reach gnuplot. The
 * legend is an HTML list, so that it can have any length and is readable on a phone.
 */
#ifndef FOLD_REPORT_PLOT_H
#define FOLD_REPORT_PLOT_H

#include <stdio.h>

#include "report/gnuplot.h"

enum fold_series_look {
  FOLD_LOOK_MARKS,  /* marks joined by lines */
  FOLD_LOOK_DASHES, /* a bound: a thin dashed line, its series' mark small */
  FOLD_LOOK_DOTS,   /* a probabilistic bound: a thin dotted line, the same */
  FOLD_LOOK_LIMIT,  /* a ceiling or an ideal: a thick black dashed line */
  FOLD_LOOK_RANGES, /* marks that nothing joins, each on a line from its low to its high */
};

struct fold_series {
  char label[480]; /* in the legend; empty for a bound, which has the colour and mark of its series */
  enum fold_series_look look;
  int style; /* which colour (of 8), mark (of 12) and dash */
  const double *x, *y;
  const double *low, *high; /* of x; only for FOLD_LOOK_RANGES */
  size_t n;                 /* how many points; a point that is not finite is left out, and the line has a gap there */
};

struct fold_plot {
  const char *x_label, *y_label; /* no quotes and nothing of a record: gnuplot gets them as they are */
  /* On a logarithmic axis a zero is drawn below the least positive value, at a tic labelled 0. An axis whose values
   * span more than six decades is always logarithmic. */
  bool log_x, log_y;
  bool whole_x;            /* x is a count: tics only at whole numbers that have points */
  const char *const *rows; /* y is an index into these, from the top; NULL: y is a number */
  size_t n_rows;
  const struct fold_series *series;
  size_t n;
};

/* Writes one <svg>, or nothing if it fails: FOLD_BAD_INPUT if there is nothing to draw but limits, else as
 * fold_gnuplot_run. */
fold_status fold_plot_svg(const struct fold_plot *plot, const struct fold_figure *figure, FILE *out);
/* Writes <ul class="key"> with the series that have a label and at least one point. */
void fold_plot_legend(const struct fold_plot *plot, FILE *out);

#endif
