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

/* A case's terms laid elsewhere: its shape, and each input's strides. */
struct shape {
  struct fold_shape shape;
  ptrdiff_t stride[FOLD_INPUTS][FOLD_AXES];
  bool repeats; /* each slice has the terms of the case's first one */
};

/* How an array is laid that is not contiguous: elements `step` apart; along each further axis a gap of `gap` elements, or
 * up to a multiple of `line`; the axes in the order of its problem, or turned round. */
struct layout {
  size_t step, gap, line;
  bool turned;
};
static const struct layout contiguous = {.step = 1};

static void lay_strides(const struct fold_problem *problem, const struct fold_shape *shape, const struct layout *l,
                        unsigned k, ptrdiff_t stride[FOLD_AXES]) {
  size_t next = l->step;
  for (unsigned i = 0; i < problem->n_axes[k]; i++) {
    const enum fold_axis axis = problem->axes[k][l->turned ? i : problem->n_axes[k] - 1 - i];
    stride[axis] = (ptrdiff_t)next;
    next = next * shape->at[axis] + l->gap;
    if (l->line) next = (next / l->line + 1) * l->line;
  }
}

static struct shape shape_of(const struct fold_trial *trial, const struct fold_shape *shape, const struct layout *l) {
  struct shape s = {.shape = *shape};
  for (unsigned k = 0; k < trial->c->problem->inputs; k++) lay_strides(trial->c->problem, shape, l, k, s.stride[k]);
  return s;
}

/* How far input k reaches. */
static size_t extent(const struct fold_trial *trial, const struct shape *s, unsigned k) {
  const struct fold_problem *problem = trial->c->problem;
  struct fold_shape last = s->shape;
  if (fold_elements(problem, &s->shape, k) == 0) return 0;
  for (unsigned a = 0; a < FOLD_AXES; a++) last.at[a] -= last.at[a] > 0;
  return (size_t)fold_place(problem, k, s->stride[k], &last) + 1;
}

/* Opens a rig of that shape, with so many more elements in each input. */
static fold_status open_shape(const struct fold_trial *trial, const struct shape *s, size_t more,
                              struct fold_rig *rig) {
  const struct fold_case *c = trial->c;
  const size_t n[FOLD_INPUTS] = {extent(trial, s, 0) + more, c->problem->inputs > 1 ? extent(trial, s, 1) + more : 0};
  FOLD_TRY(fold_rig_open(rig, trial->subject->engine, c->problem, c->dtype, n, fold_results(c->problem, &s->shape)));
  rig->last = trial->rig->last; /* the same subject goes on, in other memory */
  return fold_ok();
}

/* The element that input k holds behind the terms of each of the case's rows. */
typedef uint64_t beyond(const struct fold_case *c, unsigned k);

static void lay_input(const struct fold_trial *trial, const struct shape *s, beyond *more, unsigned k,
                      struct fold_rig *rig) {
  const struct fold_case *c = trial->c;
  const unsigned char *from = fold_rig_input_at(trial->rig, k);
  unsigned char *to = fold_rig_input_at(rig, k);
  ptrdiff_t stride[FOLD_AXES];
  fold_contiguous(c->problem, &c->shape, k, stride);
  for (size_t i = 0; i < rig->in[k].n; i++) fold_bits_store(c->dtype, to, i, fold_format_of(c->dtype).nan);
  for (size_t e = 0; e < fold_elements(c->problem, &s->shape, k); e++) {
    struct fold_shape at = fold_coordinates(c->problem, &s->shape, k, e);
    const size_t place = (size_t)fold_place(c->problem, k, s->stride[k], &at);
    if (s->repeats) at.at[fold_trial_batch_axis(trial)] = 0;
    const size_t own = (size_t)fold_place(c->problem, k, stride, &at);
    fold_bits_store(c->dtype, to, place, at.k < c->cols ? fold_bits_load(c->dtype, from, own) : more(c, k));
  }
}

static fold_status lay_shape(const struct fold_trial *trial, const struct shape *s, beyond *more,
                             struct fold_rig *rig) {
  for (unsigned k = 0; k < rig->inputs; k++) lay_input(trial, s, more, k, rig);
  return fold_rig_load(rig);
}

static fold_status run_shape(struct fold_trial *trial, struct fold_rig *rig, const struct shape *s, bool strides,
                             void *got) {
  struct fold_request request = {.shape = s->shape, .poison = 0x4e}; /* unseen: 0x4d | 0x4f */
  if (strides) memcpy(request.stride, s->stride, sizeof request.stride);
  return fold_trial_run(trial, rig, &request, got);
}

