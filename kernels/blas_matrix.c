/* blas_matrix.c: see blas_matrix.h. */
#include "kernels/blas_matrix.h"

#include <limits.h>

static bool fits(size_t rows, size_t cols, ptrdiff_t down, ptrdiff_t across, int *leading) {
  const ptrdiff_t needed = cols ? (ptrdiff_t)cols : 1;
  const bool many = rows > 1 && cols > 0;
  *leading = (int)(many ? down : needed);
  return (across == 1 || cols <= 1) && (!many || (down >= needed && down <= INT_MAX));
}

fold_status fold_blas_matrix_of(const struct fold_subject *subject, const struct fold_call *call, unsigned input,
                                enum fold_axis rows, enum fold_axis cols, struct fold_blas_matrix *matrix) {
  const size_t n_rows = call->shape.at[rows], n_cols = call->shape.at[cols];
  ptrdiff_t stride[FOLD_AXES];
  fold_call_strides(call, input, stride);
  matrix->transposed = false;
  if (fits(n_rows, n_cols, stride[rows], stride[cols], &matrix->leading)) return fold_ok();
  matrix->transposed = true;
  if (fits(n_cols, n_rows, stride[cols], stride[rows], &matrix->leading)) return fold_ok();
  return fold_error(FOLD_UNSUPPORTED, "%s: of a matrix, rows or columns lie side by side, and do not overlap",
                    subject->name);
}

fold_status fold_blas_increment_of(const struct fold_subject *subject, const struct fold_call *call, unsigned input,
                                   int *increment) {
  ptrdiff_t stride[FOLD_AXES];
  fold_call_strides(call, input, stride);
  const ptrdiff_t step = call->shape.k > 1 ? stride[FOLD_K] : 1;
  *increment = (int)step;
  if (step >= 1 && step <= INT_MAX) return fold_ok();
  return fold_error(FOLD_UNSUPPORTED, "%s: elements of a vector are 1 to 2^31 - 1 apart", subject->name);
}

fold_status fold_blas_extents(const struct fold_subject *subject, const struct fold_call *call) {
  for (unsigned a = 0; a < FOLD_AXES; a++)
    if (call->shape.at[a] > INT_MAX)
      return fold_error(FOLD_UNSUPPORTED, "%s: more than 2^31 - 1 elements along an axis", subject->name);
  return fold_ok();
}

const void *fold_blas_at(const struct fold_call *call, unsigned input, size_t batch, size_t row) {
  ptrdiff_t stride[FOLD_AXES];
  fold_call_strides(call, input, stride);
  const ptrdiff_t place = (ptrdiff_t)batch * stride[FOLD_B] + (ptrdiff_t)row * stride[FOLD_M];
  return (const unsigned char *)call->in[input] + place * (ptrdiff_t)fold_dtype_size(call->dtype);
}
