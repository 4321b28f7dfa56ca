/* exact.c: the exact sum of each row over all ranks, rounded once: correctly rounded in any world, however the columns lie.
 *
 * Each rank adds its columns up exactly, in a superaccumulator (super.h). The states are summed word by word as int64,
 * by the library's own all-reduce: integers that do not overflow have no order. Each rank rounds the sum once, by itself.
 */
#include "kernels/collective/collective.h"
#include "kernels/collective/parts.h"
#include "oracles/super.h"

static size_t words_of(const struct fold_call *call) { return call->rows * (size_t)fold_super_words(call->dtype); }

static size_t words_at(const struct fold_call *call) { return fold_parts_own(call->comm->parts->state_scratch(call)); }

size_t fold_collective_exact_scratch(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  return words_at(call) + words_of(call) * sizeof(int64_t);
}

fold_status fold_collective_exact(const struct fold_subject *subject, const struct fold_call *call) {
  const struct fold_parts *parts = call->comm->parts;
  int64_t *words = (int64_t *)(void *)((unsigned char *)call->scratch + words_at(call));
  if (call->problem->op != FOLD_SUM) return fold_error(FOLD_UNSUPPORTED, "%s: sums only", subject->name);
  FOLD_TRY(parts->state(call, call->scratch, words));
  FOLD_TRY(fold_comm_allreduce(call->comm, words, words, words_of(call), FOLD_COMM_I64, FOLD_SUM, call->stream));
  return parts->close(call, words);
}
