/* columns.c: a result's bits do not depend on how many columns a product has, nor on the place of its column among them; nor
 * those of a slot of a keyed sum on how many slots there are.
 *
 * batch.c cuts along the outermost axis of the results, where a part lies side by side. Along the other axes a part is laid
 * in memory of its own.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bits.h"
#include "judge/lay.h"
#include "judge/sweep.h"

static const char *const axis_names[FOLD_AXES] = {"b", "m", "n", "k"};

/* Compares what the part gave with the base run's results of the same columns. False where the finding is closed. */
static bool compare(struct fold_trial *trial, const struct fold_laid *s, const void *results, const char *what,
                    struct fold_finding *finding) {
  const struct fold_case *c = trial->c;
  const struct fold_problem *problem = c->problem;
  const enum fold_dtype dtype = fold_trial_result_dtype(trial);
  ptrdiff_t stride[FOLD_AXES];
  fold_contiguous(problem, &c->shape, problem->inputs, stride);
  for (size_t r = 0; r < fold_results(problem, &s->shape); r++) {
    struct fold_shape at = fold_coordinates(problem, &s->shape, problem->inputs, r);
    if (at.m >= c->shape.m) continue; /* a slot that the case has not */
    at.at[s->moved] = (at.at[s->moved] + s->by) % c->shape.at[s->moved];
    const size_t own = (size_t)fold_place(problem, problem->inputs, stride, &at);
    const uint64_t got = fold_bits_load(dtype, results, r), want = fold_bits_load(dtype, trial->got, own);
    finding->comparisons++;
    if (fold_bits_same(dtype, got, want)) continue;
    fold_find_row(finding, own, got, want, NAN);
    fold_find_refuted(finding, "%s", what);
    return false;
  }
  return true;
}

/* The first `extent` places of the axis, from place `by` of the case on. */
static bool judge_part(struct fold_trial *trial, struct fold_finding *finding, enum fold_axis axis, size_t extent,
                       size_t by) {
  struct fold_shape shape = trial->c->shape;
  char what[120];
  shape.at[axis] = extent;
  struct fold_laid s = fold_laid_of(trial, &shape, &fold_layout_contiguous);
  s.moved = axis;
  s.by = by;
  const size_t n = fold_results(trial->c->problem, &shape);
  void *results = malloc((n + 1) * sizeof(uint64_t));
  fold_status status = results ? fold_ok() : fold_no_memory("for %zu results", n);
  if (status.code == FOLD_OK) status = fold_laid_run(trial, &s, NULL, false, results);
  if (by)
    snprintf(what, sizeof what, "different bits with axis %s turned by %zu of %zu", axis_names[axis], by, extent);
  else
    snprintf(what, sizeof what, "different bits with %s = %zu than with %s = %zu", axis_names[axis], extent,
             axis_names[axis], trial->c->shape.at[axis]);
  if (status.code != FOLD_OK) fold_find_failed(finding, status);
  const bool same = status.code == FOLD_OK && compare(trial, &s, results, what, finding);
  free(results);
  return same;
}

/* The first size, of those in rising order, whose bits differ is named. */
static bool judge_axis(struct fold_trial *trial, struct fold_finding *finding, enum fold_axis axis) {
  const size_t n = trial->c->shape.at[axis], sizes[] = {1, 2, 3, 4, 7, 8, 15, 16, 31, 32, n / 2, n - 1};
  for (size_t i = 0, last = 0; i < sizeof sizes / sizeof *sizes; i++) {
    if (sizes[i] <= last || sizes[i] >= n) continue;
    last = sizes[i];
    if (!judge_part(trial, finding, axis, last, 0)) return false;
  }
  return judge_part(trial, finding, axis, n, 1) && (n <= 3 || judge_part(trial, finding, axis, n, n / 2));
}

/* The slots that are added are empty. */
static bool judge_slots(struct fold_trial *trial, struct fold_finding *finding) {
  const size_t m = trial->c->shape.m, sizes[] = {m + 1, 2 * m + 3, m + 1000};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    if (!judge_part(trial, finding, FOLD_M, sizes[i], 0)) return false;
  return true;
}

bool fold_sweep_columns(struct fold_trial *trial, struct fold_finding *finding) {
  const struct fold_problem *problem = trial->c->problem;
  const bool keyed = problem->reach == FOLD_BY_KEY;
  if (keyed && fold_case_results(trial->c) > 0 && !judge_slots(trial, finding)) return false;
  for (unsigned a = FOLD_M; a <= FOLD_N; a++) {
    const enum fold_axis axis = (enum fold_axis)a;
    const bool is_cut = !fold_has_axis(problem, problem->inputs, axis) || axis == fold_trial_batch_axis(trial) ||
                        (keyed && axis == FOLD_M);
    if (is_cut || trial->c->shape.at[axis] < 2) continue;
    if (!judge_axis(trial, finding, axis)) return false;
  }
  return true;
}
