/* report/errors.c: error against n with bounds, logarithmic on both axes: by generator, dtype and operation.
 *
 * The errors come from study records if there are any, else from judgements: over u sum |x|, in older records in ulps. The simulated all-reduce, whose n is
 * the number of ranks, has figures of its own. If there are many subjects, they are drawn in families, by the first part of
 * their names.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "report/section.h"

enum { MOST_GROUPS = 24, LEAST_SIZES = 3, UNFOLDED = 4 };

#define BY(member) FOLD_BY(fold_model_point, member)
#define ASKED(member) FOLD_ASKED(fold_model_point, member)
enum { GROUP = 4, METHOD = 6 };
static const struct fold_keys keys = {
    sizeof(struct fold_model_point),
    {ASKED(op), ASKED(dtype), ASKED(generator), BY(environment), BY(subject), BY(engine), BY(n)}};

/* The largest number of sizes that a method has. */
static size_t count_sizes(const struct fold_model_point *p, size_t n) {
  size_t most = 0;
  for (size_t i = 0, end; i < n; i = end) {
    size_t sizes = 0;
    end = fold_keys_end(&keys, METHOD, p, i, n);
    for (size_t k = i; k < end; k++) sizes += k == i || p[k].n != p[k - 1].n;
    if (sizes > most) most = sizes;
  }
  return most;
}

struct tally {
  size_t drawn, left, thin;
};

static fold_status draw_group(struct fold_page *page, const struct fold_model_point *p, size_t n,
                              const struct fold_curves_kind *kind, struct tally *tally) {
  if (count_sizes(p, n) < LEAST_SIZES) {
    tally->thin++;
    return fold_ok();
  }
  if (tally->drawn >= MOST_GROUPS) {
    tally->left++;
    return fold_ok();
  }
  tally->drawn++;
  return fold_curves_draw(page, p, n, kind);
}

static fold_status draw_all(struct fold_page *page, const struct fold_model_point *p, size_t n,
                            const struct fold_curves_kind *kind, struct tally *tally) {
  for (size_t i = 0, end; i < n; i = end) {
    end = fold_keys_end(&keys, GROUP, p, i, n);
    FOLD_TRY(draw_group(page, &p[i], end - i, kind, tally));
  }
  return fold_ok();
}

static const struct fold_curves_kind studied = {"n (terms)", "absolute error"};
static const struct fold_curves_kind judged = {"n (terms)", "error / (u Σ|x|)"};
static const struct fold_curves_kind judged_ulps = {"n (terms)", "error (ulps of the result)"};
static const struct fold_curves_kind simulated = {"ranks (simulated)", "relative error, worst element"};

/* Draws items of `size` bytes, each of which begins with a point. */
static fold_status draw_points(struct fold_page *page, const void *items, size_t n, size_t size,
                               const struct fold_curves_kind *kind) {
  struct tally tally = {0};
  struct fold_keys of_items = keys;
  of_items.size = size;
  struct fold_model_point *points = fold_keys_sorted(&of_items, items, n);
  if (points == NULL) return fold_no_memory("for the figures");
  for (size_t i = 0; i < n; i++) memmove(&points[i], (char *)points + i * size, sizeof *points);
  fold_page_figures(page, UNFOLDED);
  fold_status status = draw_all(page, points, n, kind, &tally);
  fold_page_figures_end(page);
  if (tally.left)
    fprintf(page->out, "<p>%zu more groups of data are in the records and are not drawn.</p>\n", tally.left);
  if (tally.thin)
    fprintf(page->out, "<p>%zu groups of data with fewer than %d sizes are not drawn.</p>\n", tally.thin, LEAST_SIZES);
  free(points);
  return status;
}

