/* report_answer.h: the first part of every report: what was refuted, what held on idle inputs only, what held, what was skipped and why. */
#ifndef FOLD_REPORT_ANSWER_H
#define FOLD_REPORT_ANSWER_H

#include "report_model.h"
#include "sheet.h"

/* What was measured; of timings also how many had results that held. "": nothing was. */
void fold_answer_measured(const struct fold_model *model, char text[300]);
/* "3 held, 0 refuted, 1 skipped"; where nothing was judged, what was measured. */
void fold_answer_headline(const struct fold_model *model, char text[300]);
/* Whether something promised was refuted, or broke. */
bool fold_answer_is_bad(const struct fold_model *model);

/* Each sheet in turn, written where it has rows: the answer; timings, their ratios and collectives (report_measured.c). */
fold_status fold_answer_put(const struct fold_model *model, enum fold_report_format format, FILE *out);
fold_status fold_measured_put(const struct fold_model *model, enum fold_report_format format, FILE *out);

#endif
