/* command_compare_claim.h: claims that two records judge together, of runs that no one machine can make. */
#ifndef FOLD_COMMAND_COMPARE_CLAIM_H
#define FOLD_COMMAND_COMPARE_CLAIM_H

#include "command.h"

/* "gpu_to_gpu": the records are of two models of GPU; "run_to_run": of one. False for another name. */
bool fold_compare_knows_claim(const char *claim);

/* gpu_to_gpu by the registry: whether who makes these claims on a GPU promises the same bits on another model. */
bool fold_compare_promises(const struct fold_subject *subject, uint64_t claims);
#define FOLD_COMPARE_REFUTED_BY \
  "different bits on another model of GPU: judged from two records, by compare --claim gpu_to_gpu"

/* Judges the claim on every result of a GPU that both records have and whose subject promises it; prints a table, and writes
 * each verdict to `jsonl` unless that is NULL. Returns the exit code: 0 held, 1 refuted, 2 bad input, 77 nothing to judge, 99 a
 * record is not all of its run, unless it is taken for the `part` that it is. */
int fold_compare_claim(const char *program, const char *claim, const char *const path[2], const char *jsonl, bool part,
                       const struct fold_registry *registry);

#endif
