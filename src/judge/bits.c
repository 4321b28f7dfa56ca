/* judge/bits.c: the same bits as another source's (a replay, a twin, a new process): replays, same_bits_as,
 * fresh_process. */
#include "judge/judge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "oracles/order.h"

void fold_judge_replays(const struct fold_evidence *e, struct fold_finding *finding) {
  const void *replayed;
  fold_status status = fold_evidence_replay(e, &replayed);
  if (status.code != FOLD_OK)
    fold_find_failed(finding, status);
  else if (fold_find_same(finding, fold_evidence_result_dtype(e), e->results, replayed, finding->rows,
                          "different bits than its order's replay"))
    fold_find_held(finding);
}

/* A guest's twin may take fewer dtypes and problems than the guest. */
static bool takes(const struct fold_subject *twin, const struct fold_case *c) {
  return twin->dtypes >> c->dtype & 1 && twin->problems >> c->problem->id & 1;
}

/* If the twin has different bits in a repeat, no subject can promise its bits: the subject is not to blame. */
static void blame_varying_twin(struct fold_trial *trial, const struct fold_subject *twin,
                               struct fold_finding *finding) {
  enum { AGAIN = 8 }; /* unseen: 7 */
  const enum fold_dtype dtype = fold_trial_result_dtype(trial);
  const uint64_t first = fold_results_hash(dtype, trial->other, fold_case_results(trial->c));
  for (unsigned k = 0; k < AGAIN; k++) {
    if (fold_trial_run_twin(trial, twin).code != FOLD_OK) return;
    if (fold_results_hash(dtype, trial->other, fold_case_results(trial->c)) == first) continue;
    fold_find_failed(finding,
                     fold_error(FOLD_ENVIRONMENT, "its reference %.80s gives different bits in a repeat", twin->name));
    return;
  }
}

void fold_judge_same_bits_as(struct fold_trial *trial, struct fold_finding *finding) {
  const struct fold_subject *twin = trial->subject->twin ? fold_registry_twin(trial->registry, trial->subject) : NULL;
  if (twin == NULL) {
    fold_find_skipped(finding, "it names no reference");
    if (trial->subject->twin)
      fold_find_failed(finding, fold_error(FOLD_ENVIRONMENT, "its reference %s does not exist", trial->subject->twin));
    return;
  }
  if (!takes(twin, trial->c)) {
    fold_find_skipped(finding, "its reference %.80s does not take this case", twin->name);
    return;
  }
  char what[160], on[40] = "";
  if (twin->engine != trial->subject->engine) snprintf(on, sizeof on, " on %s", fold_engine_name(twin->engine));
  snprintf(what, sizeof what, "different bits than %.80s%s", twin->name, on);
  fold_status status = fold_within(fold_trial_run_twin(trial, twin), "%.80s%s, whose bits it claims", twin->name, on);
  if (status.code != FOLD_OK)
    fold_find_failed(finding, status);
  else if (fold_find_same(finding, fold_trial_result_dtype(trial), trial->got, trial->other,
                          fold_case_results(trial->c), what))
    fold_find_held(finding);
  else
    blame_varying_twin(trial, twin, finding);
}

/* Refutes by what a run did there and not here. What it does here too is judged by other claims. */
static bool refute_traces(const struct fold_traces *theirs, const struct fold_traces *ours,
                          struct fold_finding *finding) {
  if (theirs->unwritten && !ours->unwritten) {
    finding->row = theirs->unwritten_at;
    fold_find_refuted(finding, "in a new process result %zu was not written", theirs->unwritten_at);
  } else if (theirs->out_of_bounds && !ours->out_of_bounds) {
    char text[120];
    fold_traces_describe_stray(theirs, text);
    fold_find_refuted(finding, "in a new process %s", text);
  } else if (theirs->left[0] && !ours->left[0]) { /* unseen: 1 */
    fold_find_refuted(finding, "in a new process it left changed: %s", theirs->left);
  } else if (theirs->ranks_differ && !ours->ranks_differ) {
    fold_find_row(finding, theirs->differ_at, theirs->other_bits, theirs->bits, NAN);
    fold_find_refuted(finding, "in a new process rank %u has different bits than rank 0", theirs->rank);
  } else {
    return false;
  }
  return true;
}

void fold_find_fresh_row(const struct fold_trial *trial, struct fold_finding *finding, uint64_t hash) {
  const enum fold_dtype dtype = fold_trial_result_dtype(trial);
  uint64_t bits[FOLD_FRESH_ROWS];
  const size_t n = trial->fresh->results(trial->fresh, trial->subject, trial->c->name, hash, bits);
  for (size_t r = 0; r < n && r < fold_case_results(trial->c); r++) {
    const uint64_t ours = fold_bits_load(dtype, trial->got, r);
    if (fold_bits_same(dtype, bits[r], ours)) continue;
    fold_find_row(finding, r, bits[r], ours, NAN);
    return;
  }
}

void fold_judge_fresh_process(struct fold_trial *trial, struct fold_finding *finding) {
  uint64_t ours = fold_results_hash(fold_trial_result_dtype(trial), trial->got, fold_case_results(trial->c)),
           theirs = ours;
  struct fold_traces traces;
  const char *why = NULL;
  if (!trial->fresh) {
    fold_find_skipped(finding, "no new process was started");
  } else if (!trial->fresh->find(trial->fresh, trial->subject, trial->c->name, &theirs, &traces, &why)) {
    if (why && fold_is_left_out(why))
      fold_find_skipped(finding, "%.150s", why);
    else
      snprintf(finding->reason, sizeof finding->reason, "the new process gave no result%s%.150s", why ? ": " : "",
               why ? why : ""); /* the verdict stays broken, as it is until a judge says otherwise */
  } else {
    char what[160]; /* unseen: 161 | 159 */
    snprintf(what, sizeof what, "a new process gave results of hash 0x%016llx, this one 0x%016llx%s%.60s",
             (unsigned long long)theirs, (unsigned long long)ours, why ? ": " : "", why ? why : "");
    if (!fold_find_same_hash(finding, theirs, ours, what)) return fold_find_fresh_row(trial, finding, theirs);
    if (refute_traces(&traces, &trial->traces, finding)) return;
    fold_find_held(finding);
    if (why && finding->verdict == FOLD_HELD) snprintf(finding->reason, sizeof finding->reason, "%s", why);
  }
}
