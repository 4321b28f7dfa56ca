/* skips.h: gathers what could not run: one record for each subject, claim and reason, with the number of cases that it
 * covers.
 *
 * A machine that lacks an engine skips all its subjects on all cases, for one reason; a line for each would make
 * hundreds of megabytes. The gathered record is that of the first case, with the number of cases ("cases"), and that of
 * each fixture's ("fixtures").
 */
#ifndef FOLD_SKIPS_H
#define FOLD_SKIPS_H

#include <jansson.h>

#include "run/runner.h"

struct fold_skipped {
  size_t subject;
  const struct fold_claim *claim; /* NULL: a run */
  bool promised;
  char *reason;
  json_t *line;     /* of the first case */
  json_t *fixtures; /* by name: how many cases */
  size_t n;
};

struct fold_skips {
  struct fold_skipped *at;
  size_t n, room, last; /* last: where the search begins, since judgements come in the same sequence for each case */
};

/* Whether the judgement is gathered: its subject did not run. */
bool fold_skips_take(const struct fold_judgement *judgement);
/* Counts the judgement if one like it is there; *counted says so. */
fold_status fold_skips_count(struct fold_skips *skips, const struct fold_judgement *judgement, bool *counted);
/* Adds the first of its kind; takes over its line. */
fold_status fold_skips_add(struct fold_skips *skips, const struct fold_judgement *judgement, json_t *line);
/* Makes the gathered record, which the caller releases. */
json_t *fold_skips_line(struct fold_skipped *skipped);
void fold_skips_free(struct fold_skips *skips);

#endif
