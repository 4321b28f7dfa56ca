/* comm_nccl.c: ranks with a GPU each that talk by NCCL, threads of one process or processes of their own.
 *
 * Where the ranks of a comm are on one host and their GPUs reach each other's memory, collective/canonical, the sums of
 * states and small gathers go there directly (kernels/collective/collective_reach.h); FOLDPROOF_PEER=0 turns that off, and NCCL does
 * it all. A rank that is one of several on a host takes the GPU of its number there. NVLink multicast stays
 * off in every process. A failure comes back with NCCL's own words; a rank that hangs or dies in a call is for the
 * harness to see. The library is opened when it is first wanted (nccl_library.h).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/collective/collective_reach.h"
#include "kernels/collective/nccl_library.h"
#include "kernels/collective/parts.h"
#include "kernels/cuda/device.h"

struct nccl {
  ncclComm_t comm;
  struct fold_comm_reach *reach; /* NULL: by NCCL alone */
};

static struct nccl *of(const struct fold_comm *comm) { return comm->state; }

/* How many bytes of a text come before the first of `ends`, without spaces at the end. */
static int head(const char *text, const char *ends) {
  size_t n = strcspn(text, ends);
  while (n > 0 && text[n - 1] == ' ') n--;
  return n < 120 ? (int)n : 120;
}

/* The status of a call, with NCCL's own account: the kind of the error alone would only advise to ask for that
 * account. */
static fold_status check(ncclResult_t result, ncclComm_t comm, const char *call) {
  if (result == ncclSuccess) return fold_ok();
  const char *kind = fold_nccl()->GetErrorString(result), *last = fold_nccl()->GetLastError(comm);
  if (!last || head(last, "\n") == 0) return fold_error(FOLD_ENVIRONMENT, "%s: %.120s", call, kind);
  return fold_error(FOLD_ENVIRONMENT, "%s: %.*s (%.*s)", call, head(last, "\n"), last, head(kind, "("), kind);
}
#define NCCL_TRY(comm, name, ...) FOLD_TRY(check(fold_nccl()->name(__VA_ARGS__), comm, "nccl" #name))

/* A number that the launcher put into the environment; -1 if it did not. */
static int told(const char *name) { return getenv(name) && *getenv(name) ? atoi(getenv(name)) : -1; }

/* Which GPU of this host is the rank's, and whether all ranks are on this host. Ranks that are threads are all on this
 * host, each with its own GPU. What the launcher says counts only if it agrees with the harness, because the harness
 * itself may run under a launcher. */
struct seat {
  int gpu;
  bool alone_here; /* the process sees one GPU, and that is the rank's */
  bool one_host;
};

static struct seat find_seat(int rank, int ranks) {
  if (told("OMPI_COMM_WORLD_SIZE") == ranks && told("OMPI_COMM_WORLD_RANK") == rank && ranks > 1)
    return (struct seat){.gpu = told("OMPI_COMM_WORLD_LOCAL_RANK"),
                         .alone_here = getenv("CUDA_VISIBLE_DEVICES") != NULL,
                         .one_host = told("OMPI_COMM_WORLD_LOCAL_SIZE") == ranks};
  if (told("PMI_SIZE") == ranks && told("PMI_RANK") == rank && told("MPI_LOCALRANKID") >= 0 && ranks > 1)
    return (struct seat){.gpu = told("MPI_LOCALRANKID"),
                         .alone_here = getenv("CUDA_VISIBLE_DEVICES") != NULL,
                         .one_host = told("MPI_LOCALNRANKS") == ranks};
  if (told("SLURM_NTASKS") == ranks && told("SLURM_PROCID") == rank && ranks > 1)
    return (struct seat){.gpu = told("SLURM_LOCALID"),
                         .alone_here = getenv("CUDA_VISIBLE_DEVICES") != NULL,
                         .one_host = told("SLURM_NNODES") == 1};
  if (told("WORLD_SIZE") == ranks && told("RANK") == rank && told("LOCAL_RANK") >= 0 && ranks > 1)
    return (struct seat){.gpu = told("LOCAL_RANK"),
                         .alone_here = getenv("CUDA_VISIBLE_DEVICES") != NULL,
                         .one_host = told("LOCAL_WORLD_SIZE") == ranks};
  /* a launcher that gives only a rank does not say whether there are other hosts */
  return (struct seat){.gpu = rank, .one_host = told("PMIX_RANK") != rank || ranks == 1};
}

static pthread_mutex_t environment = PTHREAD_MUTEX_INITIALIZER;

/* NCCL reads its variables when the first comm of a process is made. */
static void prepare_environment(bool one_host) {
  pthread_mutex_lock(&environment);
  if (one_host) setenv("NCCL_SOCKET_IFNAME", "lo", 0);
  pthread_mutex_unlock(&environment);
}

