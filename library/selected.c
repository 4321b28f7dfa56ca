/* selected.c: see selected.h. */
#include "library/selected.h"

#include <stdlib.h>
#include <string.h>

#include "library/answer.h"

struct foldproof_verify_options fold_read_options(const struct foldproof_verify_options *given) {
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
                               .in_turn = o->untrusted,
                               .untrusted = o->untrusted,
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

static fold_status load(const struct foldproof_guest_table *table, const struct foldproof_verify_options *o,
                        struct fold_control callers, struct fold_selected *s) {
  struct fold_registry own;
  FOLD_TRY(door_of(o, &s->door));
  s->guest = (struct fold_guest){.door = &s->door, .what = "the table", .table = table, .arithmetic = callers};
  FOLD_TRY(selection_of(o, &s->selection));
  FOLD_TRY(around_of(o, &s->selection.around));
  s->selection.guests = &s->guest;
  s->selection.n_guests = 1;
  own.subjects = fold_subjects(&own.n);
  FOLD_TRY(fold_guests_load(&s->guest, 1, &(struct fold_wants){.claims = o->claims}, &own, &s->all));
  s->loaded = true;
  s->selection.claims = s->claims = o->claims ? fold_claims_expand(o->claims) : NULL;
  if (o->claims && s->claims == NULL) return fold_no_memory("for a list of claims");
  fold_select_swept(&s->selection, &s->all);
  return fold_ok();
}

fold_status fold_selected_open(const struct foldproof_guest_table *table, const struct foldproof_verify_options *o,
                               struct fold_control callers, struct fold_selected *s) {
  memset(s, 0, sizeof *s);
  const fold_status status = load(table, o, callers, s);
  if (status.code != FOLD_OK) fold_selected_close(s);
  return status;
}

void fold_selected_close(struct fold_selected *s) {
  free(s->claims);
  if (s->loaded) fold_guests_unload(&s->all);
}
