/* judge/ranks.c: what a collective promises beyond its result: the same bits on every rank, and in any world. */
#include <stdio.h>

#include "judge/judge.h"
#include "ranks/world.h"

/* Judges over all runs that were made, also those of other judges with parts of the message and in other worlds. */
void fold_judge_rank_agreement(struct fold_trial *trial, struct fold_finding *finding) {
  if (trial->rig->world == NULL) {
    fold_find_skipped(finding, "it has no ranks");
    return;
  }
  fold_status status = fold_trial_guard(trial);
  const struct fold_logged *run = fold_trial_find(trial, FOLD_DID_DIFFER);
  if (status.code != FOLD_OK) {
    fold_find_failed(finding, status);
  } else if (!fold_trial_find(trial, FOLD_DID_RUN_TOGETHER)) {
    fold_find_skipped(finding, "there is only one rank");
  } else if (!run) {
    finding->comparisons = fold_case_results(trial->c);
    fold_find_held(finding);
  } else {
    const struct fold_traces *split = &run->traces;
    finding->row = split->differ_at;
    finding->compared = true;
    finding->got = split->other_bits;
    finding->want = split->bits;
    fold_find_refuted(finding, "rank %u has different bits than rank 0", split->rank);
  }
}

void fold_judge_world_invariant(struct fold_trial *trial, struct fold_finding *finding) {
  const struct fold_case *c = trial->c;
  bool tried = false;
  if (trial->rig->world == NULL) {
    fold_find_skipped(finding, "it has no ranks");
    return;
  }
  unsigned worlds[FOLD_WORLDS_MOST];
  const size_t n = fold_worlds_sizes(fold_world_ranks(trial->rig->world), worlds);
  for (size_t i = 0; i < n; i++) {
    if (worlds[i] == c->ranks) continue;
    /* unseen: 0x2e */
    struct fold_request request = {.rows = c->rows, .cols = c->cols, .ranks = worlds[i], .poison = 0x2d};
    char what[80]; /* unseen: 79 | 81 */
    fold_status status = fold_trial_run(trial, trial->rig, &request, trial->other);
    if (status.code != FOLD_OK) {
      fold_find_failed(finding, status);
      return;
    }
    snprintf(what, sizeof what, "different bits with %u ranks", worlds[i]);
    if (!fold_find_same(finding, fold_trial_result_dtype(trial), trial->other, trial->got, fold_case_results(c), what))
      return;
    tried = true;
  }
  if (tried)
    fold_find_held(finding);
  else
    fold_find_skipped(finding, "there is no second number of ranks to try");
}
