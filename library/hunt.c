/* hunt.c: foldproof_hunt: random cases for a table of callbacks, in processes that are forked from the caller's. */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "hunt/again.h"
#include "hunt/ledger_cases.h"
#include "library/answer.h"
#include "library/selected.h"
#include "library/turn.h"
#include "records/record.h"

static const double USUAL_SECONDS = 60;

struct hunting {
  foldproof_take take;
  void *context;
  struct foldproof_hunt_options asked;
  struct fold_hunt hunt;
  struct fold_selection selection;
  struct fold_here here;
  struct fold_hunted hunted;
  struct fold_ledger ledger;
  struct fold_known known;
  const struct fold_find *find; /* the one that is reported */
  size_t found, holds;
  double begun, seconds;
};

/* For one call at a time (turn.h), because a handler has no context. */
static volatile int stop;
static void on_signal(int number) {
  (void)number;
  stop = 1;
}

enum { HANDLED = 2 };
static const int handled[HANDLED] = {SIGINT, SIGTERM};

/* Processes of the hunt are asked by SIGTERM to end, and are not to die of it. A handler of the caller's stays. */
static void watch_signals(struct sigaction former[HANDLED]) {
  struct sigaction ours = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
  sigemptyset(&ours.sa_mask);
  for (int k = 0; k < HANDLED; k++) {
    sigaction(handled[k], NULL, &former[k]);
    if (former[k].sa_handler == SIG_DFL) sigaction(handled[k], &ours, NULL);
  }
}

static void leave_signals(const struct sigaction former[HANDLED]) {
  for (int k = 0; k < HANDLED; k++) sigaction(handled[k], &former[k], NULL);
}

static struct foldproof_hunt_options read_hunt_options(const struct foldproof_hunt_options *given) {
  struct foldproof_hunt_options o;
  memset(&o, 0, sizeof o);
  if (given) memcpy(&o, given, given->size < sizeof o ? given->size : sizeof o);
  if (o.jobs == 0) o.jobs = 1;
  if (o.cases == 0 && !(o.seconds > 0)) o.seconds = USUAL_SECONDS;
  if (o.found == NULL) o.found = "foldproof-found";
  return o;
}

/* ---- what is said ---- */

static fold_status give(struct hunting *h, json_t *object) {
  char *line = object ? json_dumps(object, JSON_COMPACT) : NULL;
  json_decref(object);
  if (line == NULL) return fold_no_memory("for a line of JSON");
  if (h->take(line, h->context) != 0) stop = 1;
  free(line);
  return fold_ok();
}

static json_t *found_object(const struct fold_find *f) {
  return json_pack("{s:s,s:s,s:s,s:I,s:I,s:I,s:b,s:i,s:i,s:b}", "file", f->path, "from", f->from, "threshold",
                   f->threshold, "tries", (json_int_t)f->tries, "cases", (json_int_t)f->cases, "other_terms",
                   (json_int_t)f->other_terms, "generated", f->generated, "seen", (int)f->seen, "looked",
                   (int)f->looked, "hangs", fold_is_hang(&f->finding));
}

static fold_status give_judgement(void *context, const struct fold_judgement *judgement) {
  struct hunting *h = context;
  json_t *record = fold_record_of(judgement);
  if (record == NULL || json_object_set_new(record, "found", found_object(h->find)) != 0) {
    json_decref(record);
    return fold_no_memory("for a record");
  }
  return give(h, record);
}

static fold_status found(void *context, const struct fold_find *find) {
  struct hunting *h = context;
  const struct fold_again_sink sink = {give_judgement, h};
  h->found++;
  h->find = find;
  FOLD_TRY(fold_ledger_add(&h->ledger, h->hunt.registry, find, h->hunt.seed));
  return fold_hunt_tell(&h->hunt, find, &sink);
}

static void show(void *context, const struct fold_hunted *hunted, double seconds) {
  struct hunting *h = context;
  json_t *line = json_pack("{s:s,s:I,s:f,s:I}", "type", "progress", "cases", (json_int_t)hunted->cases, "seconds",
                           seconds, "found", (json_int_t)h->found);
  if (give(h, line).code != FOLD_OK) stop = 1;
}

/* Before a trial in this process, where no other one looks at the time. */
static bool is_over(void *context) {
  struct hunting *h = context;
  show(h, &h->hunted, fold_now() - h->begun);
  return stop;
}

static void tell(void *context, const struct fold_ledger_line *known, bool holds) {
  struct hunting *h = context;
  json_t *line = json_pack("{s:s,s:s,s:s,s:s}", "type", holds ? "holds" : "gone", "subject", known->subject, "claim",
                           known->claim, "file", known->fixture);
  h->holds += holds;
  if (give(h, line).code != FOLD_OK) stop = 1;
}

static json_t *counts(const char *(*name)(int), const uint64_t *n, int most) {
  json_t *object = json_object();
  for (int i = 0; i < most; i++)
    if (n[i]) json_object_set_new(object, name(i), json_integer((json_int_t)n[i]));
  return object;
}

