/* report_plot.c: gnuplot's script, written; its figure's style and legend. report_gnuplot.c runs it. */
#include "report_plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report_gnuplot.h"
#include "report_text.h"

/* Okabe and Ito's palette but yellow, which is too faint for a line; grey in its place. */
static const char *const colours[] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                      "#000000", "#E69F00", "#56B4E9", "#777777"};
static const int marks[] = {5, 7, 9, 13, 4, 6, 8, 12, 11, 10, 1, 2};
enum { COLOURS = sizeof colours / sizeof *colours, MARKS = sizeof marks / sizeof *marks };

/* In gnuplot's single quotes nothing is expanded; of what is left only plain signs pass. */
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

/* What lies beyond stands at the axis' end: a range is multiplied below, and stays a number. */
static const double least = 1e-300, most = 1e300;
/* An axis that spans more is logarithmic, whatever its plot asks for: of a linear one all but the largest would be flat. */
static const double widest = 1e6;

struct axis {
  double low, high; /* of positive values */
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
  for (size_t s = 0; s < plot->n; s++)
    for (size_t i = 0; i < plot->series[s].n; i++) {
      double x = plot->series[s].x[i], y = plot->series[s].y[i];
      if (usable(plot, x, y)) widen(&r.x, x), widen(&r.y, y);
    }
  settle(&r.x, plot->log_x);
  settle(&r.y, plot->log_y);
  return r;
}

/* A zero on a logarithmic axis: a little below the decade of the least positive value. */
static double floor_of(const struct axis *axis) { return pow(10, floor(log10(axis->low)) - 1); }

static double bounded(double value) { return value == 0 ? 0 : within(value); }

static double place(const struct axis *axis, double value) {
  return value == 0 && axis->logarithmic ? floor_of(axis) : bounded(value);
}

enum { MOST_TICS = 8, MOST_PREFIXED = 12 };

/* Tics of a wide axis are listed: with a step between them, gnuplot counts for ever where that is large (1e10). */
static void put_tics(FILE *script, const struct axis *axis, char name, int first, int last) {
  int step = (last - first) / MOST_TICS + 1;
  const char *between = axis->zero ? ", " : "";
  fprintf(script, "set %ctics (", name);
  if (axis->zero) fprintf(script, "'0' %.17g", floor_of(axis));
  for (int k = axis->zero ? first + 1 : first; k <= last; k += step, between = ", ")
    fprintf(script, "%s'1e%d' %.17g", between, k, pow(10, k));
  fputs(")\n", script);
}

/* Numbers of terms, bytes or ranks stand on x, with their prefixes (10 k), where these reach. */
static void put_logarithmic(FILE *script, const struct axis *axis, char name) {
  bool is_x = name == 'x';
  double low = (axis->zero ? floor_of(axis) : axis->low) / (is_x ? 1.3 : 1.5), high = axis->high * (is_x ? 1.3 : 2);
  int first = (int)ceil(log10(low)), last = (int)floor(log10(high));
  fprintf(script, "set logscale %c\nset format %c '%s'\nset %crange [%.17g:%.17g]\n", name, name,
          is_x ? "%.0s%c" : "1e%T", name, low, high);
  if (last - first > (is_x ? MOST_PREFIXED : MOST_TICS))
    put_tics(script, axis, name, first, last);
  else if (axis->zero)
    fprintf(script, "set %ctics add ('0' %.17g)\n", name, floor_of(axis));
}

static void put_axes(FILE *script, const struct fold_plot *plot, const struct range *r) {
  fprintf(script, "set xlabel ");
  put_label(script, plot->x_label);
  fprintf(script, "\nset ylabel ");
  put_label(script, plot->y_label);
  fputc('\n', script);
  if (r->x.logarithmic) put_logarithmic(script, &r->x, 'x');
  if (r->y.logarithmic)
    put_logarithmic(script, &r->y, 'y');
  else
    fprintf(script, "set yrange [0:%.17g]\n", 1.08 * r->y.high);
}

static void put_data(FILE *script, const struct fold_plot *plot, const struct range *r) {
  for (size_t s = 0; s < plot->n; s++) {
    fprintf(script, "$d%zu << END_OF_DATA\n", s);
    for (size_t i = 0; i < plot->series[s].n; i++) {
      double x = plot->series[s].x[i], y = plot->series[s].y[i];
      if (usable(plot, x, y))
        fprintf(script, "%.17g %.17g\n", place(&r->x, x), place(&r->y, y));
      else
        fputc('\n', script); /* no line leads across */
    }
    fprintf(script, "END_OF_DATA\n");
  }
}

/* A series of which nothing can be drawn would make gnuplot stop. */
static bool is_empty(const struct fold_plot *plot, const struct fold_series *series) {
  for (size_t i = 0; i < series->n; i++)
    if (usable(plot, series->x[i], series->y[i])) return false;
  return true;
}

