/* terms.c: exact sums of any problem's terms, of one factor or of two, without rounding on the way and rounded once, on any number of
 * threads; and sums of magnitudes in rising index. Dot products in a declared order are its replay (ordered.c). */
#include <math.h>
#include <stdlib.h>

#include "base/bits.h"
#include "kernels/host/host.h"
#include "oracles/super_dot.h"
#include "oracles/super_round.h"

/* The exact sum of terms that lie side by side; `room` is for those of two factors. */
static fold_status add_exactly(const struct fold_terms *line, enum fold_dtype result, unsigned threads,
                               struct fold_super_dot *room, uint64_t *bits) {
  if (line->factors == 1) {
    struct fold_super sum = {0};
    fold_super_add(line->dtype, line->factor[0], line->n, &sum, NULL);
    *bits = fold_super_round(line->dtype, &sum, result);
    return fold_ok();
  }
  *room = (struct fold_super_dot){0};
  FOLD_TRY(fold_super_dot_add(line->dtype, line->factor[0], line->factor[1], line->n, threads, room));
  *bits = fold_super_dot_close(room, result);
  return fold_ok();
}

static fold_status make_exactly(const struct fold_call *call, enum fold_dtype result, size_t row,
                                struct fold_super_dot *room) {
  const struct fold_terms terms = fold_call_terms(call, row);
  struct fold_terms line;
  void *side_by_side;
  uint64_t bits = 0;
  FOLD_TRY(fold_terms_line(&terms, &line, &side_by_side));
  const fold_status status = add_exactly(&line, result, fold_host_threads(call), room, &bits);
  free(side_by_side);
  FOLD_TRY(status);
  fold_bits_store(result, call->out, row, bits);
  return fold_ok();
}

fold_status fold_host_terms_exact(const struct fold_subject *subject, const struct fold_call *call) {
  const enum fold_dtype result = fold_subject_result(subject, call->dtype);
  struct fold_slots slots;
  struct fold_call sorted;
  FOLD_TRY(fold_call_sorted(call, &slots, &sorted));
  struct fold_super_dot *room = malloc(sizeof *room);
  fold_status status = room ? fold_ok() : fold_no_memory("for exact sums");
  for (size_t r = 0; r < fold_results(call->problem, &call->shape) && status.code == FOLD_OK; r++)
    status = make_exactly(&sorted, result, r, room);
  free(room); /* unseen: drop */
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
