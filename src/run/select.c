/* select.c: finds the subjects, claims and cases that are asked for, and refuses a word that matches nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/did_you_mean.h"
#include "base/list.h"
#include "base/path.h"
#include "ranks/world.h"
#include "run/judged_claims.h"
#include "run/runner.h"

bool fold_selects_subject(const struct fold_selection *selection, const struct fold_subject *subject) {
  if (selection->n_guests > 0 && selection->subjects == NULL && subject->guest == NULL) return false;
  return (selection->engine < 0 || selection->engine == (int)subject->engine) &&
         fold_glob_match(selection->subjects, subject->name);
}

bool fold_selects_claim(const struct fold_selection *selection, const struct fold_claim *claim) {
  return fold_glob_match(selection->claims, claim->name);
}

bool fold_selects_claim_of(const struct fold_selection *selection, const struct fold_claim *claim, enum fold_op op) {
  const struct fold_subject bounded = {.claims = FOLD_CLAIM(FOLD_BOUNDED)};
  const bool instead = fold_claims_of(&bounded, op) & FOLD_CLAIM(claim->id);
  return fold_selects_claim(selection, claim) || (instead && fold_glob_match(selection->claims, "bounded"));
}

bool fold_judgement_is_asked(const struct fold_selection *selection, const struct fold_judgement *j) {
  if (selection->claims || j->subject->guest == NULL) return true; /* others are not judged */
  struct fold_subject asking = {.claims = j->subject->asked};
  const uint64_t also = asking.claims & FOLD_CLAIM(FOLD_BOUNDED) ? fold_claims_of(&asking, j->c->problem->op) : 0;
  return (asking.claims | also) & FOLD_CLAIM(j->claim->id);
}

/* Of all selected subjects. */
static bool is_asked(const struct fold_selection *selection, const struct fold_registry *registry,
                     const struct fold_claim *claim) {
  if (selection->claims) return fold_selects_claim(selection, claim);
  for (size_t i = 0; i < registry->n; i++)
    if (fold_selects_subject(selection, &registry->subjects[i]) &&
        (registry->subjects[i].guest == NULL || registry->subjects[i].asked & FOLD_CLAIM(claim->id)))
      return true;
  return false;
}

fold_status fold_nothing_judged(const struct fold_selection *selection, const struct fold_registry *registry) {
  size_t n;
  char names[200] = "";
  const struct fold_claim *claims = fold_claims(&n);
  for (size_t k = 0; k < n; k++) {
    const size_t used = strlen(names);
    if (is_asked(selection, registry, &claims[k]))
      snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", claims[k].name);
  }
  return fold_error(FOLD_UNSUPPORTED, "no requested claim was judged: %s", names);
}

/* What was meant by a glob that matches nothing: the cases whose name it begins, a similar name of a case, a fixture or a
 * file, or one in another set. */
static void suggest_fixture(const struct fold_cases *all, const char *word, char meant[160]) {
  struct fold_did_you_mean guess, first;
  char head[200], begun[210];
  snprintf(head, sizeof head, "%.*s", (int)strcspn(word, "/"), word); /* the glob's first part, a fixture's name */
  snprintf(begun, sizeof begun, "%s/*", word);
  fold_did_you_mean_open(&guess, word);
  fold_did_you_mean_open(&first, head);
  bool other_set = false, begins = false;
  for (size_t i = 0; i < all->n; i++) {
    char fixture[64];
    other_set |= fold_case_matches(&all->at[i], word);
    begins |= fold_case_matches(&all->at[i], begun);
    snprintf(fixture, sizeof fixture, "%.*s", (int)strcspn(all->at[i].name, "/"), all->at[i].name);
    fold_did_you_mean_try(&guess, fixture);
    fold_did_you_mean_try(&first, fixture);
    fold_did_you_mean_try(&guess, all->at[i].file);
    if (strchr(word, '/')) fold_did_you_mean_try(&guess, all->at[i].name);
  }
  fold_did_you_mean_text(&guess, meant);
  if (meant[0] == '\0' && strcmp(first.best, head) != 0) fold_did_you_mean_text(&first, meant);
  if (begins) snprintf(meant, 160, ": did you mean '%.120s'?", begun);
  if (other_set) snprintf(meant, 160, ": --set all has it");
}

