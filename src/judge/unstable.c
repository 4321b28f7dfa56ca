/* unstable.c: when a claim about surroundings is refuted, repeats the same run in the same surroundings, to see whether
 * the subject varies by itself.
 *
 * A subject that varies by itself (for example, threads add in whatever sequence they finish) has different bits in
 * some run for every claim, and what else was different in that run says nothing. Then run_to_run is refuted if it was
 * asked for, and the other claim is skipped. If run_to_run was not asked for, the other claim stays refuted, for it
 * can't hold either, and the reason says why.
 */
#include <stdio.h>

#include "judge/judge.h"

enum { AGAIN = 8 };

static const uint64_t OF_SURROUNDINGS = FOLD_CLAIM(FOLD_SAME_BITS_AS) | FOLD_CLAIM(FOLD_LAUNCH_INVARIANT) |
                                        FOLD_CLAIM(FOLD_ALIGNMENT_INVARIANT) | FOLD_CLAIM(FOLD_BATCH_INVARIANT) |
                                        FOLD_CLAIM(FOLD_LENGTH_INVARIANT) | FOLD_CLAIM(FOLD_PADDING_INVARIANT) |
                                        FOLD_CLAIM(FOLD_STRIDE_INVARIANT);

void fold_trial_note_unsteady(struct fold_trial *trial, const struct fold_varied *seen, const char *what) {
  if (trial->unsteady[0]) return;
  snprintf(trial->unsteady, sizeof trial->unsteady, "%s", what);
  trial->unsteady_at = *seen;
}

fold_status fold_trial_repeat(struct fold_trial *trial, const struct fold_varied *first, unsigned n) {
  struct fold_varied again, other = {.same = true}; /* unseen: false */
  unsigned differing = 0;
  char what[160], how[40] = "";
  for (unsigned k = 0; k < n; k++) {
    FOLD_TRY(fold_trial_try(trial, &first->how, &again));
    if (fold_varied_same(&again, first)) continue;
    differing++;
    other = again.same ? *first : again;
  }
  if (first->how.launch.threads)
    snprintf(how, sizeof how, " with %u thread%s", first->how.launch.threads, first->how.launch.threads > 1 ? "s" : "");
  snprintf(what, sizeof what, "%u of %u repeats%s gave different bits, at the same address", differing, n, how);
  if (differing > 0) fold_trial_note_unsteady(trial, &other, what);
  return fold_ok();
}

fold_status fold_trial_look_if_steady(struct fold_trial *trial, const struct fold_varied *seen) {
  const struct fold_varied base = {.how.second = seen && seen->how.second, .same = true};
  if (trial->unsteady[0]) return fold_ok();
  if (seen) FOLD_TRY(fold_trial_repeat(trial, seen, AGAIN));
  return trial->unsteady[0] ? fold_ok() : fold_trial_repeat(trial, &base, AGAIN);
}

void fold_judge_steady(struct fold_trial *trial, struct fold_finding *finding) {
  if (finding->verdict != FOLD_REFUTED || !finding->compared || !(OF_SURROUNDINGS & FOLD_CLAIM(trial->why))) return;
  const struct fold_varied *seen = trial->has_refuting ? &trial->refuting : NULL;
  fold_find_unsteady(trial, finding, seen);
}

void fold_find_unsteady(struct fold_trial *trial, struct fold_finding *finding, const struct fold_varied *seen) {
  if (fold_trial_look_if_steady(trial, seen).code != FOLD_OK || !trial->unsteady[0]) return; /* it stays refuted */
  if (trial->asked & FOLD_CLAIM(FOLD_RUN_TO_RUN) && trial->repeats > 0)
    fold_find_skipped(finding, "the same run varies by itself: see run_to_run");
  else
    fold_find_refuted(finding, "different bits, but the same run varies by itself: %.120s", trial->unsteady);
}

void fold_judge_unsteady(const struct fold_trial *trial, struct fold_finding *finding) {
  if (finding->verdict != FOLD_HELD || trial->unsteady[0] == '\0') return;
  fold_find_refuted(finding, "%s", trial->unsteady);
  fold_judge_tell_input(trial, finding);
  finding->compared = true;
  finding->row = trial->unsteady_at.row;
  finding->got = trial->unsteady_at.got;
  finding->want = trial->unsteady_at.want;
}