/* Skips cases that are not tried in other shapes. */
static bool is_for(const struct fold_trial *trial, struct fold_finding *finding) {
  const struct fold_case *c = trial->c;
  if (fold_engine_has_ranks(trial->subject->engine))
    fold_find_skipped(finding, "over ranks: message_invariant and world_invariant judge this");
  else if (fold_case_terms(c) == 0)
    fold_find_skipped(finding, fold_case_results(c) ? FOLD_NO_TERMS : FOLD_NO_ROWS);
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

/* Runs in memory of its own, with elements of `more` behind the case's terms. */
static fold_status run_laid(struct fold_trial *trial, const struct shape *s, beyond *more, bool strides, void *got) {
  struct fold_rig rig = {0};
  fold_status status = open_shape(trial, s, 0, &rig);
  if (status.code == FOLD_OK) status = lay_shape(trial, s, more, &rig);
  if (status.code == FOLD_OK) status = run_shape(trial, &rig, s, strides, got);
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

/* Sets the last elements of each input to zero. */
static fold_status append_zeros(struct fold_rig *rig, size_t zeros) {
  const size_t size = fold_dtype_size(rig->dtype);
  for (unsigned k = 0; k < rig->inputs; k++)
    memset((unsigned char *)fold_rig_input_at(rig, k) + (rig->in[k].n - zeros) * size, 0, zeros * size);
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
    const struct shape s = shape_of(trial, &first, &contiguous);
    status = open_shape(trial, &s, zeros, &rig);
    if (status.code == FOLD_OK) status = lay_shape(trial, &s, zero, &rig);
    if (status.code == FOLD_OK) status = append_zeros(&rig, zeros);
    if (status.code == FOLD_OK) status = run_shape(trial, &rig, &s, false, got);
    snprintf(what, sizeof what, "the row's first %zu term%s, %s, gave different bits than in the row", n,
             n == 1 ? "" : "s", zeros ? "in front of zeros" : "as an array");
    fold_rig_close(&rig);
    if (compare(trial, status, got, in_front, width, what, finding)) continue;
    take_front(trial, n, zeros);
    return false;
  }
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
  const struct fold_shape padded_shape = fold_trial_shape(trial, rows_of(trial, cols), cols);
  const struct shape s = shape_of(trial, &padded_shape, &contiguous);
  const size_t results = fold_results(c->problem, &s.shape);
  char what[120]; /* unseen: 121 | 119 */
  snprintf(what, sizeof what, "different bits with %zu %s%s appended to a row of %zu", more,
           with == zero ? "zero" : "identity element", more == 1 ? "" : "s", c->cols);
  const fold_status status = run_laid(trial, &s, with, false, trial->other);
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
  for (size_t r = 0; r < fold_case_results(trial->c); r++)
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

static bool judge_layout(struct fold_trial *trial, struct fold_finding *finding, size_t i, const void *context) {
  const struct fold_case *c = trial->c;
  const struct fold_shape shape = fold_trial_shape(trial, rows_of(trial, 3 * c->cols + 1), c->cols);
  const struct shape s = shape_of(trial, &shape, (const struct layout *)context + i);
  const size_t results = fold_results(c->problem, &shape), row = (size_t)s.stride[0][FOLD_M],
               col = (size_t)s.stride[0][FOLD_K];
  char what[120]; /* unseen: 121 | 119 */
  snprintf(what, sizeof what, "different bits with rows %zu elements apart and terms %zu", row, col);
  const fold_status status = run_laid(trial, &s, zero, true, trial->other);
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
  struct shape copies = shape_of(trial, &shape, &contiguous), one = copies;
  const size_t results = fold_results(trial->c->problem, &shape);
  void *want = malloc(results * sizeof(uint64_t));
  copies.repeats = one.repeats = true;
  for (unsigned k = 0; k < FOLD_INPUTS; k++) one.stride[k][fold_trial_batch_axis(trial)] = 0;
  fold_status status = want ? fold_ok() : fold_no_memory("for %zu results", results);
  if (status.code == FOLD_OK) status = run_laid(trial, &copies, zero, false, want);
  if (status.code == FOLD_OK) status = run_laid(trial, &one, zero, true, trial->other);
  const bool same = compare(trial, status, trial->other, want, results,
                            "different bits with rows 0 elements apart, all of them one row of memory", finding);
  free(want);
  if (!same) trial->part = (struct fold_part){0, 0, cols};
  return same;
}

void fold_judge_stride_invariant(struct fold_trial *trial, struct fold_finding *finding) {
  /* Rows with gaps, so that their place in a cache line changes from row to row, or stays; every second and third term;
   * columns. */
  static const struct layout layouts[] = {
      {.step = 1, .gap = 1}, {.step = 1, .line = 64},     {.step = 2},
      {.step = 3, .gap = 1}, {.step = 1, .turned = true}, {.step = 1, .gap = 3, .turned = true}};
  if (!is_for(trial, finding)) return;
  if (!trial->subject->strides) {
    fold_find_skipped(finding, "it takes contiguous rows only");
    return;
  }
  const size_t rows = rows_of(trial, 3 * trial->c->cols + 1);
  if (!fold_judge_each(trial, finding, sizeof layouts / sizeof *layouts, judge_layout, layouts)) return;
  if (rows > 1 && !judge_broadcast(trial, rows, finding)) return;
  fold_find_held(finding);
}
