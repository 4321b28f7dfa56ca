/* study_course.h: the report's tables as the study fills them. Private to study_course.c and study_reasons.c. */
#ifndef FOLD_STUDY_COURSE_H
#define FOLD_STUDY_COURSE_H

#include "study.h"

enum { FOLD_COLUMN_TREE = 2, FOLD_COLUMN_SORTED = 3, FOLD_COLUMN_NUMPY = 4, FOLD_COLUMNS = 5, FOLD_COURSE_ROWS = 16 };

/* The subjects behind Sequential, Reverse, Tree, Sorted, NumPy. */
extern const char *const fold_course_methods[FOLD_COLUMNS];

/* One row of a table: the study's points of one size. */
struct fold_course_row {
  const struct fold_study_point *at[FOLD_COLUMNS];
  struct fold_course_way way;
};

struct figures;
/* Whole rows of the study, in its sequence of sizes. */
struct fold_course_table {
  const struct figures *figures;
  struct fold_course_row row[FOLD_COURSE_ROWS];
  size_t n;
};

/* The error as the report would have measured it. */
double fold_course_error(const struct fold_course_row *row, int column);

/* Why the figures differ; tables are mixed, pathological, normal. */
fold_status fold_course_print_reasons(const struct fold_study *study, const struct fold_course_table table[3],
                                      FILE *out);

#endif
