/* comm_mpi.c: ranks that are processes and talk by MPI, over host memory.
 *
 * Each comm is made of the first ranks of MPI's world, by these ranks alone. A failure of MPI comes back as a status: no
 * handler of MPI's own ends the process. Counts are int in MPI 3: longer messages are refused here. Where all ranks of a
 * comm are on one host and share memory, collective/canonical goes by way of it (segment.h); FOLDPROOF_PEER=0 turns that off.
 * The library is opened when it is first wanted (mpi_library.h).
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/collective/mpi_library.h"
#include "kernels/collective/parts.h"
#include "kernels/collective/segment.h"
#include "model/setting.h"

struct mpi {
  MPI_Comm comm;
  struct fold_segment *segment; /* NULL: by messages alone */
};

static struct mpi *state_of(const struct fold_comm *comm) { return comm->state; }
static MPI_Comm of(const struct fold_comm *comm) { return state_of(comm)->comm; }

static fold_status check(int code, const char *call) {
  if (code == MPI_SUCCESS) return fold_ok();
  char text[MPI_MAX_ERROR_STRING] = "";
  int n = 0;
  fold_mpi()->Error_string(code, text, &n);
  return fold_error(FOLD_ENVIRONMENT, "%s: %.*s", call, n < 150 ? n : 150, text);
}

