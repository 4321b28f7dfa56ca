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

static double sum_magnitudes(const struct fold_subject *subject, const struct fold_call *call, const void *row,
                             unsigned threads) {
  const enum fold_dtype accumulator = fold_subject_accumulator(subject, call->dtype);
  double sum = 0;
  (void)threads;
  for (size_t i = 0; i < call->cols; i++)
    sum = fold_host_plus(accumulator, sum, fabs(fold_bits_to_double(call->dtype, fold_bits_load(call->dtype, row, i))));
  return sum;
}

fold_status fold_host_asum(const struct fold_subject *subject, const struct fold_call *call) {
  fold_host_rows(subject, call, sum_magnitudes);
  return fold_ok();
}
