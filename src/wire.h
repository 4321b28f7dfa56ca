/* wire.h: the messages between the harness and the ranks of a world: one head, then bytes, over a stream socket.
 *
 * Both ends are the same program on the same kind of machine, which the first message checks. The harness asks, a rank
 * answers each question once, with WIRE_DONE or WIRE_FAILED; before that it may announce calls with WIRE_ENTER.
 */
#ifndef FOLD_WIRE_H
#define FOLD_WIRE_H

#include "collective/comm.h"
#include "rig.h"

#define FOLD_WIRE_PROTOCOL 1
#define FOLD_WIRE_NAME 96

enum wire_kind {
  WIRE_HELLO, /* rank: struct wire_hello, unasked */
  WIRE_TOKEN, /* -> FOLD_COMM_TOKEN bytes */
  WIRE_OPEN,  /* struct wire_open -> nothing; makes the comm of that many ranks */
  WIRE_LOAD,  /* struct wire_load, then its elements -> nothing */
  WIRE_RUN,   /* struct wire_run -> struct wire_ran */
  WIRE_FETCH, /* -> the results of the last run */
  WIRE_HASH,  /* -> uint64_t: the input's hash as it is now */
  WIRE_END,   /* -> nothing; the rank ends */
  WIRE_ENTER, /* rank: struct wire_enter */
  WIRE_DONE,
  WIRE_FAILED, /* rank: fold_status */
};

struct wire_head {
  uint32_t kind, reserved;
  uint64_t n_bytes; /* that follow */
};

struct wire_hello {
  uint64_t secret; /* as the launcher was told */
  uint32_t protocol, rank, ranks;
  int64_t pid;
  char version[32], library[64], host[64], device[64];
};

struct wire_open {
  uint32_t ranks;
  unsigned char token[FOLD_COMM_TOKEN];
};

struct wire_load {
  uint32_t dtype;
  int32_t shift;
  uint64_t n, max_rows;
};

struct wire_run {
  char subject[FOLD_WIRE_NAME];
  uint32_t op, ranks;
  uint64_t rows, cols, first_col, all_cols;
  struct fold_launch launch;
  uint32_t poison;
};

struct wire_ran {
  struct fold_traces traces;
  uint64_t hash; /* XXH3-64 of the results' bytes */
};

struct wire_enter {
  char call[32], type[16];
  uint64_t count;
};

/* False when the other end is gone, or silent for longer than the socket's own limit. */
bool fold_wire_send(int fd, enum wire_kind kind, const void *a, size_t n_a, const void *b, size_t n_b);
bool fold_wire_read(int fd, void *bytes, size_t n);

#endif
