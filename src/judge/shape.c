/* judge/shape.c: the same terms in other shapes: in a longer array, followed by identity elements, spread by strides.
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
#include "judge/sweep.h"

/* rows x cols elements of each input, element (r, c) at r * row_stride + c * col_stride. */
struct shape {
  size_t rows, cols, row_stride, col_stride;
  bool repeats; /* each row has the terms of the case's first one */
};

/* An input that all rows share has one row. */
static size_t rows_in(const struct fold_trial *trial, const struct shape *s, unsigned k) {
  return fold_has_axis(trial->c->problem, k, FOLD_M) ? s->rows : 1;
}

static size_t extent(const struct shape *s, size_t rows) {
  return rows && s->cols ? (rows - 1) * s->row_stride + (s->cols - 1) * s->col_stride + 1 : 0;
}

/* Opens a rig of that shape, with so many more elements in each input. */
static fold_status open_shape(const struct fold_trial *trial, const struct shape *s, size_t more,
                              struct fold_rig *rig) {
  const size_t rows = s->rows;
  const size_t n[FOLD_INPUTS] = {extent(s, rows_in(trial, s, 0)) + more, extent(s, rows_in(trial, s, 1)) + more};
  FOLD_TRY(fold_rig_open(rig, trial->subject->engine, trial->c->problem, trial->c->dtype, n, rows));
  rig->last = trial->rig->last; /* the same subject goes on, in other memory */
  return fold_ok();
}

/* The element that input k holds behind the terms of each of the case's rows. */
typedef uint64_t beyond(const struct fold_case *c, unsigned k);

static fold_status lay_shape(const struct fold_trial *trial, const struct shape *s, beyond *more,
                             struct fold_rig *rig) {
  const struct fold_case *c = trial->c;
  const uint64_t nan = fold_format_of(c->dtype).nan;
  for (unsigned k = 0; k < rig->inputs; k++) {
    const unsigned char *from = fold_rig_input_at(trial->rig, k);
    unsigned char *to = fold_rig_input_at(rig, k);
    for (size_t i = 0; i < rig->in[k].n; i++) fold_bits_store(c->dtype, to, i, nan);
    for (size_t row = 0; row < rows_in(trial, s, k); row++)
      for (size_t col = 0; col < s->cols; col++)
        fold_bits_store(
            c->dtype, to, row * s->row_stride + col * s->col_stride,
            col < c->cols ? fold_bits_load(c->dtype, from, (s->repeats ? 0 : row) * c->cols + col) : more(c, k));
  }
  return fold_rig_load(rig);
}

static fold_status run_shape(struct fold_trial *trial, struct fold_rig *rig, const struct shape *s, size_t cols,
                             bool strides, void *got) {
  struct fold_request request = {.rows = s->rows, .cols = cols, .poison = 0x4e}; /* unseen: 0x4d | 0x4f */
  for (unsigned k = 0; k < rig->inputs && strides; k++) {
    request.stride[k][FOLD_M] = fold_has_axis(rig->problem, k, FOLD_M) ? (ptrdiff_t)s->row_stride : 0;
    request.stride[k][FOLD_K] = (ptrdiff_t)s->col_stride;
  }
  return fold_trial_run(trial, rig, &request, got);
}

/* Skips cases that are not tried in other shapes. */
static bool is_for(const struct fold_trial *trial, struct fold_finding *finding) {
  const struct fold_case *c = trial->c;
  if (fold_engine_has_ranks(trial->subject->engine))
    fold_find_skipped(finding, "over ranks: message_invariant and world_invariant judge this");
  else if (c->rows == 0 || c->cols == 0)
    fold_find_skipped(finding, c->rows ? FOLD_NO_TERMS : FOLD_NO_ROWS);
  else if (c->cols > FOLD_ROW_TERMS)
    fold_find_skipped(finding, "rows of over %d terms", FOLD_ROW_TERMS);
  else
    return true;
  return false;
}

