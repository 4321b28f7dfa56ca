/* canonical_sum.c: the sum of each row over all ranks in the order flat/canonical: the bits that one GPU gives, or the host.
 *
 * The columns are cut over the ranks only between blocks of 4096 * 2^k columns, aligned subtrees of the order
 * (canonical.h), where k follows from the number of columns alone. Each rank folds its blocks, everybody gathers the
 * blocks' values, in the accumulator's type, and joins them by the rest of the tree, by itself. So the number of ranks moves
 * work and never a bit.
 */
#include <stdlib.h>

#include "kernels/collective/collective.h"
#include "kernels/collective/parts.h"
#include "oracles/canonical.h"

static size_t blocks_in(size_t cols, size_t block) { return cols / block + (cols % block != 0); }

/* The length of a block: the shortest one with which a row has at most FOLD_PARTS_MOST_BLOCKS blocks. These are few
 * enough for one small tree, and so many that the shares of 8 ranks differ by 1 part in 64. */
size_t fold_collective_canonical_grain(size_t cols) {
  size_t block = FOLD_CANONICAL_TILE;
  while (blocks_in(cols, block) > FOLD_PARTS_MOST_BLOCKS) block *= 2;
  return block;
}

static size_t accumulator_size(const struct fold_call *call) {
  return fold_dtype_size(fold_accumulator_of(call->dtype));
}

/* How call->scratch is laid out: what the part needs, this rank's blocks, everybody's blocks. */
struct room {
  size_t block, own_at, all_at, nbytes;
};

static struct room room_of(const struct fold_call *call) {
  struct room room = {.block = fold_collective_canonical_grain(call->whole.extent.k)};
  size_t row = call->rows * accumulator_size(call);
  room.own_at = fold_parts_own(call->comm->parts->subtrees_scratch(call, room.block));
  room.all_at = fold_parts_own(room.own_at + row * blocks_in(call->cols, room.block));
  room.nbytes = room.all_at + row * blocks_in(call->whole.extent.k, room.block);
  return room;
}

size_t fold_collective_canonical_sum_scratch(const struct fold_subject *subject, const struct fold_call *call) {
  (void)subject;
  return room_of(call).nbytes;
}

/* For each row: which blocks belong to which rank, and where their bytes lie once gathered. */
static void lay_out(const struct fold_call *call, size_t block, size_t *blocks_at, size_t *bytes_at) {
  for (int r = 0; r <= call->comm->ranks; r++) {
    blocks_at[r] = blocks_in(fold_comm_cut(call->whole.extent.k, block, call->comm->ranks, r), block);
    bytes_at[r] = blocks_at[r] * call->rows * accumulator_size(call);
  }
}

fold_status fold_collective_canonical_sum(const struct fold_subject *subject, const struct fold_call *call) {
  const struct fold_parts *parts = call->comm->parts;
  struct room room = room_of(call);
  unsigned char *own = (unsigned char *)call->scratch + room.own_at,
                *all = (unsigned char *)call->scratch + room.all_at;
  size_t ends = (size_t)call->comm->ranks + 1, *at = calloc(2 * ends, sizeof *at);
  (void)subject;
  if (!at) return fold_no_memory("for %d ranks", call->comm->ranks);
  lay_out(call, room.block, at, at + ends);
  fold_status status = parts->subtrees(call, call->scratch, room.block, own);
  if (status.code == FOLD_OK) status = fold_comm_gather(call->comm, own, all, at + ends, call->stream);
  if (status.code == FOLD_OK) status = parts->root(call, all, at);
  free(at);
  return status;
}
