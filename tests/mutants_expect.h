/* mutants_expect.h: what the suites of mutants, the host's and the GPU's, expect of each: refuted by what it breaks,
 * and by nothing else. */
#ifndef MUTANTS_EXPECT_H
#define MUTANTS_EXPECT_H

#include "mutants.h"
#include "runner.h"

/* The cases that globs name of the default set, or else of tests/mutants.ini; none fails the test. */
void expect_cases(const char *globs, struct fold_cases *cases);
/* Judges the mutant, one of the registry, on its fixtures. */
void expect_mutant(const struct fold_registry *registry, const struct fold_mutant *m);
/* The rows themselves: each breaks what it claims, keeps something, has a name of its own; whoever breaks nothing is a
 * control and excuses nothing. Returns how many break something. */
size_t expect_table(const struct fold_mutant *mutants, size_t n);

#endif
