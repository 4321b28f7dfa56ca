/* judge_bits.c: the same bits as somebody else's: replays, same_bits_as, fresh_process. */
#include "judge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "order.h"

void fold_judge_replays(const struct fold_evidence *e, struct fold_finding *finding) {
  const void *replayed;
  fold_status status = fold_evidence_replay(e, &replayed);
  if (status.code != FOLD_OK)
    fold_find_failed(finding, status);
  else if (fold_find_same(finding, fold_evidence_result_dtype(e), e->results, replayed, finding->rows,
                          "other bits than its order's replay"))
    fold_find_held(finding);
}

static const struct fold_subject *find_twin(const struct fold_trial *trial) {
  for (size_t i = 0; i < trial->registry->n; i++) {
    const struct fold_subject *s = &trial->registry->subjects[i];
    if (trial->subject->twin && s->engine == trial->subject->engine && strcmp(s->name, trial->subject->twin) == 0)
      return s;
  }
  return NULL;
}

void fold_judge_same_bits_as(struct fold_trial *trial, struct fold_finding *finding) {
  const struct fold_subject *twin = find_twin(trial);
  if (twin == NULL) {
    fold_find_skipped(finding, "it names no twin");
    if (trial->subject->twin)
      fold_find_failed(finding, fold_error(FOLD_ENVIRONMENT, "its twin %s does not exist", trial->subject->twin));
    return;
  }
  fold_status status = fold_trial_run_twin(trial, twin);
  char what[120];
  snprintf(what, sizeof what, "other bits than %s", twin->name);
  if (status.code != FOLD_OK)
    fold_find_failed(finding, status);
  else if (fold_find_same(finding, fold_trial_result_dtype(trial), trial->got, trial->other, trial->c->rows, what))
    fold_find_held(finding);
}

/* What a run did there and not here. What it does here too is other claims' to refute. */
static bool refute_traces(const struct fold_traces *theirs, const struct fold_traces *ours,
                          struct fold_finding *finding) {
  if (theirs->unwritten && !ours->unwritten) {
    finding->row = theirs->unwritten_at;
    fold_find_refuted(finding, "in a new process result %zu was not written", theirs->unwritten_at);
  } else if (theirs->out_of_bounds && !ours->out_of_bounds) {
    char text[120];
    fold_traces_describe_stray(theirs, text);
    fold_find_refuted(finding, "in a new process %s", text);
  } else if (theirs->left[0] && !ours->left[0]) {
    fold_find_refuted(finding, "in a new process it left changed: %s", theirs->left);
  } else if (theirs->ranks_differ && !ours->ranks_differ) {
    finding->row = theirs->differ_at;
    finding->compared = true;
    finding->got = theirs->other_bits;
    finding->want = theirs->bits;
    fold_find_refuted(finding, "in a new process rank %u has other bits than rank 0", theirs->rank);
  } else {
    return false;
  }
  return true;
}

void fold_judge_fresh_process(struct fold_trial *trial, struct fold_finding *finding) {
  uint64_t theirs, ours = fold_results_hash(fold_trial_result_dtype(trial), trial->got, trial->c->rows);
  struct fold_traces traces;
  const char *why = NULL;
  if (!trial->fresh) {
    fold_find_skipped(finding, "no other process was asked");
  } else if (!fold_fresh_find(trial->fresh, trial->subject->name, trial->subject->engine, trial->c->name, &theirs,
                              &traces, &why)) {
    finding->verdict = FOLD_BROKEN;
    snprintf(finding->reason, sizeof finding->reason, "the other process gave no result%s%.150s", why ? ": " : "",
             why ? why : "");
  } else {
    char what[120];
    snprintf(what, sizeof what, "a new process gave results of hash 0x%016llx, this one 0x%016llx",
             (unsigned long long)theirs, (unsigned long long)ours);
    if (fold_find_same_hash(finding, theirs, ours, what) && !refute_traces(&traces, &trial->traces, finding))
      fold_find_held(finding);
  }
}
