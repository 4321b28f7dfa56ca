/* vary.c: makes the runs of a plan, and finds which factor a difference is due to. */
#include "judge/vary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "judge/sweep.h"

/* The factors whose claims are asked for. Over ranks and on a device no other factor is varied. */
static unsigned factors_asked(const struct fold_trial *trial) {
  return (trial->asked & FOLD_CLAIM(FOLD_LAUNCH_INVARIANT) ? FOLD_VARIES_LAUNCH : 0u) |
         (trial->asked & FOLD_CLAIM(FOLD_ALIGNMENT_INVARIANT) ? FOLD_VARIES_ADDRESS : 0u) |
         (trial->asked & FOLD_CLAIM(FOLD_WRITES_OUTPUT) ? FOLD_VARIES_POISON : 0u);
}

/* A subject that takes no launches would decline each of them. */
bool fold_trial_takes_launches(const struct fold_trial *trial) {
  return !trial->subject->why_skipped || !trial->subject->why_skipped[FOLD_LAUNCH_INVARIANT];
}

static size_t plan_of(const struct fold_trial *trial, unsigned factors, struct fold_variation plan[FOLD_PLAN_MOST]) {
  enum fold_engine engine = trial->subject->engine;
  size_t n = fold_plan(engine, fold_trial_terms(trial), trial->input_hash, plan);
  if (fold_engine_is_here(engine)) factors = ~0u;
  if (!fold_trial_takes_launches(trial)) factors &= ~(unsigned)FOLD_VARIES_LAUNCH;
  for (size_t i = 0; i < n; i++) {
    plan[i] = fold_variation_part(&plan[i], factors);
    if (!trial->subject->scratch) plan[i].scratch_shift = 0;
    if (trial->rig->inputs < 2) plan[i].other_shift = 0;
  }
  return n;
}

static bool equals(const struct fold_variation *a, const struct fold_variation *b) {
  return a->launch.threads == b->launch.threads && a->launch.blocks == b->launch.blocks &&
         a->launch.block == b->launch.block && a->shift == b->shift && a->other_shift == b->other_shift &&
         a->out_shift == b->out_shift && a->scratch_shift == b->scratch_shift && a->placement == b->placement &&
         a->nan == b->nan && a->second == b->second;
}

/* Which term the second input changes. */
static size_t changed_term(const struct fold_trial *trial) { return trial->input_hash % fold_case_factors(trial->c); }

/* Both hashes are known, which saves each run from reading the input twice. */
fold_status fold_trial_flip(struct fold_trial *trial, bool to_second) {
  size_t at = changed_term(trial);
  uint64_t former;
  FOLD_TRY(fold_rig_poke(trial->rig, at, 0, &former));
  FOLD_TRY(fold_rig_poke(trial->rig, at, former ^ 1, &former));
  if (to_second && trial->second_hash == 0) FOLD_TRY(fold_rig_hash(trial->rig, &trial->second_hash));
  fold_rig_set_hash(trial->rig, to_second ? trial->second_hash : trial->input_hash);
  return fold_ok();
}

/* The inputs of a rig, one behind the other. */
static void copy_inputs(const struct fold_trial *trial, unsigned char *copy, bool back) {
  for (unsigned k = 0; k < trial->rig->inputs; k++) {
    const size_t nbytes = fold_case_bytes(trial->c, k);
    memcpy(back ? fold_rig_input_at(trial->rig, k) : copy, back ? copy : fold_rig_input_at(trial->rig, k), nbytes);
    copy += nbytes;
  }
}

static fold_status edit_input(struct fold_trial *trial, const struct fold_edit *edit, const unsigned char *saved) {
  struct fold_rig *rig = trial->rig;
  if (edit->second) FOLD_TRY(fold_trial_flip(trial, true));
  for (unsigned k = 0; k < rig->inputs && edit->apply; k++) {
    edit->apply(trial, k, saved, fold_rig_input_at(rig, k), edit->context);
    saved += fold_case_bytes(trial->c, k);
  }
  if (edit->apply) FOLD_TRY(fold_rig_load(rig));
  return fold_rig_move_apart(rig, edit->shift, edit->other_shift);
}

static fold_status put_back(struct fold_trial *trial, const struct fold_edit *edit, unsigned char *saved) {
  fold_status status = fold_rig_move(trial->rig, 0);
  if (saved) copy_inputs(trial, saved, true);
  if (saved && status.code == FOLD_OK) status = fold_rig_load(trial->rig);
  free(saved);
  if (status.code == FOLD_OK && edit->second) status = fold_trial_flip(trial, false);
  return status;
}

