/* known_defects.h: whether a refutation of a library matches a known defect of it. */
#ifndef FOLD_KNOWN_H
#define FOLD_KNOWN_H

#include "judge/judge.h"

/* The fact that explains a refutation: it is about the same subject, claim and operation, and every row that is not the
 * exact result is wrong in a way that the fact describes. NULL where there is none. Call this right after the judge: it
 * needs the judge's last run in trial->other. */
const struct fold_fact *fold_known(struct fold_trial *trial, const struct fold_claim *claim,
                                   const struct fold_finding *finding);
/* Whether the fact was seen in that version, or in an earlier and a later one of its series. */
bool fold_known_in(const struct fold_fact *fact, const char *version);

#endif
