/* judge_memory.c: what a subject does to memory: writes_output, stays_in_bounds, keeps_input. */
#include "judge.h"

/* A result may equal the poison by chance; a place that keeps two different poisons was not written. */
void fold_judge_writes_output(struct fold_trial *trial, struct fold_finding *finding) {
  fold_find_held(finding);
  finding->comparisons = trial->c->rows;
  if (!trial->traces.unwritten) return;
  size_t row = trial->traces.unwritten_at;
  struct fold_request request = {.op = trial->c->op, .rows = trial->c->rows, .cols = trial->c->cols, .poison = 0x3c};
  struct fold_traces traces;
  fold_status status = fold_rig_run(trial->rig, trial->subject, &request, trial->other, &traces);
  if (status.code != FOLD_OK) {
    fold_find_failed(finding, status);
  } else if (traces.unwritten) {
    finding->row = row;
    fold_find_refuted(finding, "result of row %zu was not written: the poison is still there", row);
  }
}

void fold_judge_stays_in_bounds(struct fold_trial *trial, struct fold_finding *finding) {
  const struct fold_traces *stray = trial->traces.out_of_bounds ? &trial->traces : &trial->rig->stray;
  fold_find_held(finding);
  finding->comparisons = 1; /* there are guards around an empty output too */
  if (stray->out_of_bounds)
    fold_find_refuted(finding, "byte %td from the start of the %s was overwritten%s", stray->bounds_at,
                      stray->in_input_zone ? "input" : "output",
                      stray == &trial->traces ? "" : ", at another launch, address or batch");
}

void fold_judge_keeps_input(struct fold_trial *trial, struct fold_finding *finding) {
  fold_find_held(finding);
  finding->comparisons = trial->c->rows * trial->c->cols;
  if (finding->comparisons == 0) {
    fold_find_skipped(finding, "%s", trial->c->rows ? "no term" : "no row");
    return;
  }
  if (trial->input_hash_after != trial->input_hash)
    fold_find_refuted(finding, "the input's hash went from 0x%016llx to 0x%016llx",
                      (unsigned long long)trial->input_hash, (unsigned long long)trial->input_hash_after);
}
