/* segment.h: memory that the processes of one host share, and collective/canonical through that memory.
 *
 * A vector goes through the segment in chunks that stay in the caches. Each rank copies its terms of a chunk in, combines its
 * slice of the chunk from everybody's terms, and copies the whole combined chunk out: no message is sent. The ranks wait for
 * each other once for every chunk. If a rank does not come, the others wait for ever, as in a call of MPI: the harness has to
 * notice that.
 */
#ifndef FOLD_SEGMENT_H
#define FOLD_SEGMENT_H

#include "kernels/collective/comm.h"

struct fold_segment;

/* Tells the other ranks where to find the segment that one rank made. All zeros: nowhere. */
struct fold_segment_card {
  uint64_t pid, fd, token, nbytes;
};

/* One rank makes the segment, for `ranks` of them. NULL if there is not enough memory. */
struct fold_segment *fold_segment_make(int ranks, struct fold_segment_card *card);
/* The other ranks map it. NULL if the card leads nowhere, as on another host or in another container. */
struct fold_segment *fold_segment_map(int ranks, const struct fold_segment_card *card);
/* To be called once every rank has mapped it; from then on no other process can. */
void fold_segment_seal(struct fold_segment *segment);
void fold_segment_close(struct fold_segment *segment);

/* Does what ops.tree promises (comm.h). `progress` is called while the rank waits. */
fold_status fold_segment_tree(struct fold_segment *segment, const struct fold_call *call, void (*progress)(void));

#endif
