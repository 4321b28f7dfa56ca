/* report/curves.h: draws one group of errors: one operation, dtype, generator and environment. */
#ifndef FOLD_REPORT_CURVES_H
#define FOLD_REPORT_CURVES_H

#include "report/section.h"

/* The labels of the axes. */
struct fold_curves_kind {
  const char *x_label, *y_label;
};

/* Draws `n` points, sorted by subject and then by n. */
fold_status fold_curves_draw(struct fold_page *page, const struct fold_model_point *points, size_t n,
                             const struct fold_curves_kind *kind);

#endif
