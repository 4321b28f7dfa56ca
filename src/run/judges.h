/* judges.h: which claims of a subject are judged on a case. */
#ifndef FOLD_JUDGES_H
#define FOLD_JUDGES_H

#include "run/runner.h"

/* Whether this claim is judged: the selection asks for it, promised or probed, and the case's fixture allows it. */
bool fold_judges(const struct fold_round *round, const struct fold_judgement *judgement);
/* Whether it is judged, or is to be reported once as skipped by fold_skip_missing, because a user has named it. */
bool fold_asks_for(const struct fold_round *round, const struct fold_judgement *judgement);
void fold_skip_missing(struct fold_judgement *judgement);
/* Whether it is judged for information only. */
bool fold_judges_to_inform(const struct fold_round *round, const struct fold_judgement *judgement);
/* What is judged for information counts where it shows that a value is outside the bound that the subject claims. */
void fold_judgement_count(const struct fold_round *round, struct fold_judgement *judgement);
/* A mask of the claims that are asked for at the round's place. */
uint64_t fold_claims_asked(const struct fold_round *round);

#endif
