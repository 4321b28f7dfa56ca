/* terms.c: sums whose terms are not the elements side by side: the exact sums of any such problem, term by term without rounding, and
 * sums of magnitudes in rising index. Each result is rounded once. */
#include <math.h>
#include <stdlib.h>

#include "base/bits.h"
#include "kernels/host/host.h"
#include "oracles/super_round.h"

static fold_status add_exactly(const struct fold_call *call, size_t row, enum fold_dtype result) {
  const struct fold_terms terms = fold_call_terms(call, row);
  struct fold_super sum = {0};
  struct fold_terms line;
  void *room;
  FOLD_TRY(fold_terms_line(&terms, &line, &room));
  fold_super_add(line.dtype, line.factor[0], line.n, &sum, NULL);
  fold_bits_store(result, call->out, row, fold_super_round(line.dtype, &sum, result));
  free(room);
  return fold_ok();
}

fold_status fold_host_terms_exact(const struct fold_subject *subject, const struct fold_call *call) {
  const enum fold_dtype result = fold_subject_result(subject, call->dtype);
  struct fold_slots slots;
  struct fold_call sorted;
  FOLD_TRY(fold_call_sorted(call, &slots, &sorted));
  fold_status status = fold_ok();
  for (size_t r = 0; r < fold_results(call->problem, &call->shape) && status.code == FOLD_OK; r++)
    status = add_exactly(&sorted, r, result);
  fold_slots_free(&slots);
  return status;
}

static void add_magnitudes(const struct fold_subject *subject, const struct fold_call *call, size_t row) {
  const bool narrow = fold_subject_accumulator(subject, call->dtype) == FOLD_F32;
  const enum fold_dtype result = fold_subject_result(subject, call->dtype);
  double sum = 0;
  for (size_t i = row * call->cols; i < (row + 1) * call->cols; i++) {
    const double x = fabs(fold_bits_to_double(call->dtype, fold_bits_load(call->dtype, call->in[0], i)));
    sum = narrow ? (double)((float)sum + (float)x) : sum + x;
  }
  fold_bits_store(result, call->out, row, fold_bits_from_double(result, sum));
}

fold_status fold_host_asum(const struct fold_subject *subject, const struct fold_call *call) {
  const bool small = call->cols == 0 || call->rows < FOLD_HOST_SERIAL / call->cols;
#pragma omp parallel for num_threads(small ? 1 : fold_host_threads(call))
  for (size_t row = 0; row < call->rows; row++) add_magnitudes(subject, call, row);
  return fold_ok();
}
