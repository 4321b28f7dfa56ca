/* split.h: how a row is cut into parts before they are combined.
 *
 * Promised: every order folds independent parts first and combines them afterwards (orders.inc); how many parts there are follows
 * from the order and n alone, so that threads may share the parts and never change a bit. Private to the interpretations of
 * orders.inc.
 */
#ifndef FOLD_SPLIT_H
#define FOLD_SPLIT_H

#include "oracles/order.h"

#define FOLD_PARTS 4096     /* no order has more: 32 KiB of partials in f64 */
#define FOLD_LANES 4096     /* partials that FOLD_ORDER_SHUFFLE holds at once: 16 KiB of f32 stay in the first cache */
#define FOLD_NUMPY_LEAF 128 /* NumPy's PW_BLOCKSIZE */

/* What a part is:
 *   chunks       `size` elements; there are `width` of them, empty ones included
 *   segments     `size` elements; there are no empty ones
 *   numpy, tiles, hillis_steele   a piece of `width` elements
 *   shuffle      a block of the kernel's grid; `grain` blocks are swept together
 *   pairwise, canonical   an aligned block of `size` elements, a power of two: a subtree
 *   the others   the whole row */
struct fold_split {
  size_t count, grain, size;
};

/* FOLD_UNSUPPORTED for an order that no row of the table could have: it is too wide, or a shuffle whose width is not a
 * whole number of warps. */
fold_status fold_order_split(const struct fold_order *order, size_t n, struct fold_split *split);

/* Whether it is an order of scans: the trees of all prefixes of a row are made in one pass. */
bool fold_order_is_of_scans(const struct fold_order *order);

/* Where NumPy's recursion cuts n terms, n > FOLD_NUMPY_LEAF: the middle, down to a multiple of 8. */
static inline size_t fold_numpy_half(size_t n) { return n / 2 - n / 2 % 8; }

/* Sets *place (malloc'ed) to the permutation of `sorted`: rising magnitude of the patterns, so NaN above infinity, and
 * equal ones by index; or to that of the keyed order; or to NULL for the other orders. */
fold_status fold_order_places(const struct fold_order *order, enum fold_dtype dtype, const void *in, size_t n,
                              uint32_t **place);

/* One row to fold: what every interpretation that computes a value needs. */
struct fold_row {
  const struct fold_order *order;
  const struct fold_split *split;
  enum fold_dtype dtype;
  enum fold_op op;
  enum fold_dtype accumulator; /* the native interpretations always take dtype.def's */
  const void *in, *other;      /* `other` is the second input for products of two factors, else NULL */
  const uint32_t *place;
  size_t n;
  unsigned threads; /* that share the parts of this row; 1 starts no parallel region */
  double *partials; /* not NULL, of an order of scans by fold_rows_wide: receives the value of each prefix instead */
};

/* Folds one row. Returns its value in the accumulator, before the last rounding. */
typedef double fold_row_run(const struct fold_row *row);

/* Native, for each dtype and operation (replay.inc). */
#define FOLD_INTEGER(...)
#define FOLD_DTYPE(TAG, name, ...) extern fold_row_run *const fold_rows_##name[FOLD_OPS];
#include "base/dtype.def"

/* Native, for products of two factors, in dtype.def's accumulator (replay_dot.c). */
fold_row_run fold_rows_dot;
/* For fused products by the C library's FMA, for machines that have no such instruction. */
extern fold_row_run *const fold_rows_fused[FOLD_DTYPES];
/* By other arithmetic, in any accumulator; products of two factors in f32 or f64 only (replay_wide.c). */
fold_row_run fold_rows_wide;

/* Folds each row of `call` by `run` and rounds it to the result's dtype (replay.c). `threads` threads share the rows,
 * or the parts of each. */
fold_status fold_rows_replay(const struct fold_order *order, struct fold_arithmetic how, const struct fold_call *call,
                             fold_row_run *run, unsigned threads);

#endif
