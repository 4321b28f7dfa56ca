/* accurate.c: sums that are more than additions in the dtype's accumulator: compensated, in f64, in the dtype itself, or
 * exact; rising index, rounded once to the result.
 *
 * Kahan (1965) feeds the last addition's error back into the next term; Neumaier (1974) sums the errors separately and adds
 * them at the end. Both start at +0. Once a sum is not finite the compensation means nothing (infinity - infinity): it
 * is set to 0 and stays so, hence the result is what the plain sums give: an infinity, or NaN for a NaN or for both
 * infinities.
 */
#include "base/bits.h"
#include "kernels/host/host.h"
#include "kernels/host/instances.h"
#include "oracles/super_round.h"

static double summed_row(const struct fold_subject *subject, const struct fold_call *call, const void *in,
                         unsigned threads) {
  const struct fold_instances *of = fold_instances_of(call->dtype);
  (void)threads;
  if (subject->method == FOLD_KAHAN) return of->kahan(in, call->cols);
  if (subject->method == FOLD_NEUMAIER) return of->neumaier(in, call->cols);
  return (subject->accumulator == FOLD_OF_TERMS ? of->narrow : of->float64)(in, call->cols);
}

static double exact_row(const struct fold_subject *subject, const struct fold_call *call, const void *in,
                        unsigned threads) {
  struct fold_super state = {0};
  const enum fold_dtype result = fold_subject_result(subject, call->dtype);
  fold_super_add_parallel(call->dtype, in, call->cols, &state, NULL, threads);
  return fold_bits_to_double(result, fold_super_round(call->dtype, &state, result));
}

static void exact_integers(const struct fold_subject *subject, const struct fold_call *call) {
  const size_t size = call->cols * fold_dtype_size(call->dtype);
  const enum fold_dtype result = fold_subject_result(subject, call->dtype);
  for (size_t row = 0; row < call->rows; row++) {
    struct fold_super state = {0};
    fold_super_add_parallel(call->dtype, (const char *)call->in[0] + row * size, call->cols, &state, NULL,
                            fold_host_threads(call));
    fold_bits_store(result, call->out, row, fold_super_round(call->dtype, &state, result));
  }
}

fold_status fold_host_summed(const struct fold_subject *subject, const struct fold_call *call) {
  if (call->problem->op != FOLD_SUM) return fold_error(FOLD_UNSUPPORTED, "%s: sums only", subject->name);
  if (fold_dtype_is_integer(call->dtype) && subject->method == FOLD_EXACT)
    exact_integers(subject, call);
  else
    fold_host_rows(subject, call, subject->method == FOLD_EXACT ? exact_row : summed_row);
  return fold_ok();
}
