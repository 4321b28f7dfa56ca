/* comm.c: announces a call, then hands it to the engine. */
#include "kernels/collective/comm.h"

#ifdef FOLD_HAVE_MPI
extern const struct fold_comm_engine fold_comm_mpi;
#endif
#ifdef FOLD_HAVE_NCCL
extern const struct fold_comm_engine fold_comm_nccl;
#endif

const struct fold_comm_engine *fold_comm_engine_of(enum fold_engine engine) {
  static const struct fold_comm_engine *const engines[FOLD_ENGINES] = {
#ifdef FOLD_HAVE_MPI
      [FOLD_MPI] = &fold_comm_mpi,
#endif
#ifdef FOLD_HAVE_NCCL
      [FOLD_NCCL] = &fold_comm_nccl,
#endif
  };
  return engines[engine];
}

static void enter(struct fold_comm *comm, const char *call, size_t count, const char *type) {
  if (comm->enter) comm->enter(comm->context, call, count, type);
}

static const char *const type_names[FOLD_COMM_TYPES] = {"f16", "bf16", "f32", "f64", "int64"};

fold_status fold_comm_allreduce(struct fold_comm *comm, const void *in, void *out, size_t count,
                                enum fold_comm_type type, enum fold_op op, void *stream) {
  enter(comm, "allreduce", count, type_names[type]);
  return comm->ops->allreduce(comm, in, out, count, type, op, stream);
}

fold_status fold_comm_exchange(struct fold_comm *comm, const void *in, const size_t at[], void *out, void *stream) {
  enter(comm, "exchange", at[comm->ranks], "bytes");
  return comm->ops->exchange(comm, in, at, out, stream);
}

fold_status fold_comm_gather(struct fold_comm *comm, const void *in, void *out, const size_t at[], void *stream) {
  enter(comm, "gather", at[comm->ranks], "bytes");
  return comm->ops->gather(comm, in, out, at, stream);
}

fold_status fold_comm_tree(const struct fold_call *call) {
  enter(call->comm, "tree", call->rows, type_names[call->dtype]);
  return call->comm->ops->tree(call);
}
