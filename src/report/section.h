/* report/section.h: the parts of the page, each written by a file of its own.
 *
 * report/html.c writes their headings, and leaves out those that have nothing to show. Figures are numbered through the page. If gnuplot
 * is missing, the page says so once and keeps its tables.
 */
#ifndef FOLD_REPORT_SECTION_H
#define FOLD_REPORT_SECTION_H

#include "report/keys.h"
#include "report/plot.h"
#include "report/text.h"
#include "sheet/sheet.h"

struct fold_page {
  FILE *out;
  const struct fold_model *model;
  int figures;         /* how many were drawn */
  int shown, folds;    /* figures that may still be shown here and not folded; how many folds are open */
  unsigned seconds;    /* how long gnuplot may take for a figure */
  unsigned slow;       /* how many figures took longer */
  fold_status trouble; /* the first failure to draw a figure; the page is made nevertheless */
};

/* A cell of the page about a subject's claim: with sign "e" or "f" it is the row of its counts or of its first failure, with "#e" or
 * "#f" it leads there. */
struct fold_cell fold_page_link(const char *sign, size_t s, size_t k, bool promised, const char *text);
/* report/head.c: all that stands above the first section. */
void fold_page_head(struct fold_page *page);

fold_status fold_page_verdicts(struct fold_page *page);
fold_status fold_page_evidence(struct fold_page *page);
fold_status fold_page_errors(struct fold_page *page);
fold_status fold_page_ranks(struct fold_page *page);
fold_status fold_page_timings(struct fold_page *page);
fold_status fold_page_scalings(struct fold_page *page);
fold_status fold_page_allreduces(struct fold_page *page);
fold_status fold_page_worlds(struct fold_page *page);
fold_status fold_page_orders(struct fold_page *page);

/* Writes a <figure> with a caption, which is plain text and gets the figure's number in front. */
void fold_page_plot(struct fold_page *page, const struct fold_plot *plot, const char *caption);
/* The same, but with at most FOLD_METHODS_TOGETHER series in each figure; every figure gets `limit`, unless that is
 * NULL. */
void fold_page_plots(struct fold_page *page, const struct fold_plot *plot, const struct fold_series *limit,
                     const char *caption);
/* Begins a group of figures. Those after the first `shown` go into a fold, which a reader can open and which is not
 * printed. */
void fold_page_figures(struct fold_page *page, int shown);
void fold_page_figures_end(struct fold_page *page);
/* Draws items by group; the first `group` keys make a group. `draw` gets room for 3 n numbers and returns how many
 * figures it drew; once there are `most`, no further group is drawn. The first `shown` figures are not folded. */
struct fold_groups {
  const void *items;
  size_t n;
  const struct fold_keys *keys;
  size_t group, most;
  size_t (*draw)(struct fold_page *page, const void *items, size_t n, double *room);
  int shown;
};
fold_status fold_page_groups(struct fold_page *page, const struct fold_groups *groups);
/* Figures between these two calls are folded as well. */
void fold_page_fold(struct fold_page *page, const char *what);
void fold_page_unfold(struct fold_page *page);
/* Fills a sheet from the model. */
typedef void fold_view(struct fold_sheet *sheet, const struct fold_model *model);
fold_view fold_sheet_prices, fold_sheet_timings, fold_sheet_scalings, fold_sheet_messages, fold_sheet_ranks,
    fold_sheet_simulated;
/* For each subject and claim: counts and worst errors; the evidence; why cases were skipped and which rows have no
 * bound. */
fold_view fold_sheet_matrix, fold_sheet_unbounded;
extern const char fold_matrix_legend[];
/* Adds the last cells of a timing's row: how its result was judged, and on which machine. Marks the row if readers must
 * be warned. */
void fold_sheet_judged(struct fold_sheet *sheet, const struct fold_model *model, const struct fold_model_timed *timed);
fold_status fold_view_put(fold_view *view, const struct fold_model *model, enum fold_report_format format, size_t most,
                          FILE *out);
/* Writes several sheets, one for each machine and kind of data. */
typedef fold_status fold_views(const struct fold_model *model, enum fold_report_format format, size_t most, FILE *out);
fold_views fold_sheets_probes, fold_sheets_study, fold_sheets_worlds;
/* Writes a view's table, folded. */
fold_status fold_page_sheet(struct fold_page *page, fold_view *view);
/* For a caption: "", or "; N doubtful points left out". */
const char *fold_page_without(size_t n_doubtful, char text[60]);
/* "  (machine)" if the model has several environments, else "". */
const char *fold_page_where(const struct fold_page *page, int environment, char text[210]);

/* The reports. gnuplot may take `seconds` for a figure; `trouble` receives the reason if figures could not be drawn. */
fold_status fold_report_html(const struct fold_model *model, unsigned seconds, FILE *out, fold_status *trouble);
fold_status fold_report_markdown(const struct fold_model *model, FILE *out);
fold_status fold_report_text(const struct fold_model *model, FILE *out);
fold_status fold_report_junit(const struct fold_model *model, FILE *out);

/* The labels of the axes. */
struct fold_curves_kind {
  const char *x_label, *y_label;
};

/* Draws one group of errors: one operation, dtype, generator and environment; `n` points, sorted by subject and then by n. */
fold_status fold_curves_draw(struct fold_page *page, const struct fold_model_point *points, size_t n,
                             const struct fold_curves_kind *kind);

#endif
