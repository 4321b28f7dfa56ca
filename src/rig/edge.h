/* edge.h: an edge of a region (fault.h) that can be read during one run; afterwards it shows whether it was read.
 *
 * A subject may install its own fault handler within one call and remove it again. Then our handler does not see what it reads
 * beside its arguments. A readable edge causes no fault. Its pages are not allocated yet: a read makes the kernel allocate one,
 * and mincore(2) shows that.
 */
#ifndef FOLD_EDGE_H
#define FOLD_EDGE_H

#include <stddef.h>

#include "fold.h"

/* Which edge of a region can be read. */
enum fold_edge { FOLD_EDGES_CLOSED, FOLD_EDGE_BEFORE, FOLD_EDGE_AFTER };

/* The edge's pages can be read from now on, and what was left there by former runs is gone; not *open where this kernel does not tell
 * what was read: then the edge is closed as before. NO_MEMORY. */
fold_status fold_edge_open(unsigned char *edge, size_t bytes, bool *open);
/* No access again. Whether a page was touched: the first one at `edge`, or, of the edge before a region, the last, at *at bytes
 * from the edge's start. NO_MEMORY. */
fold_status fold_edge_close(unsigned char *edge, size_t bytes, enum fold_edge which, bool *touched, size_t *at);

#endif
