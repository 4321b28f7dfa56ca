/* report/changes.h: compares the times of two runs. */
#ifndef FOLD_REPORT_CHANGES_H
#define FOLD_REPORT_CHANGES_H

#include "base/fold.h"

struct fold_model;
struct fold_changes;
/* Pairs the model's times with those of a former run, once for all views. `before` must outlive the model.
 * FOLD_NO_MEMORY if memory is short. */
fold_status fold_model_compare(struct fold_model *model, const struct fold_model *before);
void fold_changes_free(struct fold_changes *changes);

/* "Against OLD.jsonl: 1 slower, 0 faster, ..." if the model has a former run; else "". */
void fold_changes_summary(const struct fold_model *model, char text[500]);

#endif
