/* bench/judged.h: what the judges said of a subject before it was timed. */
#ifndef FOLD_BENCH_JUDGED_H
#define FOLD_BENCH_JUDGED_H

#include "judge/judge.h"

struct fold_judged {
  size_t count[FOLD_VERDICTS];
  char note[200]; /* why it was not judged, did not hold, or was not timed */
};

/* Counts a verdict; if it is not "held", notes the reason. */
void fold_judged_count(struct fold_judged *judged, const char *claim, const struct fold_finding *finding);
/* The same for a claim, called by fold_judge_evidence; `judged` is a struct fold_judged. */
void fold_judged_take(void *judged, const struct fold_claim *claim, const struct fold_finding *finding);
/* Whether a subject may be timed: no claim of it was refuted, and nothing broke. */
bool fold_judged_may_run(const struct fold_judged *judged);
/* "held", "refuted", "broken" or "not judged". */
const char *fold_judged_verdict(const struct fold_judged *judged);

#endif
