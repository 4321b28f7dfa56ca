/* report_plot.h: a plot as inline SVG, drawn by gnuplot when the report is made.
 *
 * Colours are Okabe and Ito's, which the colour-blind tell apart; each series has its own mark and dash as well. Labels
 * from records reach gnuplot only after everything but plain letters, digits and a few signs has been replaced. The
 * legend is a list of HTML, so that it is as long as it must be and readable on a phone.
 */
#ifndef FOLD_REPORT_PLOT_H
#define FOLD_REPORT_PLOT_H

#include <stdio.h>

#include "report_gnuplot.h"

enum fold_series_look {
  FOLD_LOOK_MARKS,  /* marks joined by lines */
  FOLD_LOOK_DASHES, /* a bound: a thin dashed line, its series' mark small */
  FOLD_LOOK_DOTS,   /* a probabilistic bound: a thin dotted line, the same */
  FOLD_LOOK_LIMIT,  /* a ceiling or an ideal: a thick black dashed line */
  FOLD_LOOK_RANGES, /* marks that nothing joins, each on a line from its low to its high */
};

struct fold_series {
  char label[480]; /* in the legend; empty: a bound, told by its series' colour and mark */
  enum fold_series_look look;
  int style; /* which colour (of 8), mark (of 12) and dash */
  const double *x, *y;
  const double *low, *high; /* of x, with FOLD_LOOK_RANGES alone */
  size_t n; /* points; those that are not finite are left out, and the line has a gap there */
};

struct fold_plot {
  const char *x_label, *y_label;
  /* On a logarithmic axis a zero stands below the least positive value, at a tic named 0. An axis is logarithmic too where
   * its values span more than six decades. */
  bool log_x, log_y;
  bool whole_x; /* x is a count: tics only at whole numbers that have points */
  const char *const *rows; /* y is a place among these, from above; NULL: a number */
  size_t n_rows;
  const struct fold_series *series;
  size_t n;
};

/* Writes one <svg>. FOLD_BAD_INPUT when there is nothing to draw but limits, and what fold_gnuplot_run says. Writes all or
 * nothing. */
fold_status fold_plot_svg(const struct fold_plot *plot, const struct fold_figure *figure, FILE *out);
/* <ul class="key"> of the series that have a label, and a point. */
void fold_plot_legend(const struct fold_plot *plot, FILE *out);

#endif
