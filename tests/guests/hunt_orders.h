/* hunt_orders.h: orders in which rows are reduced, as foldproof list orders names them, for the honest subjects of hunt_honest.c. */
#ifndef HUNT_ORDERS_H
#define HUNT_ORDERS_H

#include "hunt_rows.h"

/* How an honest subject reduces a row. */
struct hunt_way;
typedef double hunt_order(struct hunt_row *row, const struct hunt_way *way);
struct hunt_way {
  hunt_order *order;
  unsigned width; /* of tiles, or the number of chunks */
  bool fuses;     /* products and sum are rounded at once */
};

int hunt_run_way(call_of *call, void *way);

hunt_order hunt_rising, hunt_falling, hunt_pairwise, hunt_chunks, hunt_chunk_tree, hunt_numpy, hunt_sorted,
    hunt_canonical;
/* Scans: the results are written, one a term. */
hunt_order hunt_scan, hunt_scan_tiles, hunt_scan_warps;

/* The tree over neighbours of n >= 1 values, which are overwritten. */
double hunt_neighbours(const struct hunt_row *row, double *values, uint64_t n);

#endif
