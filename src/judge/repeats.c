/* judge/repeats.c: run_to_run: the same bits each time; for a guest also while other processes keep the machine
 * busy. */
#include <math.h>

#include "judge/judge.h"
#include "rig/contention.h"

/* Before how many repeats other inputs are run. These are few where they cost much: ranks get their parts again for
 * each, a device waits for each, and long inputs take long. */
static unsigned foreign_repeats(const struct fold_trial *trial) {
  bool quick = fold_engine_is_here(trial->subject->engine) && fold_trial_terms(trial) <= FOLD_PLAN_FEW;
  return quick ? 3 : 1;
}

/* A function of rows that varies by itself, which the repeats show, has kept nothing. */
static bool varies(struct fold_trial *trial) {
  const enum fold_dtype dtype = fold_trial_result_dtype(trial);
  if (!trial->subject->unknown || fold_trial_rerun(trial, 0x3d).code != FOLD_OK) return false;
  return fold_results_hash(dtype, trial->other, fold_case_results(trial->c)) !=
         fold_results_hash(dtype, trial->got, fold_case_results(trial->c));
}

/* Runs one or two other inputs at the same address before repeat k. That shows results that are stored from run to run,
 * and subjects that work differently every second run. First the input's hash chooses the changed term, so that a
 * subject which compares only a few terms misses the change; then the last and the first term are changed. */
static bool judge_foreign(struct fold_trial *trial, struct fold_finding *finding, unsigned k) {
  size_t n = fold_case_factors(trial->c);
  const size_t places[] = {trial->input_hash % (n + !n), n - 1, 0, trial->input_hash / (n + !n) % (n + !n)};
  for (unsigned i = 0; i < 1 + k % 2 && n > 0; i++) {
    size_t at = places[(k + i) % 4];
    bool kept;
    fold_status status = fold_trial_run_foreign(trial, at, &kept);
    if (status.code != FOLD_OK) {
      fold_find_failed(finding, status);
      return false;
    }
    if (!kept || varies(trial)) continue;
    finding->row = fold_trial_row_of(trial, at);
    fold_find_refuted(finding, "the result of the previous input, from before its term %zu was changed",
                      at % trial->c->cols);
    return false;
  }
  return true;
}

/* What the repeats gave. The base run's results count as a pattern, too. */
struct repeats {
  unsigned ran[2], differing[2]; /* quiet, and while the machine is busy */ /* unseen: 3 */
  uint64_t pattern[1024];
  size_t patterns; /* how many different ones were seen; no more are told apart than fit here */
  double shortest; /* the shortest quiet run, in seconds: a longer one may have been interrupted */
};

static void count_pattern(struct repeats *r, uint64_t hash) {
  size_t k = 0;
  while (k < r->patterns && r->pattern[k] != hash) k++;
  if (k == r->patterns && k < sizeof r->pattern / sizeof *r->pattern) r->pattern[r->patterns++] = hash;
}

/* Makes repeat k. The finding's row, got and want are those of the first repeat that differs. */
static bool repeat(struct fold_trial *trial, struct repeats *r, bool busy, unsigned k, struct fold_finding *finding) {
  const enum fold_dtype dtype = fold_trial_result_dtype(trial);
  struct fold_finding again = *finding;
  fold_status status = fold_trial_rerun(trial, (unsigned char)(0x11 + k));
  if (status.code == FOLD_OK && fold_trial_find(trial, FOLD_DID_WRITE_INPUT)) status = fold_trial_refill(trial);
  if (status.code != FOLD_OK) {
    fold_find_failed(finding, status);
    return false;
  }
  const bool same =
      fold_find_same(&again, dtype, trial->other, trial->got, fold_case_results(trial->c), "different bits");
  if (same || !finding->compared) *finding = again;
  r->ran[busy]++;
  r->differing[busy] += !same;
  if (!same) count_pattern(r, fold_results_hash(dtype, trial->other, fold_case_results(trial->c)));
  return true;
}

static void conclude(const struct repeats *r, struct fold_finding *finding) {
  const unsigned runs = 1 + r->ran[0] + r->ran[1];
  const char *more = r->patterns == sizeof r->pattern / sizeof *r->pattern ? " or more" : "";
  if (r->differing[0] + r->differing[1] == 0)
    fold_find_held(finding);
  else if (r->ran[1] == 0)
    fold_find_refuted(finding, "%u of %u repeats gave different bits: %zu%s bit patterns in %u runs", r->differing[0],
                      r->ran[0], r->patterns, more, runs);
  else
    fold_find_refuted(
        finding, "%u of %u repeats gave different bits, and %u of %u on a busy machine: %zu%s bit patterns in %u runs",
        r->differing[0], r->ran[0], r->differing[1], r->ran[1], r->patterns, more, runs);
}

/* Seconds: of the repeats that a case asks for. On a busy machine each parallel region may take a thousand times as long: a subject with many regions would
 * take hours. */
