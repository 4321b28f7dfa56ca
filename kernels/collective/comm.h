/* comm.h: ranks that communicate: all that a collective subject may ask of its world.
 *
 * Two engines fill it: MPI over host memory (comm_mpi.c), NCCL over GPU memory (comm_nccl.c). A comm belongs to one
 * thread; every rank of it makes the same calls in the same order. Each call is announced before it is made, so that
 * the harness can tell which rank is late, and which one called with other arguments. Calls on GPU memory
 * are enqueued in `stream` and return at once; on host memory they are done on return, and `stream` is NULL.
 */
#ifndef FOLD_COMM_H
#define FOLD_COMM_H

#include "base/fold.h"

#ifdef __cplusplus
extern "C" {
#endif

struct fold_comm;

/* The types that a library's own all-reduce adds: dtypes, and the words of a superaccumulator. */
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
  /* All of collective/canonical in one call, if the ranks can reach each other's memory or share some; else NULL. */
  fold_status (*tree)(const struct fold_call *call);
};

struct fold_comm {
  const struct fold_comm_ops *ops;
  int rank, ranks;
  void *state;                    /* the engine's */
  const struct fold_parts *parts; /* how this rank computes */
  /* Called before each call is made; NULL where they are not observed, as in timed runs. */
  void (*enter)(void *context, const char *call, size_t count, const char *type);
  void *context;
};

/* The library's own all-reduce of `count` elements, in an order that the library chooses. FOLD_UNSUPPORTED for a type
 * or operation that the library lacks. `in` may be `out`. */
fold_status fold_comm_allreduce(struct fold_comm *comm, const void *in, void *out, size_t count,
                                enum fold_comm_type type, enum fold_op op, void *stream);
/* Rank s gets bytes [at[s], at[s + 1]) of every rank's `in`; the part from rank r goes to out + r (at[s + 1] - at[s]).
 * `at` has ranks + 1 entries and is the same on every rank. */
fold_status fold_comm_exchange(struct fold_comm *comm, const void *in, const size_t at[], void *out, void *stream);
/* Every rank gets every rank's part: rank r's `in`, at[r + 1] - at[r] bytes, goes to out + at[r]. */
fold_status fold_comm_gather(struct fold_comm *comm, const void *in, void *out, const size_t at[], void *stream);
/* The all-reduce of call->rows elements by the order host/pairwise over ranks, if call->comm->ops->tree is not NULL. It
 * gives the same bits as an exchange, fold_parts' combine and a gather. Either all ranks of a comm have it or none. */
fold_status fold_comm_tree(const struct fold_call *call);

/* Where rank r's part begins when n elements are cut into `ranks` parts at multiples of `grain`; r = ranks gives n.
 * Shards of terms and slices of messages are both cut by this rule. */
static inline size_t fold_comm_cut(size_t n, size_t grain, int ranks, int r) {
  size_t units = (n + grain - 1) / grain, share = units / (size_t)ranks, rest = units % (size_t)ranks;
  size_t at = (share * (size_t)r + rest * (size_t)r / (size_t)ranks) * grain;
  return at < n ? at : n;
}

/* How an engine makes comms; all ranks of a comm must call what makes one at the same time. */
#define FOLD_COMM_TOKEN 128
struct fold_comm_engine {
  /* Whether the library is there; if not, the status says why. May be called before everything else, in any
   * process. */
  fold_status (*ready)(void);
  /* Called once in each rank (a thread or a process) before everything else but `ready`; `rank` and `ranks` are checked
   * against what the launcher says. */
  fold_status (*start)(int rank, int ranks);
  /* Makes what all ranks of one new comm must share; called by one of them. */
  fold_status (*token)(unsigned char token[FOLD_COMM_TOKEN]);
  fold_status (*open)(struct fold_comm *comm, int rank, int ranks, const unsigned char token[FOLD_COMM_TOKEN]);
  void (*close)(struct fold_comm *comm);
  /* Helps calls to end in which other ranks still are but this one is not; to be called now and then while this rank
   * waits for something else. NULL: the library does so by itself. */
  void (*progress)(void);
  void (*finish)(void);           /* called once in each rank, after its comms are closed */
  void (*version)(char text[64]); /* of the library, "NCCL 2.28.9"; ranks with different versions cannot form a comm */
  const char *variable;           /* of the environment, by which a user chooses the library */
  void (*device)(char text[64]);  /* the name of this rank's device; NULL if it computes on the host */
  enum fold_engine memory;        /* whose memory a rank's data lie in: FOLD_HOST or FOLD_CUDA */
  bool threads;                   /* ranks may be threads of one process */
};
/* NULL if this build lacks such an engine. */
const struct fold_comm_engine *fold_comm_engine_of(enum fold_engine engine);

#ifdef __cplusplus
}
#endif
#endif
