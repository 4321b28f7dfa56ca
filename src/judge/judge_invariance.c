/* judge_invariance.c: the same bits whatever surrounds the terms: launch, alignment, batch, permutation. */
#include "judge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bits.h"

/* Longer rows are not run in other places and batches by themselves. */
enum { ROW_TERMS = 1 << 18 };

void fold_judge_launch_invariant(struct fold_trial *trial, struct fold_finding *finding) {
  size_t ran;
  if (!fold_judge_varied(trial, finding, FOLD_VARIES_LAUNCH, &ran)) return;
  if (ran > 0)
    fold_find_held(finding);
  else
    fold_find_skipped(finding, "it takes no other launch");
}

static fold_status run_part(struct fold_trial *trial, size_t first, size_t rows, size_t cols, void *got) {
  struct fold_request request = {.op = trial->c->op, .first = first, .rows = rows, .cols = cols, .poison = 0x5a};
  return fold_trial_run(trial, trial->rig, &request, got);
}

/* The row without its first element, where it stands (misaligned) and moved to the aligned address. */
static bool judge_sub_range(struct fold_trial *trial, struct fold_finding *finding) {
  const struct fold_case *c = trial->c;
  uint64_t in_place = 0, copied = 0;
  fold_status status = run_part(trial, 1, 1, c->cols - 1, &in_place);
  if (status.code == FOLD_OK) status = fold_rig_move(trial->rig, -1);
  if (status.code == FOLD_OK) status = run_part(trial, 1, 1, c->cols - 1, &copied);
  fold_status back = fold_rig_move(trial->rig, 0);
  if (status.code == FOLD_OK) status = back;
  if (status.code != FOLD_OK) {
    fold_find_failed(finding, status);
    return false;
  }
  return fold_find_same(finding, fold_trial_result_dtype(trial), &in_place, &copied, 1,
                        "a sub-range and its copy gave different bits");
}

void fold_judge_alignment_invariant(struct fold_trial *trial, struct fold_finding *finding) {
  const struct fold_case *c = trial->c;
  size_t ran;
  if (!fold_judge_varied(trial, finding, FOLD_VARIES_ADDRESS, &ran)) return;
  bool divisible = c->cols > 1 && c->cols <= ROW_TERMS && c->rows > 0 && !trial->subject->vector;
  if (divisible && !judge_sub_range(trial, finding)) return;
  fold_find_held(finding);
}

/* A row of a batch, run alone where it stands, and the leading half of the rows. */
static void judge_rows_alone(struct fold_trial *trial, struct fold_finding *finding) {
  const struct fold_case *c = trial->c;
  size_t picks[] = {0, c->rows / 2, c->rows - 1}, half = c->rows / 2;
  size_t size = fold_dtype_size(fold_trial_result_dtype(trial));
  for (size_t i = 0; i < 3; i++) {
    fold_status status = run_part(trial, picks[i] * c->cols, 1, c->cols, trial->other);
    if (status.code != FOLD_OK) {
      fold_find_failed(finding, status);
      return;
    }
    const unsigned char *in_batch = (const unsigned char *)trial->got + picks[i] * size;
    if (!fold_find_same(finding, fold_trial_result_dtype(trial), trial->other, in_batch, 1,
                        "other bits for the row alone")) {
      finding->row = picks[i];
      return;
    }
  }
  fold_status status = run_part(trial, 0, half, c->cols, trial->other);
  if (status.code != FOLD_OK) {
    fold_find_failed(finding, status);
  } else if (fold_find_same(finding, fold_trial_result_dtype(trial), trial->other, trial->got, half,
                            "other bits in a batch of half the rows")) {
    fold_find_held(finding);
  }
}

enum { BATCH = 5 };

/* The row's bytes, element by element from the last to the first. */
static void copy_reversed(unsigned char *to, const unsigned char *from, size_t n, size_t size) {
  if (size == 4) {
    for (size_t i = 0; i < n; i++) ((uint32_t *)(void *)to)[i] = ((const uint32_t *)(const void *)from)[n - 1 - i];
  } else {
    for (size_t i = 0; i < n; i++) memcpy(to + i * size, from + (n - 1 - i) * size, size);
  }
}

/* Where the row stands among five; the others hold it reversed, so that a neighbour's term shows, and the first row's, for whoever
 * takes that for all. */
enum { THIRD = 2, FOURTH = 3 };

static void lay_batch(unsigned char *to, const void *row, size_t cols, size_t size) {
  for (size_t r = 0; r < BATCH; r++, to += cols * size)
    if (r == THIRD || r == FOURTH)
      memcpy(to, row, cols * size);
    else
      copy_reversed(to, row, cols, size);
}

/* It is laid once a case. */
static fold_status open_batch(struct fold_trial *trial) {
  const struct fold_case *c = trial->c;
  struct fold_rig *batch = trial->batch;
  const size_t n[FOLD_INPUTS] = {BATCH * c->cols, BATCH * c->cols};
  if (batch->ops) return fold_ok();
  FOLD_TRY(fold_rig_open_inputs(batch, trial->subject->engine, c->dtype, n, trial->rig->inputs, BATCH));
  batch->ranks = trial->rig->ranks;
  batch->factors = trial->rig->factors;
  for (unsigned k = 0; k < batch->inputs; k++)
    lay_batch(fold_rig_input_at(batch, k), fold_rig_input_at(trial->rig, k), c->cols, fold_dtype_size(c->dtype));
  return fold_rig_load(batch);
}

