/* naive.h: the orders written a second time, literally after their definitions: arrays of partials, every lane of every
 * shuffle, the canonical order by recursion on places. It is slow, and was written independently of orders.inc, which
 * it judges.
 */
#ifndef NAIVE_H
#define NAIVE_H

#include "oracles/order.h"

/* A partial: its value in the accumulator, and its tree. `some` is false for a starting zero. */
struct naive {
  double value;
  uint64_t height, print;
  bool some;
};

/* Folds n terms at `in`; the value is not yet rounded to dtype. */
struct naive naive_fold(const struct fold_order *order, enum fold_dtype dtype, enum fold_op op, const void *in,
                        size_t n);

#endif
