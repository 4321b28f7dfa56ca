/* report_answer.h: what a reader wants first: what was refuted, what was idle only, what held, what was skipped and why. */
#ifndef FOLD_REPORT_ANSWER_H
#define FOLD_REPORT_ANSWER_H

#include "report_model.h"
#include "report_sheet.h"

/* What was measured, and of timings how many were of results that held; "": nothing. */
void fold_answer_measured(const struct fold_model *model, char text[300]);
/* "3 held, 0 refuted, 1 skipped"; where nothing was judged, what was measured. */
void fold_answer_headline(const struct fold_model *model, char text[300]);
/* Whether something promised was refuted, or broke. */
bool fold_answer_is_bad(const struct fold_model *model);

/* Each sheet in turn, written where it has rows: the answer; timings, their ratios and collectives (report_measured.c). */
fold_status fold_answer_put(const struct fold_model *model, enum fold_report_format format, FILE *out);
fold_status fold_measured_put(const struct fold_model *model, enum fold_report_format format, FILE *out);

#endif