fold_status fold_trial_run_edited(struct fold_trial *trial, const struct fold_edit *edit,
                                  const struct fold_request *request, void *results) {
  const size_t nbytes = fold_case_all_bytes(trial->c);
  unsigned char *saved = edit->apply ? malloc(nbytes + 1) : NULL;
  if (edit->apply && saved == NULL) return fold_no_memory("for %zu bytes of input", nbytes);
  if (saved) copy_inputs(trial, saved, false);
  const struct fold_request whole = fold_trial_request(trial, 0x5a);
  fold_status status = edit_input(trial, edit, saved);
  if (status.code == FOLD_OK) status = fold_trial_run(trial, trial->rig, request ? request : &whole, results);
  const fold_status back = put_back(trial, edit, saved);
  return status.code == FOLD_OK ? back : status;
}

static fold_status run_varied(struct fold_trial *trial, const struct fold_variation *how) {
  const struct fold_edit edit = {.second = how->second, .shift = how->shift, .other_shift = how->other_shift};
  struct fold_request request = fold_trial_request(trial, how->nan ? 0xff : 0x21);
  request.launch = how->launch;
  request.placement = how->placement;
  request.out_shift = how->out_shift;
  request.scratch_shift = how->scratch_shift;
  FOLD_TRY(fold_trial_run_edited(trial, &edit, &request, trial->other));
  return fold_trial_find(trial, FOLD_DID_WRITE_INPUT) ? fold_trial_refill(trial) : fold_ok();
}

/* The second input's base run. */
static fold_status run_second(struct fold_trial *trial) {
  if (trial->has_second || !fold_engine_is_here(trial->subject->engine) || fold_trial_terms(trial) == 0)
    return fold_ok();
  FOLD_TRY(run_varied(trial, &(struct fold_variation){.second = true}));
  memcpy(trial->second, trial->other, fold_case_results(trial->c) * fold_dtype_size(fold_trial_result_dtype(trial)));
  trial->has_second = true;
  return fold_ok();
}

/* A row whose result is outside its bound is kept rather than the first that differs; the one row of the second input that has
 * other terms is left out. Few are looked at: many runs are compared. */
static void prefer_gross(const struct fold_trial *trial, const void *base, struct fold_varied *seen) {
  enum { FEW = 16 };
  const enum fold_dtype dtype = fold_trial_result_dtype(trial);
  const size_t rows = fold_case_results(trial->c),
               row = rows > 1 ? fold_find_gross(trial, trial->other, base, rows, FEW) : rows;
  if (row == rows || (seen->how.second && row == fold_trial_row_of(trial, changed_term(trial)))) return;
  seen->row = row;
  seen->got = fold_bits_load(dtype, trial->other, row);
  seen->want = fold_bits_load(dtype, base, row);
}

static void compare(const struct fold_trial *trial, struct fold_varied *seen) {
  enum fold_dtype dtype = fold_trial_result_dtype(trial);
  const void *base = seen->how.second ? trial->second : trial->got;
  seen->same = true;
  if (memcmp(trial->other, base, fold_case_results(trial->c) * fold_dtype_size(dtype)) == 0) return;
  for (size_t r = 0; r < fold_case_results(trial->c); r++) {
    uint64_t got = fold_bits_load(dtype, trial->other, r), want = fold_bits_load(dtype, base, r);
    if (fold_bits_same(dtype, got, want)) continue;
    bool nan = fold_bits_class(dtype, got) == FOLD_NAN;
    if (seen->same || (nan && !seen->read_nan)) {
      seen->row = r;
      seen->got = got;
      seen->want = want;
    }
    seen->same = false;
    seen->read_nan |= nan;
  }
  seen->hash = fold_results_hash(dtype, trial->other, fold_case_results(trial->c));
  if (!seen->same && !seen->read_nan) prefer_gross(trial, base, seen);
}

fold_status fold_trial_vary(struct fold_trial *trial, const struct fold_variation *how, struct fold_varied *seen) {
  struct fold_varied_log *log = &trial->varied;
  for (size_t i = 0; i < log->n; i++)
    if (equals(&log->at[i].how, how)) {
      *seen = log->at[i];
      return fold_ok();
    }
  FOLD_TRY(fold_trial_try(trial, how, seen));
  if (log->n < FOLD_VARIED_MOST) log->at[log->n++] = *seen;
  return fold_ok();
}