static const char *problem_name(int id) { return fold_problem((enum fold_problem_id)id)->name; }
static const char *dtype_name(int dtype) { return fold_dtype_name((enum fold_dtype)dtype); }

static fold_status give_all(struct hunting *h) {
  const struct fold_hunted *n = &h->hunted;
  char seed[24];
  fold_record_hash(seed, h->hunt.seed);
  json_t *line = json_pack(
      "{s:s,s:s,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:o,s:o}", "type", "hunt", "seed", seed, "cases", (json_int_t)n->cases,
      "trials", (json_int_t)n->trials, "found", (json_int_t)h->found, "expected", (json_int_t)n->expected, "held",
      (json_int_t)n->verdicts[FOLD_HELD], "refuted", (json_int_t)n->verdicts[FOLD_REFUTED], "broken",
      (json_int_t)n->verdicts[FOLD_BROKEN], "skipped", (json_int_t)n->verdicts[FOLD_SKIPPED], "problems",
      counts(problem_name, n->by_problem, FOLD_PROBLEMS), "dtypes", counts(dtype_name, n->by_dtype, FOLD_DTYPES));
  if (line == NULL) return fold_no_memory("for a record");
  fold_record_number(line, "seconds", h->seconds);
  fold_record_number(line, "closest", n->closest);
  if (n->closest_case[0]) json_object_set_new(line, "closest_case", json_string(n->closest_case));
  return give(h, line);
}

/* ---- all of it ---- */

static fold_status run(struct hunting *h) {
  const struct fold_hunt_sink sink = {found, show, h};
  h->begun = fold_now();
  FOLD_TRY(fold_known_run(&h->hunt, &h->ledger, tell, h, &h->known));
  h->begun = fold_now();
  const fold_status status = fold_hunt_run(&h->hunt, &sink, &h->hunted);
  h->seconds = fold_now() - h->begun;
  FOLD_TRY(status);
  return give_all(h);
}

static fold_status check(const struct foldproof_hunt_options *o) {
  if (o->jobs > FOLD_HUNT_LANES) return fold_error(FOLD_BAD_INPUT, "jobs %u: 1 to %d", o->jobs, FOLD_HUNT_LANES);
  if (o->here && o->jobs != 1) return fold_error(FOLD_BAD_INPUT, "jobs %u: 1 in the caller's process", o->jobs);
  if (!(o->seconds >= 0 && isfinite(o->seconds)))
    return fold_error(FOLD_BAD_INPUT, "seconds %g: 0 or more", o->seconds);
  return fold_ok();
}

static fold_status hunt(struct hunting *h, const struct fold_selected *selected) {
  const struct foldproof_hunt_options *o = &h->asked;
  FOLD_TRY(check(o));
  h->selection = selected->selection;
  h->here = (struct fold_here){is_over, h};
  if (o->here) h->selection.here = &h->here;
  h->hunt = (struct fold_hunt){.registry = &selected->all,
                               .selection = &h->selection,
                               .seed = o->seed,
                               .cases = o->cases,
                               .seconds = o->seconds > 0 ? o->seconds : 0,
                               .shrink_seconds = o->shrinking,
                               .processes = o->jobs,
                               .first = o->first,
                               .folder = o->found,
                               .stop = &stop};
  fold_status status = fold_ledger_read(o->ledger, &h->ledger);
  if (status.code == FOLD_OK) status = run(h);
  fold_known_close(&h->known);
  fold_ledger_close(&h->ledger);
  return status;
}

struct asked {
  const struct foldproof_guest_table *table;
  const struct foldproof_verify_options *options;
  struct fold_control callers;
  struct hunting *hunting;
};

static fold_status open_and_hunt(void *context) {
  const struct asked *a = context;
  struct fold_selected selected;
  struct sigaction former[HANDLED];
  FOLD_TRY(fold_selected_open(a->table, a->options, a->callers, &selected));
  stop = 0;
  watch_signals(former);
  const fold_status status = hunt(a->hunting, &selected);
  leave_signals(former);
  fold_selected_close(&selected);
  return status;
}

int foldproof_hunt(const struct foldproof_guest_table *table, const struct foldproof_verify_options *options,
                   const struct foldproof_hunt_options *hunt_options, foldproof_take take, void *context) {
  const struct foldproof_verify_options o = fold_read_options(options);
  struct hunting hunting = {.take = take, .context = context, .asked = read_hunt_options(hunt_options)};
  if (table == NULL) return fold_answer(fold_error(FOLD_BAD_INPUT, "the table is a null pointer"));
  if (take == NULL) return fold_answer(fold_error(FOLD_BAD_INPUT, "the function that takes lines is a null pointer"));
  const struct asked asked = {table, &o, fold_fp_state_arithmetic(), &hunting};
  return fold_answer(fold_library_turn(open_and_hunt, (void *)(uintptr_t)&asked));
}
