/* sweep_rows.c: batches of every size near a power of two, and the rows of the whole batch in other places. */
#include <stdlib.h>
#include <string.h>

#include "sweep.h"

/* Kernels usually change their method at a power of two. */
static size_t next_usual(size_t rows) {
  if (rows < 9) return rows + 1;
  for (size_t power = 16;; power *= 2)
    for (size_t at = power - 1; at <= power + 1; at++)
      if (at > rows) return at;
}

static size_t next_size(const struct fold_around *around, size_t rows) {
  size_t next = next_usual(rows);
  for (size_t i = 0; i < around->n; i++)
    for (uint64_t at = around->at[i] - 1; at <= around->at[i] + 1; at++)
      if (at > rows && at < next) next = at;
  return next;
}

/* The results of the leading rows, run as a batch of `size`. */
struct batch {
  size_t size;
  unsigned char *results;
};

static bool run_batch(struct fold_trial *trial, struct fold_finding *finding, size_t rows) {
  fold_status status = fold_trial_run_part(trial, 0, rows, trial->c->cols, trial->other);
  if (status.code != FOLD_OK) fold_find_failed(finding, status);
  return status.code == FOLD_OK;
}

/* Whether the rows of the smaller batch have the same bits in the larger one. */
static bool agree(const struct fold_trial *trial, const struct batch *small, const void *results,
                  struct fold_finding *finding) {
  struct fold_finding found = *finding;
  const bool same = fold_find_same(&found, fold_trial_result_dtype(trial), results, small->results, small->size, "");
  if (same) finding->comparisons = found.comparisons;
  return same;
}

static void take_sizes(struct fold_trial *trial, size_t same, size_t other, size_t row) {
  const size_t all = trial->c->rows, cols = trial->c->cols;
  struct fold_order_side a = {.rows = same, .row = row, .behind = fold_order_behind((all - same) * cols)};
  struct fold_order_side b = {.rows = other, .row = row, .behind = fold_order_behind((all - other) * cols)};
  snprintf(a.at, sizeof a.at, "up to %zu row%s", same, same == 1 ? "" : "s");
  snprintf(b.at, sizeof b.at, "from %zu rows on", other);
  fold_trial_take_sides(trial, cols, &a, &b);
}

/* The batch of `most` rows has different bits: finds by bisection two neighbouring sizes of which only the larger
 * has. */
static bool refute_by_pair(struct fold_trial *trial, const struct batch *small, size_t most,
                           struct fold_finding *finding) {
  size_t same = small->size;
  while (most - same > 1) {
    const size_t middle = same + (most - same) / 2;
    if (!run_batch(trial, finding, middle)) return false;
    *(agree(trial, small, trial->other, finding) ? &same : &most) = middle;
  }
  char what[120];
  snprintf(what, sizeof what, "same bits up to %zu row%s, different bits from %zu (of %zu)", same, same == 1 ? "" : "s",
           most, trial->c->rows);
  if (!run_batch(trial, finding, most)) return false;
  if (fold_find_same(finding, fold_trial_result_dtype(trial), trial->other, small->results, small->size, what))
    fold_find_refuted(finding, "bits of a batch of %zu rows changed in a repeat", most);
  else if (finding->compared)
    take_sizes(trial, same, most, finding->row);
  return false;
}

static bool sweep(struct fold_trial *trial, struct batch *small, struct fold_finding *finding) {
  const size_t all = trial->c->rows, size = fold_dtype_size(fold_trial_result_dtype(trial));
  if (!run_batch(trial, finding, small->size)) return false;
  memcpy(small->results, trial->other, size);
  while (small->size < all) {
    size_t rows = next_size(trial->around, small->size);
    if (rows > all) rows = all;
    if (rows < all && !run_batch(trial, finding, rows)) return false;
    const void *results = rows < all ? trial->other : trial->got;
    if (!agree(trial, small, results, finding)) return refute_by_pair(trial, small, rows, finding);
    memcpy(small->results, results, rows * size);
    small->size = rows;
  }
  return true;
}

bool fold_sweep_batches(struct fold_trial *trial, struct fold_finding *finding) {
  struct batch small = {1, malloc(trial->c->rows * 8)};
  if (small.results == NULL) {
    fold_find_failed(finding, fold_error(FOLD_NO_MEMORY, "not enough memory for %zu results", trial->c->rows));
    return false;
  }
  const bool same = sweep(trial, &small, finding);
  free(small.results);
  return same;
}

/* Moves the first `by` of n bytes to the end. */
static fold_status rotate(unsigned char *at, size_t n, size_t by) {
  unsigned char *head = malloc(by + 1);
  if (head == NULL) return fold_error(FOLD_NO_MEMORY, "not enough memory for %zu bytes", by);
  memcpy(head, at, by);
  memmove(at, at + by, n - by);
  memcpy(at + n - by, head, by);
  free(head);
  return fold_ok();
}

/* Moves the first `by` rows of each input to the end. */
static fold_status rotate_rows(struct fold_trial *trial, size_t by) {
  const size_t row = trial->c->cols * fold_dtype_size(trial->c->dtype);
  for (unsigned k = 0; k < trial->rig->inputs; k++)
    FOLD_TRY(rotate(fold_rig_input_at(trial->rig, k), trial->c->rows * row, by * row));
  return fold_rig_load(trial->rig);
}

/* After the rotation row r's result must be at place r - by. */
static bool judge_rotated(struct fold_trial *trial, size_t by, struct fold_finding *finding) {
  const size_t rows = trial->c->rows, size = fold_dtype_size(fold_trial_result_dtype(trial));
  fold_status status = rotate_rows(trial, by);
  if (status.code == FOLD_OK) status = fold_trial_run_part(trial, 0, rows, trial->c->cols, trial->other);
  fold_status back = rotate_rows(trial, rows - by);
  if (status.code == FOLD_OK) status = back;
  if (status.code == FOLD_OK) status = rotate(trial->other, rows * size, (rows - by) * size);
  if (status.code != FOLD_OK) {
    fold_find_failed(finding, status);
    return false;
  }
  if (fold_find_same(finding, fold_trial_result_dtype(trial), trial->other, trial->got, rows, "")) return true;
  struct fold_order_side a = {.rows = rows, .row = finding->row, .alone = true}, b = a;
  b.row = (finding->row + rows - by) % rows;
  snprintf(a.at, sizeof a.at, "in place %zu of %zu", a.row, rows);
  snprintf(b.at, sizeof b.at, "in place %zu", b.row);
  fold_trial_take_sides(trial, trial->c->cols, &a, &b);
  fold_find_refuted(finding, "different bits for row %zu of %zu in place %zu than in place %zu", finding->row, rows,
                    b.row, finding->row);
  return false;
}

/* Rotates by one row each way, so that the first row also becomes the last, and the last the first; then by half. */
bool fold_sweep_places(struct fold_trial *trial, struct fold_finding *finding) {
  const size_t rows = trial->c->rows, steps[] = {1, rows - 1, rows / 2};
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
    if (!judge_rotated(trial, steps[i], finding)) return false;
  return true;
}