static fold_status start(int rank, int ranks) {
  struct seat seat = find_seat(rank, ranks);
  char reason[FOLD_DEVICE_TEXT] = "";
  int gpus = 0;
  FOLD_TRY(fold_nccl_ready());
  prepare_environment(seat.one_host);
  FOLD_TRY(fold_device_count(&gpus, reason));
  if (gpus == 0) return fold_error(FOLD_ENVIRONMENT, "%s", reason);
  if (seat.alone_here && gpus == 1) seat.gpu = 0;
  if (seat.gpu < 0 || seat.gpu >= gpus)
    return fold_error(FOLD_ENVIRONMENT, "needs a GPU of its own, number %d of this host, which has %d", seat.gpu, gpus);
  return fold_device_select(seat.gpu);
}

static fold_status token(unsigned char bytes[FOLD_COMM_TOKEN]) {
  ncclUniqueId id;
  _Static_assert(sizeof id <= FOLD_COMM_TOKEN, "an id is a token");
  NCCL_TRY(NULL, GetUniqueId, &id);
  memset(bytes, 0, FOLD_COMM_TOKEN);
  memcpy(bytes, &id, sizeof id);
  return fold_ok();
}

/* With one rank, its part is everybody's. */
static fold_status copy(const void *in, void *out, size_t nbytes, void *stream) {
  if (in == out || nbytes == 0) return fold_ok();
  cudaError_t error = cudaMemcpyAsync(out, in, nbytes, cudaMemcpyDeviceToDevice, stream);
  if (error == cudaSuccess) return fold_ok();
  return fold_error(FOLD_ENVIRONMENT, "cudaMemcpyAsync: %s (CUDA error %d)", cudaGetErrorString(error), (int)error);
}

static fold_status allreduce(struct fold_comm *comm, const void *in, void *out, size_t count, enum fold_comm_type type,
                             enum fold_op op, void *stream) {
  static const ncclDataType_t types[FOLD_COMM_TYPES] = {ncclFloat16, ncclBfloat16, ncclFloat32, ncclFloat64, ncclInt64};
  static const ncclRedOp_t ops[FOLD_OPS] = {ncclSum, ncclProd, ncclMax, ncclMin};
  if (count == 0) return fold_ok();
  /* Integers have no order, so that it makes no difference who adds them. */
  if (comm->ranks == 1 && type == FOLD_COMM_I64) return copy(in, out, count * sizeof(int64_t), stream);
  if (of(comm)->reach && type == FOLD_COMM_I64 && op == FOLD_SUM && count <= FOLD_REACH_SMALL / sizeof(int64_t))
    return fold_reach_add_words(of(comm)->reach, in, out, count, stream);
  NCCL_TRY(of(comm)->comm, AllReduce, in, out, count, types[type], ops[op], of(comm)->comm, stream);
  return fold_ok();
}

/* One group of sends and receives. Rank r is sent the bytes from send_at[r] to send_at[r + 1], or, if send_at is NULL,
 * all own_bytes of `in`. What it sends is stored from take_at[r] to take_at[r + 1]. */
static fold_status swap(struct fold_comm *comm, const unsigned char *in, const size_t send_at[], size_t own_bytes,
                        unsigned char *out, const size_t take_at[], void *stream) {
  ncclComm_t nccl = of(comm)->comm;
  ncclResult_t result = ncclSuccess;
  if (comm->ranks == 1) return copy(in, out, take_at[1], stream);
  NCCL_TRY(nccl, GroupStart);
  for (int r = 0; r < comm->ranks && result == ncclSuccess; r++) {
    size_t from = send_at ? send_at[r] : 0, send = send_at ? send_at[r + 1] - from : own_bytes;
    size_t take = take_at[r + 1] - take_at[r];
    if (send) result = fold_nccl()->Send(in + from, send, ncclInt8, r, nccl, stream);
    if (take && result == ncclSuccess) result = fold_nccl()->Recv(out + take_at[r], take, ncclInt8, r, nccl, stream);
  }
  ncclResult_t ended = fold_nccl()->GroupEnd();
  FOLD_TRY(check(result, nccl, "ncclSend or ncclRecv"));
  return check(ended, nccl, "ncclGroupEnd");
}

static fold_status exchange(struct fold_comm *comm, const void *in, const size_t at[], void *out, void *stream) {
  size_t own = at[comm->rank + 1] - at[comm->rank], *take_at = calloc((size_t)comm->ranks + 1, sizeof *take_at);
  if (!take_at) return fold_no_memory("for %d ranks", comm->ranks);
  for (int r = 0; r <= comm->ranks; r++) take_at[r] = (size_t)r * own;
  fold_status status = swap(comm, in, at, 0, out, take_at, stream);
  free(take_at);
  return status;
}

static size_t longest_part(const struct fold_comm *comm, const size_t at[]) {
  size_t longest = 0;
  for (int r = 0; r < comm->ranks; r++)
    if (at[r + 1] - at[r] > longest) longest = at[r + 1] - at[r];
  return longest;
}