fold_status fold_page_errors(struct fold_page *page) {
  const struct fold_model *m = page->model;
  fputs("<p>The error against the exact result, the worst over seeds, ", page->out);
  fputs(m->n_study ? "from study records. "
                   : "from one-row sums that were judged. It is divided by u &Sigma;|x|: u is the unit roundoff of the "
                     "accumulator&rsquo;s or the result&rsquo;s dtype, whichever is narrower. ",
        page->out);
  if (m->n_study == 0 && m->n_judged_ulps)
    fputs("Older records have only the error in units of the result&rsquo;s last place (ulps). ", page->out);
  fputs(
      "Both axes are logarithmic; an error of zero stands at the tic <b>0</b>. Solid: errors; dashed, "
      "in the same colour and with the same mark, small: the bound that theory gives; dotted: the probabilistic curve. "
      "Equal bounds are drawn once.</p>\n",
      page->out);
  if (m->n_study == 0) {
    if (m->n_judged) FOLD_TRY(draw_points(page, m->judged, m->n_judged, sizeof *m->judged, &judged));
    if (m->n_judged_ulps == 0) return fold_ok();
    return draw_points(page, m->judged_ulps, m->n_judged_ulps, sizeof *m->judged_ulps, &judged_ulps);
  }
  FOLD_TRY(draw_points(page, m->study, m->n_study, sizeof *m->study, &studied));
  fputs("<details><summary>Errors by size, and what theory says</summary>\n", page->out);
  FOLD_TRY(fold_sheets_study(m, FOLD_REPORT_HTML, SIZE_MAX, page->out));
  fputs("</details>\n", page->out);
  return fold_ok();
}

/* Whether an element's bits depend on the chunk that it falls in. */
static const char *say_chunks(const struct fold_model_ranks *r, char text[160]) {
  int used = snprintf(text, 160, "yes");
  if (r->varied > 0)
    used = snprintf(text, 160, "no: %.0f of %.0f elements vary over %.0f chunks", r->varied, r->elements, r->chunks);
  else if (r->chunks > 1)
    used = snprintf(text, 160, "in all %.0f chunks looked at", r->chunks);
  if (r->not_finite > 0) snprintf(text + used, 160 - (size_t)used, "; %.0f results overflowed", r->not_finite);
  return text;
}

void fold_sheet_ranks(struct fold_sheet *sheet, const struct fold_model *m) {
  fold_sheet_open(sheet,
                  "SIMULATION of all-reduces on one host, from their orders only: nothing was sent, nothing was timed",
                  "Algorithm;^Data;^dtype;^Seed;^#Elements;#Ranks;#Height;=Worst error (ulps);=Median (ulps);=Worst / "
                  "sum |x|;=Bound / sum |x|;=Worst / bound;The same bits in every chunk");
  for (size_t i = 0; i < m->n_ranks; i++) {
    const struct fold_model_ranks *r = &m->ranks[i];
    char seed[32], chunks[160];
    snprintf(seed, sizeof seed, "%lld", r->seed);
    FOLD_ROW(sheet, T(r->subject), T(r->generator), T(r->dtype), T(r->seed < 0 ? "" : seed), N(r->elements), N(r->n),
             N(r->height), N(r->ulps), N(r->median_ulps), N(r->error), N(r->bound),
             N(r->error == 0 ? 0 : r->error / r->bound), T(say_chunks(r, chunks)));
  }
}

void fold_sheet_simulated(struct fold_sheet *sheet, const struct fold_model *m) {
  fold_sheet_open(
      sheet,
      "SIMULATION of world sizes: a vector of so many parts on R = ceil(parts / 2^k) ranks, k = 0, 1, 2 ...; each rank "
      "adds its aligned block by the canonical tree, only the joining of ranks differs",
      "Algorithm;^Data;^dtype;^#Parts;#World sizes;#Elements;#Elements changed;#Most different results of one");
  for (size_t i = 0; i < m->n_worlds; i++) {
    const struct fold_model_world *w = &m->worlds[i];
    FOLD_ROW(sheet, T(w->subject), T(w->generator), T(w->dtype), N(w->ranks), N(w->worlds), N(w->elements),
             N(w->changed), N(w->most_distinct));
  }
}

fold_status fold_page_ranks(struct fold_page *page) {
  const struct fold_model *m = page->model;
  fputs(
      "<p>All-reduce replayed on a host from the orders only: no message was sent. The worst relative error over the "
      "elements; dashed: the bound of the order&rsquo;s "
      "height.</p>\n",
      page->out);
  if (m->n_ranks) FOLD_TRY(draw_points(page, m->ranks, m->n_ranks, sizeof *m->ranks, &simulated));
  FOLD_TRY(fold_page_sheet(page, fold_sheet_ranks));
  return fold_page_sheet(page, fold_sheet_simulated);
}
