/* judge_memory.c: what a subject does to memory and leaves behind, over all runs of the trial: writes_output, stays_in_bounds,
 * leaves_no_trace, keeps_input.
 */
#include "judge.h"

/* Where it was not the base run that showed it. */
static const char *elsewhere(bool base) { return base ? "" : ", in another run: at another launch, address or batch"; }

static bool complete(struct fold_trial *trial, struct fold_finding *finding) {
  fold_status status = fold_trial_guard(trial);
  if (status.code != FOLD_OK) fold_find_failed(finding, status);
  return status.code == FOLD_OK;
}

static fold_status confirm_base(struct fold_trial *trial, struct fold_traces *traces) {
  struct fold_request request = fold_trial_request(trial, FOLD_BASE_POISON);
  *traces = trial->traces;
  return traces->unwritten ? fold_trial_confirm_unwritten(trial, trial->rig, &request, trial->got, traces) : fold_ok();
}

/* NaN where the output held NaN, and not where it held something else. */
static bool judge_nan_run(struct fold_trial *trial, struct fold_finding *finding, struct fold_variation how) {
  struct fold_varied seen, clean;
  char with[200];
  how.nan = true;
  fold_status status = fold_trial_vary(trial, &how, &seen);
  if (status.code == FOLD_OK && !seen.read_nan) return true;
  how.nan = false;
  clean = (struct fold_varied){.same = true};
  if (status.code == FOLD_OK && fold_variation_factors(&how)) status = fold_trial_vary(trial, &how, &clean);
  if (status.code != FOLD_OK) fold_find_failed(finding, status);
  if (status.code != FOLD_OK) return false;
  if (clean.read_nan) return true;
  finding->row = seen.row;
  finding->compared = true;
  finding->got = seen.got;
  finding->want = seen.want;
  fold_variation_describe(&how, with);
  fold_find_refuted(finding, "NaN where the output held NaN before: it was read%s%s", with[0] ? ", " : "", with);
  return false;
}

/* 0 * what was there is 0 for every poison but NaN. A run that had the base run's bits in spite of it is evidence, whatever else was
 * varied in it; of one that has not, the same by itself is tried first. */
static bool judge_nan_poison(struct fold_trial *trial, struct fold_finding *finding) {
  const struct fold_varied_log *log = &trial->varied;
  size_t held = 0, n = log->n;
  if (trial->log.unwritten.unwritten) return true; /* it is still there, which is told as that */
  for (size_t i = 0; i < n; i++) held += log->at[i].how.nan && log->at[i].same;
  for (size_t i = 0; i < n; i++) {
    if (!log->at[i].how.nan || !log->at[i].read_nan) continue;
    if (!judge_nan_run(trial, finding, (struct fold_variation){.nan = true})) return false;
    if (!judge_nan_run(trial, finding, log->at[i].how)) return false;
  }
  return held > 0 || judge_nan_run(trial, finding, (struct fold_variation){.nan = true});
}

void fold_judge_writes_output(struct fold_trial *trial, struct fold_finding *finding) {
  struct fold_traces base, *found = &base;
  if (!complete(trial, finding) || !judge_nan_poison(trial, finding)) return;
  fold_status status = confirm_base(trial, &base);
  finding->comparisons = trial->c->rows;
  fold_find_held(finding);
  if (status.code != FOLD_OK) {
    fold_find_failed(finding, status);
    return;
  }
  if (!base.unwritten) found = &trial->log.unwritten;
  if (!found->unwritten) return;
  finding->row = found->unwritten_at;
  fold_find_refuted(finding, "result of row %zu was not written: the poison is still there%s", found->unwritten_at,
                    elsewhere(base.unwritten));
}

void fold_judge_stays_in_bounds(struct fold_trial *trial, struct fold_finding *finding) {
  char text[120];
  if (!complete(trial, finding)) return;
  finding->comparisons = 1; /* there are guards around an empty output too */
  fold_find_held(finding);
  if (!trial->log.stray.out_of_bounds) return;
  fold_traces_describe_stray(&trial->log.stray, text);
  fold_find_refuted(finding, "%s%s", text, elsewhere(trial->traces.out_of_bounds));
}

void fold_judge_leaves_no_trace(struct fold_trial *trial, struct fold_finding *finding) {
  if (!complete(trial, finding)) return;
  fold_trial_look_at_threads(trial);
  finding->comparisons = trial->log.runs;
  fold_find_held(finding);
  if (trial->log.leaver.left[0])
    fold_find_refuted(finding, "it left changed: %s%s", trial->log.leaver.left, elsewhere(trial->traces.left[0]));
}

void fold_judge_keeps_input(struct fold_trial *trial, struct fold_finding *finding) {
  const struct fold_traces *writer = &trial->log.writer;
  if (!complete(trial, finding)) return;
  fold_status status = fold_trial_refill(trial);
  finding->comparisons = fold_trial_terms(trial);
  if (status.code != FOLD_OK)
    fold_find_failed(finding, status);
  else if (finding->comparisons == 0)
    fold_find_skipped(finding, "%s", trial->c->rows ? "no term" : "no row");
  else
    fold_find_held(finding);
  if (finding->verdict != FOLD_HELD) return;
  if (writer->wrote_input && writer->input_at >= 0)
    fold_find_refuted(finding, "byte %td of the input was written to%s", writer->input_at,
                      elsewhere(trial->traces.wrote_input));
  else if (trial->input_hash_after != trial->input_hash)
    fold_find_refuted(finding, "the input's hash went from 0x%016llx to 0x%016llx",
                      (unsigned long long)trial->input_hash, (unsigned long long)trial->input_hash_after);
  else if (writer->wrote_input)
    fold_find_refuted(finding, "the input was changed%s", elsewhere(trial->traces.wrote_input));
}
