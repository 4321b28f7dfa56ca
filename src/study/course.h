/* study/course.h: the reference study's tables 3.3.1 to 3.3.4, computed again (docs/case-study.md). They have the study's f32 sums of mixed,
 * pathological and normal data, as far as the study holds them.
 */
#ifndef FOLD_STUDY_COURSE_H
#define FOLD_STUDY_COURSE_H

#include "study/study.h"

enum { FOLD_COLUMN_TREE = 2, FOLD_COLUMN_SORTED = 3, FOLD_COLUMN_NUMPY = 4, FOLD_COLUMNS = 5, FOLD_COURSE_ROWS = 16 };

/* The subjects for the columns Sequential, Reverse, Tree, Sorted, NumPy. */
extern const char *const fold_course_methods[FOLD_COLUMNS];

/* One f32 sum, measured as the reference study measured. */
struct fold_course_way {
  double reference;                     /* NumPy's sum in float64 of the widened terms */
  float reference32;                    /* the same rounded to float32 */
  double tree64;                        /* the tree computed in float64 */
  double reference_error, tree64_error; /* their distances from the exact sum */
};
fold_status fold_study_course_way(const struct fold_study_case *c, struct fold_course_way *way);

/* One row of a table: the study's points of one size. */
struct fold_course_row {
  const struct fold_study_point *at[FOLD_COLUMNS];
  struct fold_course_way way;
};

struct figures;
/* The rows for which the study has all columns, in its sequence of sizes. */
struct fold_course_table {
  const struct figures *figures;
  struct fold_course_row row[FOLD_COURSE_ROWS];
  size_t n;
};

struct fold_course {
  struct fold_course_table table[3]; /* mixed, pathological, normal */
};
/* Fills the tables with pointers into the study. */
fold_status fold_course_fill(struct fold_course *course, const struct fold_study *study);
/* The error as the reference study would have measured it. */
double fold_course_error(const struct fold_course_row *row, int column);
/* The tables in the reference study's layout, with its own figures. `no_gpu`: why there are no GPU subjects, or NULL. */
void fold_course_print(const struct fold_course *course, const struct fold_study *study, const char *no_gpu, FILE *out);

#endif