static fold_status start(int rank, int ranks) {
  int provided, own_rank, own_ranks;
  FOLD_TRY(fold_mpi_ready());
  FOLD_TRY(check(fold_mpi()->Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread"));
  fold_mpi()->Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  fold_mpi()->Comm_rank(MPI_COMM_WORLD, &own_rank);
  fold_mpi()->Comm_size(MPI_COMM_WORLD, &own_ranks);
  if (own_rank == rank && own_ranks == ranks) return fold_ok();
  return fold_error(FOLD_ENVIRONMENT, "MPI says rank %d of %d, the launcher %d of %d: is mpirun of another MPI?",
                    own_rank, own_ranks, rank, ranks);
}

static fold_status token(unsigned char bytes[FOLD_COMM_TOKEN]) {
  memset(bytes, 0, FOLD_COMM_TOKEN);
  return fold_ok();
}

static fold_status as_int(size_t n, int *count) {
  *count = 0;
  if (n > INT_MAX) return fold_error(FOLD_UNSUPPORTED, "MPI counts to 2^31 - 1 at most");
  *count = (int)n;
  return fold_ok();
}

/* Open MPI has no 16-bit floating-point type. */
static fold_status allreduce(struct fold_comm *comm, const void *in, void *out, size_t n, enum fold_comm_type type,
                             enum fold_op op, void *stream) {
  const MPI_Op ops[FOLD_OPS] = {MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN};
  int count;
  (void)stream;
  if (type == FOLD_COMM_F16 || type == FOLD_COMM_BF16)
    return fold_error(FOLD_UNSUPPORTED, "MPI has no 16-bit floating-point type");
  FOLD_TRY(as_int(n, &count));
  MPI_Datatype datatype = type == FOLD_COMM_F32 ? MPI_FLOAT : type == FOLD_COMM_F64 ? MPI_DOUBLE : MPI_INT64_T;
  return check(fold_mpi()->Allreduce(in == out ? MPI_IN_PLACE : in, out, count, datatype, ops[op], of(comm)),
               "MPI_Allreduce");
}

/* Byte counts and places of the ranks' parts, as MPI wants them. */
struct layout {
  int *count, *place;
};

static fold_status lay_out(struct layout *l, const size_t at[], int ranks) {
  l->count = calloc(2 * (size_t)ranks, sizeof *l->count);
  if (!l->count) return fold_no_memory("for %d ranks", ranks);
  l->place = l->count + ranks;
  fold_status status = fold_ok();
  for (int r = 0; r < ranks && status.code == FOLD_OK; r++) {
    status = as_int(at[r], &l->place[r]);
    if (status.code == FOLD_OK) status = as_int(at[r + 1] - at[r], &l->count[r]);
  }
  if (status.code != FOLD_OK) free(l->count);
  return status;
}

static fold_status exchange(struct fold_comm *comm, const void *in, const size_t at[], void *out, void *stream) {
  struct layout send, take;
  size_t own = at[comm->rank + 1] - at[comm->rank], *own_at = calloc((size_t)comm->ranks + 1, sizeof *own_at);
  (void)stream;
  if (!own_at) return fold_no_memory("for %d ranks", comm->ranks);
  for (int r = 0; r <= comm->ranks; r++) own_at[r] = (size_t)r * own;
  fold_status status = lay_out(&send, at, comm->ranks);
  if (status.code == FOLD_OK) {
    status = lay_out(&take, own_at, comm->ranks);
    if (status.code == FOLD_OK) {
      status = check(
          fold_mpi()->Alltoallv(in, send.count, send.place, MPI_BYTE, out, take.count, take.place, MPI_BYTE, of(comm)),
          "MPI_Alltoallv");
      free(take.count);
    }
    free(send.count);
  }
  free(own_at);
  return status;
}

/* Short parts of equal length go by a call of their own, which takes fewer steps. */
enum { SHORT_BYTES = 131072 };

static bool are_short_and_alike(const struct fold_comm *comm, const size_t at[]) {
  for (int r = 0; r < comm->ranks; r++)
    if (at[r + 1] - at[r] != at[1]) return false;
  return at[comm->ranks] <= SHORT_BYTES;
}

static fold_status gather(struct fold_comm *comm, const void *in, void *out, const size_t at[], void *stream) {
  struct layout parts;
  (void)stream;
  if (are_short_and_alike(comm, at))
    return check(fold_mpi()->Allgather(in, (int)at[1], MPI_BYTE, out, (int)at[1], MPI_BYTE, of(comm)), "MPI_Allgather");
  FOLD_TRY(lay_out(&parts, at, comm->ranks));
  fold_status status = check(
      fold_mpi()->Allgatherv(in, parts.count[comm->rank], MPI_BYTE, out, parts.count, parts.place, MPI_BYTE, of(comm)),
      "MPI_Allgatherv");
  free(parts.count);
  return status;
}

/* A tag that no message has; `progress` looks for it. Making a comm may send in MPI_COMM_WORLD itself, with the tag
 * that open_comm gives. */
enum { NO_TAG = 0 };

/* MPI has to move messages only during its calls, and a call may return while messages of it are still under way. Open
 * MPI over TCP then keeps another rank waiting in the same call until this one makes another. The call here finds
 * nothing, but moves them. */
static void progress(void) {
  int found;
  fold_mpi()->Iprobe(MPI_ANY_SOURCE, NO_TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
}

static fold_status tree(const struct fold_call *call) {
  return fold_segment_tree(state_of(call->comm)->segment, call, progress);
}

static const struct fold_comm_ops far_ops = {.allreduce = allreduce, .exchange = exchange, .gather = gather};
static const struct fold_comm_ops near_ops = {
    .allreduce = allreduce, .exchange = exchange, .gather = gather, .tree = tree};

/* Whether MPI says that all ranks of a comm are on one host. */
static fold_status are_neighbours(const struct mpi *m, int ranks, bool *yes) {
  MPI_Comm host;
  int near = 0;
  FOLD_TRY(check(fold_mpi()->Comm_split_type(m->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host),
                 "MPI_Comm_split_type"));
  fold_mpi()->Comm_size(host, &near);
  fold_mpi()->Comm_free(&host);
  *yes = near == ranks;
  return fold_ok();
}

/* All ranks share a segment, or none does: if it cannot be made or mapped by all of them, or if one of them must
 * not. */
static fold_status share(struct mpi *m, int rank, int ranks) {
  struct fold_segment_card card = {0};
  bool near = false;
  unsigned peer;
  int own, all = 0;
  FOLD_TRY(fold_setting_number(FOLD_SETTING_PEER, 1, &peer));
  FOLD_TRY(are_neighbours(m, ranks, &near));
  if (!near) return fold_ok();
  if (rank == 0 && peer) m->segment = fold_segment_make(ranks, &card);
  FOLD_TRY(check(fold_mpi()->Bcast(&card, sizeof card, MPI_BYTE, 0, m->comm), "MPI_Bcast"));
  if (rank != 0 && peer) m->segment = fold_segment_map(ranks, &card);
  own = m->segment != NULL;
  FOLD_TRY(check(fold_mpi()->Allreduce(&own, &all, 1, MPI_INT, MPI_MIN, m->comm), "MPI_Allreduce"));
  if (all) {
    fold_segment_seal(m->segment);
  } else {
    fold_segment_close(m->segment);
    m->segment = NULL;
  }
  return fold_ok();
}

static fold_status open_comm(struct fold_comm *comm, int rank, int ranks, const unsigned char bytes[FOLD_COMM_TOKEN]) {
  MPI_Group world, first;
  struct mpi *made = malloc(sizeof *made);
  int range[1][3] = {{0, ranks - 1, 1}};
  (void)bytes;
  if (!made) return fold_no_memory("for a communicator");
  *made = (struct mpi){.comm = MPI_COMM_NULL};
  fold_mpi()->Comm_group(MPI_COMM_WORLD, &world);
  fold_mpi()->Group_range_incl(world, 1, range, &first);
  fold_status status =
      check(fold_mpi()->Comm_create_group(MPI_COMM_WORLD, first, ranks, &made->comm), "MPI_Comm_create_group");
  fold_mpi()->Group_free(&first);
  fold_mpi()->Group_free(&world);
  if (status.code == FOLD_OK) {
    fold_mpi()->Comm_set_errhandler(made->comm, MPI_ERRORS_RETURN);
    if (ranks > 1) status = share(made, rank, ranks);
  }
  if (status.code != FOLD_OK) {
    /* The comm stays: to free it the others may have to answer. */
    fold_segment_close(made->segment);
    free(made);
    return status;
  }
  *comm = (struct fold_comm){.ops = made->segment ? &near_ops : &far_ops,
                             .rank = rank,
                             .ranks = ranks,
                             .state = made,
                             .parts = &fold_parts_host};
  return status;
}

static void close_comm(struct fold_comm *comm) {
  struct mpi *m = state_of(comm);
  fold_segment_close(m->segment);
  fold_mpi()->Comm_free(&m->comm);
  free(m);
}

static void finish(void) { fold_mpi()->Finalize(); }

/* The first line of a text that may have many. */
static void version(char text[64]) {
  char whole[MPI_MAX_LIBRARY_VERSION_STRING] = "no MPI";
  int n;
  if (fold_mpi_ready().code == FOLD_OK) fold_mpi()->Get_library_version(whole, &n);
  snprintf(text, 64, "%.*s", (int)strcspn(whole, ",\n"), whole);
}

const struct fold_comm_engine fold_comm_mpi = {
    .ready = fold_mpi_ready,
    .start = start,
    .token = token,
    .open = open_comm,
    .close = close_comm,
    .progress = progress,
    .finish = finish,
    .version = version,
    .variable = "LD_LIBRARY_PATH",
    .memory = FOLD_HOST,
    .threads = false,
};
