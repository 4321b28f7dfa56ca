/* accurate.c: sums in more than the accumulator: in f64, rounded once to dtype, and exactly.
 *
 * float64 adds in rising index from +0; for f64 it is the sequential sum. exact closes a superaccumulator: the
 * correctly rounded sum, whatever the order of the terms and the number of threads; special values by the policy of the
 * exact oracle.
 */
#include "exact.h"
#include "host.h"
#include "host/instances.h"

static uint64_t float64_row(const struct fold_subject *subject, const struct fold_call *call, const void *in,
                            unsigned threads) {
  (void)subject, (void)threads;
  return fold_instances_of(call->dtype)->float64(in, call->cols);
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
