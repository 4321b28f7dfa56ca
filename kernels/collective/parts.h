/* parts.h: what one rank of a collective computes between its communications: on the host (parts_host.c) and on a
 * GPU (kernels/collective/collective_parts.cu).
 *
 * Each function works on memory of the rank's engine. On a GPU it only enqueues in call->stream; it allocates nothing
 * and waits for nothing. `scratch` is call->scratch, its zeroed head included; X_scratch(call) bytes of it are X's, at
 * least FOLD_SCRATCH_ZEROED, and a caller keeps its own past them (fold_parts_own).
 */
#ifndef FOLD_PARTS_H
#define FOLD_PARTS_H

#include "kernels/collective/comm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A row has at most so many blocks, over all ranks. */
#define FOLD_PARTS_MOST_BLOCKS 512

/* Where a caller's own part of scratch begins, after what a part needs. */
static inline size_t fold_parts_own(size_t part_scratch) { return (part_scratch + 255) / 256 * 256; }

struct fold_parts {
  /* Combines terms by the order host/pairwise: out[i] from slices[r n + i], one term from each rank, 0 <= i < n, 0 <= r
   * < comm->ranks. */
  fold_status (*combine)(const struct fold_call *call, const void *slices, size_t n, void *out);

  /* The exact state of each row of the rank's part, packed (super.h): rows * fold_super_words(dtype) words. */
  size_t (*state_scratch)(const struct fold_call *call);
  fold_status (*state)(const struct fold_call *call, void *scratch, int64_t *words);
  /* Rounds each row's state, or the sum of such states, to call->out. */
  fold_status (*close)(const struct fold_call *call, const int64_t *words);

  /* The rank's part in blocks of `block` columns, 4096 * 2^k of them, each an aligned subtree of flat/canonical; the
   * last may be shorter. Row r's block b goes to partials[r * blocks + b], in the accumulator's type (f32; f64 for
   * f64). */
  size_t (*subtrees_scratch)(const struct fold_call *call, size_t block);
  fold_status (*subtrees)(const struct fold_call *call, void *scratch, size_t block, void *partials);
  /* Joins all ranks' partials by the tree over neighbours, in the order of the columns, and rounds to call->out. The
   * partials lie rank by rank, and for each rank row by row; rank q has at[q + 1] - at[q] blocks of each row. */
  fold_status (*root)(const struct fold_call *call, const void *partials, const size_t at[]);

  /* A plain local sum of each row of the rank's part, in dtype, which the library's own all-reduce adds up: CUB's
   * default on a GPU, host/pairwise on the host. */
  size_t (*local_scratch)(const struct fold_call *call);
  fold_status (*local)(const struct fold_call *call, void *scratch, void *out);
};

extern const struct fold_parts fold_parts_host;
#ifdef FOLD_HAVE_CUDA
extern const struct fold_parts fold_parts_cuda;
#endif

#ifdef __cplusplus
}
#endif
#endif
