/* accurate.c: sums in another accumulator than the dtype's own: in f64, in the dtype itself, or exact; rounded once to
 * the result. */
#include "bits.h"
#include "host.h"
#include "host/instances.h"
#include "super_round.h"

static double float64_row(const struct fold_subject *subject, const struct fold_call *call, const void *in,
                          unsigned threads) {
  (void)subject, (void)threads;
  return fold_instances_of(call->dtype)->float64(in, call->cols);
}

static double narrow_row(const struct fold_subject *subject, const struct fold_call *call, const void *in,
                         unsigned threads) {
  (void)subject, (void)threads;
  return fold_instances_of(call->dtype)->narrow(in, call->cols);
}

static double exact_row(const struct fold_subject *subject, const struct fold_call *call, const void *in,
                        unsigned threads) {
  struct fold_super state = {0};
  const enum fold_dtype result = fold_subject_result(subject, call->dtype);
  fold_super_add_parallel(call->dtype, in, call->cols, &state, NULL, threads);
  return fold_bits_to_double(result, fold_super_round(call->dtype, &state, result));
}

static fold_status sums(const struct fold_subject *subject, const struct fold_call *call, fold_host_row *row) {
  if (call->op != FOLD_SUM) return fold_error(FOLD_UNSUPPORTED, "%s: sums only", subject->name);
  fold_host_rows(subject, call, row);
  return fold_ok();
}

fold_status fold_host_float64(const struct fold_subject *subject, const struct fold_call *call) {
  return sums(subject, call, float64_row);
}

fold_status fold_host_narrow(const struct fold_subject *subject, const struct fold_call *call) {
  return sums(subject, call, narrow_row);
}

fold_status fold_host_exact(const struct fold_subject *subject, const struct fold_call *call) {
  return sums(subject, call, exact_row);
}
