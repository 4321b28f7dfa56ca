/* combine_host.c: element i of the result is x_0[i], x_1[i] ... by a tree over neighbours, x_r rank r's slice.
 *
 * A block of elements goes through the tree at once, each join a loop over neighbouring elements that the compiler turns into
 * vector instructions: every slice is read once, in rising addresses, and what is held between lies in the nearest cache. The
 * ranks are taken two by two, as a binary counter counts: after pair p as many joins as p + 1 has trailing zeros, so that
 * log2 blocks are held; those that are left at the end join from the last to the first, which is the tree over neighbours when
 * their number is no power of two. One addition after the other, element by element, took 10 to 40 times as long.
 */
#include "kernels/collective/combine_host.h"

#include "kernels/host/instances.h"

/* Below this many terms a parallel region costs more than it saves. */
enum { SERIAL_TERMS = 65536 };

void fold_combine_host(enum fold_dtype dtype, enum fold_op op, const void *slices, size_t ranks, size_t n, void *out,
                       unsigned threads) {
  fold_combine_block *run = fold_instances_of(dtype)->combine[op];
  bool shared = threads > 1 && n > SERIAL_TERMS / ranks;
#pragma omp parallel for num_threads(threads) if (shared)
  for (size_t first = 0; first < n; first += FOLD_COMBINE_BLOCK)
    run(slices, ranks, n, first, n - first < FOLD_COMBINE_BLOCK ? n - first : FOLD_COMBINE_BLOCK, out);
}
