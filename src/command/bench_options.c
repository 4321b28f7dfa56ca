/* command/bench_options.c: parses and checks the command line of foldproof bench, and fills in defaults. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "command/bench.h"

enum {
  N = 'n',
  SUBJECTS = 's',
  ROWS = 0x200,
  COLS,
  DTYPE,
  PROBLEM,
  ITERATIONS,
  SEED,
  M,
  K,
  GENERATOR,
  PEER,
  JSONL,
  UNVERIFIED
};
enum { ENGINE = 0x220, THREADS, WHAT, WORKERS, BYTES, SETTINGS, LINK, MEMORY };
/* Nine runs: the spreads of two equal sets of nine do not overlap by chance once in 600 times; with seven runs, once in
 * 70. */
enum { LEAST_RUNS = 9 };
enum { MOST_TERMS = 34, MOST_BYTES = MOST_TERMS + 1 }; /* log2: as many terms of two bytes */
enum { MOST_EXTENT = 17 }; /* log2, of a product's axes: a matrix has 2^MOST_TERMS elements */

static const struct argp_option options[] = {
    {"subjects", SUBJECTS, "GLOBS", 0,
     "only these subjects (CUDA: flat/* and peers; rows/* and peers with --rows; host: all but host/sorted; "
     "collectives: all)",
     1},
    {"n", N, "LIST", 0, "sizes of one row: 1e3,1e6,2^32 (default: the reference study's, 1e3 to 5e8; host: to 1e7)", 1},
    {"rows", ROWS, "R", 0, "rows, with --cols", 1},
    {"cols", COLS, "C", 0, "columns, with --rows", 1},
    {"dtype", DTYPE, "LIST", 0, "dtypes (f32)", 1},
    {"problem", PROBLEM, "PROBLEM", 0,
     "sum (the default), prod, max, min; on cuda and host also dot, of two inputs; on host also matvec", 1},
    {"generator", GENERATOR, "NAME", 0, "what the inputs hold (normal)", 1},
    {"iterations", ITERATIONS, "N", 0,
     "timed runs of each subject and size (51; host: 11). The least is 3; for a collective it is 9", 1},
    {"seed", SEED, "SEED", 0, "seed of the inputs (1)", 1},
    {"peer", PEER, "SUBJECT", 0, "the subject that ratios compare with", 1},
    {"jsonl", JSONL, "FILE", 0, "write a record of each timing", 1},
    {"unverified", UNVERIFIED, NULL, 0, "do not judge before timing; the table says so", 1},
    {"engine", ENGINE, "ENGINE", 0, "cuda (the default), host; mpi or nccl: collectives over ranks", 1},
    {"threads", THREADS, "LIST", 0, "with --engine host: numbers of threads (1 and all)", 1},
    {"what", WHAT, "LIST", 0,
     "products (of matrices, on cuda and host: what fixed bits cost, by rows of the first factor); with --engine mpi "
     "or "
     "nccl strong, weak (scaling of sharded sums), messages (vectors by length), by default all three",
     1},
    {0, 0, 0, 0, "With --what products (M x K times K x N; --n: N):", 2},
    {"m", M, "LIST", 0, "rows of the first factor (1, 8, 16, 64, 256, 2048, 4096; host: 1, 8, 64)", 2},
    {"k", K, "K", 0, "terms of a result (4096, and so is N; host: 256)", 2},
    {0, 0, 0, 0, "With --engine mpi or nccl (--n: elements of the sums, in all or for each rank):", 3},
    {"workers", WORKERS, "LIST", 0, "numbers of ranks (1, 2, 4 ... and all); messages use the last", 2},
    {"bytes", BYTES, "LIST", 0, "lengths of messages, multiples of 8 up to 2^35 (1 KiB to 1 GiB; MPI: to 4 MiB)", 2},
    {"settings", SETTINGS, "GLOBS", 0, "the library's settings for messages (default: ring and tree)", 2},
    {"link", LINK, "GB/S", 0,
     "speed of a rank's link in one direction (default: NVLink's for A100, H100, H200, B200; else unknown)", 2},
    {"memory", MEMORY, "GB/S", 0,
     "read speed of a rank's memory (default: measured; for MPI that of its nearest cache)", 2},
    {0},
};

