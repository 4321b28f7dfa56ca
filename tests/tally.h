/* tally.h: counts verdicts by claim, for the tests that judge in process: a sink, and a function that judges one
 * subject. */
#ifndef TALLY_H
#define TALLY_H

#include <criterion/criterion.h>
#include <string.h>

#include "fixtures/generator.h"
#include "run/runner.h"

struct tally {
  size_t count[FOLD_CLAIMS][FOLD_VERDICTS];
  size_t judgements;
  struct fold_finding last[FOLD_CLAIMS]; /* the last finding; of a refuted claim, the first that refuted */
  uint64_t input_hash;
};

static inline fold_status tally_take(void *context, const struct fold_judgement *j) {
  struct tally *t = context;
  bool refuted = t->count[j->claim->id][FOLD_REFUTED] > 0;
  t->count[j->claim->id][j->finding.verdict]++;
  t->judgements++;
  t->input_hash = j->input_hash;
  if (!refuted) t->last[j->claim->id] = j->finding;
  return fold_ok();
}

/* f32 sums of small integers, which are exact in every order. */
static inline struct fold_case tally_integers(size_t rows, size_t cols) {
  static char name[] = "integers";
  struct fold_case c = {.name = name,
                        .file = name,
                        .dtype = FOLD_F32,
                        .problem = fold_rows_problem(FOLD_SUM),
                        .rows = rows,
                        .cols = cols};
  c.source = (struct fold_source){fold_generator_find(name), FOLD_F32, 7, cols, 0};
  return c;
}

/* Judges the registry's subjects that `subjects` (globs) names on `cases`. */
static inline fold_status tally_verify(const struct fold_registry *registry, const char *subjects, bool probe,
                                       const struct fold_cases *cases, struct tally *t) {
  memset(t, 0, sizeof *t);
  struct fold_selection selection = {.subjects = subjects, .engine = -1, .repeats = 3, .probe = probe};
  struct fold_sink sink = {.judgement = tally_take, .context = t};
  volatile int stop = 0;
  return fold_verify(registry, &selection, cases, NULL, &sink, &stop);
}

/* Judges one subject. */
static inline struct tally tally_of(const struct fold_subject *subject, const struct fold_cases *cases) {
  const struct fold_registry registry = {subject, 1};
  struct tally t;
  const fold_status status = tally_verify(&registry, NULL, false, cases, &t);
  cr_assert_eq(status.code, FOLD_OK, "%s", status.text);
  return t;
}

#endif
