/* order.h: an order is the binary tree that combines the terms of a row.
 *
 * An order is written once, in orders.inc, as a function that folds leaves through an algebra (zero, leaf i,
 * join a b). Each interpretation below is that one function, compiled against another algebra:
 *   value     the result's bits, in the accumulator of each dtype (native and, as its judge, wide arithmetic)
 *   height    the greatest number of roundings on a path from a leaf to the root: the bound's h
 *   print     a hash of the tree as seen from outside (children unordered, zeros left out)
 *   draw      the tree as text
 * Joining with a partial's starting zero (the op's identity) is no rounding and no node of the tree.
 */
#ifndef FOLD_ORDER_H
#define FOLD_ORDER_H

#include <stdio.h>

#include "model/claim.h"
#include "model/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

enum fold_order_kind {
#define FOLD_ORDER_KIND(TAG, ...) FOLD_ORDER_##TAG,
#include "oracles/orders.def"
};

/* How a term that is a product of two factors is computed. */
enum fold_product {
  FOLD_NO_PRODUCT, /* terms are elements, not products */
  FOLD_ROUNDED_PRODUCT,
  /* the product is rounded to the accumulator and then joined like an element */
  FOLD_FUSED_PRODUCT, /* an FMA joins it to a partial, with one rounding; where it starts a partial it is rounded alone */
};

/* One order: a row of orders.def. */
struct fold_order {
  const char *name;    /* "rows/par_256" */
  const char *formula; /* its definition in one line */
  enum fold_order_kind kind;
  unsigned width, limit;
  enum fold_product product;
};

const struct fold_order *fold_orders(size_t *n);
/* By its name; "rows/par_16/8" is a row's order with another width. NULL where there is none. */
const struct fold_order *fold_order_find(const char *name);

/* FOLD_UNSUPPORTED if terms of the problem are products, and the order does not say what becomes of one. */
fold_status fold_order_takes(const struct fold_order *order, const struct fold_problem *problem);

/* The replay: each row of `call` folded in this order in the dtype's accumulator (fold_accumulator_of) by native
 * arithmetic on call->launch.threads threads (0: all), then rounded once to dtype, or to another. NaN propagates in max and min, and -0 < +0 there.
 * FOLD_NO_MEMORY only if the order needs memory of its own (sorted: a permutation of the row). */
fold_status fold_order_replay(const struct fold_order *order, const struct fold_call *call);
fold_status fold_order_replay_to(const struct fold_order *order, const struct fold_call *call, enum fold_dtype result);
/* The same bits by other arithmetic, on one thread: f32 through double, f64 through binary128, with one rounding for
 * each operation (the second rounding is innocuous at 2p + 2 bits: Figueroa 1995). It judges the native replay: a flush
 * to zero, a contraction or a wrong accumulator there cannot agree with it by accident. */
fold_status fold_order_replay_wide(const struct fold_order *order, const struct fold_call *call);

/* The replay of a method in an order by other arithmetic, with any accumulator and any result dtype. FOLD_PLAIN is as
 * above; Kahan's and Neumaier's methods have sums in rising index only (replay_method.c defines them). FOLD_UNSUPPORTED
 * for everything else, and for products of two factors in an accumulator that is neither f32 nor f64. */
fold_status fold_method_replay(const struct fold_order *order, struct fold_arithmetic how,
                               const struct fold_call *call);
/* Whether fold_method_replay has that method, for sums. */
bool fold_method_has_replay(const struct fold_order *order, enum fold_method method);

/* Whether the method is one tree of plain additions of all terms, which can then be seen from outside. A NULL order has
 * no tree. */
bool fold_order_has_tree(const struct fold_order *order, enum fold_method method);

/* The height of the tree for n terms. `in` is a row of them, which only the sorted order reads; it may be NULL for the
 * others. */
fold_status fold_order_height(const struct fold_order *order, enum fold_dtype dtype, const void *in, size_t n,
                              uint64_t *height);
/* The same of the first term, of the first two, and so on up to n, in one pass. FOLD_UNSUPPORTED for an order that is not one of
 * scans (split.h): its trees of prefixes have nothing in common. */
fold_status fold_order_prefix_heights(const struct fold_order *order, size_t n, uint64_t *heights);
/* A hash of the tree: equal trees, up to swapped operands of a join, have equal fingerprints. */
fold_status fold_order_fingerprint(const struct fold_order *order, enum fold_dtype dtype, const void *in, size_t n,
                                   uint64_t *fingerprint);
/* Of a product: its value in the accumulator, which may be infinite or NaN. If it is finite, also an upper
 * bound of its distance from the exact product, underflow included; infinite if that is beyond the range of long
 * double. */
struct fold_running_product {
  double value;
  long double error;
};
fold_status fold_order_running_product(const struct fold_order *order, enum fold_dtype dtype, const void *in, size_t n,
                                       struct fold_running_product *running);
/* The tree as nested parentheses, "((x0+x1)+x2)". n is at most 4096. */
fold_status fold_order_draw(const struct fold_order *order, enum fold_dtype dtype, const void *in, size_t n, FILE *out);

#ifdef __cplusplus
}
#endif
#endif