static const double MORE_TIME = 1, BUSY_RUN = 0.01, BUSY_TIME = 0.3, LAUNCH_TIME = 0.3;

/* Repeats with other numbers of threads, as launches have them: with two threads alone the sum is the same whichever
 * comes first. */
static bool repeat_launches(struct fold_trial *trial, const struct repeats *r, struct fold_finding *finding) {
  enum { LEAST = 6 };
  static const unsigned threads[] = {7, 16, 3, 4, 8, 2, 1};
  const unsigned n = trial->repeats > LEAST && !trial->c->repeats ? trial->repeats : LEAST;
  const double end = fold_now() + LAUNCH_TIME;
  if (!trial->subject->guest || !fold_engine_is_here(trial->subject->engine) || r->shortest > BUSY_RUN) return true;
  if (!fold_trial_takes_launches(trial)) return true;
  for (size_t i = 0; i < sizeof threads / sizeof *threads && fold_now() < end && !trial->unsteady[0]; i++) {
    const struct fold_variation how = {.launch.threads = threads[i]};
    struct fold_varied first;
    fold_status status = fold_trial_try(trial, &how, &first);
    if (status.code == FOLD_UNSUPPORTED) continue;
    if (status.code == FOLD_OK) status = fold_trial_repeat(trial, &first, n);
    finding->comparisons += n * fold_case_results(trial->c);
    if (status.code == FOLD_OK) continue;
    fold_find_failed(finding, status);
    return false;
  }
  return true;
}

/* Repeats on a busy machine, so that threads finish in another sequence. Short runs end before they are interrupted, so
 * more of them are made. */
static bool repeat_busy(struct fold_trial *trial, struct repeats *r, struct fold_finding *finding) {
  enum { LEAST_OF_SHORT = 12 };
  const bool is_short = fold_trial_terms(trial) <= FOLD_PLAN_FEW;
  const unsigned n = is_short && trial->repeats < LEAST_OF_SHORT ? LEAST_OF_SHORT : trial->repeats;
  if (!trial->subject->guest || !fold_engine_is_here(trial->subject->engine) || r->shortest > BUSY_RUN) return true;
  if (trial->spared) return true;
  fold_status status = fold_contention_begin();
  const double end = fold_now() + BUSY_TIME; /* to start the processes takes long, where the machine is busy */
  bool went = status.code == FOLD_OK;
  if (!went) fold_find_failed(finding, status);
  for (unsigned k = 0; k < n && went && fold_now() < end; k++) went = repeat(trial, r, true, k, finding);
  fold_contention_pause();
  return went;
}

/* Has another thread of the process call a guest, which may keep something for each thread. */
static bool repeat_by_other_thread(struct fold_trial *trial, struct fold_finding *finding) {
  struct fold_request request = fold_trial_request(trial, 0x55);
  request.other_thread = true;
  if (!trial->subject->any_thread || !fold_engine_is_here(trial->subject->engine)) return true;
  fold_status status = fold_trial_run(trial, trial->rig, &request, trial->other);
  if (status.code == FOLD_OK && fold_trial_find(trial, FOLD_DID_WRITE_INPUT)) status = fold_trial_refill(trial);
  if (status.code != FOLD_OK) fold_find_failed(finding, status);
  return status.code == FOLD_OK &&
         fold_find_same(finding, fold_trial_result_dtype(trial), trial->other, trial->got, fold_case_results(trial->c),
                        "different bits in a repeat that a second thread of the process called");
}

void fold_judge_run_to_run(struct fold_trial *trial, struct fold_finding *finding) {
  struct repeats r = {.shortest = INFINITY};
  if (trial->repeats == 0) {
    fold_find_skipped(finding, "no repeat is asked for");
    return;
  }
  count_pattern(&r, fold_results_hash(fold_trial_result_dtype(trial), trial->got, fold_case_results(trial->c)));
  const unsigned least = trial->c->repeats ? FOLD_REPEATS : trial->repeats;
  const double end = fold_now() + MORE_TIME;
  for (unsigned k = 0; k < trial->repeats && (k < least || fold_now() < end); k++) {
    if (k < foreign_repeats(trial) && !judge_foreign(trial, finding, k)) return;
    const double begun = fold_now();
    if (!repeat(trial, &r, false, k, finding)) return;
    r.shortest = fmin(r.shortest, fold_now() - begun);
  }
  if (r.differing[0] == 0 && !repeat_launches(trial, &r, finding)) return;
  if (r.differing[0] == 0 && !trial->unsteady[0] && !repeat_by_other_thread(trial, finding)) return;
  if (!trial->unsteady[0] && !repeat_busy(trial, &r, finding)) return; /* unseen: 1 */
  conclude(&r, finding);
  if (finding->verdict == FOLD_REFUTED) {
    const struct fold_varied seen = {.row = finding->row, .got = finding->got, .want = finding->want};
    fold_trial_note_unsteady(trial, &seen, finding->reason);
  }
  fold_judge_unsteady(trial, finding);
}