static void judge_row_in_batch(struct fold_trial *trial, struct fold_finding *finding) {
  const struct fold_case *c = trial->c;
  uint64_t got[BATCH];
  struct fold_request request = {.op = c->op, .rows = BATCH, .cols = c->cols, .poison = 0x6b};
  bool wrote = fold_trial_find(trial, FOLD_DID_WRITE_INPUT) != NULL;
  fold_status status = open_batch(trial);
  trial->batch->last = trial->rig->last; /* the same subject goes on, in other memory */
  if (status.code == FOLD_OK) status = fold_trial_run(trial, trial->batch, &request, got);
  if (status.code != FOLD_OK || wrote || fold_trial_find(trial, FOLD_DID_WRITE_INPUT)) fold_rig_close(trial->batch);
  if (status.code != FOLD_OK) {
    fold_find_failed(finding, status);
    return;
  }
  const enum fold_dtype dtype = fold_trial_result_dtype(trial);
  const size_t size = fold_dtype_size(dtype);
  const unsigned char *third = (const unsigned char *)got + THIRD * size,
                      *fourth = (const unsigned char *)got + FOURTH * size;
  if (fold_find_same(finding, dtype, third, trial->got, 1, "other bits as third of five rows") &&
      fold_find_same(finding, dtype, fourth, trial->got, 1, "other bits as fourth of five rows"))
    fold_find_held(finding);
}

void fold_judge_batch_invariant(struct fold_trial *trial, struct fold_finding *finding) {
  if (trial->c->rows > 1)
    judge_rows_alone(trial, finding);
  else if (trial->c->rows == 1 && trial->c->cols <= ROW_TERMS)
    judge_row_in_batch(trial, finding);
  else if (trial->c->rows == 1)
    fold_find_skipped(finding, "one row of over %d terms: cases of several rows judge this", ROW_TERMS);
  else
    fold_find_skipped(finding, "no row");
}

/* In place, and undone in place, so that a permutation needs no second copy of the input. */
static void swap(enum fold_dtype dtype, void *row, size_t a, size_t b) {
  uint64_t t = fold_bits_load(dtype, row, a);
  fold_bits_store(dtype, row, a, fold_bits_load(dtype, row, b));
  fold_bits_store(dtype, row, b, t);
}

static void reverse(enum fold_dtype dtype, void *row, size_t n, bool undo) {
  (void)undo;
  for (size_t i = 0; i < n / 2; i++) swap(dtype, row, i, n - 1 - i);
}

/* A multiplicative hash picks the partner of place i among the first i + 1: Fisher and Yates's shuffle, which the same
 * swaps in the opposite sequence undo. */
static size_t partner(size_t i) {
  return (size_t)((i * 0x9e3779b97f4a7c15u ^ i >> 7) * 0xd6e8feb86659fd93u >> 20) % (i + 1);
}

static void shuffle(enum fold_dtype dtype, void *row, size_t n, bool undo) {
  if (undo)
    for (size_t i = n; i-- > 1;) swap(dtype, row, i, partner(i));
  else
    for (size_t i = 1; i < n; i++) swap(dtype, row, i, partner(i));
}

/* Neighbours that cancelled, or rounded together, are put far apart: even places first, by swaps of the two halves'
 * elements. */
static void interleave(enum fold_dtype dtype, void *row, size_t n, bool undo) {
  (void)undo;
  for (size_t i = 0; i < n / 2; i += 2) swap(dtype, row, i, i + n / 2);
}

struct permutation {
  const char *name;
  void (*apply)(enum fold_dtype dtype, void *row, size_t n, bool undo);
};
static const struct permutation permutations[] = {
    {"reversed", reverse}, {"shuffled", shuffle}, {"interleaved", interleave}};

static void permute(const struct permutation *p, struct fold_trial *trial, bool undo) {
  const struct fold_case *c = trial->c;
  for (unsigned k = 0; k < trial->rig->inputs; k++) {
    unsigned char *input = fold_rig_input_at(trial->rig, k);
    for (size_t r = 0; r < c->rows; r++)
      p->apply(c->dtype, input + r * c->cols * fold_dtype_size(c->dtype), c->cols, undo);
  }
}

static bool judge_permutation(struct fold_trial *trial, struct fold_finding *finding, const struct permutation *p) {
  permute(p, trial, false);
  fold_status status = fold_rig_load(trial->rig);
  if (status.code == FOLD_OK) status = run_part(trial, 0, trial->c->rows, trial->c->cols, trial->other);
  permute(p, trial, true);
  fold_status back = fold_rig_load(trial->rig);
  if (status.code == FOLD_OK) status = back;
  if (status.code != FOLD_OK) {
    fold_find_failed(finding, status);
    return false;
  }
  char what[80];
  snprintf(what, sizeof what, "other bits for the terms %s", p->name);
  return fold_find_same(finding, fold_trial_result_dtype(trial), trial->other, trial->got, trial->c->rows, what);
}

void fold_judge_permutation_invariant(struct fold_trial *trial, struct fold_finding *finding) {
  for (size_t i = 0; i < sizeof permutations / sizeof *permutations; i++)
    if (!judge_permutation(trial, finding, &permutations[i])) return;
  fold_find_held(finding);
}
