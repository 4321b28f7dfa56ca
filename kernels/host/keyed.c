/* keyed.c: keyed sums, each term added to its slot's running sum as it comes; each result is rounded once, and a slot without terms
 * is +0. */
#include <omp.h>
#include <stdlib.h>

#include "base/bits.h"
#include "kernels/host/host.h"

/* One column of the values; `sum` has room for each slot. */
static void add_column(const struct fold_subject *subject, const struct fold_call *call, size_t column, double *sum) {
  const size_t slots = call->shape.m, n = call->shape.n;
  const uint32_t *keys = call->in[1];
  const enum fold_dtype accumulator = fold_subject_accumulator(subject, call->dtype),
                        result = fold_subject_result(subject, call->dtype);
  for (size_t s = 0; s < slots; s++) sum[s] = 0;
  for (size_t t = 0; t < call->shape.k; t++) {
    const double x = fold_bits_to_double(call->dtype, fold_bits_load(call->dtype, call->in[0], t * n + column));
    sum[keys[t]] = fold_host_plus(accumulator, sum[keys[t]], x);
  }
  for (size_t s = 0; s < slots; s++)
    fold_bits_store(result, call->out, s * n + column, fold_bits_from_double(result, sum[s]));
}

fold_status fold_host_keyed(const struct fold_subject *subject, const struct fold_call *call) {
  const size_t slots = call->shape.m, n = call->shape.n;
  const unsigned most = fold_host_threads(call), threads = n < most ? (unsigned)n : most;
  const bool small = call->shape.k == 0 || n < FOLD_HOST_SERIAL / call->shape.k;
  double *sums = malloc((threads * slots + 1) * sizeof *sums);
  if (!sums) return fold_no_memory("for the sums of %zu slots", slots);
#pragma omp parallel for num_threads(small || threads == 0 ? 1 : threads)
  for (size_t column = 0; column < n; column++)
    add_column(subject, call, column, sums + slots * (size_t)omp_get_thread_num());
  free(sums);
  return fold_ok();
}