/* Refuses a glob that matches nothing. */
static fold_status no_fixture(const struct fold_selection *selection, const char *glob, int n) {
  struct fold_cases all = {0};
  char word[200], meant[160] = "";
  snprintf(word, sizeof word, "%.*s", n, glob);
  if (selection->sweep.text && selection->sweep.alone)
    return fold_error(
        FOLD_BAD_INPUT,
        "no size of the sweep matches '%.80s': a sweep is judged in place of fixtures, and its cases begin with sweep/",
        word);
  fold_status status = fold_cases_load(selection->folder, "all", NULL, &all);
  if (status.code == FOLD_OK && all.n == 0)
    status = fold_error(FOLD_BAD_INPUT, "%.150s: no *.ini is in it", fold_path_tail(selection->folder));
  if (status.code == FOLD_OK) suggest_fixture(&all, word, meant);
  fold_cases_free(&all);
  FOLD_TRY(status);
  return fold_error(FOLD_BAD_INPUT, "no fixture of the set '%s' in %.100s matches '%.80s'%s", selection->set,
                    fold_path_tail(selection->folder), word, meant);
}

/* One glob among several that matches nothing is a slip, which must not pass for a success. */
static fold_status check_globs(const struct fold_selection *selection, const struct fold_cases *cases) {
  for (const char *at = selection->fixtures; at && *at;) {
    int n = (int)strcspn(at, ",");
    char *glob = NULL;
    bool found = n == 0;
    if (asprintf(&glob, "%.*s", n, at) < 0) return fold_no_memory("for a glob");
    for (size_t i = 0; i < cases->n && !found; i++) found = fold_case_matches(&cases->at[i], glob);
    free(glob);
    if (!found) return no_fixture(selection, at, n);
    at += n + (at[n] == ',');
  }
  return fold_ok();
}

fold_status fold_select_ranks(const struct fold_selection *selection, unsigned *ranks) {
  struct fold_world *world;
  *ranks = 0;
  if (selection->n_npy == 0 || selection->engine < 0) return fold_ok();
  if (!fold_engine_has_ranks((enum fold_engine)selection->engine)) return fold_ok();
  fold_status status = fold_world_of((enum fold_engine)selection->engine, &world);
  *ranks = status.code == FOLD_OK ? fold_world_ranks(world) : 1;
  return status.code == FOLD_BAD_INPUT ? status : fold_ok();
}

/* A fixture that names no claim by one of its globs would be judged by less than its author thinks. */
static fold_status check_claims(const struct fold_case *c) {
  size_t n_claims;
  const struct fold_claim *claims = fold_claims(&n_claims);
  for (const char *at = c->claims; at && *at;) {
    int n = (int)strcspn(at, ",");
    char glob[64];
    bool found = false;
    snprintf(glob, sizeof glob, "%.*s", n, at);
    for (size_t k = 0; k < n_claims && !found; k++) found = fold_glob_match(glob, claims[k].name);
    if (!found) return fold_error(FOLD_BAD_INPUT, "%.100s: claims: %.60s matches no claim", c->where, glob);
    at += n + (at[n] == ',');
  }
  return fold_ok();
}

/* Whether a selected subject takes the case (fold_select_swept, which leaves ranks out). */
static bool is_taken(const struct fold_selection *selection, const struct fold_case *c) {
  return c->ranks > 0 || (selection->sweep.problems >> c->problem->id & 1 && selection->sweep.dtypes >> c->dtype & 1);
}

/* Refuses a number of rows that no batch reaches, since it would not be tried. */
static fold_status check_around(const struct fold_selection *selection, const struct fold_cases *cases) {
  const struct fold_case *largest = NULL;
  size_t most = 0;
  for (size_t i = 0; i < cases->n; i++) {
    const struct fold_case *c = &cases->at[i];
    const size_t rows = c->shape.at[fold_batch_axis(c->problem, &c->shape)];
    if (!is_taken(selection, c) || rows <= most) continue;
    most = rows;
    largest = c;
  }
  for (size_t i = 0; largest && i < selection->around.n; i++)
    if (selection->around.at[i] >= most)
      return fold_error(FOLD_BAD_INPUT,
                        "--around %llu: the largest batch that is selected has %zu rows (axis %s of %.100s)",
                        (unsigned long long)selection->around.at[i], most,
                        fold_axis_name(fold_batch_axis(largest->problem, &largest->shape)), largest->name);
  return fold_ok();
}

/* The shortest first, which name decides among equals. */
static int by_terms(const void *a, const void *b) {
  const struct fold_case *one = a, *other = b;
  const size_t n = fold_case_terms(one), m = fold_case_terms(other);
  return n != m ? (n > m) - (n < m) : strcmp(one->name, other->name);
}

struct turn {
  struct fold_case c;
  size_t before; /* cases of its kind */
};

static int by_kind(const void *a, const void *b) {
  const struct turn *one = a, *other = b;
  const int kind = fold_compare_kinds(&one->c, &other->c);
  return kind ? kind : by_terms(&one->c, &other->c);
}

/* How far the size is from that of some hundred terms, which short and long methods share. */
static unsigned far_from_usual(const struct fold_case *c) {
  enum { USUAL = 8 };
  const unsigned size = fold_case_size(c);
  return size > USUAL ? size - USUAL : USUAL - size;
}

