/* test_mutants.c: each mutant is refuted by the claims that it breaks, and by nothing else. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "mutants_expect.h"
#include "ranks.h"
#include "tally.h"

/* The mutants of one engine, each over its own fixtures. */
static void expect_mutants(enum fold_engine engine, size_t least) {
  struct fold_registry registry;
  fold_mutants_join(&registry);
  size_t n, judged = 0;
  const struct fold_mutant *mutants = fold_mutants(&n);
  for (size_t i = 0; i < n; i++) {
    if (mutants[i].subject.engine != engine) continue;
    expect_mutant(&registry, &mutants[i]);
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
  cr_expect_eq(expect_table(mutants, n), n, "a mutant breaks nothing");
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

struct control {
  size_t judgements[512]; /* of each subject */
};

static fold_status take_control(void *context, const struct fold_judgement *j) {
  struct control *control = context;
  enum fold_verdict verdict = j->finding.verdict;
  cr_expect(verdict != FOLD_REFUTED && verdict != FOLD_BROKEN, "%s violates %s on %s: %s", j->subject->name,
            j->claim->name, j->c->name, j->finding.reason);
  control->judgements[j->subject_index]++;
  return fold_ok();
}

/* What the mutants of an engine are judged on. */
static void cases_of_mutants(enum fold_engine engine, struct fold_cases *cases) {
  char globs[8192] = "";
  size_t n;
  const struct fold_mutant *mutants = fold_mutants(&n);
  for (size_t i = 0; i < n; i++) {
    if (mutants[i].subject.engine != engine) continue;
    size_t used = strlen(globs);
    cr_assert(used + strlen(mutants[i].fixtures) + 2 < sizeof globs);
    snprintf(globs + used, sizeof globs - used, "%s%s", used ? "," : "", mutants[i].fixtures);
  }
  expect_cases(globs, cases);
}

/* The control: where each mutant falls, our own subjects stand. */
static void expect_subjects(enum fold_engine engine) {
  struct fold_registry registry;
  struct fold_cases cases = {0};
  struct control control = {{0}};
  struct fold_selection selection = {.engine = (int)engine, .repeats = 3};
  struct fold_sink sink = {.judgement = take_control, .context = &control};
  volatile int stop = 0;
  registry.subjects = fold_subjects(&registry.n);
  cr_assert(registry.n <= sizeof control.judgements / sizeof *control.judgements);
  cases_of_mutants(engine, &cases);
  fold_status status = fold_verify(&registry, &selection, &cases, NULL, &sink, &stop);
  cr_expect_eq(status.code, FOLD_OK, "%s", status.text);
  for (size_t i = 0; i < registry.n; i++)
    cr_expect(registry.subjects[i].engine != engine || control.judgements[i] > 0, "%s was not judged",
              registry.subjects[i].name);
  fold_cases_free(&cases);
}

Test(mutants, no_host_subject_is_refuted_where_mutants_are) { expect_subjects(FOLD_HOST); }

Test(mutants, no_collective_is_refuted_where_mutants_are) {
  ranks_world(FOLDPROOF);
  expect_subjects(FOLD_MPI);
  cr_expect_eq(fold_worlds_close().code, FOLD_OK);
}
