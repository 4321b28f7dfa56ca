/* test_gpu_mutants.c: each GPU mutant is refuted by the claims that it breaks, and by nothing else; controls hold. */
#include "gpu.h"
#include "mutants_gpu.h"
#include "tally.h"

static void load(const char *globs, struct fold_cases *cases) {
  fold_status status = fold_cases_load(FOLD_FIXTURE_FOLDER, "default", globs, cases);
  cr_assert_eq(status.code, FOLD_OK, "%s: %s", globs, status.text);
  cr_assert(cases->n > 0, "%s matches no case", globs);
}

static enum fold_op op_of(const struct fold_subject *s) { return (enum fold_op)__builtin_ctz(s->ops); }

static void expect_claim(const struct fold_mutant *m, const struct fold_claim *claim, const struct tally *t) {
  const size_t *count = t->count[claim->id];
  uint64_t bit = FOLD_CLAIM(claim->id);
  const char *mutant = m->subject.name;
  cr_expect(count[FOLD_BROKEN] == 0, "%s: %s is broken: %s", mutant, claim->name, t->last[claim->id].reason);
  if (!(fold_claims_of(&m->subject, op_of(&m->subject)) & bit))
    cr_expect(count[FOLD_HELD] + count[FOLD_REFUTED] + count[FOLD_SKIPPED] == 0, "%s: %s was judged, not promised",
              mutant, claim->name);
  else if (m->breaks & bit)
    cr_expect(count[FOLD_REFUTED] > 0, "%s (%s) breaks %s, and %zu cases held", mutant, m->subject.about, claim->name,
              count[FOLD_HELD]);
  else if (!(m->may & bit))
    cr_expect(count[FOLD_REFUTED] == 0 && count[FOLD_HELD] > 0, "%s keeps %s: %zu held, %zu refuted: %s", mutant,
              claim->name, count[FOLD_HELD], count[FOLD_REFUTED], t->last[claim->id].reason);
}

Test(gpu_mutants, each_is_refuted_by_what_it_breaks_and_by_nothing_else) {
  gpu_open();
  struct fold_registry registry;
  fold_gpu_mutants_join(&registry);
  size_t n, n_claims;
  const struct fold_mutant *mutants = fold_gpu_mutants(&n);
  const struct fold_claim *claims = fold_claims(&n_claims);
  for (size_t i = 0; i < n; i++) {
    struct fold_cases cases = {0};
    struct tally tally;
    load(mutants[i].fixtures, &cases);
    fold_status status = tally_verify(&registry, mutants[i].subject.name, false, &cases, &tally);
    cr_expect_eq(status.code, FOLD_OK, "%s: %s", mutants[i].subject.name, status.text);
    for (size_t k = 0; k < n_claims; k++) expect_claim(&mutants[i], &claims[k], &tally);
    fold_cases_free(&cases);
  }
  free((void *)(uintptr_t)registry.subjects);
}

/* Needs no GPU. */
Test(gpu_mutants, each_breaks_a_claim_that_it_makes_and_keeps_another) {
  size_t n, faults = 0;
  const struct fold_mutant *mutants = fold_gpu_mutants(&n);
  for (size_t i = 0; i < n; i++) {
    const struct fold_mutant *m = &mutants[i];
    uint64_t promised = fold_claims_of(&m->subject, op_of(&m->subject));
    faults += m->breaks != 0;
    cr_expect((m->breaks & ~promised) == 0, "%s breaks what it does not claim", m->subject.name);
    cr_expect(m->breaks != 0 || m->may == 0, "%s is a control and excuses itself", m->subject.name);
    cr_expect(promised & ~(m->breaks | m->may), "%s keeps nothing", m->subject.name);
    for (size_t k = 0; k < i; k++)
      cr_expect(strcmp(mutants[k].subject.name, m->subject.name) != 0, "two mutants are called %s", m->subject.name);
  }
  cr_expect_geq(faults, 20, "%zu mutants", faults);
}