/* By sends and receives: ncclAllGather needs parts of equal length, and not every NCCL_ALGO has it. */
static fold_status gather(struct fold_comm *comm, const void *in, void *out, const size_t at[], void *stream) {
  if (of(comm)->reach && longest_part(comm, at) <= FOLD_REACH_SMALL)
    return fold_reach_gather(of(comm)->reach, in, out, at, stream);
  return swap(comm, in, NULL, at[comm->rank + 1] - at[comm->rank], out, at, stream);
}

static fold_status tree(const struct fold_call *call) { return fold_reach_tree(of(call->comm)->reach, call); }

static const struct fold_comm_ops far_ops = {.allreduce = allreduce, .exchange = exchange, .gather = gather};
static const struct fold_comm_ops near_ops = {
    .allreduce = allreduce, .exchange = exchange, .gather = gather, .tree = tree};

/* Exchanges the ranks' cards by NCCL; d_room has room for all of them. It adds them to zeros, because NCCL refuses a
 * gather if NCCL_ALGO names an algorithm that has none. */
static fold_status share(ncclComm_t comm, int rank, int ranks, const struct fold_reach_card *own, void *d_room,
                         struct fold_reach_card cards[]) {
  size_t nbytes = (size_t)ranks * sizeof *own;
  memset(cards, 0, nbytes);
  cards[rank] = *own;
  FOLD_TRY(fold_device_put(d_room, cards, nbytes));
  NCCL_TRY(comm, AllReduce, d_room, d_room, nbytes, ncclUint8, ncclSum, comm, NULL);
  return fold_device_get(cards, d_room, nbytes);
}

/* Three rounds of cards: either all ranks reach each other's memory, or none does. */
static fold_status agree(struct nccl *n, int rank, int ranks, void *d_room, struct fold_reach_card cards[]) {
  struct fold_reach_card own;
  bool all = true;
  FOLD_TRY(fold_reach_introduce(&own));
  FOLD_TRY(share(n->comm, rank, ranks, &own, d_room, cards));
  FOLD_TRY(fold_reach_open(&n->reach, rank, ranks, cards, &own));
  if (!n->reach) return fold_ok();
  FOLD_TRY(share(n->comm, rank, ranks, &own, d_room, cards));
  FOLD_TRY(fold_reach_meet(n->reach, cards, &own));
  FOLD_TRY(share(n->comm, rank, ranks, &own, d_room, cards));
  for (int r = 0; r < ranks; r++) all &= cards[r].willing != 0;
  if (all) return fold_ok();
  fold_reach_close(n->reach);
  n->reach = NULL;
  return fold_ok();
}

static fold_status go_near(struct nccl *n, int rank, int ranks) {
  struct fold_reach_card *cards = calloc((size_t)ranks, sizeof *cards);
  void *d_room = NULL;
  fold_status status = cards ? fold_ok() : fold_no_memory("for %d ranks", ranks);
  if (status.code == FOLD_OK) status = fold_device_alloc(&d_room, (size_t)ranks * sizeof *cards);
  if (status.code == FOLD_OK) status = agree(n, rank, ranks, d_room, cards);
  (void)fold_device_free(d_room);
  free(cards);
  return status;
}

static void put_away(struct nccl *n) {
  fold_reach_close(n->reach);
  if (n->comm) fold_nccl()->CommDestroy(n->comm);
  free(n);
}

static fold_status open_comm(struct fold_comm *comm, int rank, int ranks, const unsigned char bytes[FOLD_COMM_TOKEN]) {
  ncclUniqueId id;
  memcpy(&id, bytes, sizeof id);
  struct nccl *n = calloc(1, sizeof *n);
  if (!n) return fold_no_memory("for a communicator");
  fold_status status = check(fold_nccl()->CommInitRank(&n->comm, ranks, id, rank), NULL, "ncclCommInitRank");
  if (status.code == FOLD_OK && ranks > 1) status = go_near(n, rank, ranks);
  if (status.code != FOLD_OK) {
    /* Without a word to the others, who may not be able to answer. */
    fold_reach_close(n->reach);
    if (n->comm) fold_nccl()->CommAbort(n->comm);
    free(n);
    return status;
  }
  *comm = (struct fold_comm){
      .ops = n->reach ? &near_ops : &far_ops, .rank = rank, .ranks = ranks, .state = n, .parts = &fold_parts_cuda};
  return status;
}

static void close_comm(struct fold_comm *comm) { put_away(of(comm)); }

static void finish(void) {}

static void device(char text[64]) {
  struct fold_device_info info;
  int number = 0;
  text[0] = '\0';
  if (fold_device_current(&number).code != FOLD_OK || fold_device_info(number, &info).code != FOLD_OK) return;
  snprintf(text, 64, "%.40s %.20s", info.name, info.pci);
}

const struct fold_comm_engine fold_comm_nccl = {
    .ready = fold_nccl_ready,
    .start = start,
    .token = token,
    .open = open_comm,
    .close = close_comm,
    .finish = finish,
    .version = fold_nccl_version,
    .variable = "FOLDPROOF_NCCL",
    .device = device,
    .memory = FOLD_CUDA,
    .threads = true,
};
