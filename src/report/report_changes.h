/* report_changes.h: what was timed, in a form in which two runs can be set against each other. */
#ifndef FOLD_REPORT_CHANGES_H
#define FOLD_REPORT_CHANGES_H

#include "fold.h"

struct fold_model;
struct fold_changes;
/* Pairs the model's times with those of a run before it, once for all views. `before` must outlive the model. NO_MEMORY. */
fold_status fold_model_compare(struct fold_model *model, const struct fold_model *before);
void fold_changes_free(struct fold_changes *changes);

/* "Against OLD.jsonl: 1 slower, 0 faster, ..." of a model that has a run before it; else "". */
void fold_changes_summary(const struct fold_model *model, char text[500]);

#endif
