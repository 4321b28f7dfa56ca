/* alike.h: cases that differ in nothing by which the speed of a run is decided: dtype, problem, one row or few or many, and the terms'
 * number to a power of two. What is the same for all of them is tried on a few. */
#ifndef FOLD_ALIKE_H
#define FOLD_ALIKE_H

#include "judge/judge.h"

/* Whether case `at` is one of at most four that stand for all those like it that are judged by the claim: they are spread over the list. */
bool fold_stands_for_alike(const struct fold_cases *cases, size_t at, const char *claim);
/* Keeping all processors busy while a guest repeats costs more than all else, and whether it varies then depends on how its work is divided,
 * which is the same for like cases. So a few of each kind, spread over the list so that different fixtures have a part, are tried so, and the
 * others are spared. A user who asks for more repeats gets them in all. */
bool fold_is_spared(const struct fold_cases *cases, size_t at, const struct fold_subject *subject, unsigned repeats);

#endif