/* Sorts the numbers of ranks and removes repetitions. Speed-ups are relative to the first world with one rank. */
static void parse_workers(struct bench_command *b, char *arg, struct argp_state *state) {
  b->n_workers = fold_option_numbers(state, "--workers", arg, 1, 1024, b->workers, FOLD_BENCH_SIZES);
  for (size_t k = 0; k < b->n_workers; k++)
    if (k > 0 && b->workers[k] <= b->workers[k - 1]) argp_failure(state, 2, 0, "--workers: rising numbers of ranks");
}

static int parse_what(struct argp_state *state, const char *option, const char *name) {
  static const char *const names[] = {"messages", "strong", "weak", "products", NULL};
  for (int k = 0; names[k]; k++)
    if (strcmp(name, names[k]) == 0) return k;
  fold_option_refuse(state, option, name, names);
  return -1;
}

static double parse_rate(const char *option, const char *text, struct argp_state *state) {
  char *end;
  double rate = strtod(text, &end);
  if (end == text || *end || !(rate > 0) || !(rate < 1e9))
    argp_failure(state, 2, 0, "%s %s: not a rate in GB/s", option, text);
  return 1e9 * rate;
}

/* Refuses options that only the other kind of bench takes. */
static void check_kind(const struct bench_command *b, struct argp_state *state) {
  bool collective = fold_engine_has_ranks(b->engine);
  if (b->n_threads && !fold_engine_is_here(b->engine)) argp_failure(state, 2, 0, "--threads is for --engine host");
  if (collective && (b->rows || b->cols)) argp_failure(state, 2, 0, "--rows and --cols are for --engine cuda and host");
  if (collective && b->problem->inputs > 1)
    argp_failure(state, 2, 0, "--problem %s is for --engine cuda and host", b->problem->name);
  if (b->problem->id == FOLD_MATMUL) argp_failure(state, 2, 0, "--problem matmul is timed by --what products");
  if (!fold_results_are_rows(b->problem))
    argp_failure(state, 2, 0, "--problem %s is not timed: only products and what has one result a row are",
                 b->problem->name);
  if (collective && b->options.iterations > 0 && b->options.iterations < LEAST_RUNS)
    argp_failure(state, 2, 0, "--iterations: at least %d of a collective, whose spreads are judged", LEAST_RUNS);
  if (collective && b->options.peer)
    argp_failure(state, 2, 0, "--peer is for --engine cuda and host: a collective's is the library's own");
  if (!collective && b->what & ~(unsigned)FOLD_BENCH_PRODUCTS)
    argp_failure(state, 2, 0, "--what messages, strong and weak need --engine mpi or nccl");
  if (!collective && (b->n_workers || b->n_bytes || b->settings || !isnan(b->link) || !isnan(b->memory)))
    argp_failure(state, 2, 0, "--workers, --bytes, --settings, --link and --memory need --engine mpi or nccl");
  for (size_t k = 0; k < b->n_bytes; k++)
    if (b->bytes[k] % 8) argp_failure(state, 2, 0, "--bytes: multiples of 8");
}

/* Refuses what does not go with --what products, or needs it. */
static void check_products(const struct bench_command *b, struct argp_state *state) {
  if (!(b->what & FOLD_BENCH_PRODUCTS)) {
    if (b->n_m || b->k) argp_failure(state, 2, 0, "--m and --k are for --what products");
    return;
  }
  if (fold_engine_has_ranks(b->engine)) argp_failure(state, 2, 0, "--what products is for --engine cuda and host");
  if (b->rows || b->cols || b->problem->id != FOLD_ROWS_SUM)
    argp_failure(state, 2, 0, "--what products takes --m, --n and --k, and no --rows, --cols or --problem");
  if (b->n_sizes > 1 || (b->n_sizes && (b->sizes[0] < 1 || b->sizes[0] > UINT64_C(1) << MOST_EXTENT)))
    argp_failure(state, 2, 0, "--n: one number from 1 to 2^%d with --what products", MOST_EXTENT);
}

