/* wire.h: the messages between the harness and the ranks of a world: one head, then bytes, over a stream socket.
 *
 * Both ends are the same program on the same kind of machine; the first message checks that. The harness asks, and a
 * rank answers each question once, with WIRE_DONE or WIRE_FAILED. Before the answer it may announce calls with
 * WIRE_ENTER.
 */
#ifndef FOLD_WIRE_H
#define FOLD_WIRE_H

#include "kernels/collective/comm.h"
#include "model/subject.h"
#include "model/traces.h"
#include "process/limit.h"

#define FOLD_WIRE_PROTOCOL 9
#define FOLD_WIRE_NAME 96

enum fold_wire_kind {
  WIRE_HELLO, /* rank: struct fold_wire_hello, unasked, before it has started anything */
  WIRE_TOKEN, /* -> FOLD_COMM_TOKEN bytes */
  WIRE_OPEN,  /* struct fold_wire_open -> nothing; makes the comm of that many ranks */
  WIRE_LOAD, /* struct fold_wire_load, then its elements -> uint64_t: the hash of the input that was there, if it `looks` */
  WIRE_RUN,   /* struct fold_wire_run -> struct fold_wire_ran */
  WIRE_FETCH, /* -> the results of the last run */
  WIRE_HASH,  /* -> uint64_t: the input's hash as it is now */
  WIRE_END,   /* -> nothing; the rank ends */
  WIRE_ENTER, /* rank: struct fold_wire_enter */
  WIRE_DONE,
  WIRE_FAILED,       /* rank: fold_status */
  WIRE_START,        /* -> char[64]: what the rank computes on, empty for the host; starts MPI, or takes a GPU */
  WIRE_FILL,         /* struct fold_wire_fill -> nothing; the rank makes its part itself */
  WIRE_SERVICE = 32, /* and on: questions of a service that was given to the rank (rank.h) */
};

struct fold_wire_head {
  uint32_t kind, reserved;
  uint64_t n_bytes; /* how many bytes follow */
};

/* Every version's hello begins with this, whatever follows. */
struct fold_wire_first {
  uint64_t secret; /* as the launcher was told */
  uint32_t protocol;
};
struct fold_wire_hello {
  uint64_t secret;
  uint32_t protocol, rank, ranks; /* as the rank's launcher numbers them */
  int64_t pid;
  char version[32], library[64], host[64], device[64];
};

struct fold_wire_open {
  uint32_t ranks;
  unsigned char token[FOLD_COMM_TOKEN];
};

struct fold_wire_load {
  uint32_t dtype;
  int32_t shift;
  uint64_t n, max_rows;
  uint32_t looks;
};

/* Elements that are all `bits`; or, where `accumulator` is a dtype, this rank's elements of map_data.h, for `ranks`
 * ranks. */
struct fold_wire_fill {
  struct fold_wire_load load;
  uint64_t bits, seed;
  uint32_t accumulator, ranks; /* FOLD_DTYPES: no data */
};

struct fold_wire_run {
  char subject[FOLD_WIRE_NAME];
  uint32_t problem, ranks; /* enum fold_problem_id */
  uint64_t rows, cols, first_col, all_cols;
  struct fold_launch launch;
  uint32_t poison, placement, out_shift, scratch_shift;
  int32_t shift; /* the rank first moves its input there */
};

enum { WIRE_RESULTS = 128 };

struct fold_wire_ran {
  struct fold_traces traces;
  uint64_t hash;                       /* XXH3-64 of the results' bytes */
  uint64_t before;                     /* the input's hash before it was moved */
  bool moved;                          /* since the last run that was answered */
  unsigned char results[WIRE_RESULTS]; /* if they fit; else they are to be fetched */
};

struct fold_wire_enter {
  char call[32], type[16];
  uint64_t count;
};

/* Sets the options of a socket, at both ends. If the other machine, or the network to it, is lost, nothing closes the
 * connection. So the kernel probes the other machine each second, and closes the socket after 12 seconds without an
 * answer; except while sent bytes are not yet acknowledged, where fold_wire_is_cut has to be asked. A stopped or busy
 * process is not taken for lost, since its machine answers the probes. */
void fold_wire_tend(int fd);
/* Connects to "ADDRESS:PORT" within 10 seconds; -1, with errno, where no process listens. */
int fold_wire_connect(const char *where);
/* Whether the other machine left the last probes, or what was last sent, unanswered. */
bool fold_wire_is_cut(int fd);

/* Sends a whole message, or reads n bytes. DONE; GONE: the other end has closed; CUT: its machine can't be reached;
 * LATE: the time (fold_limit) was over before all was moved. */
enum fold_wire { FOLD_WIRE_DONE, FOLD_WIRE_GONE, FOLD_WIRE_CUT, FOLD_WIRE_LATE };
enum fold_wire fold_wire_send_by(int fd, double end, uint32_t kind, const void *a, size_t n_a, const void *b,
                                 size_t n_b);
enum fold_wire fold_wire_read_by(int fd, double end, void *bytes, size_t n);
/* The same without a deadline, for ranks, which end when the harness is gone. False when it is gone. */
bool fold_wire_send(int fd, uint32_t kind, const void *a, size_t n_a, const void *b, size_t n_b);
bool fold_wire_read(int fd, void *bytes, size_t n);
/* The same for a message that may arrive 0.2 seconds later (tcp(7), TCP_CORK): with the next one, if that is sent
 * before, or with the end of the connection. So the harness is woken once for both. */
bool fold_wire_send_with_next(int fd, uint32_t kind, const void *a, size_t n_a);
/* Waits up to so many milliseconds until a read would return at once: with data, or with the reason why there are
 * none. */
bool fold_wire_has_word(int fd, int milliseconds);

#endif
