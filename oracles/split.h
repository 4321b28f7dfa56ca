/* split.h: how a row is cut into parts before they are combined, and which thread folds what.
 *
 * Promised: every order folds independent parts first and combines them afterwards (orders.inc); how many parts there are follows
 * from the order and n alone, so that threads may share the parts and never change a bit. Private to the interpretations of
 * orders.inc.
 */
#ifndef FOLD_SPLIT_H
#define FOLD_SPLIT_H

#include "order.h"

#define FOLD_PARTS 4096     /* no order has more: 32 KiB of partials in f64 */
#define FOLD_LANES 4096     /* partials that FOLD_ORDER_SHUFFLE holds at once: 16 KiB of f32 stay in the first cache */
#define FOLD_NUMPY_LEAF 128 /* NumPy's PW_BLOCKSIZE */

/* What a part is:
 *   chunks       `size` elements; there are `width` of them, empty ones included
 *   numpy        a piece of `width` elements
 *   shuffle      a block of the kernel's grid; `grain` blocks are swept together
 *   pairwise, canonical   an aligned block of `size` elements, a power of two: a subtree
 *   the others   the whole row */
struct fold_split {
  size_t count, grain, size;
};

/* FOLD_UNSUPPORTED for an order that no row of the table has: too wide, or a shuffle of no whole number of warps. */
fold_status fold_order_split(const struct fold_order *order, size_t n, struct fold_split *split);

/* Where NumPy's recursion cuts n terms, n > FOLD_NUMPY_LEAF: the middle, down to a multiple of 8. */
static inline size_t fold_numpy_half(size_t n) { return n / 2 - n / 2 % 8; }

/* Sets *place to the permutation that `sorted` takes (malloc'ed): rising magnitude by bits, so NaN above infinity, ties by
 * index; or the keyed order's; to NULL for the other orders. */
fold_status fold_order_places(const struct fold_order *order, enum fold_dtype dtype, const void *in, size_t n,
                              uint32_t **place);

/* One row to be folded: all that the interpretations of the value need. */
struct fold_row {
  const struct fold_order *order;
  const struct fold_split *split;
  enum fold_dtype dtype;
  enum fold_op op;
  enum fold_dtype accumulator; /* of the native interpretations dtype.def's */
  const void *in, *other;      /* other: of products of two factors the second; else NULL */
  const uint32_t *place;
  size_t n;
  unsigned threads; /* for the parts of this row; 1 starts no parallel region */
};

/* Folds one row: what it gives in the accumulator, before the last rounding. */
typedef double fold_row_run(const struct fold_row *row);

/* The native ones: one for each dtype and operation (replay.inc). */
#define FOLD_DTYPE(TAG, name, ...) extern fold_row_run *const fold_rows_##name[FOLD_OPS];
#include "dtype.def"

/* Of products of two factors, in dtype.def's accumulator (replay_dot.c). */
fold_row_run fold_rows_dot;
/* Of fused products, by the C library's FMA: what runs where the machine has none. */
extern fold_row_run *const fold_rows_fused[FOLD_DTYPES];
/* The same by other arithmetic, in any accumulator; of products of two factors in f32 or f64 (replay_wide.c). */
fold_row_run fold_rows_wide;

/* Folds each row of `call` by `run` on `threads` threads, over the rows or inside them, and rounds to the result (replay.c). */
fold_status fold_rows_replay(const struct fold_order *order, struct fold_arithmetic how, const struct fold_call *call,
                             fold_row_run *run, unsigned threads);

#endif
