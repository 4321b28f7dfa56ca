/* canonical.c: an all-reduce of vectors in an order over ranks that neither the library nor the length of the message nor its
 * address can change: each element's terms, one from each rank, are combined by the order host/pairwise, a tree over
 * neighbouring ranks.
 *
 * A long vector is cut into one slice for each rank. Each rank gets its slice of every rank's vector and combines it by the tree;
 * then everybody gathers the slices: 2 (R - 1) / R vectors over each link, the same as in a ring. Short vectors take as long as
 * their messages take to begin: everybody gathers all of them and combines them alone. Where ranks reach each other's memory,
 * or share some, the engine does the same in one call (fold_comm_tree).
 */
#include <stdlib.h>

#include "kernels/collective/collective.h"
#include "kernels/collective/parts.h"

/* Where the ranks' slices of a vector begin, in bytes. */
static void slices(const struct fold_call *call, size_t at[]) {
  size_t size = fold_dtype_size(call->dtype);
  for (int r = 0; r <= call->comm->ranks; r++) at[r] = size * fold_comm_cut(call->rows, 1, call->comm->ranks, r);
}

/* On host ranks, slices are faster once the other ranks' vectors together have more than so many bytes. */
enum { SHORT_BYTES = 65536 };

static bool is_short(const struct fold_call *call) {
  size_t others = call->comm->ranks > 1 ? (size_t)call->comm->ranks - 1 : 1;
  return call->rows <= SHORT_BYTES / fold_dtype_size(call->dtype) / others;
}

/* Scratch: the vectors of all ranks; or their slices, then the combined one. */
size_t fold_collective_canonical_scratch(const struct fold_subject *subject, const struct fold_call *call) {
  size_t slice = call->rows / (size_t)call->comm->ranks + 1;
  (void)subject;
  if (call->comm->ops->tree) return 0;
  if (is_short(call))
    return FOLD_SCRATCH_ZEROED +
           2 * SHORT_BYTES; /* SHORT_BYTES for the others' vectors, and as much at most for this rank's */
  return FOLD_SCRATCH_ZEROED + slice * ((size_t)call->comm->ranks + 1) * fold_dtype_size(call->dtype);
}

static fold_status by_vectors(const struct fold_call *call) {
  size_t ranks = (size_t)call->comm->ranks, nbytes = call->rows * fold_dtype_size(call->dtype);
  size_t *at = calloc(ranks + 1, sizeof *at);
  unsigned char *all = (unsigned char *)call->scratch + FOLD_SCRATCH_ZEROED;
  if (!at) return fold_no_memory("for %zu ranks", ranks);
  for (size_t r = 0; r <= ranks; r++) at[r] = r * nbytes;
  fold_status status = fold_comm_gather(call->comm, call->in[0], all, at, call->stream);
  if (status.code == FOLD_OK) status = call->comm->parts->combine(call, all, call->rows, call->out);
  free(at);
  return status;
}

static fold_status by_slices(const struct fold_call *call) {
  size_t ranks = (size_t)call->comm->ranks, size = fold_dtype_size(call->dtype), *at = calloc(ranks + 1, sizeof *at);
  unsigned char *all = (unsigned char *)call->scratch + FOLD_SCRATCH_ZEROED;
  if (!at) return fold_no_memory("for %zu ranks", ranks);
  slices(call, at);
  size_t own = at[call->comm->rank + 1] - at[call->comm->rank];
  unsigned char *combined = all + ranks * own;
  fold_status status = fold_comm_exchange(call->comm, call->in[0], at, all, call->stream);
  if (status.code == FOLD_OK) status = call->comm->parts->combine(call, all, own / size, combined);
  if (status.code == FOLD_OK) status = fold_comm_gather(call->comm, combined, call->out, at, call->stream);
  free(at);
  return status;
}

fold_status fold_collective_canonical(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  if (call->comm->ops->tree) return fold_comm_tree(call);
  return is_short(call) ? by_vectors(call) : by_slices(call);
}
