/* report/answer.h: the first part of every report: what was refuted, what held on order-insensitive inputs only, what held, what was skipped and why. */
#ifndef FOLD_REPORT_ANSWER_H
#define FOLD_REPORT_ANSWER_H

#include "report/model.h"
#include "sheet/sheet.h"

/* What was measured; for timings also how many of them had results that held. "" if nothing was measured. */
void fold_answer_measured(const struct fold_model *model, char text[300]);
/* "3 held, 0 refuted, 1 skipped"; if nothing was judged, what was measured. */
void fold_answer_headline(const struct fold_model *model, char text[300]);
/* Whether a promise was refuted, or something broke. */
bool fold_answer_is_bad(const struct fold_model *model);

/* Whether claims were refuted, of how many subjects, and how much of what held about order could hardly have been refuted. */
void fold_answer_sentence(const struct fold_model *model, char text[300]);

/* What failed, as lists; and how many cases held and were skipped. */
fold_status fold_answer_failures(const struct fold_model *model, enum fold_report_format format, FILE *out);
fold_status fold_answer_counts(const struct fold_model *model, enum fold_report_format format, FILE *out);
/* Writes each sheet that has rows: the answer, which is both of these; timings, their ratios and collectives (report/measured.c). */
fold_status fold_answer_put(const struct fold_model *model, enum fold_report_format format, FILE *out);
fold_status fold_measured_put(const struct fold_model *model, enum fold_report_format format, FILE *out);

#endif
