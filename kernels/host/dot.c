/* dot.c: exact dot products of rows: superaccumulators of the products (super_dot.h), rounded once, on any number of
 * threads. Dot products in a declared order are its replay (ordered.c). */
#include <stdlib.h>

#include "base/bits.h"
#include "kernels/host/host.h"
#include "oracles/super_dot.h"

static fold_status dot_row(const struct fold_call *call, enum fold_dtype result, size_t row, unsigned threads,
                           struct fold_super_dot *state) {
  const size_t at = row * call->cols * fold_dtype_size(call->dtype);
  *state = (struct fold_super_dot){0};
  FOLD_TRY(fold_super_dot_add(call->dtype, (const unsigned char *)call->in[0] + at,
                              (const unsigned char *)call->in[1] + at, call->cols, threads, state));
  fold_bits_store(result, call->out, row, fold_super_dot_close(state, result));
  return fold_ok();
}

fold_status fold_host_dot_exact(const struct fold_subject *subject, const struct fold_call *call) {
  const enum fold_dtype result = fold_subject_result(subject, call->dtype);
  struct fold_super_dot *state = malloc(sizeof *state);
  if (!state) return fold_no_memory("for an exact dot product");
  fold_status status = fold_ok();
  for (size_t row = 0; row < call->rows && status.code == FOLD_OK; row++)
    status = dot_row(call, result, row, fold_host_threads(call), state);
  free(state); /* unseen: drop */
  return status;
}
