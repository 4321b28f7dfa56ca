/* judge/split.c: split_invariant: the same bits when a row is cut into shards, each reduced alone, and joined.
 *
 * Shards are aligned blocks of 4096 * 2^k terms, joined by a tree over neighbours. A subject that claims this promises
 * that each such block is a subtree of its order (canonical.h). Judged for sums and products of f32 and f64; a 16-bit
 * shard's result is already rounded to 16 bits, so that its accumulator is not at hand.
 */
#include <math.h>
#include <stdio.h>

#include "base/bits.h"
#include "judge/judge.h"
#include "oracles/canonical.h"

enum { MOST_SHARDS = 8 }; /* unseen: 9 */

/* Rounds once, as if exact: f64 has at least twice the precision of f32 and 2 bits more (fold_rounds_by_double). */
static uint64_t join(enum fold_dtype dtype, enum fold_op op, uint64_t a, uint64_t b) {
  double x = fold_bits_to_double(dtype, a), y = fold_bits_to_double(dtype, b);
  return fold_bits_from_double(dtype, op == FOLD_SUM ? x + y : x * y);
}

/* Runs each shard of the row by itself; `results` are patterns. */
static fold_status run_shards(struct fold_trial *trial, size_t row, size_t length, size_t shards, uint64_t *results) {
  const struct fold_case *c = trial->c;
  for (size_t s = 0; s < shards; s++) {
    size_t at = s * length;
    const size_t cols = c->cols - at < length ? c->cols - at : length;
    const struct fold_request request = fold_trial_part(trial, row, 1, at, cols);
    uint64_t got = 0; /* unseen: 1 */
    FOLD_TRY(fold_trial_run(trial, trial->rig, &request, &got));
    results[s] = fold_bits_load(fold_trial_result_dtype(trial), &got, 0);
  }
  return fold_ok();
}

/* Judges the row in at most `most` shards; true to go on. */
static bool judge_cut(struct fold_trial *trial, struct fold_finding *finding, size_t row, size_t most) {
  const struct fold_case *c = trial->c;
  const enum fold_dtype dtype = fold_trial_result_dtype(trial);
  size_t length = FOLD_CANONICAL_TILE;
  while (length < c->cols && (c->cols + length - 1) / length > most) length *= 2;
  size_t shards = (c->cols + length - 1) / length;
  uint64_t results[MOST_SHARDS];
  fold_status status = run_shards(trial, row, length, shards, results);
  if (status.code != FOLD_OK) {
    fold_find_failed(finding, status);
    return false;
  }
  for (size_t stride = 1; stride < shards; stride *= 2)
    for (size_t p = 0; p + stride < shards; p += 2 * stride)
      results[p] = join(dtype, c->problem->op, results[p], results[p + stride]);
  char what[80];
  snprintf(what, sizeof what, "different bits from %zu shards of %zu terms", shards, length);
  uint64_t whole = fold_bits_load(dtype, trial->got, row);
  finding->comparisons++;
  if (fold_bits_same(dtype, results[0], whole)) return true;
  fold_find_row(finding, row, results[0], whole, NAN);
  fold_find_refuted(finding, "%s", what);
  return false;
}

void fold_judge_split_invariant(struct fold_trial *trial, struct fold_finding *finding) {
  const struct fold_case *c = trial->c;
  if (c->problem->op != FOLD_SUM && c->problem->op != FOLD_PROD) {
    fold_find_skipped(finding, "max and min are exact however they are split");
  } else if (fold_subject_accumulator(trial->subject, c->dtype) != fold_trial_result_dtype(trial)) {
    fold_find_skipped(finding, "a 16-bit shard's accumulator is not available");
  } else if (!fold_is_of_rows(c->problem) && fold_trial_width(trial) > 1) {
    fold_find_skipped(finding, "only rows of one result are joined from shards");
  } else if (c->rows == 0 || c->cols <= FOLD_CANONICAL_TILE) {
    fold_find_skipped(finding, "no row of more than one tile");
  } else {
    for (size_t most = 2; most <= MOST_SHARDS; most *= 2)
      if (!judge_cut(trial, finding, 0, most) || !judge_cut(trial, finding, c->rows - 1, most)) return;
    fold_find_held(finding);
  }
}