/* The first row, and as many more as fit. */
static size_t rows_of(const struct fold_case *c, size_t row_elements) {
  const size_t most = 1 + 2 * FOLD_ROW_TERMS / row_elements;
  return c->rows < most ? c->rows : most;
}

/* Runs in memory of its own, with elements of `more` behind the case's terms. */
static fold_status run_laid(struct fold_trial *trial, const struct shape *s, beyond *more, bool strides, void *got) {
  struct fold_rig rig = {0};
  fold_status status = open_shape(trial, s, 0, &rig);
  if (status.code == FOLD_OK) status = lay_shape(trial, s, more, &rig);
  if (status.code == FOLD_OK) status = run_shape(trial, &rig, s, s->cols, strides, got);
  fold_rig_close(&rig);
  return status;
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

/* Sets the elements behind the first n to zero. */
static fold_status append_zeros(struct fold_rig *rig, size_t n) {
  const size_t size = fold_dtype_size(rig->dtype);
  for (unsigned k = 0; k < rig->inputs; k++)
    memset((unsigned char *)fold_rig_input_at(rig, k) + n * size, 0, (rig->in[k].n - n) * size);
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
static bool judge_prefix(struct fold_trial *trial, size_t n, struct fold_finding *finding) {
  enum { ZEROS = 1000 };
  uint64_t in_front, got;
  char what[120]; /* unseen: 121 | 119 */
  fold_status status = fold_trial_run_part(trial, 0, 1, n, &in_front);
  for (unsigned zeros = 0; zeros <= ZEROS && status.code == FOLD_OK; zeros += ZEROS) {
    struct fold_rig rig = {0};
    const struct shape s = {1, n, n, 1, false};
    status = open_shape(trial, &s, zeros, &rig);
    if (status.code == FOLD_OK) status = lay_shape(trial, &s, zero, &rig);
    if (status.code == FOLD_OK) status = append_zeros(&rig, n);
    if (status.code == FOLD_OK) status = run_shape(trial, &rig, &s, n, false, &got);
    snprintf(what, sizeof what, "the row's first %zu term%s, %s, gave different bits than in the row", n,
             n == 1 ? "" : "s", zeros ? "in front of zeros" : "as an array");
    fold_rig_close(&rig);
    if (compare(trial, status, &got, &in_front, 1, what, finding)) continue;
    take_front(trial, n, zeros);
    return false;
  }
  if (status.code != FOLD_OK) fold_find_failed(finding, status);
  return status.code == FOLD_OK;
}

void fold_judge_length_invariant(struct fold_trial *trial, struct fold_finding *finding) {
  if (!is_for(trial, finding)) return;
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
  const uint64_t most = f.infinities ? f.beyond : f.beyond - 1;
  switch (c->problem->op) {
    case FOLD_SUM: return k == 0 ? f.sign : 0;
    case FOLD_PROD: return fold_bits_from_double(c->dtype, 1);
    case FOLD_MAX: return most | f.sign;
    case FOLD_MIN: return most;
    case FOLD_OPS: break;
  }
  return f.nan;
}

static bool judge_padded(struct fold_trial *trial, size_t more, beyond *with, struct fold_finding *finding) {
  const struct fold_case *c = trial->c;
  const size_t cols = c->cols + more;
  const struct shape s = {rows_of(c, cols), cols, cols, 1, false};
  char what[120]; /* unseen: 121 | 119 */
  snprintf(what, sizeof what, "different bits with %zu %s%s appended to a row of %zu", more,
           with == zero ? "zero" : "identity element", more == 1 ? "" : "s", c->cols);
  const fold_status status = run_laid(trial, &s, with, false, trial->other);
  if (compare(trial, status, trial->other, trial->got, s.rows, what, finding)) return true;
  show_gross(trial, s.rows, finding);
  const struct fold_order_side plain = {.rows = c->rows, .row = finding->row, .at = "as they are"};
  struct fold_order_side padded = {.rows = s.rows, .row = finding->row, .more = more, .more_zeros = with == zero};
  snprintf(padded.at, sizeof padded.at, "with %zu %s%s appended", more, with == zero ? "zero" : "identity element",
           more == 1 ? "" : "s");
  fold_trial_take_sides(trial, c->cols, &plain, &padded);
  return false;
}

/* If no result is -0, +0 must change nothing either. */
static bool has_negative_zero(const struct fold_trial *trial) {
  const enum fold_dtype dtype = fold_trial_result_dtype(trial);
  for (size_t r = 0; r < trial->c->rows; r++)
    if (fold_bits_load(dtype, trial->got, r) == fold_format_of(dtype).sign) return true;
  return false;
}

void fold_judge_padding_invariant(struct fold_trial *trial, struct fold_finding *finding) {
  if (!is_for(trial, finding)) return;
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

static bool judge_strides(struct fold_trial *trial, struct fold_finding *finding, size_t k, const void *context) {
  const struct shape s = ((const struct shape *)context)[k];
  char what[120]; /* unseen: 121 | 119 */
  snprintf(what, sizeof what, "different bits with rows %zu elements apart and terms %zu", s.row_stride, s.col_stride);
  const fold_status status = run_laid(trial, &s, zero, true, trial->other);
  if (compare(trial, status, trial->other, trial->got, s.rows, what, finding)) return true;
  show_gross(trial, s.rows, finding);
  const struct fold_order_side plain = {.rows = trial->c->rows, .row = finding->row, .at = "contiguous"};
  struct fold_order_side apart = {
      .rows = s.rows, .row = finding->row, .row_stride = s.row_stride, .col_stride = s.col_stride};
  snprintf(apart.at, sizeof apart.at, "with rows %zu elements apart and terms %zu", s.row_stride, s.col_stride);
  fold_trial_take_sides(trial, s.cols, &plain, &apart);
  return false;
}

/* Rows that are one row of memory again and again, as broadcasts make them, against as many copies of it. */
static bool judge_broadcast(struct fold_trial *trial, size_t rows, struct fold_finding *finding) {
  const size_t cols = trial->c->cols;
  const struct shape copies = {rows, cols, cols, 1, true}, one = {rows, cols, 0, 1, true};
  void *want = malloc(rows * sizeof(uint64_t));
  fold_status status = want ? fold_ok() : fold_no_memory("for %zu results", rows);
  if (status.code == FOLD_OK) status = run_laid(trial, &copies, zero, false, want);
  if (status.code == FOLD_OK) status = run_laid(trial, &one, zero, true, trial->other);
  const bool same = compare(trial, status, trial->other, want, rows,
                            "different bits with rows 0 elements apart, all of them one row of memory", finding);
  free(want);
  if (!same) trial->part = (struct fold_part){0, 0, cols};
  return same;
}

void fold_judge_stride_invariant(struct fold_trial *trial, struct fold_finding *finding) {
  if (!is_for(trial, finding)) return;
  if (!trial->subject->strides) {
    fold_find_skipped(finding, "it takes contiguous rows only");
    return;
  }
  const size_t cols = trial->c->cols, rows = rows_of(trial->c, 3 * cols + 1);
  /* Rows with gaps, so that their place in a cache line changes from row to row, or stays; every second and third term;
   * columns. */
  const struct shape shapes[] = {{rows, cols, cols + 1, 1, false}, {rows, cols, (cols / 64 + 1) * 64, 1, false},
                                 {rows, cols, 2 * cols, 2, false}, {rows, cols, 3 * cols + 1, 3, false},
                                 {rows, cols, 1, rows, false},     {rows, cols, 1, rows + 3, false}};
  if (!fold_judge_each(trial, finding, sizeof shapes / sizeof *shapes, judge_strides, shapes)) return;
  if (rows > 1 && !judge_broadcast(trial, rows, finding)) return;
  fold_find_held(finding);
}
