/* report_changes.h: what was timed, in a form in which two runs can be set against each other. */
#ifndef FOLD_REPORT_CHANGES_H
#define FOLD_REPORT_CHANGES_H

#include <jansson.h>
#include <stdbool.h>

#include "fold.h"

/* A record of type "timing", "scaling" or "allreduce": two with the same key timed the same work on the same kind of machine. */
struct fold_model_time {
  int environment; /* index, -1 where records name none */
  const char *key, *subject, *what, *size;
  double median, low, high; /* seconds; low and high: from 10 % to 90 % of the runs, NaN where that is not recorded */
  bool doubtful;            /* implausible, noisy, or of a result that did not hold */
};

struct fold_model;
struct fold_changes;
/* NO_MEMORY. A record without a time adds nothing. */
fold_status fold_model_add_time(struct fold_model *model, const json_t *record, int environment);

/* Pairs the model's times with those of a run before it, once for all views. `before` must outlive the model. NO_MEMORY. */
fold_status fold_model_compare(struct fold_model *model, const struct fold_model *before);
void fold_changes_free(struct fold_changes *changes);

/* "Against OLD.jsonl: 1 slower, 0 faster, ..." of a model that has a run before it; else "". */
void fold_changes_summary(const struct fold_model *model, char text[500]);

#endif
