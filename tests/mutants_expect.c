/* mutants_expect.c: what is expected of a mutant, whatever engine it is on. */
#include "mutants_expect.h"

#include <criterion/criterion.h>
#include <string.h>

#include "tally.h"

void expect_cases(const char *globs, struct fold_cases *cases) {
  fold_status status = fold_cases_load(FOLD_FIXTURE_FOLDER, "default", globs, cases);
  if (status.code == FOLD_OK && cases->n == 0)
    status = fold_cases_load_file(FOLD_FIXTURE_FOLDER "/../tests/mutants.ini", cases);
  cr_assert_eq(status.code, FOLD_OK, "%s: %s", globs, status.text);
  cr_assert(cases->n > 0, "%s matches no case", globs);
}

static enum fold_op op_of(const struct fold_subject *s) {
  return fold_problem((enum fold_problem_id)__builtin_ctz(s->problems))->op;
}

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
    cr_expect(count[FOLD_SKIPPED] > 0, "%s: no new process was started, yet %s was judged", mutant, claim->name);
  else if (m->breaks & bit)
    cr_expect(count[FOLD_REFUTED] > 0, "%s (%s) breaks %s, and %zu cases held", mutant, m->subject.about, claim->name,
              count[FOLD_HELD]);
  else if (!(m->may & bit))
    cr_expect(count[FOLD_REFUTED] == 0 && count[FOLD_HELD] > 0, "%s keeps %s: %zu held, %zu refuted: %s", mutant,
              claim->name, count[FOLD_HELD], count[FOLD_REFUTED], t->last[claim->id].reason);
}

void expect_mutant(const struct fold_registry *registry, const struct fold_mutant *m) {
  struct fold_cases cases = {0};
  struct tally tally;
  size_t n;
  const struct fold_claim *claims = fold_claims(&n);
  expect_cases(m->fixtures, &cases);
  fold_status status = tally_verify(registry, m->subject.name, false, &cases, &tally);
  cr_expect_eq(status.code, FOLD_OK, "%s: %s", m->subject.name, status.text);
  for (size_t k = 0; k < n; k++) expect_claim(m, &claims[k], &tally);
  fold_cases_free(&cases);
}

size_t expect_table(const struct fold_mutant *mutants, size_t n) {
  size_t faults = 0;
  for (size_t i = 0; i < n; i++) {
    const struct fold_mutant *m = &mutants[i];
    uint64_t promised = fold_claims_of(&m->subject, op_of(&m->subject));
    faults += m->breaks != 0;
    cr_expect((m->breaks & ~promised) == 0, "%s breaks what it does not claim", m->subject.name);
    cr_expect(m->breaks != 0 || m->may == 0, "%s is a control and excuses itself", m->subject.name);
    cr_expect(promised & ~(m->breaks | m->may | FOLD_CLAIM(FOLD_FRESH_PROCESS)), "%s keeps nothing", m->subject.name);
    for (size_t k = 0; k < i; k++)
      cr_expect(strcmp(mutants[k].subject.name, m->subject.name) != 0, "two mutants are called %s", m->subject.name);
  }
  return faults;
}
