/* alike.h: cases that differ in nothing by which the speed of a run is decided: dtype, problem, one row or few or many, and the terms'
 * number to a power of two. What is the same for all of them is tried on a few. */
#ifndef FOLD_ALIKE_H
#define FOLD_ALIKE_H

#include "judge.h"

/* Whether case `at` is one of at most `most` that stand for all those like it that are judged by the claim: these are spread over the list,
 * so that different fixtures have a part. */
bool fold_stands_for_alike(const struct fold_cases *cases, size_t at, const char *claim, size_t most);

#endif
