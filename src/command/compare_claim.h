/* command/compare_claim.h: claims that are judged from two records, because no single machine can make both runs. */
#ifndef FOLD_COMMAND_COMPARE_CLAIM_H
#define FOLD_COMMAND_COMPARE_CLAIM_H

#include "command/command.h"

/* "gpu_to_gpu": the records are of two models of GPU; "run_to_run": of the same model. False for any other name. */
bool fold_compare_knows_claim(const char *claim);

/* Whether a subject on a GPU that makes these claims promises the same bits on another model of GPU, by the
 * registry. */
bool fold_compare_promises(const struct fold_subject *subject, uint64_t claims);
#define FOLD_COMPARE_REFUTED_BY \
  "different bits on a different model of GPU: judged from two records, by compare --claim gpu_to_gpu"

/* Judges the claim on every GPU result that both records have and whose subject promises it. Prints a table, and writes
 * each verdict to `jsonl` unless that is NULL. Returns the exit code: 0 held, 1 refuted, 2 bad input, 77 nothing to
 * judge, 99 a record lacks a part of its run, unless `part` allows that. */
int fold_compare_claim(const char *program, const char *claim, const char *const path[2], const char *jsonl, bool part,
                       const struct fold_registry *registry);

/* compare --regressions: which verdicts got worse from one file of records to another. Returns the exit code. `subset`: what only one file has judged, and incomplete files, are allowed. */
int fold_compare_regressions(const char *program, const char *const path[2], bool subset);

#endif
