/* comm.h: ranks that talk to each other: all that a collective subject may ask of its world.
 *
 * Two engines fill it: MPI over host memory (comm_mpi.c), NCCL over GPU memory (comm_nccl.c). A comm belongs to one
 * thread; every rank of it makes the same calls in the same order. Each call is announced before it is made, so that
 * whoever watches the ranks can tell which one is late, and which one called with other arguments. Calls on GPU memory
 * are enqueued in `stream` and return at once; on host memory they are done on return, and `stream` is NULL.
 */
#ifndef FOLD_COMM_H
#define FOLD_COMM_H

#include "fold.h"

#ifdef __cplusplus
extern "C" {
#endif

struct fold_comm;

/* What a library's own all-reduce adds: a dtype, or the words of a superaccumulator. */
enum fold_comm_type { FOLD_COMM_F16, FOLD_COMM_BF16, FOLD_COMM_F32, FOLD_COMM_F64, FOLD_COMM_I64, FOLD_COMM_TYPES };
#ifndef __cplusplus
_Static_assert((int)FOLD_COMM_F64 == (int)FOLD_F64, "a dtype is its own type");
#endif

struct fold_parts; /* parts.h */

struct fold_comm_ops {
  fold_status (*allreduce)(struct fold_comm *comm, const void *in, void *out, size_t count, enum fold_comm_type type,
                           enum fold_op op, void *stream);
  fold_status (*exchange)(struct fold_comm *comm, const void *in, const size_t at[], void *out, void *stream);
  fold_status (*gather)(struct fold_comm *comm, const void *in, void *out, const size_t at[], void *stream);
  /* NULL, or all of collective/canonical in one go, where the ranks can reach each other's memory, or share some. */
  fold_status (*tree)(const struct fold_call *call);
};

struct fold_comm {
  const struct fold_comm_ops *ops;
  int rank, ranks;
  void *state;                    /* the engine's */
  const struct fold_parts *parts; /* what this rank computes with */
  /* Told of each call before it is made; NULL where nobody listens, as in timed runs. */
  void (*enter)(void *context, const char *call, size_t count, const char *type);
  void *context;
};

/* The library's own all-reduce of `count` elements; the order of its additions is its own. FOLD_UNSUPPORTED for a type
 * or operation that the library lacks. `in` may be `out`. */
fold_status fold_comm_allreduce(struct fold_comm *comm, const void *in, void *out, size_t count,
                                enum fold_comm_type type, enum fold_op op, void *stream);
/* Each rank s gets bytes [at[s], at[s + 1]) of everybody's `in`; rank r's part arrives at out + r (at[s + 1] - at[s]).
 * `at` has ranks + 1 entries and is the same on every rank. */
fold_status fold_comm_exchange(struct fold_comm *comm, const void *in, const size_t at[], void *out, void *stream);
/* Everybody gets everybody's part: rank r's `in`, at[r + 1] - at[r] bytes, arrives at out + at[r]. */
fold_status fold_comm_gather(struct fold_comm *comm, const void *in, void *out, const size_t at[], void *stream);
/* The all-reduce of call->rows elements by the order host/pairwise over ranks, where call->comm->ops->tree is there:
 * the bits of an exchange, fold_parts' combine and a gather. All ranks of a comm have it, or none. */
fold_status fold_comm_tree(const struct fold_call *call);

/* Where rank r's part begins when n elements are cut in `ranks` parts at multiples of `grain`; r = ranks gives n. The
 * one rule for shards of terms and for slices of messages. */
static inline size_t fold_comm_cut(size_t n, size_t grain, int ranks, int r) {
  size_t units = (n + grain - 1) / grain, share = units / (size_t)ranks, rest = units % (size_t)ranks;
  size_t at = (share * (size_t)r + rest * (size_t)r / (size_t)ranks) * grain;
  return at < n ? at : n;
}

/* An engine's way to make comms; what makes one must be called by all its ranks at once. */
#define FOLD_COMM_TOKEN 128
struct fold_comm_engine {
  /* Whether the library is there; else why not. Before all else, in whatever process; NULL: it is linked. */
  fold_status (*ready)(void);
  /* Once in each rank (a thread or a process) before all else; `rank` of `ranks` is checked against what the launcher
   * says. */
  fold_status (*start)(int rank, int ranks);
  /* What the ranks of one new comm must share; made by one of them. */
  fold_status (*token)(unsigned char token[FOLD_COMM_TOKEN]);
  fold_status (*open)(struct fold_comm *comm, int rank, int ranks, const unsigned char token[FOLD_COMM_TOKEN]);
  void (*close)(struct fold_comm *comm);
  /* Moves on what other ranks still wait for, in a call that this rank has left: to be called now and then while it waits
   * for something else. NULL: the library does so by itself. */
  void (*progress)(void);
  void (*finish)(void);           /* once in each rank, after its comms are closed */
  void (*version)(char text[64]); /* the library's, "NCCL 2.28.9"; ranks of other versions do not go together */
  void (*device)(char text[64]);  /* what this rank computes on, where that is not the host; else NULL */
  enum fold_engine memory;        /* whose memory a rank's data lie in: FOLD_HOST or FOLD_CUDA */
  bool threads;                   /* ranks may be threads of one process */
};
/* NULL where this build has no such engine. */
const struct fold_comm_engine *fold_comm_engine_of(enum fold_engine engine);

#ifdef __cplusplus
}
#endif
#endif
