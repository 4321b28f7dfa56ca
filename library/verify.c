/* verify.c: foldproof_verify: a table of callbacks, judged in the caller's process, which is left as it was. */
#include <stdlib.h>
#include <string.h>

#include "foldproof.h"
#include "library/answer.h"
#include "library/turn.h"
#include "records/record.h"
#include "run/runner.h"

/* Copies as much of the options as the caller's version has. */
static struct foldproof_verify_options read_options(const struct foldproof_verify_options *given) {
  struct foldproof_verify_options o;
  memset(&o, 0, sizeof o);
  if (given) memcpy(&o, given, given->size < sizeof o ? given->size : sizeof o);
  return o;
}

static const char *find_folder(const char *given) {
  const char *named = given ? given : getenv("FOLDPROOF_FIXTURES");
  return named ? named : FOLD_INSTALLED_FIXTURES;
}

static fold_status selection_of(const struct foldproof_verify_options *o, struct fold_selection *s) {
  *s = (struct fold_selection){.subjects = o->subjects,
                               .fixtures = o->fixtures,
                               .engine = -1,
                               .folder = find_folder(o->folder),
                               .set = o->set ? o->set : "default",
                               .npy = (const char **)(uintptr_t)o->npy,
                               .n_npy = o->n_npy,
                               .npy_problem = fold_problem_find(o->problem ? o->problem : "sum"),
                               .repeats = o->repeats ? o->repeats : FOLD_REPEATS,
                               .sweep = {.text = o->sweep, .alone = o->sweep && !o->sweep_adds},
                               .backwards = o->backwards,
                               .seconds = o->seconds > 0 ? o->seconds : 0};
  if (s->seconds > 0) s->end = fold_now() + s->seconds;
  if (s->repeats > FOLD_REPEATS_MOST)
    return fold_error(FOLD_BAD_INPUT, "%u repeats: at most %d", s->repeats, FOLD_REPEATS_MOST);
  if (s->npy_problem == NULL) return fold_error(FOLD_BAD_INPUT, "no problem is called '%.60s'", o->problem);
  if (o->sweep && o->n_npy > 0)
    return fold_error(FOLD_BAD_INPUT, "arrays are judged in place of sizes along an axis: leave out sweep");
  if (o->n_npy > 0 && o->npy == NULL) return fold_error(FOLD_BAD_INPUT, "the list of arrays is a null pointer");
  return fold_ok();
}

static fold_status around_of(const struct foldproof_verify_options *o, struct fold_around *around) {
  const size_t most = sizeof around->at / sizeof *around->at;
  if (o->n_around > most) return fold_error(FOLD_BAD_INPUT, "at most %zu numbers of rows", most);
  if (o->n_around > 0 && o->around == NULL)
    return fold_error(FOLD_BAD_INPUT, "the list of numbers of rows is a null pointer");
  for (size_t i = 0; i < o->n_around; i++) {
    if (o->around[i] == 0 || o->around[i] > UINT32_MAX)
      return fold_error(FOLD_BAD_INPUT, "batches about %llu rows: 1 to 4294967295", (unsigned long long)o->around[i]);
    around->at[around->n++] = o->around[i];
  }
  return fold_ok();
}

/* Makes the door of a table in this process, without what the caller hides (`unseen`). */
static fold_status door_of(const struct foldproof_verify_options *o, struct fold_door *door) {
  *door = fold_door_here;
  if (o->n_unseen > 0 && o->unseen == NULL)
    return fold_error(FOLD_BAD_INPUT, "the list of claims that are not seen is a null pointer");
  for (size_t i = 0; i < o->n_unseen; i++) {
    const char *name = o->unseen[i].claim ? o->unseen[i].claim : "no name";
    const struct fold_claim *claim = fold_claim_find(name);
    if (claim == NULL || o->unseen[i].reason == NULL)
      return fold_error(FOLD_BAD_INPUT, "claims that are not seen: %.60s", claim ? "no reason" : name);
    door->unseen[claim->id] = o->unseen[i].reason;
    door->tidy &= ~FOLD_CLAIM(claim->id);
  }
  return fold_ok();
}