static void check_options(struct bench_command *b, struct argp_state *state) {
  bool matrix = b->rows != 0 || b->cols != 0;
  check_kind(b, state);
  check_products(b, state);
  if (matrix && (b->rows == 0 || b->cols == 0)) argp_failure(state, 2, 0, "--rows and --cols go together");
  if (matrix && b->n_sizes) argp_failure(state, 2, 0, "--n does not go with --rows");
  if (matrix && b->rows > (UINT64_C(1) << MOST_TERMS) / b->cols)
    argp_failure(state, 2, 0, "over 2^%d elements", MOST_TERMS);
  b->options.generator = fold_generator_find(b->generator);
  if (!b->options.generator)
    argp_failure(state, 2, 0, "no generator '%s': %s", b->generator,
                 fold_option_generator(b->generator, (char[240]){0}));
  if (fold_engine_has_ranks(b->engine)) {
    if (!b->what) b->what = FOLD_BENCH_MESSAGES | FOLD_BENCH_STRONG | FOLD_BENCH_WEAK;
    return;
  }
  b->options.engine = b->engine;
}

static error_t parse(int key, char *arg, struct argp_state *state) {
  struct bench_command *b = state->input;
  switch (key) {
    case SUBJECTS: b->options.subjects = arg; return 0;
    case ARGP_KEY_ARG: fold_option_add_subject(state, &b->options.subjects, &b->subjects, arg); return 0;
    case N:
      b->n_sizes = fold_option_numbers(state, "--n", arg, 0, UINT64_C(1) << MOST_TERMS, b->sizes, FOLD_BENCH_SIZES);
      return 0;
    case M:
      b->n_m = fold_option_numbers(state, "--m", arg, 1, UINT64_C(1) << MOST_EXTENT, b->m, FOLD_BENCH_SIZES);
      return 0;
    case K: b->k = fold_option_number(state, "--k", arg, 1, UINT64_C(1) << MOST_EXTENT); return 0;
    case BYTES:
      b->n_bytes = fold_option_numbers(state, "--bytes", arg, 8, UINT64_C(1) << MOST_BYTES, b->bytes, FOLD_BENCH_SIZES);
      return 0;
    case THREADS:
      b->n_threads = fold_option_numbers(state, "--threads", arg, 1, 1024, b->threads, FOLD_BENCH_SIZES);
      return 0;
    case WORKERS: parse_workers(b, arg, state); return 0;
    case WHAT: b->what = fold_option_mask(state, "--what", arg, parse_what); return 0;
    case SETTINGS: b->settings = arg; return 0;
    case LINK: b->link = parse_rate("--link", arg, state); return 0;
    case MEMORY: b->memory = parse_rate("--memory", arg, state); return 0;
    case ENGINE: b->engine = (enum fold_engine)fold_option_engine(state, "--engine", arg); return 0;
    case ROWS: b->rows = fold_option_number(state, "--rows", arg, 1, UINT64_C(1) << MOST_TERMS); return 0;
    case COLS: b->cols = fold_option_number(state, "--cols", arg, 1, UINT64_C(1) << MOST_TERMS); return 0;
    case DTYPE: b->dtypes = fold_option_mask(state, "--dtype", arg, fold_option_dtype); return 0;
    case PROBLEM: b->problem = fold_option_problem(state, arg); return 0;
    case GENERATOR: b->generator = arg; return 0;
    case ITERATIONS:
      b->options.iterations = (unsigned)fold_option_number(state, "--iterations", arg, 3, 100000);
      return 0;
    case SEED: b->options.seed = fold_option_number(state, "--seed", arg, 0, INT64_MAX); return 0;
    case PEER: b->options.peer = arg, b->peer_named = true; return 0;
    case JSONL: b->jsonl = arg; return 0;
    case UNVERIFIED: b->options.verify = false; return 0;
    case ARGP_KEY_END: check_options(b, state); return 0;
    default: return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .children = fold_world_child,
    .args_doc = "[SUBJECT...]",
    .doc =
        "Time CUDA subjects, host subjects, or collectives over ranks, each judged first.\n"
        "\n"
        "Examples:\n"
        "  foldproof bench --engine host host/numpy host/exact -n 1e5\n"
        "  foldproof bench --rows 1000 --cols 1000\n"
        "  foldproof bench --engine nccl --what messages --jsonl times.jsonl\v"
        "On a GPU, times are medians of CUDA events. Inputs of up to 8 MiB run in a CUDA graph of 32 calls, and the "
        "time is divided by 32; the table's headline says so. Inputs rotate, so that the L2 does not hold them. The "
        "ceiling is a plain read of memory in the same run. thrust/reduce allocates memory and waits in each call: its "
        "times include both, and it cannot run in a graph.\n"
        "\n"
        "On the host the monotonic clock is read around each call. All take turns on the same inputs. The ceiling is "
        "the fastest plain read of them.\n"
        "\n"
        "For a collective the time is that of the slowest rank (MPI: by its host's clock). The ranks' own sums, and "
        "the communication, are also timed separately.\n"
        "\n"
        "A figure is implausible if a rate is above the ceiling by more than both spreads, above that of a cache, or "
        "above that of the link or the memory; if a GPU (of compute capability 8.0 or 9.0) cannot do so many "
        "operations; if a speed-up is above the number of ranks; or if an overhead is "
        "negative. Exit code 1: a figure is implausible, or a claim is refuted. If the machine is too busy for a "
        "reliable figure, that line says so and is not checked. If this is so for all lines, the exit code is 77."};

/* Chooses 1 thread and all threads, once if these are equal; other engines have no threads to choose. */
static void choose_threads(struct bench_command *b) {
  if (b->n_threads) return;
  b->threads[b->n_threads++] = 1;
  if (fold_engine_is_here(b->options.engine) && omp_get_max_threads() > 1)
    b->threads[b->n_threads++] = (uint64_t)omp_get_max_threads();
}

static void add_job(struct bench_command *b, enum fold_problem_id problem, size_t m, size_t n, size_t k) {
  b->jobs[b->n_jobs++] = (struct fold_bench_job){fold_problem(problem), {.b = 1, .m = m, .n = n, .k = k}};
}

/* Rows: one of each size, or a matrix. */
static void choose_rows(struct bench_command *b) {
  const struct fold_bench_numbers *usual = &fold_bench_usual(b->engine)->sizes;
  const enum fold_problem_id problem = b->problem->id;
  if (b->rows) add_job(b, problem, b->rows, 1, b->cols);
  for (size_t i = 0; i < b->n_sizes; i++) add_job(b, problem, 1, 1, b->sizes[i]);
  for (size_t i = 0; i < usual->n && !b->rows && !b->n_sizes; i++) add_job(b, problem, 1, 1, usual->at[i]);
}

/* Products: the second factor's transpose times a vector, then the product for each m. */
static void choose_products(struct bench_command *b) {
  const struct fold_bench_usual *usual = fold_bench_usual(b->engine);
  const struct fold_bench_numbers m = b->n_m ? (struct fold_bench_numbers){b->m, b->n_m} : usual->m;
  const size_t n = b->n_sizes ? b->sizes[0] : usual->square, k = b->k ? b->k : usual->square;
  add_job(b, FOLD_MATVEC, n, 1, k);
  for (size_t i = 0; i < m.n; i++) add_job(b, FOLD_MATMUL, m.at[i], n, k);
}

void fold_bench_parse(struct bench_command *b, int argc, char **argv) {
  *b = (struct bench_command){.options = {.seed = 1, .verify = true},
                              .dtypes = 1u << FOLD_F32,
                              .problem = fold_problem(FOLD_ROWS_SUM),
                              .generator = "normal",
                              .engine = FOLD_CUDA,
                              .link = NAN,
                              .memory = NAN};
  fold_parse(&argp, argc, argv, b);
  if (b->options.iterations == 0) b->options.iterations = fold_bench_usual(b->engine)->iterations;
  if (fold_engine_has_ranks(b->engine)) return;
  if (b->what & FOLD_BENCH_PRODUCTS)
    choose_products(b);
  else
    choose_rows(b);
  choose_threads(b);
}
