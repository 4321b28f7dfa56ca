/* rank_share.c: runs a part of a subject: its own work with calls that send nothing, or its calls without the work between them.
 *
 * A subject calls other ranks only through its comm. So a comm whose functions do nothing leaves out just these calls; sizes, places and
 * sequence stay those of the whole. Results of such runs are not used.
 */
#include "bench/rank_bench.h"

/* Calls that send nothing, and work that is not done. */
static fold_status mute_allreduce(struct fold_comm *comm, const void *in, void *out, size_t count,
                                  enum fold_comm_type type, enum fold_op op, void *stream) {
  (void)comm, (void)in, (void)out, (void)count, (void)type, (void)op, (void)stream;
  return fold_ok();
}
static fold_status mute_exchange(struct fold_comm *comm, const void *in, const size_t at[], void *out, void *stream) {
  (void)comm, (void)in, (void)at, (void)out, (void)stream;
  return fold_ok();
}
static fold_status mute_gather(struct fold_comm *comm, const void *in, void *out, const size_t at[], void *stream) {
  (void)comm, (void)in, (void)at, (void)out, (void)stream;
  return fold_ok();
}
static const struct fold_comm_ops mute = {
    .allreduce = mute_allreduce, .exchange = mute_exchange, .gather = mute_gather};

static fold_status idle_combine(const struct fold_call *call, const void *slices, size_t n, void *out) {
  (void)call, (void)slices, (void)n, (void)out;
  return fold_ok();
}
static fold_status idle_state(const struct fold_call *call, void *scratch, int64_t *words) {
  (void)call, (void)scratch, (void)words;
  return fold_ok();
}
static fold_status idle_close(const struct fold_call *call, const int64_t *words) {
  (void)call, (void)words;
  return fold_ok();
}
static fold_status idle_subtrees(const struct fold_call *call, void *scratch, size_t block, void *partials) {
  (void)call, (void)scratch, (void)block, (void)partials;
  return fold_ok();
}
static fold_status idle_root(const struct fold_call *call, const void *partials, const size_t at[]) {
  (void)call, (void)partials, (void)at;
  return fold_ok();
}
static fold_status idle_local(const struct fold_call *call, void *scratch, void *out) {
  (void)call, (void)scratch, (void)out;
  return fold_ok();
}

void fold_rank_take_share(struct fold_rank_entrant *e, const struct fold_comm *comm, enum fold_share share) {
  e->comm = *comm;
  e->parts = *comm->parts;
  e->comm.parts = &e->parts;
  if (share == FOLD_SHARE_LOCAL) e->comm.ops = &mute;
  if (share != FOLD_SHARE_CALLS) return;
  e->parts.combine = idle_combine;
  e->parts.state = idle_state;
  e->parts.close = idle_close;
  e->parts.subtrees = idle_subtrees;
  e->parts.root = idle_root;
  e->parts.local = idle_local;
}
