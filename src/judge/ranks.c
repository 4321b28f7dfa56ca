/* judge/ranks.c: what a collective promises beyond its result: the same bits on every rank, in any message, in any world. */
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

/* Runs elements [at, at + n) of the message as a message of their own. */
static bool judge_part(struct fold_trial *trial, struct fold_finding *finding, size_t at, size_t n) {
  const struct fold_case *c = trial->c;
  /* unseen: 0x3d */
  struct fold_request request = fold_trial_part(trial, at, n, 0, c->cols);
  char what[120]; /* unseen: 121 */
  fold_status status = fold_trial_run(trial, trial->rig, &request, trial->other);
  if (status.code != FOLD_OK) {
    fold_find_failed(finding, status);
    return false;
  }
  snprintf(what, sizeof what, "elements %zu to %zu have different bits in a message of their own", at, at + n - 1);
  const unsigned char *whole = (const unsigned char *)trial->got + at * fold_dtype_size(fold_trial_result_dtype(trial));
  if (fold_find_same(finding, fold_trial_result_dtype(trial), trial->other, whole, n, what)) return true;
  finding->row += at;
  return false;
}

/* Each element must have the same bits in the whole message as in a shorter one: in its halves, in two parts of other
 * lengths, and alone, at the ends and at a third. */
void fold_judge_message_invariant(struct fold_trial *trial, struct fold_finding *finding) {
  size_t n = fold_case_results(trial->c);
  if (trial->rig->world == NULL) {
    fold_find_skipped(finding, "it has no ranks");
    return;
  }
  if (n < 2) {
    fold_find_skipped(finding, "messages of one element cannot be split");
    return;
  }
  const size_t cuts[][2] = {{0, n / 2}, {n / 2, n},         {0, n - 1}, {n / 7, n - n / 3},
                            {n - 1, n}, {n / 3, n / 3 + 1}, {0, 1}};
  for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++)
    if (cuts[i][1] > cuts[i][0] && !judge_part(trial, finding, cuts[i][0], cuts[i][1] - cuts[i][0])) return;
  fold_find_held(finding);
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
