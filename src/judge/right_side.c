/* right_side.c: of two runs with different bits, which one is right.
 *
 * Where the exact result is known, a refutation says how far each side is from it, and `got` is the side that is outside its
 * bound, or the one that is further outside. If both are within it, they stay as the judge has them.
 */
#include <math.h>
#include <stdio.h>

#include "judge.h"

static const uint64_t OF_TWO_RUNS = FOLD_CLAIM(FOLD_RUN_TO_RUN) | FOLD_CLAIM(FOLD_LAUNCH_INVARIANT) |
                                    FOLD_CLAIM(FOLD_ALIGNMENT_INVARIANT) | FOLD_CLAIM(FOLD_BATCH_INVARIANT) |
                                    FOLD_CLAIM(FOLD_PADDING_INVARIANT) | FOLD_CLAIM(FOLD_SPLIT_INVARIANT) |
                                    FOLD_CLAIM(FOLD_PERMUTATION_INVARIANT);

/* Whether both results are of the case's own row: not of a part of it, nor of the second input. */
static bool is_of_row(const struct fold_trial *trial, const struct fold_finding *f) {
  const bool part = trial->sides.n > 0 && trial->sides.n != trial->c->cols;
  const bool second = trial->has_refuting && trial->refuting.how.second;
  return f->compared && f->row < trial->c->rows && !part && !second && !f->of_other_run;
}

/* Whether a is outside its bound, and further than b. */
static bool is_worse(struct fold_weight a, struct fold_weight b) {
  return !a.allowed && (b.allowed || isnan(a.fraction) || a.fraction > b.fraction);
}

static void describe(struct fold_weight w, char text[40]) {
  if (isnan(w.fraction) || w.fraction == 0)
    snprintf(text, 40, "%s", w.allowed ? "right" : "wrong");
  else
    snprintf(text, 40, w.allowed ? "right within %.3g of its bound" : "wrong by %.3g bounds", w.fraction);
}

void fold_judge_right_side(const struct fold_trial *trial, struct fold_finding *f) {
  const struct fold_evidence evidence = fold_trial_evidence(trial);
  char got_is[40], want_is[40];
  if (f->verdict != FOLD_REFUTED || !(OF_TWO_RUNS & FOLD_CLAIM(trial->why)) || !is_of_row(trial, f)) return;
  if (trial->truths == NULL || trial->truths->input == NULL || trial->subject->unknown) return;
  struct fold_weight got = fold_weight_of(&evidence, f->row, f->got), want = fold_weight_of(&evidence, f->row, f->want);
  if (!got.known || !want.known) return;
  const bool turns = is_worse(want, got);
  const char *at_got = trial->sides.n ? trial->sides.side[!trial->sides.first_is_got].at : "got";
  const char *at_want = trial->sides.n ? trial->sides.side[trial->sides.first_is_got].at : "want";
  describe(got, got_is), describe(want, want_is);
  snprintf(f->sides, sizeof f->sides, "%.38s: %s, %.38s: %s", at_want, want_is, at_got, got_is);
  if (!turns) return;
  const uint64_t wrong = f->want;
  f->want = f->got;
  f->got = wrong;
}
