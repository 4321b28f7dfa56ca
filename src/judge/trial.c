/* trial.c: the runs that judges make. Each enters the trial's log, whatever it is made for. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/list.h"
#include "judge/judge.h"
#include "process/heartbeat.h"

fold_status fold_log_add(struct fold_log *log, const struct fold_logged *run) {
  struct fold_logged *added = fold_list_grow(&log->run, &log->n, &log->room, sizeof *added);
  if (!added) return fold_no_memory("for the log of %zu runs", log->n + 1);
  *added = *run;
  return fold_ok();
}

void fold_log_close(struct fold_log *log) {
  free(log->run);
  *log = (struct fold_log){0};
}

static bool did(const struct fold_traces *traces, enum fold_deed deed) {
  switch (deed) {
    case FOLD_DID_NOT_WRITE: return traces->unwritten;
    case FOLD_DID_STRAY: return traces->out_of_bounds;
    case FOLD_DID_WRITE_INPUT: return traces->wrote_input;
    case FOLD_DID_LEAVE_STATE: return traces->left[0]; /* unseen: 1 */
    case FOLD_DID_DIFFER: return traces->ranks_differ;
    case FOLD_DID_RUN_TOGETHER: return traces->ranks > 1;
  }
  return false;
}

const struct fold_logged *fold_log_find(const struct fold_log *log, const struct fold_subject *subject,
                                        enum fold_deed deed) {
  for (size_t i = 0; i < log->n; i++)
    if (log->run[i].subject == subject && did(&log->run[i].traces, deed)) return &log->run[i];
  return NULL;
}

static bool is_poison(const unsigned char *result, size_t size, unsigned char poison) {
  for (size_t i = 0; i < size; i++)
    if (result[i] != poison) return false;
  return true;
}

/* If ranks are found to have changed their parts of the input, the last run before did it. */
static void blame_last(struct fold_trial *trial) {
  if (trial->log.n) fold_traces_note_input(&trial->log.run[trial->log.n - 1].traces);
}

static fold_status enter(struct fold_trial *trial, const struct fold_logged *run, fold_status status) {
  if (run->traces.found_changed) blame_last(trial);
  FOLD_TRY(status);
  return fold_log_add(&trial->log, run);
}

/* Nothing looks later whether the input of another rig than the case's was changed. */
static fold_status run_elsewhere(struct fold_trial *trial, struct fold_rig *rig, const struct fold_request *request,
                                 void *got, struct fold_traces *traces) {
  bool kept = true;
  if (!fold_engine_is_here(trial->subject->engine)) FOLD_TRY(fold_rig_parts_kept(trial->rig, &kept));
  if (!kept) blame_last(trial);
  return fold_rig_run_watched(rig, trial->subject, request, got, traces);
}

static const char left_out[] = "left out: the time limit of ";

fold_status fold_left_out(double seconds) { return fold_error(FOLD_UNSUPPORTED, "%s%g s", left_out, seconds); }
bool fold_is_left_out(const char *reason) { return strncmp(reason, left_out, sizeof left_out - 1) == 0; }

/* Enters the run as the last of the log. */
static fold_status run_in(struct fold_trial *trial, struct fold_rig *rig, const struct fold_request *request,
                          void *got) {
  trial->cut |= trial->end > 0 && fold_now() > trial->end;
  if (trial->cut) return fold_left_out(trial->seconds);
  struct fold_logged run = {trial->subject, trial->why, {0}};
  fold_status status = rig == trial->rig ? fold_rig_run(rig, trial->subject, request, got, &run.traces)
                                         : run_elsewhere(trial, rig, request, got, &run.traces);
  return enter(trial, &run, status);
}

const struct fold_logged *fold_trial_find(const struct fold_trial *trial, enum fold_deed deed) {
  return fold_log_find(&trial->log, trial->subject, deed);
}

