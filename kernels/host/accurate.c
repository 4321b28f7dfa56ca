/* accurate.c: sums in more than the accumulator: in f64, rounded once to dtype, and exactly.
 *
 * float64 adds in rising index from +0; for f64 it is the sequential sum. exact closes a superaccumulator: the
 * correctly rounded sum, whatever the order of the terms and the number of threads; special values by the policy of the
 * exact oracle.
 */
#include "exact.h"
#include "host.h"
#include "native.h"

#define FLOAT64(dtype)                                                     \
  static uint64_t float64_##dtype(const void *row, size_t n) {             \
    const fold_element_##dtype *x = row;                                   \
    double sum = 0;                                                        \
    for (size_t i = 0; i < n; i++) sum += (double)fold_load_##dtype(x[i]); \
    return fold_close_f64_##dtype(sum);                                    \
  }
FLOAT64(f16)
FLOAT64(bf16)
FLOAT64(f32)
FLOAT64(f64)

static uint64_t float64_row(const struct fold_subject *subject, const struct fold_call *call, const void *in,
                            unsigned threads) {
  static uint64_t (*const rows[FOLD_DTYPES])(const void *, size_t) = {
      [FOLD_F16] = float64_f16, [FOLD_BF16] = float64_bf16, [FOLD_F32] = float64_f32, [FOLD_F64] = float64_f64};
  (void)subject, (void)threads;
  return rows[call->dtype](in, call->cols);
}

static uint64_t exact_row(const struct fold_subject *subject, const struct fold_call *call, const void *in,
                          unsigned threads) {
  struct fold_super state = {0};
  (void)subject;
  fold_super_add_parallel(call->dtype, in, call->cols, &state, NULL, threads);
  return fold_super_close(call->dtype, &state, call->dtype);
}

static fold_status sums(const struct fold_subject *subject, const struct fold_call *call, fold_host_row *row) {
  if (call->op != FOLD_SUM) return fold_error(FOLD_UNSUPPORTED, "%s: sums only", subject->name);
  fold_host_rows(subject, call, row);
  return fold_ok();
}

fold_status fold_host_float64(const struct fold_subject *subject, const struct fold_call *call) {
  return sums(subject, call, float64_row);
}

fold_status fold_host_exact(const struct fold_subject *subject, const struct fold_call *call) {
  return sums(subject, call, exact_row);
}