struct taking {
  foldproof_take take;
  void *context;
  const struct fold_selection *selection;
  bool full;        /* the records hold all rows */
  bool any, judged; /* a judgement; one of a requested claim, which was not skipped */
  volatile int stop;
};

static fold_status give(struct taking *t, json_t *record) {
  char *line;
  FOLD_TRY(fold_record_line_text(record, &line));
  t->stop = t->take(line, t->context) != 0;
  free(line);
  return fold_ok();
}

static fold_status take(void *context, const struct fold_judgement *judgement) {
  struct taking *t = context;
  if (t->stop) return fold_ok();
  struct fold_judgement whole = *judgement;
  whole.full = t->full;
  t->any = true;
  t->judged |= judgement->finding.verdict != FOLD_SKIPPED && fold_judgement_is_asked(t->selection, judgement);
  return give(t, fold_record_of(&whole));
}

static fold_status take_explanation(void *context, const struct fold_judgement *of,
                                    const struct fold_order_change *change) {
  return give(context, fold_record_explanation(of, change));
}

static fold_status judge(const struct fold_registry *all, const struct fold_selection *selection, struct taking *t) {
  const struct fold_sink sink = {.judgement = take, .explanation = take_explanation, .context = t};
  struct fold_cases cases = {0};
  t->selection = selection;
  fold_status status = fold_select_cases(selection, 0, &cases);
  if (status.code == FOLD_OK) status = fold_verify(all, selection, &cases, NULL, &sink, &t->stop);
  fold_cases_free(&cases);
  if (status.code != FOLD_OK || t->judged || t->stop) return status;
  if (t->any) return fold_nothing_judged(selection, all);
  return fold_error(FOLD_BAD_INPUT,
                    "nothing was judged: no selected subject takes the selected cases, or makes the claims");
}

static fold_status load_and_judge(const struct foldproof_guest_table *table, const struct foldproof_verify_options *o,
                                  struct fold_control callers, struct taking *t) {
  struct fold_registry own, all;
  struct fold_selection selection;
  struct fold_door door;
  FOLD_TRY(door_of(o, &door));
  const struct fold_guest guest = {.door = &door, .what = "the table", .table = table, .arithmetic = callers};
  FOLD_TRY(selection_of(o, &selection));
  FOLD_TRY(around_of(o, &selection.around));
  selection.guests = &guest;
  selection.n_guests = 1;
  own.subjects = fold_subjects(&own.n);
  FOLD_TRY(fold_guests_load(&guest, 1, &(struct fold_wants){.claims = o->claims}, &own, &all));
  char *claims = o->claims ? fold_claims_expand(o->claims) : NULL;
  fold_status status = fold_ok();
  selection.claims = claims;
  if (o->claims && claims == NULL) status = fold_no_memory("for a list of claims");
  fold_select_swept(&selection, &all);
  if (status.code == FOLD_OK) status = judge(&all, &selection, t);
  free(claims);
  fold_guests_unload(&all);
  return status;
}

struct verifying {
  const struct foldproof_guest_table *table;
  const struct foldproof_verify_options *options;
  struct fold_control callers;
  struct taking *taking;
};

static fold_status verify(void *context) {
  const struct verifying *v = context;
  return load_and_judge(v->table, v->options, v->callers, v->taking);
}

int foldproof_verify(const struct foldproof_guest_table *table, const struct foldproof_verify_options *options,
                     foldproof_take each, void *context) {
  const struct foldproof_verify_options o = read_options(options);
  struct taking taking = {.take = each, .context = context, .full = o.full};
  if (table == NULL) return fold_answer(fold_error(FOLD_BAD_INPUT, "the table is a null pointer"));
  if (each == NULL)
    return fold_answer(fold_error(FOLD_BAD_INPUT, "the function that takes judgements is a null pointer"));
  return fold_answer(fold_library_turn(verify, &(struct verifying){table, &o, fold_fp_state_arithmetic(), &taking}));
}