/* A result may equal the poison by chance; a place that keeps two different poisons was not written. */
fold_status fold_trial_confirm_unwritten(struct fold_trial *trial, struct fold_rig *rig,
                                         const struct fold_request *request, const void *got,
                                         struct fold_traces *traces) {
  size_t size = fold_dtype_size(fold_trial_result_dtype(trial));
  struct fold_request again = *request;
  const size_t results = fold_results(rig->problem, &request->shape);
  again.poison = (unsigned char)~request->poison;
  unsigned char *second = malloc(results * size + 1);
  if (!second) return fold_no_memory("for %zu results", results);
  fold_status status = run_in(trial, rig, &again, second);
  struct fold_traces *other = status.code == FOLD_OK ? &trial->log.run[trial->log.n - 1].traces : NULL;
  bool unwritten = other && other->unwritten;
  /* unseen: 1 */
  bool elsewhere = unwritten && (other->rank != 0 || traces->rank != 0); /* only rank 0's results are at hand */
  traces->unwritten = elsewhere && other->unwritten_at == traces->unwritten_at;
  for (size_t r = 0; unwritten && !traces->unwritten && r < results; r++) {
    traces->unwritten = is_poison((const unsigned char *)got + r * size, size, request->poison) &&
                        is_poison(second + r * size, size, again.poison);
    traces->unwritten_at = r;
  }
  if (other) other->unwritten = traces->unwritten;
  free(second);
  return status;
}

fold_status fold_trial_run(struct fold_trial *trial, struct fold_rig *rig, const struct fold_request *request,
                           void *got) {
  FOLD_TRY(run_in(trial, rig, request, got));
  const size_t last = trial->log.n - 1;
  const struct fold_log before = {.run = trial->log.run, .n = last};
  struct fold_traces traces = trial->log.run[last].traces;
  if (!traces.unwritten || fold_log_find(&before, trial->subject, FOLD_DID_NOT_WRITE)) return fold_ok();
  fold_status status = fold_trial_confirm_unwritten(trial, rig, request, got, &traces);
  trial->log.run[last].traces = traces;
  return status;
}

fold_status fold_trial_run_twin(struct fold_trial *trial, const struct fold_subject *twin) {
  struct fold_rig *rig = trial->rig;
  const struct fold_request request = fold_trial_request(trial, 0x77); /* unseen: 0x76 */
  struct fold_logged run = {twin, trial->why, {0}};
  if (trial->is_apart && trial->is_apart(twin)) {
    fold_watch_twin(true);
    const fold_status status = trial->apart(trial, twin, trial->other);
    fold_watch_twin(false);
    return status;
  }
  if (twin->engine != trial->subject->engine) FOLD_TRY(trial->elsewhere(trial->whose, twin->engine, &rig));
  fold_watch_twin(true);
  fold_status status = fold_rig_run(rig, twin, &request, trial->other, &run.traces);
  fold_watch_twin(false);
  FOLD_TRY(enter(trial, &run, status));
  return fold_trial_refill(trial);
}

struct fold_evidence fold_trial_evidence(const struct fold_trial *trial) {
  return (struct fold_evidence){
      .subject = trial->subject, .truths = trial->truths, .ranks = trial->c->ranks, .results = trial->got};
}

enum fold_dtype fold_trial_result_dtype(const struct fold_trial *trial) {
  return fold_subject_result(trial->subject, trial->c->dtype);
}

size_t fold_trial_terms(const struct fold_trial *trial) { return fold_case_terms(trial->c); }

struct fold_request fold_trial_request(const struct fold_trial *trial, unsigned char poison) {
  return (struct fold_request){.shape = trial->c->shape, .poison = poison};
}

fold_status fold_trial_rerun(struct fold_trial *trial, unsigned char poison) {
  struct fold_request request = fold_trial_request(trial, poison);
  return fold_trial_run(trial, trial->rig, &request, trial->other);
}

/* Enters what is found for the last run of the trial's subject: any run since the last look may have done it. */
void fold_trial_look_at_state(struct fold_trial *trial) {
  struct fold_traces last;
  size_t at = trial->log.n;
  if (trial->looked_at == at) return;
  trial->looked_at = at; /* unseen: drop */
  fold_rig_look_at_state(trial->rig, &last);
  while (trial->log.run[at - 1].subject != trial->subject) at--; /* ends at its base run, which is the first */
  if (!trial->log.run[at - 1].traces.left[0]) memcpy(trial->log.run[at - 1].traces.left, last.left, sizeof last.left);
}

static fold_status refill(struct fold_trial *trial, uint64_t *found) {
  FOLD_TRY(fold_rig_hash(trial->rig, found));
  if (*found == trial->input_hash) return fold_ok();
  fold_trial_look_at_state(trial);
  for (unsigned k = 0; k < trial->rig->inputs; k++)
    FOLD_TRY(fold_case_fill(trial->c, k, fold_rig_input_at(trial->rig, k), 0));
  return fold_rig_load(trial->rig);
}

