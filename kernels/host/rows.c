/* rows.c: what the host's subjects share: how threads share the rows of a call. Nothing here can change a row's
 * bits. */
#include <omp.h>

#include "base/bits.h"
#include "kernels/host/host.h"

unsigned fold_host_threads(const struct fold_call *call) {
  return call->launch.threads ? call->launch.threads : (unsigned)omp_get_max_threads();
}

static void row(const struct fold_subject *subject, const struct fold_call *call, fold_host_row *run, size_t r,
                unsigned threads) {
  const char *in = (const char *)call->in[0] + r * call->cols * fold_dtype_size(call->dtype);
  const enum fold_dtype result = fold_subject_result(subject, call->dtype);
  fold_bits_store(result, call->out, r, fold_bits_from_double(result, run(subject, call, in, threads)));
}

void fold_host_rows(const struct fold_subject *subject, const struct fold_call *call, fold_host_row *run) {
  bool small = call->cols == 0 || call->rows < FOLD_HOST_SERIAL / call->cols; /* unseen: <= */
  unsigned threads = small ? 1 : fold_host_threads(call);
  if (threads <= 1 || call->rows < threads) { /* unseen: < */
    for (size_t r = 0; r < call->rows; r++) row(subject, call, run, r, threads);
    return;
  }
#pragma omp parallel for num_threads(threads)
  for (size_t r = 0; r < call->rows; r++) row(subject, call, run, r, 1);
}
