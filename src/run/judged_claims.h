/* judged_claims.h: which claims of a subject are judged on a case. */
#ifndef FOLD_JUDGED_CLAIMS_H
#define FOLD_JUDGED_CLAIMS_H

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

/* Cases are alike if they differ in nothing by which the speed of a run is decided: dtype, problem, one row or few or many, and
 * the terms' number to a power of two. What is the same for all of them is tried on a few. */
/* Keeping all processors busy while a guest repeats costs more than all else, and whether it varies then depends on how its work is divided,
 * which is the same for like cases. So a few of each kind, spread over the list so that different fixtures have a part, are tried so, and the
 * others are spared. A user who asks for more repeats gets them in all. */
bool fold_is_spared(const struct fold_round *round, const struct fold_subject *subject);
/* Orders cases by ranks, dtype, problem, whether rows are one, few or many, and the logarithm of their terms; 0: they are of one kind. */
int fold_compare_kinds(const struct fold_case *a, const struct fold_case *b);
/* How often run_to_run repeats the case. */
unsigned fold_repeats_of(const struct fold_round *round);
/* Whether leaves_no_trace does not look, on this case, for memory and files that runs do not give back. */
bool fold_skips_growth(const struct fold_round *round);

/* Whether the claim may be tried on a guest for information: then only a refutation that counts says that it was promised. */
bool fold_may_inform(enum fold_claim_id claim);

#endif
