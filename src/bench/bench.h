/* bench.h: how fast subjects run on a GPU or on the host, timed only after they were judged on the same input.
 *
 * Each run is timed between two CUDA events. All subjects of a shape take turns, so that ratios are of one run and one state of the
 * machine. A run on small inputs is a CUDA graph of many calls, each on another input, and its time is divided by their number: the time
 * of a single call between two events would include that of the events and of the host's launches. Inputs rotate through a pool that is
 * several times the L2. It has more inputs than there are subjects, so that no subject finds in a cache what another left of its input.
 * The ceiling is a plain read of memory, the best of several shapes, measured in the same run. A subject that is faster than that by more
 * than its spread is implausible, because it must read as many bytes (ceiling.h).
 *
 * Host subjects are timed by the monotonic clock, with a stated number of threads. They take turns with plain reads of the
 * same inputs (bench/host.c).
 */
#ifndef FOLD_BENCH_H
#define FOLD_BENCH_H

#include "bench/ceiling.h"
#include "bench/judged.h"
#include "run/runner.h"

struct fold_bench_options {
  enum fold_engine engine; /* must be an engine without ranks */
  unsigned threads;        /* host: the threads of each subject */
  const char *subjects;    /* globs */
  const struct fold_generator *generator;
  uint64_t seed;
  unsigned iterations; /* timed runs of each subject and shape */
  const char *peer;    /* the subject that ratios compare with */
  bool verify;         /* judge each subject on the shape before it is timed */
};

/* One shape of inputs, which hold elements (no keys). */
struct fold_bench_shape {
  enum fold_dtype dtype;
  const struct fold_problem *problem;
  FOLD_SHAPE_OR_ROWS;
};
/* Inputs begin at multiples of so many bytes. */
enum { FOLD_BENCH_ALIGN = 256 };
/* A slot holds the problem's inputs one after another: how many bytes it has, and where an input begins in it. */
size_t fold_bench_slot_bytes(const struct fold_bench_shape *shape);
size_t fold_bench_input_at(const struct fold_bench_shape *shape, unsigned input);
/* How many bytes the results take, whatever their dtype, and a few more. */
size_t fold_bench_out_bytes(const struct fold_bench_shape *shape);
struct fold_source fold_bench_source(const struct fold_bench_options *options, const struct fold_bench_shape *shape,
                                     unsigned input);
/* The call that reduces what a slot holds. */
struct fold_call fold_bench_call(const struct fold_bench_shape *shape, const unsigned char *slot, void *out);

/* One subject on one shape. Seconds; NaN where it was not timed. */
struct fold_timing {
  const struct fold_subject *subject;
  struct fold_bench_shape shape;
  double median, p10, p90;
  unsigned calls;                               /* how many calls a timed run has: those of a graph, or 1 */
  double bytes;                                 /* how many bytes a call reads and writes, each counted once */
  double ceiling;                               /* host: of reads of this shape's inputs, in bytes a second; else 0 */
  double bytes_per_second, of_ceiling, to_peer; /* to_peer: peer's median over this one's: above 1 is faster */
  bool implausible;                             /* above the ceiling */
  const char *why;                              /* it is implausible for another reason; else NULL */
  struct fold_judged judged;                    /* the verdicts from before it was timed */
};

/* Whether subjects can be timed on an engine: FOLD_UNSUPPORTED, with the reason, where not. */
fold_status fold_bench_ready(enum fold_engine engine);

/* The ceiling over nbytes of device memory, and the best shape of reading. */
fold_status fold_bench_ceiling(size_t nbytes, unsigned iterations, struct fold_ceiling *ceiling, const char **shape);

/* Times every selected subject of options->engine that takes the shape. `timing` has room for registry->n entries; *n of them are filled. `ceiling` is the GPU's. */
fold_status fold_bench_shape(const struct fold_registry *registry, const struct fold_bench_options *options,
                             const struct fold_bench_shape *shape, const struct fold_ceiling *ceiling,
                             struct fold_timing *timing, size_t *n, const volatile int *stop);

/* The q quantile of n > 0 seconds in rising order. */
double fold_bench_quantile(const double *sorted, size_t n, double q);

/* The operations of a call on terms of two factors: a product and an addition for each term of each result. */
double fold_bench_flop(const struct fold_timing *timing);

/* Computes the figures of n > 0 timed runs, given in seconds in rising order, of timing->bytes each, and whether they
 * are plausible: a subject whose slower runs, too, are faster than the ceiling allows did not read its input. */
void fold_bench_figures(struct fold_timing *timing, const double *sorted, size_t n, const struct fold_ceiling *ceiling);

#endif