fold_status fold_trial_try(struct fold_trial *trial, const struct fold_variation *how, struct fold_varied *seen) {
  *seen = (struct fold_varied){.how = *how};
  FOLD_TRY(run_varied(trial, how));
  compare(trial, seen);
  return fold_ok();
}

/* Where the subject does not take that launch, varies the rest. */
static fold_status run_step(struct fold_trial *trial, const struct fold_variation *step, struct fold_varied *seen) {
  fold_status status = fold_trial_vary(trial, step, seen);
  if (status.code != FOLD_UNSUPPORTED || !(fold_variation_factors(step) & FOLD_VARIES_LAUNCH)) return status;
  struct fold_variation rest = fold_variation_part(step, ~(unsigned)FOLD_VARIES_LAUNCH);
  *seen = (struct fold_varied){.how = rest};
  return fold_variation_factors(&rest) ? fold_trial_vary(trial, &rest, seen) : fold_ok();
}

void fold_trial_describe(const struct fold_trial *trial, const struct fold_variation *how, char text[200]) {
  fold_variation_describe(how, fold_trial_terms(trial) * fold_dtype_size(trial->c->dtype), text);
}

/* A page's start or end matters as an address: nothing else is known of it. */
static void find_different_bits(struct fold_finding *finding, const struct fold_variation *how, const char *text) {
  const bool alone = how->placement != FOLD_PLACED && strncmp(text, "at the ", 7) == 0;
  fold_find_refuted(finding, "different bits %s%s", alone ? "at another address: " : "", text);
}

bool fold_find_varied(struct fold_trial *trial, struct fold_finding *finding, const struct fold_varied *seen) {
  char how[200]; /* unseen: 201 */
  fold_find_row(finding, seen->row, seen->got, seen->want, NAN);
  trial->has_refuting = true;
  trial->refuting = *seen;
  struct fold_order_side base = {.rows = trial->c->rows, .row = seen->row, .at = "usually"}, other = base;
  other.how = seen->how;
  other.how.second = false;
  fold_trial_describe(trial, &other.how, how);
  snprintf(other.at, sizeof other.at, "%.119s", how);
  fold_trial_take_sides(trial, trial->c->cols, &base, &other);
  fold_trial_describe(trial, &seen->how, how);
  find_different_bits(finding, &seen->how, how);
  return false;
}

static bool fail(struct fold_finding *finding, fold_status status) {
  fold_find_failed(finding, status);
  return false;
}

/* If moving one argument is enough, refutes by that one. */
static bool refute_by_least(struct fold_trial *trial, struct fold_finding *finding, const struct fold_varied *seen) {
  const struct fold_variation *v = &seen->how;
  const struct fold_variation parts[] = {{.shift = v->shift, .second = v->second},
                                         {.other_shift = v->other_shift, .second = v->second},
                                         {.out_shift = v->out_shift, .second = v->second},
                                         {.scratch_shift = v->scratch_shift, .second = v->second}};
  bool address = fold_variation_factors(v) == FOLD_VARIES_ADDRESS;
  for (size_t i = 0; address && i < sizeof parts / sizeof *parts; i++) {
    struct fold_varied part;
    if (!fold_variation_factors(&parts[i])) continue;
    fold_status status = fold_trial_vary(trial, &parts[i], &part);
    if (status.code != FOLD_OK) return fail(finding, status);
    if (!part.same) return fold_find_varied(trial, finding, &part);
  }
  return fold_find_varied(trial, finding, seen);
}

bool fold_varied_same(const struct fold_varied *a, const struct fold_varied *b) {
  return a->same == b->same && (a->same || a->hash == b->hash);
}

/* Decides whether a run with different bits refutes this factor's claim. It does if varying the factor alone gives
 * different bits, or if the run without this factor has other bits than this one. */
static bool blame(struct fold_trial *trial, struct fold_finding *finding, const struct fold_varied *seen,
                  enum fold_factor factor) {
  struct fold_variation own = fold_variation_part(&seen->how, factor),
                        rest = fold_variation_part(&seen->how, ~(unsigned)factor);
  struct fold_varied alone, without;
  if (!fold_variation_factors(&rest)) return refute_by_least(trial, finding, seen);
  fold_status status = fold_trial_vary(trial, &own, &alone);
  if (status.code != FOLD_OK) return fail(finding, status);
  if (!alone.same) return refute_by_least(trial, finding, &alone);
  status = fold_trial_vary(trial, &rest, &without);
  if (status.code != FOLD_OK) return fail(finding, status);
  return fold_varied_same(&without, seen) || fold_find_varied(trial, finding, seen);
}

