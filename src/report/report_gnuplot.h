/* report_gnuplot.h: runs gnuplot on a script and makes its SVG fit to stand in a page among others. */
#ifndef FOLD_REPORT_GNUPLOT_H
#define FOLD_REPORT_GNUPLOT_H

#include <stdio.h>

#include "fold.h"

/* The figure's size in SVG's units: on a phone it is shown at half of that, and 15-point labels stay readable. */
enum { FOLD_FIGURE_WIDTH = 560, FOLD_FIGURE_HEIGHT = 380 };

/* FOLD_UNSUPPORTED: no gnuplot in PATH; FOLD_ENVIRONMENT: it failed. Nothing is written to `out` then. */
fold_status fold_gnuplot_run(FILE *script, int id, const char *alt, FILE *out);

#endif
