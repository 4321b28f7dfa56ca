/* judge/memory.c: what a subject does to memory and leaves behind, over all runs of the trial: writes_output, stays_in_bounds,
 * leaves_no_trace, keeps_input.
 */
#include <math.h>
#include <stdio.h>

#include "judge/judge.h"
#include "judge/lay.h"
#include "process/proc.h"

/* Says for which claim the run was made that showed it; "" for the base run. */
static const char *elsewhere(const struct fold_logged *run, char text[60]) {
  size_t n;
  text[0] = '\0';
  if (run->why < FOLD_CLAIMS) snprintf(text, 60, ", in a run for %s", fold_claims(&n)[run->why].name);
  return text;
}

static bool complete(struct fold_trial *trial, struct fold_finding *finding) {
  if (fold_case_is_laid(trial->c)) return true;
  fold_status status = fold_trial_guard(trial);
  if (status.code != FOLD_OK) fold_find_failed(finding, status);
  return status.code == FOLD_OK;
}

static fold_status confirm_laid(struct fold_trial *trial, struct fold_traces *traces) {
  struct fold_request request;
  struct fold_rig rig;
  FOLD_TRY(fold_laid_case_open(trial, &rig, &request));
  const fold_status status = fold_trial_confirm_unwritten(trial, &rig, &request, trial->got, traces);
  fold_rig_close(&rig);
  return status;
}

static fold_status confirm_base(struct fold_trial *trial, struct fold_traces *traces) {
  struct fold_request request = fold_trial_request(trial, FOLD_BASE_POISON);
  *traces = trial->traces;
  if (traces->unwritten && fold_case_is_laid(trial->c)) return confirm_laid(trial, traces);
  return traces->unwritten ? fold_trial_confirm_unwritten(trial, trial->rig, &request, trial->got, traces) : fold_ok();
}

static void take_row(struct fold_finding *finding, const struct fold_varied *seen) {
  fold_find_row(finding, seen->row, seen->got, seen->want, NAN);
}

/* The run's bits differ only where the output held NaN, and are no NaN. That refutes, unless the subject varies by
 * itself. */
static bool judge_nan_choice(struct fold_trial *trial, struct fold_finding *finding, const struct fold_varied *seen) {
  fold_status status = fold_trial_look_if_steady(trial, seen);
  if (status.code != FOLD_OK) fold_find_failed(finding, status);
  if (status.code != FOLD_OK || trial->unsteady[0]) return status.code == FOLD_OK;
  take_row(finding, seen);
  fold_find_refuted(finding, "different bits where the output held NaN before: it was read");
  return false;
}

/* Refutes if results are NaN where the output held NaN, and are not where it held something else. */
static bool judge_nan_run(struct fold_trial *trial, struct fold_finding *finding, struct fold_variation how) {
  struct fold_varied seen, clean = {.same = true};
  char with[200];
  how.nan = true;
  fold_status status = fold_trial_vary(trial, &how, &seen);
  how.nan = false;
  if (status.code == FOLD_OK && !seen.read_nan)
    return seen.same || fold_variation_factors(&how) || judge_nan_choice(trial, finding, &seen);
  if (status.code == FOLD_OK && fold_variation_factors(&how)) status = fold_trial_vary(trial, &how, &clean);
  if (status.code != FOLD_OK) fold_find_failed(finding, status);
  if (status.code != FOLD_OK) return false;
  if (clean.read_nan) return true;
  take_row(finding, &seen);
  fold_trial_describe(trial, &how, with);
  /* unseen: 1 */
  fold_find_refuted(finding, "NaN where the output held NaN before: it was read%s%s", with[0] ? ", " : "", with);
  return false;
}

/* Fills the output with NaN: a subject that computes 0 * (what was there) gives 0 for every other poison. A run that
 * had the base run's bits nonetheless is evidence, whatever else was varied in it. If one gave NaN, NaN alone is varied
 * first. */
static bool judge_nan_poison(struct fold_trial *trial, struct fold_finding *finding) {
  const struct fold_varied_log *log = &trial->varied;
  size_t held = 0, n = log->n;
  if (fold_trial_find(trial, FOLD_DID_NOT_WRITE)) return true; /* reported as a result that was not written */
  for (size_t i = 0; i < n; i++) held += log->at[i].how.nan && log->at[i].same;
  for (size_t i = 0; i < n; i++) {
    if (!log->at[i].how.nan || !log->at[i].read_nan) continue;
    if (!judge_nan_run(trial, finding, (struct fold_variation){.nan = true})) return false;
    if (!judge_nan_run(trial, finding, log->at[i].how)) return false;
  }
  return held > 0 || judge_nan_run(trial, finding, (struct fold_variation){.nan = true});
}

void fold_judge_writes_output(struct fold_trial *trial, struct fold_finding *finding) {
  struct fold_traces base;
  char where[60] = ""; /* unseen: 61 */
  if (!complete(trial, finding)) return;
  if (!fold_case_is_laid(trial->c) && !judge_nan_poison(trial, finding)) return;
  fold_status status = confirm_base(trial, &base);
  finding->comparisons = fold_case_results(trial->c);
  fold_find_held(finding);
  if (status.code != FOLD_OK) {
    fold_find_failed(finding, status);
    return;
  }
  const struct fold_logged *run = fold_trial_find(trial, FOLD_DID_NOT_WRITE);
  if (!base.unwritten && !run) return;
  finding->row = base.unwritten ? base.unwritten_at : run->traces.unwritten_at;
  fold_find_refuted(finding, "result of row %zu was not written: the poison is still there%s", finding->row,
                    base.unwritten ? "" : elsewhere(run, where));
}

