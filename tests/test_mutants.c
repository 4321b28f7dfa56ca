/* test_mutants.c: each mutant is refuted by the claims that it breaks, and by nothing else. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "mutants.h"
#include "ranks.h"
#include "tally.h"

static void load(const char *globs, struct fold_cases *cases) {
  fold_status status = fold_cases_load(FOLD_FIXTURE_FOLDER, "default", globs, cases);
  if (status.code == FOLD_OK && cases->n == 0)
    status = fold_cases_load_file(FOLD_FIXTURE_FOLDER "/../tests/mutants.ini", cases);
  cr_assert_eq(status.code, FOLD_OK, "%s: %s", globs, status.text);
  cr_assert(cases->n > 0, "%s matches no case", globs);
}

static enum fold_op op_of(const struct fold_subject *s) { return (enum fold_op)__builtin_ctz(s->ops); }

static void expect_claim(const struct fold_mutant *m, const struct fold_claim *claim, const struct tally *t) {
  const size_t *count = t->count[claim->id];
  uint64_t bit = FOLD_CLAIM(claim->id);
  bool promised = fold_claims_of(&m->subject, op_of(&m->subject)) & bit;
  const char *mutant = m->subject.name;
  cr_expect(count[FOLD_BROKEN] == 0, "%s: %s is broken: %s", mutant, claim->name, t->last[claim->id].reason);
  if (!promised)
    cr_expect(count[FOLD_HELD] + count[FOLD_REFUTED] + count[FOLD_SKIPPED] == 0, "%s: %s was judged, not promised",
              mutant, claim->name);
  else if (claim->id == FOLD_FRESH_PROCESS)
    cr_expect(count[FOLD_SKIPPED] > 0, "%s: no other process was asked, yet %s was judged", mutant, claim->name);
  else if (m->breaks & bit)
    cr_expect(count[FOLD_REFUTED] > 0, "%s (%s) breaks %s, and %zu cases held", mutant, m->subject.about, claim->name,
              count[FOLD_HELD]);
  else if (!(m->may & bit))
    cr_expect(count[FOLD_REFUTED] == 0 && count[FOLD_HELD] > 0, "%s keeps %s: %zu held, %zu refuted: %s", mutant,
              claim->name, count[FOLD_HELD], count[FOLD_REFUTED], t->last[claim->id].reason);
}

/* The mutants of one engine, each over its own fixtures. */
static void expect_mutants(enum fold_engine engine, size_t least) {
  struct fold_registry registry;
  fold_mutants_join(&registry);
  size_t n, n_claims, judged = 0;
  const struct fold_mutant *mutants = fold_mutants(&n);
  const struct fold_claim *claims = fold_claims(&n_claims);
  for (size_t i = 0; i < n; i++) {
    if (mutants[i].subject.engine != engine) continue;
    struct fold_cases cases = {0};
    struct tally tally;
    load(mutants[i].fixtures, &cases);
    fold_status status = tally_verify(&registry, mutants[i].subject.name, false, &cases, &tally);
    cr_expect_eq(status.code, FOLD_OK, "%s: %s", mutants[i].subject.name, status.text);
    for (size_t k = 0; k < n_claims; k++) expect_claim(&mutants[i], &claims[k], &tally);
    fold_cases_free(&cases);
    judged++;
  }
  cr_expect_geq(judged, least);
  free((void *)(uintptr_t)registry.subjects);
}

Test(mutants, each_is_refuted_by_what_it_breaks_and_by_nothing_else) { expect_mutants(FOLD_HOST, 40); }

Test(mutants, each_collective_is_refuted_by_what_it_breaks_and_by_nothing_else) {
  ranks_world(FOLDPROOF_MUTANTS);
  expect_mutants(FOLD_MPI, 12);
  cr_expect_eq(fold_worlds_close().code, FOLD_OK);
}

Test(mutants, each_breaks_a_claim_that_it_makes_and_keeps_another) {
  size_t n;
  const struct fold_mutant *mutants = fold_mutants(&n);
  cr_expect_geq(n, 40);
  for (size_t i = 0; i < n; i++) {
    const struct fold_mutant *m = &mutants[i];
    uint64_t promised = fold_claims_of(&m->subject, op_of(&m->subject));
    cr_expect(m->breaks && (m->breaks & ~promised) == 0, "%s breaks what it does not claim", m->subject.name);
    cr_expect(promised & ~(m->breaks | m->may | FOLD_CLAIM(FOLD_FRESH_PROCESS)), "%s keeps nothing", m->subject.name);
    for (size_t k = 0; k < i; k++)
      cr_expect(strcmp(mutants[k].subject.name, m->subject.name) != 0, "two mutants are called %s", m->subject.name);
  }
}

/* A build without MPI has no collective, and nothing to judge about ranks. */
static bool is_about_ranks(enum fold_claim_id id) {
  return id == FOLD_RANK_AGREEMENT || id == FOLD_MESSAGE_INVARIANT || id == FOLD_WORLD_INVARIANT;
}

Test(mutants, every_claim_has_a_mutant_that_breaks_it) {
  size_t n, n_claims;
  const struct fold_mutant *mutants = fold_mutants(&n);
  const struct fold_claim *claims = fold_claims(&n_claims);
  uint64_t broken = 0;
  for (size_t i = 0; i < n; i++) broken |= mutants[i].breaks;
  for (size_t k = 0; k < n_claims; k++)
    cr_expect(broken & FOLD_CLAIM(claims[k].id) || (is_about_ranks(claims[k].id) && !fold_comm_engine_of(FOLD_MPI)),
              "no mutant proves that %s can be refuted", claims[k].name);
}

/* The control: where each mutant falls, our own subjects stand. */
static void expect_subjects(enum fold_engine engine) {
  size_t n, n_claims;
  const struct fold_mutant *mutants = fold_mutants(&n);
  const struct fold_claim *claims = fold_claims(&n_claims);
  char globs[8192] = "";
  for (size_t i = 0; i < n; i++) {
    if (mutants[i].subject.engine != engine) continue;
    size_t used = strlen(globs);
    cr_assert(used + strlen(mutants[i].fixtures) + 2 < sizeof globs);
    snprintf(globs + used, sizeof globs - used, "%s%s", used ? "," : "", mutants[i].fixtures);
  }
  struct fold_registry registry;
  registry.subjects = fold_subjects(&registry.n);
  struct fold_cases cases = {0};
  load(globs, &cases);
  for (size_t i = 0; i < registry.n; i++) {
    if (registry.subjects[i].engine != engine) continue;
    /* By name and engine: the same name may be on another. */
    struct fold_registry one = {&registry.subjects[i], 1};
    struct tally tally;
    fold_status status =
        tally_verify(registry.subjects[i].twin ? &registry : &one, registry.subjects[i].name, false, &cases, &tally);
    cr_expect_eq(status.code, FOLD_OK, "%s", status.text);
    for (size_t k = 0; k < n_claims; k++)
      cr_expect(tally.count[k][FOLD_REFUTED] + tally.count[k][FOLD_BROKEN] == 0, "%s is not %s: %s",
                registry.subjects[i].name, claims[k].name, tally.last[k].reason);
    cr_expect(tally.judgements > 0, "%s was not judged", registry.subjects[i].name);
  }
  fold_cases_free(&cases);
}

Test(mutants, no_host_subject_is_refuted_where_mutants_are) { expect_subjects(FOLD_HOST); }

Test(mutants, no_collective_is_refuted_where_mutants_are) {
  ranks_world(FOLDPROOF);
  expect_subjects(FOLD_MPI);
  cr_expect_eq(fold_worlds_close().code, FOLD_OK);
}
