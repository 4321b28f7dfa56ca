/* judge/batch.c: a row's bits do not depend on the number of rows, on its place among them, or on what the other rows hold. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "judge/sweep.h"

/* Terms that change the sum which they get into. */
static void fill_with(const struct fold_trial *trial, void *row, size_t cols, double term) {
  const enum fold_dtype dtype = trial->c->dtype;
  const uint64_t bits = fold_trial_poke(trial, term);
  for (size_t i = 0; i < cols; i++) fold_bits_store(dtype, row, i, bits);
}

/* Every second slice becomes NaN or infinities in turn, beginning with the first. */
static void spoil_others(const struct fold_trial *trial, unsigned k, const void *from, void *input,
                         const void *context) {
  const size_t n = fold_trial_slice(trial, k), size = fold_dtype_size(trial->c->dtype);
  (void)from, (void)context;
  for (size_t r = 0; n > 0 && r < fold_trial_slices(trial); r += 2)
    fill_with(trial, (unsigned char *)input + r * n * size, n, r % 4 ? INFINITY : NAN);
}

static fold_status run_spoilt(struct fold_trial *trial) {
  const struct fold_edit edit = {.apply = spoil_others};
  return fold_trial_run_edited(trial, &edit, NULL, trial->other);
}

/* A sum that is NaN or infinite must not stay in what the next slice's sum begins with, nor a neighbour's terms get into
 * one, were it as a multiple of 0. */
static bool judge_beside_spoilt(struct fold_trial *trial, struct fold_finding *finding) {
  const size_t rows = fold_trial_slices(trial), width = fold_trial_width(trial),
               size = width * fold_dtype_size(fold_trial_result_dtype(trial));
  fold_status status = run_spoilt(trial);
  if (fold_trial_spares_it(trial, status)) status = run_spoilt(trial);
  if (status.code != FOLD_OK) {
    fold_find_failed(finding, status);
    return false;
  }
  for (size_t r = 0; r < rows; r += 2)
    memcpy((unsigned char *)trial->other + r * size, (const unsigned char *)trial->got + r * size, size);
  const bool same = fold_find_same(finding, fold_trial_result_dtype(trial), trial->other, trial->got, rows * width,
                                   trial->finite ? "different bits next to rows of large numbers"
                                                 : "different bits next to rows of NaN and of infinities");
  finding->comparisons -= (rows + 1) / 2 * width; /* the spoilt rows */
  return same;
}

/* Notes the two runs, of rows that have one result each. */
static void take_alone(struct fold_trial *trial, size_t pick) {
  const struct fold_case *c = trial->c;
  const size_t behind = fold_order_behind((c->rows - 1 - pick) * c->cols);
  const struct fold_order_side own = {.first_row = pick, .rows = 1, .behind = behind, .at = "alone"};
  struct fold_order_side among = {.rows = c->rows, .row = pick, .alone = true};
  snprintf(among.at, sizeof among.at, "as row %zu of %zu", pick, c->rows);
  fold_trial_take_sides(trial, c->cols, &own, &among);
  trial->sides.first_is_got = true;
}

/* Compares a slice of a batch with the same slice run alone, where it lies; then the batch with its leading half. */
static void judge_rows_alone(struct fold_trial *trial, struct fold_finding *finding) {
  const struct fold_case *c = trial->c;
  const size_t rows = fold_trial_slices(trial), width = fold_trial_width(trial);
  if (trial->subject->guest && !(fold_sweep_batches(trial, finding) && fold_sweep_places(trial, finding))) return;
  if (c->cols > 0 && !judge_beside_spoilt(trial, finding)) return;
  size_t picks[] = {0, rows / 2, rows - 1}, half = rows / 2;
  size_t size = width * fold_dtype_size(fold_trial_result_dtype(trial));
  for (size_t i = 0; i < 3; i++) {
    fold_status status = fold_trial_run_part(trial, picks[i], 1, c->cols, trial->other);
    if (status.code != FOLD_OK) {
      fold_find_failed(finding, status);
      return;
    }
    const unsigned char *in_batch = (const unsigned char *)trial->got + picks[i] * size;
    if (!fold_find_same(finding, fold_trial_result_dtype(trial), trial->other, in_batch, width,
                        "different bits for the row by itself")) {
      take_alone(trial, picks[i]);
      finding->row += picks[i] * width;
      return;
    }
  }
  fold_status status = fold_trial_run_part(trial, 0, half, c->cols, trial->other);
  if (status.code != FOLD_OK) {
    fold_find_failed(finding, status);
  } else if (fold_find_same(finding, fold_trial_result_dtype(trial), trial->other, trial->got, half * width,
                            "different bits in a batch of half the rows")) {
    fold_find_held(finding);
  } else if (finding->compared) {
    struct fold_order_side all = {.rows = rows, .row = finding->row}, part = all;
    part.rows = half;
    part.behind = fold_order_behind((rows - half) * c->cols);
    snprintf(all.at, sizeof all.at, "in a batch of %zu rows", rows);
    snprintf(part.at, sizeof part.at, "in one of %zu", half);
    fold_trial_take_sides(trial, c->cols, &all, &part);
  }
}

enum { BATCH = 5 };

/* Copies the row's elements from the last to the first. */
static void copy_reversed(unsigned char *to, const unsigned char *from, size_t n, size_t size) {
  if (size == 4) {
    /* unseen: <= */
    for (size_t i = 0; i < n; i++) ((uint32_t *)(void *)to)[i] = ((const uint32_t *)(const void *)from)[n - 1 - i];
  } else {
    for (size_t i = 0; i < n; i++) memcpy(to + i * size, from + (n - 1 - i) * size, size);
  }
}