/* Whether its arguments are the case's, whole: those of other judges' runs may be parts of them. */
static bool is_whole(const struct fold_logged *run) {
  return run->why == FOLD_CLAIMS || run->why == FOLD_STAYS_IN_BOUNDS || run->why == FOLD_WRITES_OUTPUT ||
         run->why == FOLD_RUN_TO_RUN;
}

/* How many elements that is beyond the argument: ", 1 element past its end"; "" where that is not known. */
static void describe_distance(const struct fold_trial *trial, const struct fold_logged *run, char text[60]) {
  const struct fold_traces *t = &run->traces;
  const struct fold_case *c = trial->c;
  const bool is_output = t->bounds_of == FOLD_OUTPUT;
  const enum fold_dtype dtype = is_output ? fold_subject_result(trial->subject, c->dtype) : c->dtype;
  const ptrdiff_t size = (ptrdiff_t)fold_dtype_size(dtype);
  const size_t n = is_output ? fold_case_results(c) : trial->rig->in[t->bounds_of == FOLD_OTHER_INPUT].n;
  const bool before = t->bounds_at < 0;
  const ptrdiff_t beyond = before ? (size - 1 - t->bounds_at) / size : t->bounds_at / size - (ptrdiff_t)n + 1;
  text[0] = '\0';
  if (!is_whole(run) || t->bounds_of == FOLD_SCRATCH || fold_engine_has_ranks(trial->subject->engine) || beyond < 1)
    return;
  snprintf(text, 60, ", %td element%s %s", beyond, beyond == 1 ? "" : "s",
           before ? "before its start" : "past its end");
}

void fold_judge_stays_in_bounds(struct fold_trial *trial, struct fold_finding *finding) {
  char text[120], where[60], distance[60];
  if (!complete(trial, finding)) return;
  finding->comparisons = 1; /* even an empty output has guards */
  fold_find_held(finding);
  const struct fold_logged *run = fold_trial_find(trial, FOLD_DID_STRAY);
  if (!run) return;
  fold_traces_describe_stray(&run->traces, text);
  describe_distance(trial, run, distance);
  fold_find_refuted(finding, "%s%s%s", text, distance, elsewhere(run, where));
}

static void refute_files(const struct fold_growth *growth, struct fold_finding *finding) {
  size_t files = growth->files, runs = growth->runs;
  for (size_t by = 2; by <= runs; by++)
    for (; files % by == 0 && runs % by == 0; files /= by) runs /= by;
  const char *s = files == 1 ? "" : "s";
  if (runs == 1)
    fold_find_refuted(finding, "it leaks %zu open file%s per run", files, s);
  else
    fold_find_refuted(finding, "it leaks %zu open file%s per %zu runs", files, s, runs);
}

void fold_judge_leaves_no_trace(struct fold_trial *trial, struct fold_finding *finding) {
  char where[60];
  struct fold_growth growth = {0};
  if (!complete(trial, finding)) return;
  fold_trial_look_at_state(trial);
  /* Skipped if the subject has changed something already: that may be a limit of memory. */
  const bool looks = !trial->skips_growth && !fold_trial_find(trial, FOLD_DID_LEAVE_STATE);
  fold_status status = looks ? fold_trial_growth(trial, &growth) : fold_ok();
  if (status.code != FOLD_OK) {
    fold_find_failed(finding, status);
    return;
  }
  fold_trial_look_at_state(trial);
  finding->comparisons = trial->log.n;
  fold_find_held(finding);
  const struct fold_logged *run = fold_trial_find(trial, FOLD_DID_LEAVE_STATE);
  if (run)
    fold_find_refuted(finding, "it left changed: %s%s", run->traces.left, elsewhere(run, where));
  else if (growth.files)
    refute_files(&growth, finding);
  else if (growth.bytes)
    fold_find_refuted(finding, "it leaks %zu bytes of memory per run", growth.bytes);
  else if (!fold_proc_is_ours())
    fold_find_skipped(finding,
                      "/proc does not show this process's own namespace, so what a run leaves behind cannot be seen");
  else if (growth.unseen)
    fold_find_skipped(finding, "%s", growth.unseen);
}

void fold_judge_keeps_input(struct fold_trial *trial, struct fold_finding *finding) {
  char where[60];
  if (!complete(trial, finding)) return;
  fold_status status = fold_trial_look_at_input(trial);
  const struct fold_logged *run = fold_trial_find(trial, FOLD_DID_WRITE_INPUT);
  finding->comparisons = fold_trial_terms(trial);
  if (status.code != FOLD_OK)
    fold_find_failed(finding, status);
  else if (finding->comparisons == 0)
    fold_find_skipped(finding, "%s", fold_case_results(trial->c) ? FOLD_NO_TERMS : FOLD_NO_RESULTS);
  else
    fold_find_held(finding);
  if (finding->verdict != FOLD_HELD) return;
  if (run && run->traces.input_at >= 0)
    fold_find_refuted(finding, "byte %td of the %sinput was written to%s", run->traces.input_at,
                      run->traces.in_other ? "other " : "", elsewhere(run, where));
  else if (trial->input_hash_after != trial->input_hash)
    fold_find_refuted(finding, "the input's hash went from 0x%016llx to 0x%016llx",
                      (unsigned long long)trial->input_hash, (unsigned long long)trial->input_hash_after);
  else if (run)
    fold_find_refuted(finding, "the input was changed%s", elsewhere(run, where));
}
