/* report/gnuplot.h: runs gnuplot on a script and prepares its SVG for a page that holds several. */
#ifndef FOLD_REPORT_GNUPLOT_H
#define FOLD_REPORT_GNUPLOT_H

#include <stdio.h>

#include "base/fold.h"

/* The size of a figure in SVG's units. On a phone it is shown at half of that, where 15-point labels are still
 * readable. */
enum { FOLD_FIGURE_WIDTH = 560, FOLD_FIGURE_HEIGHT = 380 };

/* The figure's number in its page, its text for screen readers, and gnuplot's time limit. */
struct fold_figure {
  int id;
  const char *alt;
  unsigned seconds;
};

/* FOLD_UNSUPPORTED: no gnuplot in PATH. FOLD_ENVIRONMENT: it failed, exceeded its time limit, or wrote more than
 * FOLD_FIGURE_BYTES. Nothing is written to `out` in these cases. */
enum { FOLD_FIGURE_BYTES = 1 << 28 };
fold_status fold_gnuplot_run(FILE *script, const struct fold_figure *figure, FILE *out);

#endif
