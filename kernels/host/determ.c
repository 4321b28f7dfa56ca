/* determ.c: the deterministic row sums: the bits of rows/par_256, whichever thread sums the chunks.
 *
 * Promised: for 1, 8, 16 or 64 workers on a row, and any number of threads, the tree is that of par_256: 256 chunks in
 * rising index, then a tree over neighbouring partials. 256 is the number of chunks, not of workers. This is written without
 * orders.inc, by which it is judged.
 */
#include "kernels/host/host.h"
#include "kernels/host/instances.h"

static double row(const struct fold_subject *subject, const struct fold_call *call, const void *in, unsigned threads) {
  const size_t chunks = FOLD_DETERM_CHUNKS;
  struct fold_chunks cut = {call->cols, call->cols / chunks + (call->cols % chunks != 0), 1};
  if (cut.n > 0) cut.full = (cut.n - 1) / cut.length + 1;
  return fold_instances_of(call->dtype)->determ[call->problem->op](in, cut, subject->width, threads);
}

fold_status fold_host_determ(const struct fold_subject *subject, const struct fold_call *call) {
  unsigned width = subject->width;
  if (width == 0 || width > FOLD_DETERM_CHUNKS || (width & (width - 1)) != 0)
    return fold_error(FOLD_UNSUPPORTED, "%s: %u workers do not share 256 chunks", subject->name, width);
  fold_host_rows(subject, call, row);
  return fold_ok();
}
