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

/* Makes the edge's pages readable, and forgets what former runs touched. *open is false where this kernel does not tell
 * which pages were read: then the edge stays closed. NO_MEMORY. */
fold_status fold_edge_open(unsigned char *edge, size_t bytes, bool *open);
/* Closes the edge again. *touched: a page was touched. *at: how many bytes behind the edge's start the touched page
 * lies that is nearest to the region: the last one of the edge before it, the first one of the edge after it.
 * NO_MEMORY. */
fold_status fold_edge_close(unsigned char *edge, size_t bytes, enum fold_edge which, bool *touched, size_t *at);

#endif
