/* segment.h: memory that the processes of one host share, and collective/canonical by way of it.
 *
 * A vector goes through the segment in chunks that stay in the caches. Each rank copies its terms of a chunk in, combines its
 * slice of the chunk from everybody's terms, and copies the whole combined chunk out: no message is sent. The ranks wait for
 * each other once a chunk. A rank that does not come is waited for without end, as in a call of MPI: it is for the harness
 * to see.
 */
#ifndef FOLD_SEGMENT_H
#define FOLD_SEGMENT_H

#include "comm.h"

struct fold_segment;

/* Where the others find what one rank made. All zeros: nowhere. */
struct fold_segment_card {
  uint64_t pid, fd, token, nbytes;
};

/* Made by one rank, for `ranks` of them: NULL where there is no memory for it. */
struct fold_segment *fold_segment_make(int ranks, struct fold_segment_card *card);
/* Mapped by another: NULL where the card leads nowhere, as on another host or in another container. */
struct fold_segment *fold_segment_map(int ranks, const struct fold_segment_card *card);
/* Once everybody has mapped it, nobody else can. */
void fold_segment_seal(struct fold_segment *segment);
void fold_segment_close(struct fold_segment *segment);

/* What ops.tree promises (comm.h). `progress` is called while the rank waits. */
fold_status fold_segment_tree(struct fold_segment *segment, const struct fold_call *call, void (*progress)(void));

#endif
