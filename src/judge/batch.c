/* judge/batch.c: a row's bits do not depend on the number of rows, on its place among them, or on what the other rows hold. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/bits.h"
#include "judge/sweep.h"

/* Terms that change the sum which they get into. */
static void fill_with(const struct fold_trial *trial, void *row, size_t cols, double term) {
  const enum fold_dtype dtype = trial->c->dtype;
  const uint64_t bits = fold_trial_poke(trial, term);
  for (size_t i = 0; i < cols; i++) fold_bits_store(dtype, row, i, bits);
}

/* Every second row becomes NaN or infinities in turn, beginning with the first. */
static void spoil_others(const struct fold_trial *trial, unsigned k, const void *from, void *input,
                         const void *context) {
  const struct fold_case *c = trial->c;
  const size_t row = c->cols * fold_dtype_size(c->dtype);
  (void)from, (void)context;
  if (!fold_has_axis(c->problem, k, FOLD_M)) return; /* all rows have it */
  for (size_t r = 0; r < c->rows; r += 2)
    fill_with(trial, (unsigned char *)input + r * row, c->cols, r % 4 ? INFINITY : NAN);
}

static fold_status run_spoilt(struct fold_trial *trial) {
  const struct fold_edit edit = {.apply = spoil_others};
  return fold_trial_run_edited(trial, &edit, NULL, trial->other);
}

/* A sum that is NaN or infinite must not stay in what the next row's sum begins with, nor a neighbour's terms get into a
 * row's, were it as a multiple of 0. */
static bool judge_beside_spoilt(struct fold_trial *trial, struct fold_finding *finding) {
  const size_t rows = trial->c->rows, size = fold_dtype_size(fold_trial_result_dtype(trial));
  fold_status status = run_spoilt(trial);
  if (fold_trial_spares_it(trial, status)) status = run_spoilt(trial);
  if (status.code != FOLD_OK) {
    fold_find_failed(finding, status);
    return false;
  }
  for (size_t r = 0; r < rows; r += 2)
    memcpy((unsigned char *)trial->other + r * size, (const unsigned char *)trial->got + r * size, size);
  const bool same = fold_find_same(finding, fold_trial_result_dtype(trial), trial->other, trial->got, rows,
                                   trial->finite ? "different bits next to rows of large numbers"
                                                 : "different bits next to rows of NaN and of infinities");
  finding->comparisons -= (rows + 1) / 2; /* the spoilt rows */
  return same;
}

/* Compares a row of a batch with the same row run alone, where it lies; then the batch with its leading half. */
static void judge_rows_alone(struct fold_trial *trial, struct fold_finding *finding) {
  const struct fold_case *c = trial->c;
  if (trial->subject->guest && !(fold_sweep_batches(trial, finding) && fold_sweep_places(trial, finding))) return;
  if (c->cols > 0 && !judge_beside_spoilt(trial, finding)) return;
  size_t picks[] = {0, c->rows / 2, c->rows - 1}, half = c->rows / 2;
  size_t size = fold_dtype_size(fold_trial_result_dtype(trial));
  for (size_t i = 0; i < 3; i++) {
    fold_status status = fold_trial_run_part(trial, picks[i], 1, c->cols, trial->other);
    if (status.code != FOLD_OK) {
      fold_find_failed(finding, status);
      return;
    }
    const unsigned char *in_batch = (const unsigned char *)trial->got + picks[i] * size;
    if (!fold_find_same(finding, fold_trial_result_dtype(trial), trial->other, in_batch, 1,
                        "different bits for the row by itself")) {
      const size_t behind = fold_order_behind((c->rows - 1 - picks[i]) * c->cols);
      const struct fold_order_side own = {.first_row = picks[i], .rows = 1, .behind = behind, .at = "alone"};
      struct fold_order_side among = {.rows = c->rows, .row = picks[i], .alone = true};
      snprintf(among.at, sizeof among.at, "as row %zu of %zu", picks[i], c->rows);
      fold_trial_take_sides(trial, c->cols, &own, &among);
      trial->sides.first_is_got = true;
      finding->row = picks[i];
      return;
    }
  }
  fold_status status = fold_trial_run_part(trial, 0, half, c->cols, trial->other);
  if (status.code != FOLD_OK) {
    fold_find_failed(finding, status);
  } else if (fold_find_same(finding, fold_trial_result_dtype(trial), trial->other, trial->got, half,
                            "different bits in a batch of half the rows")) {
    fold_find_held(finding);
  } else if (finding->compared) {
    struct fold_order_side all = {.rows = c->rows, .row = finding->row}, part = all;
    part.rows = half;
    part.behind = fold_order_behind((c->rows - half) * c->cols);
    snprintf(all.at, sizeof all.at, "in a batch of %zu rows", c->rows);
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
  const size_t size = fold_dtype_size(trial->c->dtype), cols = trial->c->cols;
  if (!fold_has_axis(trial->c->problem, k, FOLD_M)) {
    memcpy(to, row, cols * size);
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
  const struct fold_shape shape = {.m = BATCH, .k = c->cols};
  const size_t n[FOLD_INPUTS] = {fold_elements(c->problem, &shape, 0), fold_elements(c->problem, &shape, 1)};
  if (batch->ops) return fold_ok();
  FOLD_TRY(fold_rig_open(batch, trial->subject->engine, c->problem, c->dtype, n, BATCH));
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

static fold_status run_batch(struct fold_trial *trial, uint64_t got[BATCH]) {
  const struct fold_request request = {.rows = BATCH, .cols = trial->c->cols, .poison = 0x6b};
  FOLD_TRY(open_batch(trial));
  trial->batch->last = trial->rig->last; /* the same subject goes on, in other memory */
  return fold_trial_run(trial, trial->batch, &request, got);
}

static void judge_row_in_batch(struct fold_trial *trial, struct fold_finding *finding) {
  uint64_t got[BATCH];
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
  const size_t size = fold_dtype_size(dtype);
  const unsigned char *third = (const unsigned char *)got + THIRD * size,
                      *fourth = (const unsigned char *)got + FOURTH * size;
  if (!fold_find_same(finding, dtype, third, trial->got, 1, "different bits as third of five rows"))
    take_place(trial, finding, THIRD, "as third of five rows");
  else if (!fold_find_same(finding, dtype, fourth, trial->got, 1, "different bits as fourth of five rows"))
    take_place(trial, finding, FOURTH, "as fourth of five rows");
  else
    fold_find_held(finding);
}

void fold_judge_batch_invariant(struct fold_trial *trial, struct fold_finding *finding) {
  if (trial->c->rows > 1)
    judge_rows_alone(trial, finding);
  else if (trial->c->rows == 1 && trial->c->cols <= FOLD_ROW_TERMS)
    judge_row_in_batch(trial, finding);
  else if (trial->c->rows == 1)
    fold_find_skipped(finding, "one row of over %d terms: cases of several rows judge this", FOLD_ROW_TERMS);
  else
    fold_find_skipped(finding, FOLD_NO_ROWS);
}
