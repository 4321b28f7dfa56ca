/* rank_wire.h: what the harness asks the ranks that it times, and what they answer (rank_bench.c). */
#ifndef FOLD_RANK_WIRE_H
#define FOLD_RANK_WIRE_H

#include "wire.h"

enum {
  WIRE_LAY =
      WIRE_SERVICE, /* struct wire_lay -> nothing; makes the inputs and all room; no rank calls another meanwhile */
  WIRE_CHECK,       /* struct wire_check -> struct wire_checked; two runs of what was laid, looked at */
  WIRE_RACE,        /* struct wire_race -> n_entrants * repeats doubles: seconds, entrant by entrant */
  WIRE_CEILING,     /* struct wire_ceiling -> struct fold_ceiling of this rank's memory */
};

/* The part of a subject that is timed: all of it; what each rank computes by itself, without calls to the others; or only these
 * calls, of the same sizes, without the computing. */
enum fold_share { FOLD_SHARE_ALL, FOLD_SHARE_LOCAL, FOLD_SHARE_CALLS, FOLD_SHARES };

enum { FOLD_WIRE_ENTRANTS = 16, FOLD_WIRE_SAMPLES = 64 };

struct wire_entrant {
  char subject[FOLD_WIRE_NAME];
  uint32_t share, reserved;
  uint64_t first_col, cols; /* this rank's part of the columns */
};

/* Inputs that each rank makes itself. Of rows x all_cols, row-major, it makes its columns; or, where `vectors`, each rank
 * one column of a matrix that is stored column by column, so that the first elements of a message are the same in messages
 * of any length: rank r's element i is element r * FOLD_WIRE_VECTOR + i of the generator's. */
#define FOLD_WIRE_VECTOR ((uint64_t)1 << 34)
struct wire_lay {
  char generator[32];
  uint32_t dtype, op, ranks, vectors;
  uint64_t seed, rows, all_cols;
  uint32_t n_entrants, repeats; /* repeats: at most so many in a race */
  struct wire_entrant entrant[FOLD_WIRE_ENTRANTS];
};

struct wire_check {
  uint32_t entrant, reserved;
  uint64_t head; /* results that `head_hash` covers */
};

/* Both runs over the same input, into memory with other poison: what was not written differs. */
struct wire_checked {
  uint64_t hash, again;               /* XXH3-64 of all results */
  uint64_t head_hash;                 /* of the first `head` ones, as the first run left them */
  uint64_t sample[FOLD_WIRE_SAMPLES]; /* patterns of the results at fold_wire_sample */
};

/* The place of sample k among `rows` results. */
static inline uint64_t fold_wire_sample(uint64_t rows, unsigned k) {
  return rows ? (uint64_t)((double)(rows - 1) * k / (FOLD_WIRE_SAMPLES - 1)) : 0;
}

struct wire_race {
  uint32_t entrants; /* mask of those that run, in turn */
  uint32_t warm_up, repeats;
  uint32_t round; /* how many rounds were run before: each has another sequence */
};

/* A plain read of as many bytes as the largest input has. */
struct wire_ceiling {
  uint64_t n_bytes;
};

#endif
