/* dot.c: exact dot products: superaccumulators of the products (super_dot.h), rounded once, on any number of
 * threads. Dot products in a declared order are its replay (ordered.c). */
#include <stdlib.h>

#include "base/bits.h"
#include "kernels/host/host.h"
#include "oracles/super_dot.h"

static fold_status dot_row(const struct fold_call *call, enum fold_dtype result, size_t row, unsigned threads,
                           struct fold_super_dot *state) {
  const struct fold_terms terms = fold_call_terms(call, row);
  struct fold_terms line;
  void *room;
  FOLD_TRY(fold_terms_line(&terms, &line, &room));
  *state = (struct fold_super_dot){0};
  const fold_status status = fold_super_dot_add(line.dtype, line.factor[0], line.factor[1], line.n, threads, state);
  free(room);
  FOLD_TRY(status);
  fold_bits_store(result, call->out, row, fold_super_dot_close(state, result));
  return fold_ok();
}

fold_status fold_host_dot_exact(const struct fold_subject *subject, const struct fold_call *call) {
  const enum fold_dtype result = fold_subject_result(subject, call->dtype);
  struct fold_super_dot *state = malloc(sizeof *state);
  if (!state) return fold_no_memory("for an exact dot product");
  fold_status status = fold_ok();
  for (size_t row = 0; row < fold_results(call->problem, &call->shape) && status.code == FOLD_OK; row++)
    status = dot_row(call, result, row, fold_host_threads(call), state);
  free(state); /* unseen: drop */
  return status;
}
