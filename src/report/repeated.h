/* report/repeated.h: finds verdicts and runs that occur more than once where records are joined: a part of a run that was added twice,
 * or a file and its copy. */
#ifndef FOLD_REPORT_REPEATED_H
#define FOLD_REPORT_REPEATED_H

#include <jansson.h>
#include <stdbool.h>
#include <xxhash.h>

#include "base/fold.h"

/* All zeros: nothing was seen. */
struct fold_repeated {
  XXH128_hash_t *at;     /* a table of hashes; one of zeros is free */
  size_t room, n, found; /* room: a power of two; found: how many were seen before */
  uint64_t environment;
};

/* To be called with each record, in the sequence of the files; *before: whether a record was seen in the same environment (but for day and
 * command line) that says the same of subject, case, input, claim, verdict and results. Others than judgements and runs never were. */
fold_status fold_repeated_add(struct fold_repeated *repeated, const json_t *record, bool *before);
/* "3 verdicts and runs occur more than once in one environment, and are counted once"; "" if there are none. */
const char *fold_repeated_text(const struct fold_repeated *repeated, char text[120]);
void fold_repeated_free(struct fold_repeated *repeated);

#endif
