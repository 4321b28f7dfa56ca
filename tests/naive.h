/* naive.h: the orders once more, literally as their definitions read: arrays of partials, every lane of every shuffle,
 * the canonical order by recursion on places. Slow, and written without a look at orders.inc, which it judges.
 */
#ifndef NAIVE_H
#define NAIVE_H

#include "order.h"

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
