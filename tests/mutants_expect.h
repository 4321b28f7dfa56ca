/* mutants_expect.h: what the suites of mutants, on the host and on a GPU, expect of each mutant: the claims that it
 * breaks refute it, and no others. */
#ifndef MUTANTS_EXPECT_H
#define MUTANTS_EXPECT_H

#include "mutants.h"
#include "run/runner.h"

/* The cases that `globs` name in the default set, or else in tests/mutants.ini; if there are none, the test fails. */
void expect_cases(const char *globs, struct fold_cases *cases);
/* Judges the mutant, one of the registry, on its fixtures. */
void expect_mutant(const struct fold_registry *registry, const struct fold_mutant *m);
/* Checks the rows themselves: each breaks claims that it makes, keeps others, and has a name of its own; one that
 * breaks nothing is a control, and may excuse nothing. Returns how many break something. */
size_t expect_table(const struct fold_mutant *mutants, size_t n);

#endif