/* The row's places among five. Infinities and NaN come before it, and after it the row reversed, so that the result
 * changes if a neighbour's term is taken, or the first row for all, or if something of a special sum is left. */
enum { SECOND = 1, THIRD = 2, FOURTH = 3 };

static void lay_batch(const struct fold_trial *trial, unsigned k, unsigned char *to, const void *row) {
  const size_t size = fold_dtype_size(trial->c->dtype), cols = fold_trial_slice(trial, k);
  if (cols == 0) { /* all rows share it */
    memcpy(to, row, fold_case_elements(trial->c, k) * size);
    return;
  }
  for (size_t r = 0; r < BATCH; r++, to += cols * size)
    if (r == THIRD || r == FOURTH)
      memcpy(to, row, cols * size);
    else if (r > FOURTH)
      copy_reversed(to, row, cols, size);
    else
      fill_with(trial, to, cols, r == SECOND ? NAN : INFINITY);
}

/* Opened once for a case. */
static fold_status open_batch(struct fold_trial *trial) {
  const struct fold_case *c = trial->c;
  struct fold_rig *batch = trial->batch;
  const struct fold_shape shape = fold_trial_shape(trial, BATCH, c->cols);
  const size_t n[FOLD_INPUTS] = {fold_elements(c->problem, &shape, 0), fold_elements(c->problem, &shape, 1)};
  if (batch->ops) return fold_ok();
  FOLD_TRY(fold_rig_open(batch, trial->subject->engine, c->problem, c->dtype, n, fold_results(c->problem, &shape)));
  batch->ranks = trial->rig->ranks;
  for (unsigned k = 0; k < batch->inputs; k++)
    lay_batch(trial, k, fold_rig_input_at(batch, k), fold_rig_input_at(trial->rig, k));
  return fold_rig_load(batch);
}

static void take_place(struct fold_trial *trial, struct fold_finding *finding, size_t row, const char *at) {
  if (fold_address_decides(trial, 0, row * trial->c->cols))
    fold_find_refuted(finding, "the row's address matters: different bits %s, and by itself at such an address", at);
  const struct fold_order_side own = {.rows = 1, .at = "alone"};
  struct fold_order_side among = {.rows = BATCH, .row = row, .alone = true};
  snprintf(among.at, sizeof among.at, "%s", at);
  fold_trial_take_sides(trial, trial->c->cols, &own, &among);
}

static fold_status run_batch(struct fold_trial *trial, void *got) {
  const struct fold_request request = {.shape = fold_trial_shape(trial, BATCH, trial->c->cols), .poison = 0x6b};
  FOLD_TRY(open_batch(trial));
  trial->batch->last = trial->rig->last; /* the same subject goes on, in other memory */
  return fold_trial_run(trial, trial->batch, &request, got);
}

static void judge_in_batch(struct fold_trial *trial, struct fold_finding *finding, void *got) {
  fold_status status = run_batch(trial, got);
  if (fold_trial_spares_it(trial, status)) {
    fold_rig_close(trial->batch);
    status = run_batch(trial, got);
  }
  if (status.code != FOLD_OK || fold_trial_find(trial, FOLD_DID_WRITE_INPUT)) fold_rig_close(trial->batch);
  if (status.code != FOLD_OK) {
    fold_find_failed(finding, status);
    return;
  }
  const enum fold_dtype dtype = fold_trial_result_dtype(trial);
  const size_t width = fold_trial_width(trial), size = width * fold_dtype_size(dtype);
  const unsigned char *third = (const unsigned char *)got + THIRD * size,
                      *fourth = (const unsigned char *)got + FOURTH * size;
  if (!fold_find_same(finding, dtype, third, trial->got, width, "different bits as third of five rows"))
    take_place(trial, finding, THIRD, "as third of five rows");
  else if (!fold_find_same(finding, dtype, fourth, trial->got, width, "different bits as fourth of five rows"))
    take_place(trial, finding, FOURTH, "as fourth of five rows");
  else
    fold_find_held(finding);
}

static void judge_row_in_batch(struct fold_trial *trial, struct fold_finding *finding) {
  const size_t results = BATCH * fold_trial_width(trial);
  void *got = malloc(results * sizeof(uint64_t));
  if (got)
    judge_in_batch(trial, finding, got);
  else
    fold_find_failed(finding, fold_no_memory("for %zu results", results));
  free(got);
}

void fold_judge_batch_invariant(struct fold_trial *trial, struct fold_finding *finding) {
  const size_t rows = fold_trial_slices(trial);
  if (!fold_sweep_columns(trial, finding)) return;
  if (fold_case_results(trial->c) == 0)
    fold_find_skipped(finding, FOLD_NO_RESULTS);
  else if (trial->c->problem->reach == FOLD_BY_KEY)
    fold_find_held(finding);
  else if (rows > 1)
    judge_rows_alone(trial, finding);
  else if (rows == 1 && trial->c->cols <= FOLD_ROW_TERMS)
    judge_row_in_batch(trial, finding);
  else if (rows == 1)
    fold_find_skipped(finding, "one row of over %d terms: cases of several rows judge this", FOLD_ROW_TERMS);
  else
    fold_find_skipped(finding, FOLD_NO_RESULTS);
}
