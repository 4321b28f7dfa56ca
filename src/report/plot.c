/* report/plot.c: writes gnuplot's script, and a figure's style and legend. report/gnuplot.c runs the script. */
#include "report/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/gnuplot.h"
#include "report/text.h"

/* Okabe and Ito's palette, with grey in place of yellow, which is too faint for a line. */
static const char *const colours[] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                      "#000000", "#E69F00", "#56B4E9", "#777777"};
static const int marks[] = {5, 7, 9, 13, 4, 6, 8, 12, 11, 10, 1, 2};
enum { COLOURS = sizeof colours / sizeof *colours, MARKS = sizeof marks / sizeof *marks };

/* Inside single quotes gnuplot expands nothing. Signs other than plain ones are replaced. */
static void put_label(FILE *script, const char *text) {
  fputc('\'', script);
  for (; *text; text++)
    fputc((*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z') || strchr("0123456789 /_.,:;@+-=()|%", *text)
              ? *text
              : '?',
          script);
  fputc('\'', script);
}

static void put_header(FILE *script, int height) {
  fprintf(script,
          "set terminal svg size %d,%d noenhanced font 'sans-serif,17' linewidth 1.3\nset encoding utf8\n"
          "set border 3 lc rgb '#555555'\nset tics nomirror\nset grid lc rgb '#d5d5d5' lw 0.6 dt 1\n"
          "unset key\n",
          FOLD_FIGURE_WIDTH, height);
}

/* Larger values are drawn at the end of the axis, so that the range stays finite when it is multiplied below. */
static const double least = 1e-300, most = 1e300;
/* An axis that spans more decades is always logarithmic: on a linear one all but the largest values would be flat. */
static const double widest = 1e6;

struct axis {
  double low, high; /* over the positive values */
  bool zero, negative, logarithmic;
};

struct range {
  struct axis x, y;
};

static bool usable(const struct fold_plot *plot, double x, double y) {
  return isfinite(x) && isfinite(y) && !(plot->log_x && x <= 0) && !(plot->log_y && y < 0);
}

static double within(double value) { return copysign(fmin(fmax(fabs(value), least), most), value); }

static void widen(struct axis *axis, double value) {
  axis->zero |= value == 0;
  axis->negative |= value < 0;
  if (value > 0) axis->low = fmin(axis->low, within(value)), axis->high = fmax(axis->high, within(value));
}

static void settle(struct axis *axis, bool logarithmic) {
  if (axis->high == 0) axis->low = axis->high = 1;
  axis->logarithmic = logarithmic || (!axis->negative && axis->high / widest > axis->low);
}

static struct range find_range(const struct fold_plot *plot) {
  struct range r = {{.low = INFINITY}, {.low = INFINITY}};
  for (const struct fold_series *s = plot->series; s < plot->series + plot->n; s++)
    for (size_t i = 0; i < s->n; i++) {
      if (!usable(plot, s->x[i], s->y[i])) continue;
      widen(&r.x, s->x[i]), widen(&r.y, s->y[i]);
      if (s->low) widen(&r.x, s->low[i]), widen(&r.x, s->high[i]);
    }
  settle(&r.x, plot->log_x);
  settle(&r.y, plot->log_y);
  return r;
}

/* Where a zero is drawn on a logarithmic axis: just below the decade of the least positive value. */
static double floor_of(const struct axis *axis) { return pow(10, floor(log10(axis->low)) - 1); }

static double bounded(double value) { return value == 0 ? 0 : within(value); }

static double place(const struct axis *axis, double value) {
  return value == 0 && axis->logarithmic ? floor_of(axis) : bounded(value);
}

enum { MOST_TICS = 8, MOST_PREFIXED = 12 };

/* Writes the tics of a wide axis one by one, because with a large step (1e10) gnuplot never ends. */
static void put_tics(FILE *script, const struct axis *axis, char name, int first, int last) {
  int step = (last - first) / MOST_TICS + 1;
  const char *between = axis->zero ? ", " : "";
  fprintf(script, "set %ctics (", name);
  if (axis->zero) fprintf(script, "'0' %.17g", floor_of(axis));
  for (int k = axis->zero ? first + 1 : first; k <= last; k += step, between = ", ")
    fprintf(script, "%s'1e%d' %.17g", between, k, pow(10, k));
  fputs(")\n", script);
}

/* x is a number of terms, bytes or ranks. It is labelled with prefixes (10 k) as far as these go. */
static void put_logarithmic(FILE *script, const struct axis *axis, char name) {
  bool is_x = name == 'x';
  double low = (axis->zero ? floor_of(axis) : axis->low) / (is_x ? 1.3 : 1.5), high = axis->high * (is_x ? 1.3 : 2);
  int first = (int)ceil(log10(low)), last = (int)floor(log10(high));
  fprintf(script, "set logscale %c\nset format %c '%s'\nset %crange [%.17g:%.17g]\n", name, name,
          is_x                         ? "%.0s%c"
          : low >= 1e-3 && high <= 1e6 ? "%g"
                                       : "1e%T",
          name, low, high);
  if (last - first > (is_x ? MOST_PREFIXED : MOST_TICS))
    put_tics(script, axis, name, first, last);
  else if (axis->zero)
    fprintf(script, "set %ctics add ('0' %.17g)\n", name, floor_of(axis));
}

/* A tic at each whole number that has a point, or at as many of them as fit. */
static void put_whole(FILE *script, const struct fold_plot *plot, const struct axis *axis) {
  const double step = ceil(axis->high / MOST_PREFIXED), low = axis->low < 1 ? axis->low : 1;
  const char *between = "";
  fputs("set xtics (", script);
  for (double at = floor(low); at <= axis->high; at += step) {
    bool there = step > 1;
    for (size_t s = 0; s < plot->n && !there; s++)
      for (size_t i = 0; i < plot->series[s].n && !there; i++) there = plot->series[s].x[i] == at;
    if (there) fprintf(script, "%s'%.0f' %.17g", between, at, at), between = ", ";
  }
  fprintf(script, ")\nset xrange [%.17g:%.17g]\n", low - 0.2, axis->high + 0.2);
}

/* Tics at 1, 2, 5, 10 and so on. An axis of one decade also has tics between these; an axis of more than three has only
 * 1 and 10. */
static void put_times(FILE *script, const struct axis *axis) {
  static const double steps[] = {1, 2, 5, 1.5, 3, 7};
  const double low = axis->low / 1.3, high = axis->high * 1.3;
  const int used = high >= 1000 * low ? 1 : high >= 10 * low ? 3 : 6;
  const int first = (int)floor(log10(low)), by = (int)(log10(high) - first) / MOST_TICS + 1;
  const char *between = "";
  fprintf(script, "set logscale x\nset xrange [%.17g:%.17g]\nset xtics (", low, high);
  for (int k = first; k <= log10(high); k += by)
    for (int i = 0; i < used; i++) {
      const double at = steps[i] * pow(10, k);
      if (at >= low && at <= high) fprintf(script, "%s'%.6g' %.17g", between, at, at), between = ", ";
    }
  fputs(")\n", script);
}

/* The first row is at the top; x is a time. */
static void put_rows(FILE *script, const struct fold_plot *plot, const struct axis *x) {
  put_times(script, x);
  fprintf(script, "set yrange [%.17g:-0.5]\nset ytics font ',16' (", (double)plot->n_rows - 0.5);
  for (size_t i = 0; i < plot->n_rows; i++) {
    if (i) fputs(", ", script);
    put_label(script, plot->rows[i]);
    fprintf(script, " %zu", i);
  }
  fputs(")\n", script);
}

static void put_axes(FILE *script, const struct fold_plot *plot, const struct range *r) {
  fprintf(script, "set xlabel '%s'\n", plot->x_label);
  if (plot->rows) {
    put_rows(script, plot, &r->x);
    return;
  }
  fprintf(script, "set ylabel '%s'\n", plot->y_label);
  if (r->x.logarithmic)
    put_logarithmic(script, &r->x, 'x');
  else if (plot->whole_x)
    put_whole(script, plot, &r->x);
  if (r->y.logarithmic)
    put_logarithmic(script, &r->y, 'y');
  else
    fprintf(script, "set yrange [0:%.17g]\n", 1.08 * r->y.high);
}

static void put_data(FILE *script, const struct fold_plot *plot, const struct range *r) {
  for (size_t k = 0; k < plot->n; k++) {
    const struct fold_series *s = &plot->series[k];
    fprintf(script, "$d%zu << END_OF_DATA\n", k);
    for (size_t i = 0; i < s->n; i++) {
      const bool there = usable(plot, s->x[i], s->y[i]); /* otherwise the line has a gap */
      if (there) fprintf(script, "%.17g %.17g", place(&r->x, s->x[i]), place(&r->y, s->y[i]));
      if (there && s->low) fprintf(script, " %.17g %.17g", within(s->low[i]), within(s->high[i]));
      fputc('\n', script);
    }
    fprintf(script, "END_OF_DATA\n");
  }
}

/* gnuplot fails on a series without points. */
static bool is_empty(const struct fold_plot *plot, const struct fold_series *series) {
  for (size_t i = 0; i < series->n; i++)
    if (usable(plot, series->x[i], series->y[i])) return false;
  return true;
}

static void put_series(FILE *script, const struct fold_series *s, size_t k) {
  const char *colour = colours[s->style % COLOURS];
  int mark = marks[s->style % MARKS], dash = s->look == FOLD_LOOK_DASHES ? 2 : 3;
  fprintf(script, "$d%zu using 1:2%s ", k, s->look == FOLD_LOOK_RANGES ? ":3:4" : "");
  if (s->look == FOLD_LOOK_RANGES)
    fprintf(script, "with xerrorbars lc rgb '%s' pt %d ps 0.9 lw 1.4 notitle", colour, mark);
  else if (s->look == FOLD_LOOK_LIMIT)
    fprintf(script, "with lines lc rgb '#000000' lw 2 dt 2 notitle");
  else if (s->look == FOLD_LOOK_MARKS)
    fprintf(script, "with linespoints lc rgb '%s' lw 1.4 dt %d pt %d ps 0.75 pointinterval %zu notitle", colour,
            s->style / MARKS % 4 + 1, mark, s->n / 24 + 1);
  else
    fprintf(script, "with linespoints lc rgb '%s' lw 1 dt %d pt %d ps 0.35 pointinterval %zu notitle", colour, dash,
            mark, s->n / 8 + 1);
}

enum { ROW_HEIGHT = 44, ROWS_FRAME = 70 };

static fold_status write_plot(FILE *script, const struct fold_plot *plot) {
  struct range r = find_range(plot);
  bool empty = true;
  for (size_t s = 0; s < plot->n; s++)
    empty &= plot->series[s].look == FOLD_LOOK_LIMIT || is_empty(plot, &plot->series[s]);
  if (empty) return fold_error(FOLD_BAD_INPUT, "nothing finite to draw");
  put_header(script, plot->rows ? ROWS_FRAME + ROW_HEIGHT * (int)plot->n_rows : FOLD_FIGURE_HEIGHT);
  put_axes(script, plot, &r);
  put_data(script, plot, &r);
  fprintf(script, "plot ");
  const char *between = "";
  for (size_t s = 0; s < plot->n; s++) {
    if (is_empty(plot, &plot->series[s])) continue;
    fprintf(script, "%s", between);
    put_series(script, &plot->series[s], s);
    between = ", ";
  }
  fputc('\n', script);
  return fold_ok();
}

fold_status fold_plot_svg(const struct fold_plot *plot, const struct fold_figure *figure, FILE *out) {
  FILE *script = tmpfile();
  if (script == NULL) return fold_error(FOLD_ENVIRONMENT, "no temporary file for a figure");
  fold_status status = write_plot(script, plot);
  if (status.code == FOLD_OK) status = fold_gnuplot_run(script, figure, out);
  fclose(script);
  return status;
}

/* The shapes of gnuplot's marks around (20, 7), in the same sequence as `marks`. */
static void put_mark(int style, FILE *out) {
  static const char *const shapes[] = {"M16 3h8v8h-8z", "M20 3a4 4 0 1 0 .01 0z", "M20 2l5 8h-10z",
                                       "M20 2l5 5l-5 5l-5 -5z"};
  const char *colour = colours[style % COLOURS];
  int k = style % MARKS;
  const char *shape = k < 8     ? shapes[k % 4]
                      : k < 10  ? "M20 12l5 -8h-10z"
                      : k == 10 ? "M15 7h10M20 2v10"
                                : "M16 3l8 8M24 3l-8 8";
  bool filled = k < 4 || k == 8;
  fprintf(out, "<path d=\"%s\" fill=\"%s\" stroke=\"%s\" stroke-width=\"1.3\"/>", shape, filled ? colour : "none",
          colour);
}

static void put_swatch(const struct fold_series *s, FILE *out) {
  static const char *const dashes[] = {"", "7 4", "2 3", "7 3 2 3"};
  bool limit = s->look == FOLD_LOOK_LIMIT;
  fputs("<svg viewBox=\"0 0 40 14\" aria-hidden=\"true\">", out);
  if (s->look != FOLD_LOOK_RANGES)
    fprintf(out, "<path d=\"M2 7h36\" stroke=\"%s\" stroke-width=\"%s\" stroke-dasharray=\"%s\"/>",
            limit ? "#000" : colours[s->style % COLOURS], limit ? "2.5" : "1.8",
            dashes[limit ? 1 : s->style / MARKS % 4]);
  if (!limit) put_mark(s->style, out);
  fputs("</svg>", out);
}

void fold_plot_legend(const struct fold_plot *plot, FILE *out) {
  fputs("<ul class=\"key\">", out);
  for (size_t k = 0; k < plot->n; k++) {
    if (!plot->series[k].label[0] || is_empty(plot, &plot->series[k])) continue;
    fputs("<li>", out);
    put_swatch(&plot->series[k], out);
    fold_put_html(out, plot->series[k].label);
    fputs("</li>", out);
  }
  fputs("</ul>", out);
}
