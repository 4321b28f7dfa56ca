/* command/bench.h: what the halves of foldproof bench share: subjects in one process, and collectives. */
#ifndef FOLD_COMMAND_BENCH_H
#define FOLD_COMMAND_BENCH_H

#include "bench/bench.h"
#include "command/measured_records.h"

enum { FOLD_BENCH_SIZES = 64 };

/* What is timed, by --what: the first three over ranks, products on one device. */
enum fold_bench_what { FOLD_BENCH_MESSAGES = 1, FOLD_BENCH_STRONG = 2, FOLD_BENCH_WEAK = 4, FOLD_BENCH_PRODUCTS = 8 };

/* What is timed in each dtype, on one device. */
struct fold_bench_job {
  const struct fold_problem *problem;
  struct fold_shape shape;
};

struct bench_outcome {
  size_t timed, implausible, refuted, broken;
  size_t noisy; /* how many of the timed ones are too noisy to be judged */
};

struct bench_command {
  struct fold_bench_options options; /* subjects and peer: NULL if the user named none */
  uint64_t sizes[FOLD_BENCH_SIZES];
  size_t n_sizes;
  uint64_t rows, cols;
  uint64_t m[FOLD_BENCH_SIZES], k; /* of products; their n is the one of sizes */
  size_t n_m;
  struct fold_bench_job jobs[FOLD_BENCH_SIZES + 1];
  size_t n_jobs;
  unsigned dtypes;
  const struct fold_problem *problem;
  uint64_t threads[FOLD_BENCH_SIZES]; /* host: 1 and all threads, unless the user chooses */
  size_t n_threads;
  unsigned what; /* mask of enum fold_bench_what; 0: rows on one device */
  const char *generator, *jsonl;
  char *subjects;  /* those that are named without an option */
  bool peer_named; /* the user named the peer, so that the name may be wrong */
  /* For collectives: */
  enum fold_engine engine;
  uint64_t workers[FOLD_BENCH_SIZES], bytes[FOLD_BENCH_SIZES];
  size_t n_workers, n_bytes;
  const char *settings;            /* globs that choose settings of ranks/setting.h */
  double link, memory;             /* bytes a second, NaN where not given */
  struct fold_measuring measuring; /* its progress counts shapes */
  size_t done, shapes;
  struct bench_outcome outcome; /* what its records show */
};

/* What is timed on an engine unless the user chooses (command/bench_usual.c): subjects and their peer for one row, for
 * a matrix, and for dot products and others; for collectives, the library's own subjects. */
struct fold_bench_usual {
  struct fold_bench_contenders {
    const char *subjects, *peer;
  } row, matrix, dot, matvec, matmul;
  const char *vector, *sum;
  unsigned iterations;
  struct fold_bench_numbers {
    const uint64_t *at;
    size_t n;
  } sizes, lengths, strong, weak, m; /* m: rows of a product, of `square` columns and terms */
  uint64_t square;
};
const struct fold_bench_usual *fold_bench_usual(enum fold_engine engine);
const struct fold_bench_contenders *fold_bench_contenders(const struct bench_command *b,
                                                          const struct fold_problem *problem);

/* Parses the command line into everything but records and progress; ends the program if it is wrong
 * (command/bench_options.c). */
void fold_bench_parse(struct bench_command *b, int argc, char **argv);

/* Shows the shape that is timed next. */
void fold_bench_begin_shape(struct bench_command *b, const char *what);
/* Counts a timing in the outcome, and hands it to fold_measuring_take. */
fold_status fold_bench_take(struct bench_command *b, json_t *record);

/* Collectives on the ranks of b->engine (command/bench_world.c). */
fold_status fold_bench_collectives(struct bench_command *b, const struct fold_registry *registry);

#endif