fold_status fold_trial_refill(struct fold_trial *trial) {
  uint64_t found;
  return refill(trial, &found);
}

fold_status fold_trial_look_at_input(struct fold_trial *trial) {
  uint64_t found;
  FOLD_TRY(refill(trial, &found));
  if (found != trial->input_hash) trial->input_hash_after = found;
  trial->input_seen = trial->log.n;
  return fold_ok();
}

uint64_t fold_trial_poke(const struct fold_trial *trial, double term) {
  const enum fold_dtype dtype = trial->c->dtype;
  const double finite = ldexp(signbit(term) ? -1 : 1, fold_format_of(dtype).emax / 2);
  return fold_bits_from_double(dtype, trial->finite ? finite : term);
}

bool fold_trial_spares_it(struct fold_trial *trial, fold_status status) {
  if (trial->finite || !trial->subject->guest || status.code != FOLD_UNSUPPORTED) return false;
  return trial->finite = true;
}

/* A term that alone decides a row's result, if it is not finite. */
static uint64_t absorber(const struct fold_trial *trial) {
  const enum fold_op op = trial->c->problem->op;
  return fold_trial_poke(trial, op == FOLD_MAX ? (double)INFINITY : op == FOLD_MIN ? -(double)INFINITY : (double)NAN);
}

/* Flips the sign of each term but one: special values stay special. What would then decide the result in place of that term, as an
 * infinity does, becomes 1: the term has to show. */
static void negate_others(const struct fold_trial *trial, unsigned k, const void *from, void *input, const void *at) {
  enum fold_dtype dtype = trial->c->dtype;
  uint64_t sign = fold_format_of(dtype).sign;
  const size_t n = fold_is_keys(trial->c->problem, k) ? 0 : fold_case_elements(trial->c, k),
               first = k * fold_case_elements(trial->c, 0);
  const uint64_t decides = absorber(trial), one = fold_bits_from_double(dtype, 1);
  for (size_t i = 0; i < n; i++) {
    const uint64_t negative = fold_bits_load(dtype, from, i) ^ sign;
    if (first + i != *(const size_t *)at) fold_bits_store(dtype, input, i, negative == decides ? one : negative);
  }
}

/* Whether the row's result of the edited input is `bits`. */
static fold_status gives(struct fold_trial *trial, const struct fold_edit *edit, size_t row, uint64_t bits,
                         bool *same) {
  const enum fold_dtype dtype = fold_trial_result_dtype(trial);
  *same = false;
  FOLD_TRY(fold_trial_run_edited(trial, edit, NULL, trial->other));
  *same = fold_bits_same(dtype, fold_bits_load(dtype, trial->other, row), bits);
  return fold_ok();
}

size_t fold_trial_row_of(const struct fold_trial *trial, size_t at) {
  const size_t first = fold_case_elements(trial->c, 0);
  const uint32_t *keys = fold_rig_input_at(trial->rig, trial->rig->inputs - 1);
  return fold_first_result_of(trial->c->problem, &trial->c->shape, at >= first, at >= first ? at - first : at, keys);
}

/* Tells a subject that never looks at the term from one that returned a stored result. For an input that differs in
 * every other term and lies where none has been there is no stored result. So only a subject that looks at the term
 * gives `bits` there. */
enum { NOWHERE_ELSE = 11 }; /* no other run has this shift */

static fold_status looks_at(struct fold_trial *trial, size_t at, size_t row, uint64_t bits, bool *looks) {
  const struct fold_edit edit = {negate_others, &at, .shift = NOWHERE_ELSE, .other_shift = NOWHERE_ELSE};
  return gives(trial, &edit, row, bits, looks);
}

/* 192 bytes further: where no other run is, and as far from a cache line as the usual place, since the address may decide too
 * whether a term shows. */
static ptrdiff_t same_in_line(const struct fold_trial *trial) {
  return 192 / (ptrdiff_t)fold_dtype_size(trial->c->dtype);
}

/* A finite term need not change the result, and a function of rows need not depend on the term: its largest term hides it, or it is
 * constant. So that a result was stored is shown only by the same input elsewhere, after another one, if it gives another result.
 * The other input takes the place of a result that was stored by a part of the input. */
