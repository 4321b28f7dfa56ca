/* rank_wire.h: what the harness asks the ranks that it times, and what they answer (rank_bench.c). */
#ifndef FOLD_RANK_WIRE_H
#define FOLD_RANK_WIRE_H

#include "ranks/wire.h"

enum {
  WIRE_LAY =
      WIRE_SERVICE, /* struct fold_wire_lay -> nothing; makes the inputs and all room; no rank calls another meanwhile */
  WIRE_CHECK,   /* struct fold_wire_check -> struct fold_wire_checked: two runs of what was laid, and what they gave */
  WIRE_RACE,    /* struct fold_wire_race -> n_entrants * repeats doubles: seconds, entrant by entrant */
  WIRE_CEILING, /* struct fold_wire_ceiling -> struct fold_ceiling of this rank's memory */
};

/* Which part of a subject is timed: all of it; what each rank computes, without its calls to the others; or these
 * calls, of the same sizes, without the computing. */
enum fold_share { FOLD_SHARE_ALL, FOLD_SHARE_LOCAL, FOLD_SHARE_CALLS, FOLD_SHARES };

enum { FOLD_WIRE_ENTRANTS = 16, FOLD_WIRE_SAMPLES = 64 };

struct fold_wire_entrant {
  char subject[FOLD_WIRE_NAME];
  uint32_t share, reserved;
  uint64_t first_col, cols; /* this rank's part of the columns */
};

/* Inputs that each rank makes itself: its columns of a rows x all_cols matrix, row-major; or, if `vectors`, one column
 * for each rank. That matrix is stored column by column, so that the first elements of a message are the same in
 * messages of any length: rank r's element i is element r * FOLD_WIRE_VECTOR + i of the generator's. */
#define FOLD_WIRE_VECTOR ((uint64_t)1 << 34)
struct fold_wire_lay {
  char generator[32];
  uint32_t dtype, op, ranks, vectors;
  uint64_t seed, rows, all_cols;
  uint32_t n_entrants, repeats; /* repeats: a race has at most so many */
  struct fold_wire_entrant entrant[FOLD_WIRE_ENTRANTS];
};

struct fold_wire_check {
  uint32_t entrant, reserved;
  uint64_t head; /* how many results `head_hash` covers */
};

/* The results of two runs on the same input, with different poison in the output, so that what was not written
 * differs. */
struct fold_wire_checked {
  uint64_t hash, again;               /* XXH3-64 of all results of the first run, and of the second */
  uint64_t head_hash;                 /* of the first `head` results of the first run */
  uint64_t sample[FOLD_WIRE_SAMPLES]; /* patterns of the results at fold_wire_sample */
};

/* The place of sample k among `rows` results. */
static inline uint64_t fold_wire_sample(uint64_t rows, unsigned k) {
  return rows ? (uint64_t)((double)(rows - 1) * k / (FOLD_WIRE_SAMPLES - 1)) : 0;
}

struct fold_wire_race {
  uint32_t entrants; /* mask of the entrants that run, in turn */
  uint32_t warm_up, repeats;
  uint32_t round; /* how many rounds were run before: each round has another sequence */
};

/* A plain read of as many bytes as the largest input has. */
struct fold_wire_ceiling {
  uint64_t n_bytes;
};

#endif
