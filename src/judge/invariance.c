/* judge/invariance.c: the same bits whatever surrounds the terms: launch, alignment, permutation. */
#include "judge/sweep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"

/* BLAS and OpenMP libraries take their number of threads from variables when they are loaded, so new processes have tried
 * that. One whose variables were not changed tells whether a process alone makes a difference: that is fresh_process's. */
static bool judge_variables(struct fold_trial *trial, struct fold_finding *finding, size_t *ran) {
  const struct fold_fresh *fresh = trial->fresh;
  const uint64_t ours = fold_results_hash(fold_trial_result_dtype(trial), trial->got, fold_case_results(trial->c));
  uint64_t theirs;
  unsigned threads;
  if (!fresh || !fresh->launch(fresh, trial->subject, trial->c->name, 0, &threads, &theirs)) return true;
  if (theirs != ours || threads != 0) return true;
  for (size_t k = 1; fresh->launch(fresh, trial->subject, trial->c->name, k, &threads, &theirs); k++) {
    char what[160];
    ++*ran;
    snprintf(what, sizeof what,
             "different bits in a new process with OMP_NUM_THREADS, OPENBLAS_NUM_THREADS and MKL_NUM_THREADS = %u",
             threads);
    if (fold_find_same_hash(finding, theirs, ours, what)) continue;
    fold_find_fresh_row(trial, finding, theirs);
    fold_find_unsteady(trial, finding, NULL);
    return false;
  }
  return true;
}

void fold_judge_launch_invariant(struct fold_trial *trial, struct fold_finding *finding) {
  size_t ran;
  if (!fold_judge_varied(trial, finding, FOLD_VARIES_LAUNCH, &ran) || !judge_variables(trial, finding, &ran)) return;
  if (ran > 0)
    fold_find_held(finding);
  else
    fold_find_skipped(finding, "its grid and number of threads cannot be varied");
}

/* Compares the row without its first element, where it lies (misaligned), with the same moved to the aligned
 * address. */
static bool judge_sub_range(struct fold_trial *trial, struct fold_finding *finding) {
  const struct fold_case *c = trial->c;
  uint64_t in_place = 0, copied = 0;
  const struct fold_edit moved = {.shift = -1, .other_shift = -1};
  const struct fold_request request = fold_trial_part(trial, 0, 1, 1, c->cols - 1);
  fold_status status = fold_trial_run(trial, trial->rig, &request, &in_place);
  if (status.code == FOLD_OK) status = fold_trial_run_edited(trial, &moved, &request, &copied);
  if (status.code != FOLD_OK) {
    fold_find_failed(finding, status);
    return false;
  }
  if (fold_find_same(finding, fold_trial_result_dtype(trial), &in_place, &copied, 1,
                     "a sub-range and its copy gave different bits"))
    return true;
  const struct fold_order_side where = {.skip = 1, .rows = 1, .at = "1 element from an aligned address"};
  const struct fold_order_side copy = {.skip = 1, .rows = 1, .how.shift = -1, .at = "at an aligned address"};
  fold_trial_take_sides(trial, c->cols - 1, &where, &copy);
  trial->sides.first_is_got = true;
  trial->part = (struct fold_part){0, 1, c->cols - 1};
  return false;
}

static bool judge_addresses(struct fold_trial *trial, struct fold_finding *finding, size_t k, const void *context) {
  const struct fold_case *c = trial->c;
  const bool divisible = c->cols > 1 && c->cols <= FOLD_ROW_TERMS && fold_case_results(c) > 0 &&
                         fold_trial_width(trial) == 1 && !trial->subject->vector;
  size_t ran;
  (void)context;
  if (k == 0) return fold_judge_varied(trial, finding, FOLD_VARIES_ADDRESS, &ran);
  if (k == 1) return !trial->subject->guest || fold_sweep_offsets(trial, finding);
  return !divisible || judge_sub_range(trial, finding);
}

void fold_judge_alignment_invariant(struct fold_trial *trial, struct fold_finding *finding) {
  if (fold_judge_each(trial, finding, 3, judge_addresses, NULL)) fold_find_held(finding);
}

/* The elements of an input that belong to one line along k: n of them, `step` apart. */
struct line {
  enum fold_dtype dtype;
  void *at;
  size_t step, n;
};

static void swap(const struct line *l, size_t a, size_t b) {
  uint64_t t = fold_bits_load(l->dtype, l->at, a * l->step);
  fold_bits_store(l->dtype, l->at, a * l->step, fold_bits_load(l->dtype, l->at, b * l->step));
  fold_bits_store(l->dtype, l->at, b * l->step, t);
}

static void reverse(const struct line *l) {
  for (size_t i = 0; i < l->n / 2; i++) swap(l, i, l->n - 1 - i);
}

/* A multiplicative hash picks the partner of place i among the first i + 1: Fisher and Yates's shuffle. */
static size_t partner(size_t i) {
  return (size_t)((i * 0x9e3779b97f4a7c15u ^ i >> 7) * 0xd6e8feb86659fd93u >> 20) % (i + 1); /* unseen: | */
}

static void shuffle(const struct line *l) {
  for (size_t i = 1; i < l->n; i++) swap(l, i, partner(i)); /* unseen: 2 */
}

/* Puts neighbours that cancelled, or rounded together, far apart: the elements of even places come first, by swaps
 * between the two halves. */
static void interleave(const struct line *l) {
  for (size_t i = 0; i < l->n / 2; i += 2) swap(l, i, i + l->n / 2);
}

struct permutation {
  const char *name;
  void (*apply)(const struct line *line);
};
static const struct permutation permutations[] = {
    {"reversed", reverse}, {"shuffled", shuffle}, {"interleaved", interleave}};

/* All lines of all inputs have the same permutation, so that factors that are multiplied stay together. */
static void permute(const struct fold_trial *trial, unsigned k, const void *from, void *input, const void *context) {
  const struct fold_case *c = trial->c;
  const struct permutation *p = context;
  const enum fold_dtype dtype = fold_input_dtype(c->problem, c->dtype, k);
  ptrdiff_t stride[FOLD_AXES];
  (void)from;
  fold_contiguous(c->problem, &c->shape, k, stride);
  const size_t step = (size_t)stride[FOLD_K], block = step * c->shape.k, n = fold_case_elements(c, k);
  for (size_t first = 0; block > 0 && first < n; first += block)
    for (size_t i = 0; i < step; i++) {
      void *at = (unsigned char *)input + (first + i) * fold_dtype_size(dtype);
      p->apply(&(struct line){dtype, at, step, c->shape.k});
    }
}

static bool judge_permutation(struct fold_trial *trial, struct fold_finding *finding, const struct permutation *p) {
  const struct fold_edit edit = {.apply = permute, .context = p};
  const fold_status status = fold_trial_run_edited(trial, &edit, NULL, trial->other);
  if (status.code != FOLD_OK) {
    fold_find_failed(finding, status);
    return false;
  }
  char what[80];
  snprintf(what, sizeof what, "different bits for the terms %s", p->name);
  return fold_find_same(finding, fold_trial_result_dtype(trial), trial->other, trial->got, fold_case_results(trial->c),
                        what);
}

void fold_judge_permutation_invariant(struct fold_trial *trial, struct fold_finding *finding) {
  if (fold_is_scan(trial->c->problem)) {
    fold_find_skipped(finding, "a scan's results depend on the places of its terms");
    return;
  }
  for (size_t i = 0; i < sizeof permutations / sizeof *permutations; i++)
    if (!judge_permutation(trial, finding, &permutations[i])) return;
  fold_find_held(finding);
}