static void put_series(FILE *script, const struct fold_series *s, size_t k) {
  const char *colour = colours[s->style % COLOURS];
  int mark = marks[s->style % MARKS], dash = s->look == FOLD_LOOK_DASHES ? 2 : 3;
  fprintf(script, "$d%zu using 1:2 ", k);
  if (s->look == FOLD_LOOK_LIMIT)
    fprintf(script, "with lines lc rgb '#000000' lw 2 dt 2 notitle");
  else if (s->look == FOLD_LOOK_MARKS)
    fprintf(script, "with linespoints lc rgb '%s' lw 1.4 dt %d pt %d ps 0.75 pointinterval %zu notitle", colour,
            s->style / MARKS % 4 + 1, mark, s->n / 24 + 1);
  else
    fprintf(script, "with linespoints lc rgb '%s' lw 1 dt %d pt %d ps 0.35 pointinterval %zu notitle", colour, dash,
            mark, s->n / 8 + 1);
}

static fold_status write_plot(FILE *script, const struct fold_plot *plot) {
  struct range r = find_range(plot);
  bool empty = true;
  for (size_t s = 0; s < plot->n; s++)
    empty &= plot->series[s].look == FOLD_LOOK_LIMIT || is_empty(plot, &plot->series[s]);
  if (empty) return fold_error(FOLD_BAD_INPUT, "nothing finite to draw");
  put_header(script, FOLD_FIGURE_HEIGHT);
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

fold_status fold_bars_svg(const struct fold_bars *bars, const struct fold_figure *figure, FILE *out) {
  FILE *script = tmpfile();
  if (script == NULL) return fold_error(FOLD_ENVIRONMENT, "no temporary file for a figure");
  put_header(script, FOLD_FIGURE_HEIGHT + 60);
  fprintf(script,
          "set style data histogram\nset style histogram errorbars gap 1 lw 1\nset boxwidth 0.9\nset yrange [0:*]\n"
          "unset grid\nset grid ytics lc rgb '#d5d5d5' lw 0.6 dt 1\nset xtics rotate by -30\nset ylabel ");
  put_label(script, bars->y_label);
  fprintf(script, "\n$d << END_OF_DATA\n");
  for (size_t i = 0; i < bars->n; i++) {
    char label[80];
    snprintf(label, sizeof label, "%s", bars->pairs[i].label);
    for (char *c = label; *c; c++)
      if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || strchr("0123456789/_.@+-", *c))) *c = '?';
    fprintf(script, "\"%s\"", label);
    for (int k = 0; k < 2; k++)
      fprintf(script, " %.17g %.17g %.17g", bounded(bars->pairs[i].value[k]), bounded(bars->pairs[i].low[k]),
              bounded(bars->pairs[i].high[k]));
    fputc('\n', script);
  }
  fprintf(script,
          "END_OF_DATA\nplot $d using 2:3:4:xtic(1) lc rgb '%s' fs solid 0.85 border lc rgb '%s' notitle, "
          "$d using 5:6:7 lc rgb '%s' fs pattern 4 border lc rgb '%s' notitle\n",
          colours[0], colours[0], colours[1], colours[1]);
  fold_status status = fold_gnuplot_run(script, figure, out);
  fclose(script);
  return status;
}

/* The shapes of gnuplot's marks, in the same sequence as `marks`, about (20, 7). */
static void put_mark(int style, FILE *out) {
  static const char *const shapes[] = {"M16 3h8v8h-8z", "M20 3a4 4 0 1 0 .01 0z", "M20 2l5 8h-10z",
                                       "M20 2l5 5l-5 5l-5 -5z"};
  int k = style % MARKS;
  const char *colour = colours[style % COLOURS];
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
  fprintf(out,
          "<svg viewBox=\"0 0 40 14\" aria-hidden=\"true\"><path d=\"M2 7h36\" stroke=\"%s\" stroke-width=\"%s\" "
          "stroke-dasharray=\"%s\"/>",
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

void fold_bars_legend(const struct fold_bars *bars, FILE *out) {
  fprintf(
      out,
      "<ul class=\"key\"><li><svg viewBox=\"0 0 40 14\" aria-hidden=\"true\"><path d=\"M2 1h36v12h-36z\" fill=\"%s\"/>"
      "</svg>%s</li><li><svg viewBox=\"0 0 40 14\" aria-hidden=\"true\"><path d=\"M2 1h36v12h-36zM2 13l12 -12M14 13l12 "
      "-12M26 13l12 -12\" fill=\"none\" stroke=\"%s\"/></svg>%s</li></ul>",
      colours[0], bars->first, colours[1], bars->second);
}
