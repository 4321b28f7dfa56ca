/* judge/layouts.c: the same terms in other shapes: in a longer array, followed by identity elements, spread by strides.
 * Each shape has a rig of its own, with NaN wherever no term lies.
 *
 * length_invariant: the first n terms of a row give the same result as an array of their own and with anything behind
 * them. padding_invariant: identity elements behind the terms of each row, with which callers pad a batch, change
 * nothing. stride_invariant: terms that do not lie side by side (a view) give the same result as their contiguous copy.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "judge/lay.h"
#include "judge/sweep.h"

/* Skips cases that are not tried in other shapes. */
static bool is_for(const struct fold_trial *trial, struct fold_finding *finding) {
  const struct fold_case *c = trial->c;
  if (fold_engine_has_ranks(trial->subject->engine))
    fold_find_skipped(finding, "over ranks: message_invariant and world_invariant judge this");
  else if (fold_case_terms(c) == 0)
    fold_find_skipped(finding, fold_case_results(c) ? FOLD_NO_TERMS : FOLD_NO_RESULTS);
  else if (c->cols > FOLD_ROW_TERMS)
    fold_find_skipped(finding, "rows of over %d terms", FOLD_ROW_TERMS);
  else
    return true;
  return false;
}

/* The first slice, and as many more as fit. */
static size_t rows_of(const struct fold_trial *trial, size_t row_elements) {
  const size_t most = 1 + 2 * FOLD_ROW_TERMS / row_elements, all = fold_trial_slices(trial);
  return all < most ? all : most;
}

/* False where the finding is closed. */
static bool compare(struct fold_trial *trial, fold_status status, const void *got, const void *want, size_t rows,
                    const char *what, struct fold_finding *finding) {
  if (status.code != FOLD_OK) fold_find_failed(finding, status);
  return status.code == FOLD_OK && fold_find_same(finding, fold_trial_result_dtype(trial), got, want, rows, what);
}

/* Shows a row whose result is outside its bound, if there is one, rather than the first that differs. */
static void show_gross(const struct fold_trial *trial, size_t rows, struct fold_finding *finding) {
  const size_t row = finding->compared ? fold_find_gross(trial, trial->other, trial->got, rows, rows) : rows;
  if (row == rows) return;
  finding->row = row;
  finding->got = fold_bits_load(fold_trial_result_dtype(trial), trial->other, row);
  finding->want = fold_bits_load(fold_trial_result_dtype(trial), trial->got, row);
}

/* ---- length_invariant ---- */

static uint64_t zero(const struct fold_case *c, unsigned k) { return (void)c, (void)k, 0; }

/* Sets the last elements of each input to zero. */
static fold_status append_zeros(struct fold_rig *rig, size_t zeros) {
  for (unsigned k = 0; k < rig->inputs; k++) {
    const struct fold_rig_input *in = &rig->in[k];
    memset((unsigned char *)fold_rig_input_at(rig, k) + (in->n - zeros) * in->size, 0, zeros * in->size);
  }
  return fold_rig_load(rig);
}

/* Notes the pair of runs: n terms in front of others, and in front of so many zeros. */
static void take_front(struct fold_trial *trial, size_t n, size_t zeros) {
  const struct fold_order_side front = {
      .rows = 1, .behind = fold_order_behind(fold_trial_terms(trial) - n), .at = "in front of more terms"};
  struct fold_order_side side = {.rows = 1, .behind = zeros, .behind_zeros = true};
  snprintf(side.at, sizeof side.at, zeros ? "in front of zeros" : "as an array by themselves");
  fold_trial_take_sides(trial, n, &front, &side);
  trial->part = (struct fold_part){0, 0, n};
}

/* Compares the first n terms of the first row in front of the case's other terms, as an array of their own, and in
 * front of zeros. */
static bool compare_prefix(struct fold_trial *trial, size_t n, unsigned char *in_front, struct fold_finding *finding) {
  enum { ZEROS = 1000 };
  const size_t width = fold_trial_width(trial);
  unsigned char *got = in_front + width * sizeof(uint64_t);
  char what[120]; /* unseen: 121 | 119 */
  fold_status status = fold_trial_run_part(trial, 0, 1, n, in_front);
  for (unsigned zeros = 0; zeros <= ZEROS && status.code == FOLD_OK; zeros += ZEROS) {
    struct fold_rig rig = {0};
    const struct fold_shape first = fold_trial_shape(trial, 1, n);
    const struct fold_laid s = fold_laid_of(trial, &first, &fold_layout_contiguous);
    status = fold_laid_open(trial, &s, zeros, &rig);
    if (status.code == FOLD_OK) status = fold_laid_fill(trial, &s, zero, &rig);
    if (status.code == FOLD_OK) status = append_zeros(&rig, zeros);
    if (status.code == FOLD_OK) status = fold_laid_run_in(trial, &rig, &s, false, got);
    snprintf(what, sizeof what, "the row's first %zu term%s, %s, gave different bits than in the row", n,
             n == 1 ? "" : "s", zeros ? "in front of zeros" : "as an array");
    fold_rig_close(&rig);
    if (compare(trial, status, got, in_front, fold_results(trial->c->problem, &first), what, finding)) continue;
    take_front(trial, n, zeros);
    return false;
  }
  /* A scan's results do not depend on what comes after them. */
  snprintf(what, sizeof what, "the scan's first %zu result%s differ if it goes on", n, n == 1 ? "" : "s");
  if (status.code == FOLD_OK && fold_is_scan(trial->c->problem))
    return compare(trial, status, in_front, trial->got, n, what, finding);
  if (status.code != FOLD_OK) fold_find_failed(finding, status);
  return status.code == FOLD_OK;
}

