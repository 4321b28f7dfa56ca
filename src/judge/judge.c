/* judge.c: judges a claim, and what is checked or added after any judge. */
#include <stdio.h>
#include <string.h>

#include "base/bits.h"
#include "judge/judge.h"
#include "judge/sweep.h"
#include "process/heartbeat.h"

void fold_judge_tell_input(const struct fold_trial *trial, struct fold_finding *finding) {
  static const char said[] = "; a run changed the input: see keeps_input";
  const size_t n = strnlen(finding->reason, sizeof finding->reason - sizeof said);
  if (finding->verdict != FOLD_REFUTED ||
      (!fold_trial_find(trial, FOLD_DID_WRITE_INPUT) && trial->input_hash_after == trial->input_hash))
    return;
  memcpy(finding->reason + n, said, sizeof said);
}

/* Whether it is a guest that gets host memory: a program, which gets files, is too slow to be run for this. */
static bool gets_memory(const struct fold_trial *trial) {
  return trial->subject->guest && fold_engine_is_here(trial->subject->engine) &&
         !fold_claim_unjudged(trial->subject, FOLD_ALIGNMENT_INVARIANT);
}

/* A guest may go another way where its arguments are not aligned. Where that gives other results, these must keep the
 * claim too. */
static void judge_moved(const struct fold_claim *claim, struct fold_trial *trial, struct fold_finding *finding) {
  const struct fold_variation moved = {.shift = 1, .other_shift = trial->c->problem->inputs > 1, .out_shift = 1};
  struct fold_evidence evidence = fold_trial_evidence(trial);
  struct fold_finding found = fold_finding_open(fold_case_results(trial->c));
  struct fold_varied seen;
  char how[200];
  if (!gets_memory(trial)) return;
  fold_status status = fold_trial_vary(trial, &moved, &seen);
  if (status.code == FOLD_OK && !seen.same) status = fold_trial_try(trial, &moved, &seen); /* trial->other has them */
  if (status.code != FOLD_OK && status.code != FOLD_UNSUPPORTED) fold_find_failed(finding, status);
  if (status.code != FOLD_OK || seen.same) return;
  evidence.results = trial->other;
  claim->results(&evidence, &found);
  if (found.verdict != FOLD_REFUTED) return;
  *finding = found;
  finding->moved = true;
  fold_trial_describe(trial, &moved, how);
  const size_t n = strnlen(finding->reason, sizeof finding->reason - 1);
  snprintf(finding->reason + n, sizeof finding->reason - n, ", %.100s", how);
}

/* A refutation shows two results that differ, or says what else is wrong. Where its two sides are the same, it is about
 * the size of an error, and does not show them; in a claim about bits, foldproof itself is at fault. */
static void check_sides(const struct fold_claim *claim, enum fold_dtype dtype, struct fold_finding *finding) {
  if (finding->verdict != FOLD_REFUTED || !finding->compared || !fold_bits_same(dtype, finding->got, finding->want))
    return;
  finding->compared = false;
  if (FOLD_OF_ERROR & FOLD_CLAIM(claim->id)) return;
  fold_find_failed(finding, fold_error(FOLD_ENVIRONMENT,
                                       "foldproof is at fault: %s is refuted in row %zu, where both results "
                                       "are the same: please report this",
                                       claim->name, finding->row));
}

/* A case that says how its inputs lie is for what one run on them shows. */
static const char *why_not_laid(const struct fold_claim *claim, const struct fold_case *c) {
  if (!fold_case_is_laid(c) || claim->results || FOLD_TIDY & FOLD_CLAIM(claim->id)) return NULL;
  return "the case has a layout: cases of contiguous inputs judge this";
}

void fold_judge_claim(const struct fold_claim *claim, struct fold_trial *trial, struct fold_finding *finding) {
  struct fold_evidence evidence = fold_trial_evidence(trial);
  *finding = fold_finding_open(fold_case_results(trial->c));
  trial->why = claim->id;
  trial->has_refuting = trial->cut = false;
  trial->sides.n = trial->part.n = 0;
  fold_watch_judging(claim->id + 1u);
  const char *why = fold_claim_unjudged(trial->subject, claim->id);
  if (!why) why = why_not_laid(claim, trial->c);
  if (why)
    fold_find_skipped(finding, "%s", why);
  else if (claim->results)
    claim->results(&evidence, finding);
  else
    claim->runs(trial, finding);
  const bool again = claim->results && !fold_case_is_laid(trial->c);
  if (again && finding->verdict == FOLD_HELD) judge_moved(claim, trial, finding);
  if (again && finding->verdict == FOLD_HELD && gets_memory(trial)) fold_sweep_claim(claim, trial, finding);
  check_sides(claim, fold_trial_result_dtype(trial), finding);
  fold_judge_steady(trial, finding);
  if (trial->cut && finding->verdict != FOLD_REFUTED) fold_find_failed(finding, fold_left_out(trial->seconds));
  fold_judge_right_side(trial, finding);
  if (claim->id != FOLD_KEEPS_INPUT) fold_judge_tell_input(trial, finding);
  fold_watch_judging(0);
  if (claim->by_order && finding->verdict == FOLD_HELD) finding->telling = trial->telling;
}

void fold_judge_evidence(const struct fold_evidence *evidence, const char *globs, fold_take_finding *take,
                         void *context) {
  const struct fold_case *c = evidence->truths->c;
  uint64_t promised = fold_claims_of(evidence->subject, c->problem->op);
  size_t n;
  const struct fold_claim *claims = fold_claims(&n);
  for (size_t k = 0; k < n; k++) {
    struct fold_finding finding = fold_finding_open(fold_case_results(c));
    if (!claims[k].results || !(promised & FOLD_CLAIM(k)) || !fold_glob_match(globs, claims[k].name)) continue;
    const char *why = fold_claim_unjudged(evidence->subject, claims[k].id);
    if (why)
      fold_find_skipped(&finding, "%s", why);
    else
      claims[k].results(evidence, &finding);
    check_sides(&claims[k], fold_evidence_result_dtype(evidence), &finding);
    take(context, &claims[k], &finding);
  }
}
