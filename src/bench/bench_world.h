/* bench_world.h: how fast collectives are: timed on every rank, after they were judged.
 *
 * Promised: the time of a run is that of its slowest rank, each by its own clock from where all ranks met
 * (rank_bench.h); subjects and their shares take turns, so that ratios are of one run and one state of the machine. What
 * calls to the others cost is timed by itself, not inferred. Each subject is judged first by its claims on a small shape
 * of the same kind; then at the timed shape itself: two runs on every rank have the same bits, and everything is written.
 * Samples of a vector, and a sum of up to 2^22 terms, pass the same judges again. A longer sum is held against the exact
 * sum of the timed input: it is correctly rounded, or, by a subject that declares no order, within its bound. That bound
 * says little where the height is not known, so that every sum is also taken of integers which any order adds without a
 * rounding: at the timed shape, on every rank, it is their sum, and one lost term shows.
 */
#ifndef FOLD_BENCH_WORLD_H
#define FOLD_BENCH_WORLD_H

#include "bench_judged.h"
#include "ceiling.h"
#include "runner.h"
#include "rank_wire.h"
#include "world.h"

struct fold_world_shape {
  enum fold_engine engine;
  enum fold_dtype dtype;
  enum fold_op op;
  bool vectors;      /* an all-reduce of `rows` elements, one term a rank; else one sum of cols terms is spread */
  size_t rows, cols; /* of a sum, rows is 1 */
  unsigned ranks;
};

/* Exact sums that were made before: shapes of one length share their input, whatever their worlds. */
struct fold_world_sums;
fold_status fold_world_sums_open(struct fold_world_sums **sums);
void fold_world_sums_close(struct fold_world_sums *sums); /* NULL: nothing */

struct fold_world_options {
  const char *subjects; /* globs */
  const struct fold_generator *generator;
  uint64_t seed;
  unsigned iterations; /* timed runs of each */
  bool verify;
  struct fold_world_sums *sums; /* where they are kept; needed to verify */
};

/* Seconds; NaN where nothing was timed. */
struct fold_span {
  double median, p10, p90;
};

struct fold_world_timing {
  const struct fold_subject *subject;
  struct fold_world_shape shape;
  struct fold_span share[FOLD_SHARES]; /* LOCAL and CALLS of sums only */
  unsigned rounds, below[FOLD_SHARES]; /* in how many rounds the whole was faster than that share (fold_world_pair) */
  uint64_t hash;                       /* of rank 0's results */
  bool checked;                        /* hash means something */
  struct fold_judged judged; /* before it was timed */
};

/* Times every selected subject that takes the shape; `timing` has room for registry->n, *n are filled. */
fold_status fold_bench_world(const struct fold_registry *registry, const struct fold_world_options *options,
                             const struct fold_world_shape *shape, struct fold_world_timing *timing, size_t *n,
                             const volatile int *stop);
/* Of n_bytes of one rank's memory: the fastest rank's. */
fold_status fold_bench_world_ceiling(enum fold_engine engine, size_t n_bytes, struct fold_ceiling *ceiling);

/* In how many of n rounds the whole took less than a share of it did, by more than 1% and the clock's microsecond: who
 * comes after whom shows by less, and CUDA's events resolve half a microsecond each. NaN counts. */
unsigned fold_world_pair(const double *whole, const double *share, unsigned n);

/* What the link of a GPU of that name carries in one direction, bytes a second, with no other link as fast; NaN: not
 * known. */
double fold_world_link(const char *device);

/* What figures are held against: bytes a second in one direction of a rank's link, and of its memory; NaN: not known. */
struct fold_world_limits {
  double link;
  struct fold_ceiling memory;
};

/* What times amount to, and whether that can be. */
struct fold_world_figures {
  double bytes;                /* of the input, on all ranks together */
  double bytes_per_second;     /* of them */
  double of_ceiling;           /* over what the ranks' memories can read together */
  double algorithm, bus;       /* vectors: bytes of the message a second, and 2 (R - 1) / R times that */
  double overhead;             /* sums: seconds above the local share; the calls' own time is share[FOLD_SHARE_CALLS] */
  double speed_up, efficiency; /* against one rank, where that is known */
  const char *implausible;     /* why not, NULL where nothing speaks against it */
  const char *noisy;           /* why that can't be told, NULL where it can, or where it is implausible even so */
};
/* `one`: the same subject at one rank, on the same input (strong) or on as much a rank (weak); NULL where there is none.
 *
 * Implausible: a speed-up above the world's size, more bytes a second over the link or out of memory than these have, a
 * collective that is faster than its own local share or its own calls. Each is judged beyond the spread of both
 * measurements, from 10% to 90%, and so that NaN is refused. The whole and its shares run in each round: within the spreads,
 * a whole that is the faster one in more rounds than chance gives once in 500 times is implausible too. Noisy: slow runs
 * take more than twice the median, the whole's or one rank's; or a share's do and reach into the whole. */
void fold_bench_world_figures(const struct fold_world_timing *timing, const struct fold_world_timing *one, bool weak,
                              const struct fold_world_limits *limits, struct fold_world_figures *figures);

#endif