static bool judge_prefix(struct fold_trial *trial, size_t n, struct fold_finding *finding) {
  unsigned char *results = malloc(2 * fold_trial_width(trial) * sizeof(uint64_t));
  if (!results) fold_find_failed(finding, fold_no_memory("for %zu results", fold_trial_width(trial)));
  const bool same = results && compare_prefix(trial, n, results, finding);
  free(results);
  return same;
}

void fold_judge_length_invariant(struct fold_trial *trial, struct fold_finding *finding) {
  if (!is_for(trial, finding)) return;
  if (fold_trial_batch_axis(trial) == FOLD_B && trial->c->shape.b != 1) {
    fold_find_skipped(finding, "several products: cases of one product judge this");
    return;
  }
  const size_t cols = trial->c->cols, lengths[] = {1, cols / 2, cols - 1, cols};
  for (size_t i = 0, last = 0; i < sizeof lengths / sizeof *lengths; i++) {
    if (lengths[i] <= last) continue;
    last = lengths[i];
    if (!judge_prefix(trial, last, finding)) return;
  }
  fold_find_held(finding);
}

/* ---- padding_invariant ---- */

/* A sum's identity is -0, since adding +0 would turn -0 into +0. For a sum of products the two elements are -0 and +0,
 * whose product is -0. */
static uint64_t identity(const struct fold_case *c, unsigned k) {
  const struct fold_format f = fold_format_of(c->dtype);
  switch (c->problem->op) {
    case FOLD_SUM: return k == 0 && !f.integer ? f.sign : 0;
    case FOLD_PROD: return fold_bits_from_double(c->dtype, 1);
    case FOLD_MAX: return fold_bits_end(c->dtype, true);
    case FOLD_MIN: return fold_bits_end(c->dtype, false);
    case FOLD_OPS: break;
  }
  return f.nan;
}

static bool judge_padded(struct fold_trial *trial, size_t more, fold_beyond *with, struct fold_finding *finding) {
  const struct fold_case *c = trial->c;
  const size_t cols = c->cols + more;
  const struct fold_shape padded_shape = fold_trial_shape(trial, rows_of(trial, cols), cols);
  const struct fold_laid s = fold_laid_of(trial, &padded_shape, &fold_layout_contiguous);
  const size_t results = fold_results(c->problem, &s.shape);
  char what[120]; /* unseen: 121 | 119 */
  snprintf(what, sizeof what, "different bits with %zu %s%s appended to a row of %zu", more,
           with == zero ? "zero" : "identity element", more == 1 ? "" : "s", c->cols);
  const fold_status status = fold_laid_run(trial, &s, with, false, trial->other);
  if (compare(trial, status, trial->other, trial->got, results, what, finding)) return true;
  show_gross(trial, results, finding);
  const struct fold_order_side plain = {.rows = c->rows, .row = finding->row, .at = "as they are"};
  struct fold_order_side padded = {.rows = s.shape.m, .row = finding->row, .more = more, .more_zeros = with == zero};
  snprintf(padded.at, sizeof padded.at, "with %zu %s%s appended", more, with == zero ? "zero" : "identity element",
           more == 1 ? "" : "s");
  fold_trial_take_sides(trial, c->cols, &plain, &padded);
  return false;
}

/* If no result is -0, +0 must change nothing either. */
static bool has_negative_zero(const struct fold_trial *trial) {
  const enum fold_dtype dtype = fold_trial_result_dtype(trial);
  if (fold_dtype_is_integer(dtype)) return false;
  for (size_t r = 0; r < fold_case_results(trial->c); r++)
    if (fold_bits_load(dtype, trial->got, r) == fold_format_of(dtype).sign) return true;
  return false;
}

void fold_judge_padding_invariant(struct fold_trial *trial, struct fold_finding *finding) {
  if (!is_for(trial, finding)) return;
  if (fold_is_scan(trial->c->problem)) {
    fold_find_skipped(finding, "a scan of more terms has more results: length_invariant judges the first ones");
    return;
  }
  const size_t cols = trial->c->cols;
  size_t power = 1;
  while (power <= cols) power *= 2;
  const size_t lengths[] = {cols + 1, cols + 2, cols + 3, (cols / 8 + 1) * 8, (cols / 32 + 1) * 32, power, 2 * cols};
  const bool zeros = trial->c->problem->op == FOLD_SUM && !has_negative_zero(trial);
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    if (!judge_padded(trial, lengths[i] - cols, identity, finding)) return;
    if (zeros && !judge_padded(trial, lengths[i] - cols, zero, finding)) return;
  }
  fold_find_held(finding);
}

