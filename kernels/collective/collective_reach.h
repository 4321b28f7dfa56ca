/* collective_reach.h: GPUs of one host that write into each other's memory: all-reduces and gathers without a library.
 * Plain C.
 *
 * Each rank has a room on its GPU that every other rank can write to: mapped for all GPUs where the ranks are threads
 * of one process, opened by CUDA's handles between processes. Promised: the bits of a tree depend on the terms and on
 * the number of ranks alone (order host/pairwise); sums of int64 are exact modulo 2^64. Ranks make the same calls in
 * the same order, one stream at a time; a rank that does not come leaves the others' kernels waiting for ever, as a
 * library's would. Calls only enqueue, and can be recorded in a graph. Never multicast.
 */
#ifndef FOLD_COLLECTIVE_REACH_H
#define FOLD_COLLECTIVE_REACH_H

#include "base/fold.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FOLD_REACH_MOST 8            /* ranks */
#define FOLD_REACH_SMALL (256 << 10) /* a vector, or a rank's part, of up to so many bytes goes in one step */

struct fold_comm_reach;

/* What a rank tells the others in three rounds, as plain bytes that the caller transports: who it is, where its room
 * is, whether it could open the others' rooms. */
struct fold_reach_card {
  uint64_t host; /* a number of the host; ranks on the same host have the same */
  int64_t process;
  int32_t device;
  int32_t willing; /* 0: this rank cannot take part, or must not (FOLDPROOF_PEER=0) */
  /* 1: ranks of one process may share a GPU. Each of them must say so, and must make sure that the blocks of all their
   * calls fit on it at once. fold_reach_introduce sets 0; tests set 1. */
  int32_t shares_gpu;
  uint64_t place; /* the address of the room in this process */
  unsigned char handle[64];
};

/* Fills the first card of this rank, with its current device. */
fold_status fold_reach_introduce(struct fold_reach_card *own);
/* Takes everybody's first card and makes the room if all ranks are willing and on one host; else *reach stays NULL. If
 * the room cannot be made that is no error: `own` then says that this rank is not willing. */
fold_status fold_reach_open(struct fold_comm_reach **reach, int rank, int ranks, const struct fold_reach_card cards[],
                            struct fold_reach_card *own);
/* From everybody's second card: opens the others' rooms; own->willing tells whether all went well. */
fold_status fold_reach_meet(struct fold_comm_reach *reach, const struct fold_reach_card cards[],
                            struct fold_reach_card *own);
/* No rank may have a call under way. NULL may be closed. */
void fold_reach_close(struct fold_comm_reach *reach);

/* fold_comm_tree for call->rows elements, one term from each rank. If launch.blocks is set, the same on every rank, the
 * vector is sent in steps by so many blocks, however short it is. */
fold_status fold_reach_tree(const struct fold_comm_reach *reach, const struct fold_call *call);
/* out[i] = the sum of in[i] over ranks, up to FOLD_REACH_SMALL bytes. `in` may be `out`. */
fold_status fold_reach_add_words(const struct fold_comm_reach *reach, const int64_t *in, int64_t *out, size_t n,
                                 void *stream);
/* fold_comm_gather if no part has more than FOLD_REACH_SMALL bytes. */
fold_status fold_reach_gather(const struct fold_comm_reach *reach, const void *in, void *out, const size_t at[],
                              void *stream);

#ifdef __cplusplus
}
#endif
#endif
