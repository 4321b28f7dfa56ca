/* blas_matrix.h: how a BLAS describes the operands of a call: a matrix by a leading dimension, a vector by an increment. */
#ifndef FOLD_BLAS_MATRIX_H
#define FOLD_BLAS_MATRIX_H

#include "model/subject.h"

/* Each row lies side by side, and rows are `leading` elements apart; transposed, this is so of the columns. */
struct fold_blas_matrix {
  bool transposed;
  int leading;
};

/* The matrix of the axes `rows` and `cols` of an input. UNSUPPORTED if it lies in another way, or overlaps itself. */
fold_status fold_blas_matrix_of(const struct fold_subject *subject, const struct fold_call *call, unsigned input,
                                enum fold_axis rows, enum fold_axis cols, struct fold_blas_matrix *matrix);
/* How far apart the elements of an input along k lie: at least 1, else UNSUPPORTED. */
fold_status fold_blas_increment_of(const struct fold_subject *subject, const struct fold_call *call, unsigned input,
                                   int *increment);
/* UNSUPPORTED for an axis of 2^31 elements or more. */
fold_status fold_blas_extents(const struct fold_subject *subject, const struct fold_call *call);
/* An input's element at a batch and a row. */
const void *fold_blas_at(const struct fold_call *call, unsigned input, size_t batch, size_t row);

#endif
