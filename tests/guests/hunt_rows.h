/* hunt_rows.h: rows that are reduced to a result each, of any floats and any problem of rows: what hunt_faults.c and hunt_honest.c have in common. */
#ifndef HUNT_ROWS_H
#define HUNT_ROWS_H

#include "hunt_values.h"

/* A row on its way to a result. */
struct hunt_row {
  call_of *call;
  uint64_t at, n;
  double *x, *y;          /* its terms, with room for one more; y: the second factors, or NULL */
  unsigned lanes;         /* term i is added to partial i % lanes; the partials are added in turn */
  bool fuses, fuses_last; /* products and sum are rounded at once, in all terms, or in the last */
};

/* Called with each row; gives its result in the accumulator's dtype. */
typedef double hunt_reduce(struct hunt_row *row, void *context);

/* Goes through the rows, wherever they lie. Nothing is written of a row whose `at` has become UINT64_MAX. */
int hunt_run_rows(call_of *call, hunt_reduce *reduce, void *context);

/* In the accumulator's arithmetic, by the call's problem: */
double hunt_identity(const struct hunt_row *row);
double hunt_join(const struct hunt_row *row, double a, double b);
double hunt_leaf(const struct hunt_row *row, uint64_t i);
double hunt_take(const struct hunt_row *row, double sum, uint64_t i);
/* Terms first, first + step, ... below `last` from the identity on. */
double hunt_fold(const struct hunt_row *row, uint64_t first, uint64_t last, uint64_t step);
/* The row in its lanes. */
double hunt_in_lanes(const struct hunt_row *row);

#endif
