/* collective.h: the run functions of the collectives. Only registry.c names them.
 *
 * Each is one file for every engine: it computes by comm->parts and communicates by fold_comm_*. How much scratch it needs
 * follows from the shape of the call and from the number of ranks, never from a rank's number; a rank's part may be empty.
 */
#ifndef FOLD_COLLECTIVE_H
#define FOLD_COLLECTIVE_H

#include "kernels/collective/comm.h"
#include "model/subject.h"

/* library.c: the library's own all-reduce of a vector, with one term from each rank for every element; and its
 * all-reduce of the sums that each rank made of its own columns. */
fold_run fold_library_allreduce;
fold_run fold_library_sum;
fold_scratch fold_library_sum_scratch;
/* The height for the bound of those sums: on each rank the host's tree, or any order (CUB does not document its own);
 * over ranks any order. */
fold_height_over fold_library_sum_height_tree, fold_library_sum_height_any;
/* canonical.c: an all-reduce of vectors in a fixed order over ranks. */
fold_run fold_collective_canonical;
fold_scratch fold_collective_canonical_scratch;
/* exact.c: the correctly rounded sum of each row, whose columns are spread over the ranks. */
fold_run fold_collective_exact;
fold_scratch fold_collective_exact_scratch;
/* canonical_sum.c: the sum of each row in the order flat/canonical; the columns are spread over the ranks. */
fold_run fold_collective_canonical_sum;
fold_scratch fold_collective_canonical_sum_scratch;
fold_grain fold_collective_canonical_grain;

#endif