static fold_status differs_elsewhere(struct fold_trial *trial, size_t at, size_t row, uint64_t bits, bool *differs) {
  const struct fold_edit moved = {.shift = same_in_line(trial), .other_shift = same_in_line(trial)};
  bool same;
  fold_status status = looks_at(trial, at, row, bits, &same);
  if (status.code != FOLD_OK && status.code != FOLD_UNSUPPORTED) return status;
  status = gives(trial, &moved, row, bits, &same);
  *differs = status.code == FOLD_OK && !same;
  return status;
}

static fold_status run_foreign(struct fold_trial *trial, size_t at, bool *kept) {
  const struct fold_case *c = trial->c;
  const enum fold_dtype result = fold_trial_result_dtype(trial);
  uint64_t former, got = 0, poked, term = absorber(trial); /* unseen: 1 */
  const uint64_t bits = fold_bits_from_double(result, fold_bits_to_double(c->dtype, term));
  size_t row = fold_trial_row_of(trial, at);
  uint64_t base = fold_bits_load(result, trial->got, row);
  *kept = false;
  trial->foreign++;
  FOLD_TRY(fold_rig_poke(trial->rig, at, term, &former));
  fold_status status = fold_trial_rerun(trial, 0x33);
  if (status.code == FOLD_OK) got = fold_bits_load(result, trial->other, row);
  const bool decides = !trial->finite && !trial->subject->unknown;
  bool suspect = fold_bits_same(result, got, base) && !(decides && fold_bits_same(result, got, bits));
  if (status.code == FOLD_OK && suspect)
    status = decides ? looks_at(trial, at, row, bits, kept) : differs_elsewhere(trial, at, row, base, kept);
  FOLD_TRY(fold_rig_poke(trial->rig, at, former, &poked));
  FOLD_TRY(status);
  return fold_trial_find(trial, FOLD_DID_WRITE_INPUT) ? fold_trial_refill(trial) : fold_ok();
}

fold_status fold_trial_run_foreign(struct fold_trial *trial, size_t at, bool *kept) {
  const fold_status status = run_foreign(trial, at, kept);
  return fold_trial_spares_it(trial, status) ? run_foreign(trial, at, kept) : status;
}

enum fold_axis fold_trial_batch_axis(const struct fold_trial *trial) {
  return fold_batch_axis(trial->c->problem, &trial->c->shape);
}

size_t fold_trial_slices(const struct fold_trial *trial) { return trial->c->shape.at[fold_trial_batch_axis(trial)]; }

size_t fold_trial_width(const struct fold_trial *trial) {
  const struct fold_shape one = fold_trial_shape(trial, 1, trial->c->cols);
  return fold_results(trial->c->problem, &one);
}

struct fold_shape fold_trial_shape(const struct fold_trial *trial, size_t slices, size_t terms) {
  struct fold_shape shape = trial->c->shape;
  shape.at[fold_trial_batch_axis(trial)] = slices;
  shape.k = terms;
  return shape;
}

size_t fold_trial_slice(const struct fold_trial *trial, unsigned k) {
  const struct fold_shape one = fold_trial_shape(trial, 1, trial->c->cols);
  return fold_has_axis(trial->c->problem, k, fold_trial_batch_axis(trial)) ? fold_elements(trial->c->problem, &one, k)
                                                                           : 0;
}

struct fold_request fold_trial_part(const struct fold_trial *trial, size_t row, size_t rows, size_t col, size_t cols) {
  const struct fold_problem *problem = trial->c->problem;
  struct fold_shape at = {.k = col};
  /* unseen: 0x59 | 0x5b */
  struct fold_request part = {.shape = fold_trial_shape(trial, rows, cols), .poison = 0x5a};
  at.at[fold_trial_batch_axis(trial)] = row;
  for (unsigned k = 0; k < problem->inputs; k++) {
    ptrdiff_t stride[FOLD_AXES];
    fold_contiguous(problem, &trial->c->shape, k, stride);
    part.first[k] = (size_t)fold_place(problem, k, stride, &at);
  }
  return part;
}

fold_status fold_trial_run_part(struct fold_trial *trial, size_t row, size_t rows, size_t cols, void *got) {
  const struct fold_request request = fold_trial_part(trial, row, rows, 0, cols);
  FOLD_TRY(fold_trial_run(trial, trial->rig, &request, got));
  return fold_trial_find(trial, FOLD_DID_WRITE_INPUT) ? fold_trial_refill(trial) : fold_ok();
}
