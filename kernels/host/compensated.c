/* compensated.c: Kahan's and Neumaier's sums, in the dtype's accumulator, rising index, rounded once to dtype.
 *
 * Kahan (1965) feeds the last addition's error back into the next term; Neumaier (1974) sums the errors beside and adds
 * them at the end. Both start at +0. Once a sum is not finite the compensation means nothing (infinity - infinity): it
 * is set to 0 and stays so, hence the result is what the plain sums give: an infinity, or NaN for a NaN or for both
 * infinities.
 */
#include "host.h"
#include "host/instances.h"

static double kahan_row(const struct fold_subject *subject, const struct fold_call *call, const void *in,
                        unsigned threads) {
  (void)subject, (void)threads;
  return fold_instances_of(call->dtype)->kahan(in, call->cols);
}

static double neumaier_row(const struct fold_subject *subject, const struct fold_call *call, const void *in,
                           unsigned threads) {
  (void)subject, (void)threads;
  return fold_instances_of(call->dtype)->neumaier(in, call->cols);
}

static fold_status sums(const struct fold_subject *subject, const struct fold_call *call, fold_host_row *row) {
  if (call->op != FOLD_SUM) return fold_error(FOLD_UNSUPPORTED, "%s: sums only", subject->name);
  fold_host_rows(subject, call, row);
  return fold_ok();
}

fold_status fold_host_kahan(const struct fold_subject *subject, const struct fold_call *call) {
  return sums(subject, call, kahan_row);
}

fold_status fold_host_neumaier(const struct fold_subject *subject, const struct fold_call *call) {
  return sums(subject, call, neumaier_row);
}
