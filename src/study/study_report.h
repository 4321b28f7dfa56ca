/* study_report.h: the report's tables as the study fills them. Private to study_report.c and study_reasons.c. */
#ifndef FOLD_STUDY_REPORT_H
#define FOLD_STUDY_REPORT_H

#include "study.h"

enum { FOLD_COLUMN_TREE = 2, FOLD_COLUMN_SORTED = 3, FOLD_COLUMN_NUMPY = 4, FOLD_COLUMNS = 5, FOLD_REPORT_ROWS = 16 };

/* The subjects behind Sequential, Reverse, Tree, Sorted, NumPy. */
extern const char *const fold_report_methods[FOLD_COLUMNS];

/* One row of a table: the study's points of one size. */
struct fold_report_row {
  const struct fold_study_point *at[FOLD_COLUMNS];
  struct fold_report_way way;
};

struct figures;
/* Whole rows of the study, in its sequence of sizes. */
struct fold_report_table {
  const struct figures *figures;
  struct fold_report_row row[FOLD_REPORT_ROWS];
  size_t n;
};

/* The error as the report would have measured it. */
double fold_report_error(const struct fold_report_row *row, int column);

/* Why the figures differ; tables are mixed, pathological, normal. */
fold_status fold_report_print_reasons(const struct fold_study *study, const struct fold_report_table table[3],
                                      FILE *out);

#endif