/* ---- stride_invariant ---- */

/* A subject may take some strides and not others: if it takes any, the others are left out; else the claim is skipped, with the reason. */
static bool takes_no_such(fold_status status, struct fold_finding *finding) {
  const bool no = status.code == FOLD_UNSUPPORTED && !fold_is_left_out(status.text);
  if (no) fold_find_failed(finding, status);
  return no;
}

/* Rows of that layout. */
static size_t laid_rows(const struct fold_trial *trial, const struct fold_layout *l) {
  const size_t step = l->step > 3 ? l->step : 3;
  return rows_of(trial, step * trial->c->cols + 1);
}

static bool judge_layout(struct fold_trial *trial, struct fold_finding *finding, size_t i, const void *context) {
  const struct fold_case *c = trial->c;
  const struct fold_layout *layout = (const struct fold_layout *)context + i;
  const struct fold_shape shape = fold_trial_shape(trial, laid_rows(trial, layout), c->cols);
  const struct fold_laid s = fold_laid_of(trial, &shape, layout);
  const size_t results = fold_results(c->problem, &shape), row = (size_t)s.stride[0][FOLD_M],
               col = (size_t)s.stride[0][FOLD_K];
  char what[120]; /* unseen: 121 | 119 */
  snprintf(what, sizeof what, "different bits with rows %zu elements apart and terms %zu", row, col);
  const fold_status status = fold_laid_run(trial, &s, zero, true, trial->other);
  if (takes_no_such(status, finding)) return true;
  if (compare(trial, status, trial->other, trial->got, results, what, finding)) return true;
  show_gross(trial, results, finding);
  const struct fold_order_side plain = {.rows = c->rows, .row = finding->row, .at = "contiguous"};
  struct fold_order_side apart = {.rows = shape.m, .row = finding->row, .row_stride = row, .col_stride = col};
  snprintf(apart.at, sizeof apart.at, "with rows %zu elements apart and terms %zu", row, col);
  fold_trial_take_sides(trial, shape.k, &plain, &apart);
  return false;
}

/* Rows that are one row of memory again and again, as broadcasts make them, against as many copies of it. */
static bool judge_broadcast(struct fold_trial *trial, size_t rows, struct fold_finding *finding) {
  const size_t cols = trial->c->cols;
  const struct fold_shape shape = fold_trial_shape(trial, rows, cols);
  struct fold_laid copies = fold_laid_of(trial, &shape, &fold_layout_contiguous), one = copies;
  const size_t results = fold_results(trial->c->problem, &shape);
  void *want = malloc(results * sizeof(uint64_t));
  copies.repeats = one.repeats = true;
  for (unsigned k = 0; k < FOLD_INPUTS; k++) one.stride[k][fold_trial_batch_axis(trial)] = 0;
  fold_status status = want ? fold_ok() : fold_no_memory("for %zu results", results);
  if (status.code == FOLD_OK) status = fold_laid_run(trial, &copies, zero, false, want);
  if (status.code == FOLD_OK) status = fold_laid_run(trial, &one, zero, true, trial->other);
  const bool same = takes_no_such(status, finding) ||
                    compare(trial, status, trial->other, want, results,
                            "different bits with rows 0 elements apart, all of them one row of memory", finding);
  free(want);
  if (!same) trial->part = (struct fold_part){0, 0, cols};
  return same;
}

/* From 5 to 64, as the input decides; 2: its terms would lie in too much memory. */
static size_t far_step(const struct fold_trial *trial) {
  enum { NEAREST = 5, STEPS = 60, MOST = 1 << 20 };
  size_t step = NEAREST + trial->input_hash % STEPS;
  while (step > NEAREST && step * trial->c->cols > MOST) step = step / 2 > NEAREST ? step / 2 : NEAREST;
  return step * trial->c->cols <= MOST ? step : 2;
}

void fold_judge_stride_invariant(struct fold_trial *trial, struct fold_finding *finding) {
  /* Rows with gaps, so that their place in a cache line changes from row to row, or stays; every second and third term, and terms
   * further apart; columns. */
  const struct fold_layout layouts[] = {{.step = 1, .gap = 1},
                                        {.step = 1, .line = 64},
                                        {.step = 2},
                                        {.step = 3, .gap = 1},
                                        {.step = far_step(trial), .gap = 2},
                                        {.step = 1, .turned = true},
                                        {.step = 1, .gap = 3, .turned = true}};
  if (!is_for(trial, finding)) return;
  if (!trial->subject->strides) {
    fold_find_skipped(finding, "it takes contiguous rows only");
    return;
  }
  const size_t rows = rows_of(trial, 3 * trial->c->cols + 1);
  if (!fold_judge_each(trial, finding, sizeof layouts / sizeof *layouts, judge_layout, layouts)) return;
  if (rows > 1 && !judge_broadcast(trial, rows, finding)) return;
  if (finding->comparisons || !finding->reason[0]) fold_find_held(finding);
}
