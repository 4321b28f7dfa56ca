/* counts.h: counts verdicts, for the summary, the table, reports, Markdown and JUnit alike: how often each was given,
 * and how many of the refuted are known defects of a library, which are counted separately.
 */
#ifndef FOLD_COUNTS_H
#define FOLD_COUNTS_H

#include <stdbool.h>
#include <stddef.h>

#include "judge/judge.h"

enum fold_gravest { FOLD_IS_REFUTED, FOLD_IS_BROKEN, FOLD_IS_KNOWN, FOLD_IS_HELD, FOLD_IS_SKIPPED };
enum { FOLD_GRAVEST = FOLD_IS_SKIPPED + 1 };

size_t fold_counts_all(const size_t count[FOLD_VERDICTS]);
/* Adds to a total, in which known defects are not among the refuted. */
void fold_counts_add(size_t total[FOLD_VERDICTS], size_t *total_known, const size_t count[FOLD_VERDICTS], size_t known);
/* How many verdicts are of that kind. */
size_t fold_counts_of(const size_t count[FOLD_VERDICTS], size_t known, enum fold_gravest kind);
/* The gravest kind that there is, which decides how a cell is shown; *n: how many are of it. */
enum fold_gravest fold_counts_gravest(const size_t count[FOLD_VERDICTS], size_t known, size_t *n);
/* Whether a promise about order held on idle inputs alone, so that its inputs could tell nothing. If it was refuted,
 * known or not, they could. */
bool fold_counts_untold(const size_t count[FOLD_VERDICTS], size_t telling, size_t idle);

#endif
