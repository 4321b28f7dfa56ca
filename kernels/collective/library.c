/* library.c: MPI's and NCCL's own all-reduce, as they come: whose order is theirs. */
#include "kernels/collective/collective.h"
#include "kernels/collective/parts.h"

fold_status fold_library_allreduce(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  return fold_comm_allreduce(call->comm, call->in[0], call->out, call->rows, (enum fold_comm_type)call->dtype,
                             call->problem->op, call->stream);
}

/* What people write who do not think of an order: each rank sums its columns, and the library sums the ranks' sums, one
 * element for each row. The bits depend on the number of ranks. */
size_t fold_library_sum_scratch(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  return fold_parts_own(call->comm->parts->local_scratch(call)) + call->rows * fold_dtype_size(call->dtype);
}

fold_status fold_library_sum(const struct fold_subject *subject, const struct fold_call *call) {
  const struct fold_parts *parts = call->comm->parts;
  unsigned char *own = (unsigned char *)call->scratch + fold_parts_own(parts->local_scratch(call));
  (void)subject;
  FOLD_TRY(parts->local(call, call->scratch, own));
  return fold_comm_allreduce(call->comm, own, call->out, call->rows, (enum fold_comm_type)call->dtype,
                             call->problem->op, call->stream);
}

static uint64_t longest_part(size_t cols, unsigned ranks) {
  size_t longest = 0;
  for (unsigned r = 0; r < ranks; r++) {
    size_t part = fold_comm_cut(cols, 1, (int)ranks, (int)r + 1) - fold_comm_cut(cols, 1, (int)ranks, (int)r);
    if (part > longest) longest = part;
  }
  return longest;
}

uint64_t fold_library_sum_height_any(size_t cols, unsigned ranks) {
  uint64_t part = longest_part(cols, ranks);
  return (part ? part - 1 : 0) + (ranks - 1);
}

uint64_t fold_library_sum_height_tree(size_t cols, unsigned ranks) {
  uint64_t part = longest_part(cols, ranks), levels = 0;
  while (levels < 63 && (uint64_t)1 << levels < part) levels++;
  return levels + (ranks - 1);
}
