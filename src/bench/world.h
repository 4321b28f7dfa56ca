/* bench/world.h: how fast collectives are: timed on every rank, after they were judged.
 *
 * Promised: the time of a run is that of its slowest rank, which each rank measures by its own clock from the moment at which all ranks
 * met (rank_bench.h). Subjects and their shares take turns, so that ratios are of one run and one state of the machine. The cost of calls
 * to other ranks is measured alone, not inferred. Each subject is first judged by its claims on a small shape of the same kind. Then it
 * is judged at the timed shape: two runs on every rank have the same bits, and every result is written. Samples of a vector, and a sum of
 * up to 2^22 terms, pass the same judges again. A longer sum is compared with the exact sum of the timed input: it is correctly rounded
 * or, if the subject declares no order, within its bound. That bound says little if the height is not known. So every sum is also taken
 * of integers that any order adds without rounding; at the timed shape, on every rank, the result must be their sum, and one lost term shows.
 */
#ifndef FOLD_BENCH_WORLD_H
#define FOLD_BENCH_WORLD_H

#include "bench/ceiling.h"
#include "bench/judged.h"
#include "bench/rank_wire.h"
#include "ranks/world.h"
#include "run/runner.h"

struct fold_world_shape {
  enum fold_engine engine;
  enum fold_dtype dtype;
  enum fold_op op;
  bool vectors; /* an all-reduce of `rows` elements, one term from each rank; else a sum of cols terms over the ranks */
  size_t rows, cols; /* of a sum, rows is 1 */
  unsigned ranks;
};

/* Exact sums that were already computed: shapes of equal length have the same input in worlds of any size. */
struct fold_world_sums;
fold_status fold_world_sums_open(struct fold_world_sums **sums);
void fold_world_sums_close(struct fold_world_sums *sums); /* NULL: nothing */

struct fold_world_options {
  const char *subjects; /* globs */
  const struct fold_generator *generator;
  uint64_t seed;
  unsigned iterations; /* timed runs of each subject and share */
  bool verify;
  struct fold_world_sums *sums; /* where exact sums are kept; needed to verify */
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
  bool checked;                        /* `hash` has a value */
  struct fold_judged judged;           /* the verdicts from before it was timed */
};

/* Times every selected subject that takes the shape; `timing` has room for registry->n, *n are filled. */
fold_status fold_bench_world(const struct fold_registry *registry, const struct fold_world_options *options,
                             const struct fold_world_shape *shape, struct fold_world_timing *timing, size_t *n,
                             const volatile int *stop);
/* The read ceiling for n_bytes of one rank's memory; that of the fastest rank. */
fold_status fold_bench_world_ceiling(enum fold_engine engine, size_t n_bytes, struct fold_ceiling *ceiling);

/* In how many of n rounds the whole took less time than a share of it, by more than 1% and the clock's microsecond. The
 * sequence of entrants causes smaller differences, and CUDA's events have a resolution of half a microsecond. A NaN
 * counts as such a round. */
unsigned fold_world_pair(const double *whole, const double *share, unsigned n);

/* How many bytes a second the link of a GPU of that name carries in one direction; no other link is as fast. NaN if it
 * is not known. */
double fold_world_link(const char *device);

/* What figures are compared with: the bytes a second that a rank's link carries in one direction, and that its memory
 * can be read with; NaN: not known. */
struct fold_world_limits {
  double link;
  struct fold_ceiling memory;
};

/* The figures that follow from times, and whether they are plausible. */
struct fold_world_figures {
  double bytes;                /* of the input, on all ranks together */
  double bytes_per_second;     /* `bytes` over the median */
  double of_ceiling;           /* relative to the rate at which the ranks' memories together can be read */
  double algorithm, bus;       /* vectors: bytes of the message a second; and 2 (R - 1) / R times that */
  double overhead;             /* sums: seconds above the local share; those of the calls alone are in share[] */
  double speed_up, efficiency; /* relative to one rank, if its time is known */
  const char *implausible;     /* why the figures can't be right; NULL if nothing says so */
  const char *noisy;           /* why that can't be told; NULL if it can, or if the figures are implausible even so */
};
/* `one`: the same subject on one rank, with the same input (strong) or with as much for each rank (weak); NULL if there is none.
 *
 * Implausible are a speed-up above the world's size, more bytes a second than the link or the memory can carry, and a
 * collective that is faster than its own local share or its own calls. Each must exceed the spread of both measurements, from
 * 10% to 90%, and NaN is refused. The whole and its shares run in each round: even within the spreads, it is implausible if the
 * whole is faster in so many rounds that chance would do this only once in 500 times. Noisy: slow runs of the whole, or of one
 * rank, take more than twice the median; or those of a share do, and reach the time of the whole. */
void fold_bench_world_figures(const struct fold_world_timing *timing, const struct fold_world_timing *one, bool weak,
                              const struct fold_world_limits *limits, struct fold_world_figures *figures);

#endif
