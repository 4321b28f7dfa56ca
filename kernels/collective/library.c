/* library.c: MPI's and NCCL's own all-reduce, as they come: whose order is theirs. */
#include "collective.h"
#include "parts.h"

fold_status fold_library_allreduce(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  return fold_comm_allreduce(call->comm, call->in, call->out, call->rows, (enum fold_comm_type)call->dtype, call->op,
                             call->stream);
}

/* What people write without thinking of an order: each rank sums its columns, the library sums the ranks' sums, an
 * element a row. Its bits depend on the number of ranks. */
size_t fold_library_sum_scratch(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  return fold_parts_own(call->comm->parts->local_scratch(call)) + call->rows * fold_dtype_size(call->dtype);
}

fold_status fold_library_sum(const struct fold_subject *subject, const struct fold_call *call) {
  const struct fold_parts *parts = call->comm->parts;
  unsigned char *own = (unsigned char *)call->scratch + fold_parts_own(parts->local_scratch(call));
  (void)subject;
  FOLD_TRY(parts->local(call, call->scratch, own));
  return fold_comm_allreduce(call->comm, own, call->out, call->rows, (enum fold_comm_type)call->dtype, call->op,
                             call->stream);
}