static int by_turn(const void *a, const void *b) {
  const struct turn *one = a, *other = b;
  const unsigned far = far_from_usual(&one->c), far_of_other = far_from_usual(&other->c);
  if (one->before != other->before) return one->before > other->before ? 1 : -1;
  if (far != far_of_other) return far > far_of_other ? 1 : -1;
  return by_terms(&one->c, &other->c);
}

static fold_status sort_in_turn(struct fold_cases *cases) {
  struct turn *turn = malloc((cases->n + 1) * sizeof *turn);
  if (!turn) return fold_no_memory("for %zu cases", cases->n);
  for (size_t i = 0; i < cases->n; i++) turn[i] = (struct turn){cases->at[i], 0};
  qsort(turn, cases->n, sizeof *turn, by_kind);
  for (size_t i = 1; i < cases->n; i++)
    if (fold_compare_kinds(&turn[i - 1].c, &turn[i].c) == 0) turn[i].before = turn[i - 1].before + 1;
  qsort(turn, cases->n, sizeof *turn, by_turn);
  for (size_t i = 0; i < cases->n; i++) cases->at[i] = turn[i].c;
  free(turn);
  return fold_ok();
}

void fold_select_swept(struct fold_selection *selection, const struct fold_registry *registry) {
  for (size_t i = 0; i < registry->n; i++) {
    const struct fold_subject *subject = &registry->subjects[i];
    if (!fold_selects_subject(selection, subject) || fold_engine_has_ranks(subject->engine)) continue;
    selection->sweep.problems |= subject->problems;
    selection->sweep.dtypes |= subject->dtypes;
  }
}

static fold_status load(const struct fold_selection *selection, struct fold_cases *cases) {
  return (selection->fresh ? fold_cases_load_again : fold_cases_load)(selection->folder, selection->set,
                                                                      selection->fixtures, cases);
}

/* To the sizes that are judged as well; there is at least one. */
static fold_status add_fixtures(const struct fold_selection *selection, struct fold_cases *cases) {
  if (selection->sweep.text && cases->n == 0)
    return fold_error(FOLD_BAD_INPUT,
                      "--around %.80s: '%.80s' matches none of its sizes, whose names begin with sweep/: add 'sweep/*'",
                      selection->sweep.near ? selection->sweep.near : selection->sweep.text, selection->fixtures);
  return load(selection, cases);
}

static fold_status select_cases(const struct fold_selection *selection, unsigned ranks, struct fold_cases *cases) {
  for (size_t i = 0; i < selection->n_npy; i++)
    FOLD_TRY(fold_cases_add_npy(selection->npy[i], selection->npy_problem, ranks, cases));
  if (selection->n_npy > 0) return fold_ok();
  if (selection->sweep.text) FOLD_TRY(fold_cases_add_sweep(&selection->sweep, selection->fixtures, cases));
  if (!selection->sweep.alone) FOLD_TRY(add_fixtures(selection, cases));
  for (size_t i = 0; i < cases->n; i++) FOLD_TRY(check_claims(&cases->at[i]));
  FOLD_TRY(check_globs(selection, cases));
  return cases->n > 0 ? fold_ok() : no_fixture(selection, "*", 1);
}

fold_status fold_select_cases(const struct fold_selection *selection, unsigned ranks, struct fold_cases *cases) {
  FOLD_TRY(select_cases(selection, ranks, cases));
  if (selection->in_turn)
    FOLD_TRY(sort_in_turn(cases));
  else if (selection->seconds > 0)
    qsort(cases->at, cases->n, sizeof *cases->at, by_terms);
  if (selection->backwards) fold_list_reverse(cases->at, cases->n, sizeof *cases->at);
  return check_around(selection, cases);
}

/* The claim as a mask, if anything selected is judged by it in new processes: launch_invariant only of guests. */
static uint64_t wants(const struct fold_selection *selection, const struct fold_registry *registry,
                      enum fold_claim_id claim) {
  size_t n;
  if (!fold_selects_claim(selection, &fold_claims(&n)[claim])) return 0;
  for (size_t i = 0; i < registry->n; i++) {
    const struct fold_subject *s = &registry->subjects[i];
    if (fold_selects_subject(selection, s) && (claim == FOLD_FRESH_PROCESS || s->guest) &&
        (selection->probe || s->claims & FOLD_CLAIM(claim)))
      return FOLD_CLAIM(claim);
  }
  return 0;
}

uint64_t fold_fresh_wanted(const struct fold_selection *selection, const struct fold_registry *registry) {
  return wants(selection, registry, FOLD_FRESH_PROCESS) | wants(selection, registry, FOLD_LAUNCH_INVARIANT);
}