/* Refutes by the first input if that shows the difference too, and without NaN in the output: a subject that reads the
 * NaN breaks another claim. */
static bool blame_plainly(struct fold_trial *trial, struct fold_finding *finding, struct fold_varied seen,
                          enum fold_factor factor) {
  struct fold_variation first = seen.how;
  struct fold_varied other;
  first.second = false;
  if (seen.how.second) {
    fold_status status = fold_trial_vary(trial, &first, &other);
    if (status.code != FOLD_OK) return fail(finding, status);
    if (!other.same) seen = other;
  }
  if (seen.how.nan && seen.read_nan) {
    struct fold_variation clean = fold_variation_part(&seen.how, ~(unsigned)FOLD_VARIES_POISON);
    fold_status status = fold_trial_vary(trial, &clean, &other);
    if (status.code != FOLD_OK) return fail(finding, status);
    if (other.same) return true;
    seen = other;
  }
  return blame(trial, finding, &seen, factor);
}

/* As a bit of a finding's mask; 0: the subject's own number. */
static uint64_t threads_of(const struct fold_variation *how) {
  const unsigned n = how->launch.threads;
  return n > 0 && n < 64 ? UINT64_C(1) << n : 0;
}

struct steps {
  const struct fold_variation *plan;
  enum fold_factor factor;
  size_t *ran;
};

static bool judge_step(struct fold_trial *trial, struct fold_finding *finding, size_t k, const void *context) {
  const struct steps *steps = context;
  const struct fold_variation *step = &steps->plan[k];
  const enum fold_factor factor = steps->factor;
  struct fold_varied seen;
  if (!(fold_variation_factors(step) & factor)) return true;
  fold_status status = run_step(trial, step, &seen);
  if (status.code != FOLD_OK) return fail(finding, status);
  if (!(fold_variation_factors(&seen.how) & factor)) return true;
  finding->comparisons += fold_case_results(trial->c);
  if (factor == FOLD_VARIES_LAUNCH) finding->threads |= threads_of(&seen.how);
  ++*steps->ran;
  return seen.same || blame_plainly(trial, finding, seen, factor);
}

/* Results stored from run to run would hide what is varied, so this looks for them, unless run_to_run has done so. */
static bool ask_whether_kept(struct fold_trial *trial, struct fold_finding *finding) {
  bool kept;
  if (fold_trial_terms(trial) == 0 || trial->foreign > 0) return true;
  fold_status status = fold_trial_run_foreign(trial, changed_term(trial), &kept);
  if (status.code != FOLD_OK) return fail(finding, status);
  if (kept) fold_find_refuted(finding, "it returned stored results of an earlier input");
  return !kept;
}

bool fold_judge_varied(struct fold_trial *trial, struct fold_finding *finding, enum fold_factor factor, size_t *ran) {
  struct fold_variation plan[FOLD_PLAN_MOST];
  size_t n = plan_of(trial, factors_asked(trial) | factor, plan);
  *ran = 0;
  if (!ask_whether_kept(trial, finding)) return false;
  fold_status status = run_second(trial);
  if (status.code != FOLD_OK) return fail(finding, status);
  return fold_judge_each(trial, finding, n, judge_step, &(struct steps){plan, factor, ran});
}

/* Whether some run had its arguments at that end of a page, whatever else it varied. */
static bool was_at(const struct fold_trial *trial, enum fold_placement placement) {
  for (size_t i = 0; i < trial->varied.n; i++)
    if (trial->varied.at[i].how.placement == placement) return true; /* unseen: != */
  return false;
}

fold_status fold_trial_guard(struct fold_trial *trial) {
  struct fold_variation plan[FOLD_PLAN_MOST];
  struct fold_varied seen;
  size_t n = 0;
  if (!fold_engine_is_host(trial->subject->engine)) return fold_ok();
  if (fold_engine_is_here(trial->subject->engine))
    n = plan_of(trial, 0, plan);
  else
    for (enum fold_placement p = FOLD_AT_START; p <= FOLD_AT_END; p++)
      if (!was_at(trial, p)) plan[n++] = (struct fold_variation){.placement = p};
  FOLD_TRY(run_second(trial));
  for (size_t i = 0; i < n; i++) FOLD_TRY(run_step(trial, &plan[i], &seen));
  return fold_ok();
}
