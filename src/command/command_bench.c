/* command_bench.c: foldproof bench: verify, then time, on a GPU or over ranks; tables and JSON lines. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command_bench.h"
#include "environment.h"

enum { N = 'n', SUBJECTS = 's', ROWS = 0x200, COLS, DTYPE, OP, ITERATIONS, SEED, GENERATOR, PEER, JSONL, UNVERIFIED };
enum { ENGINE = 0x220, WHAT, WORKERS, BYTES, SETTINGS, LINK, MEMORY };
/* Two spreads of nine equal runs each lie apart by chance once in 600 times; of seven, once in 70. */
enum { LEAST_RUNS = 9 };
enum { MOST_TERMS = 34, MOST_BYTES = 36, MOST_CEILING = 34, LEAST_CEILING = 30 }; /* log2 */

static const struct argp_option options[] = {
    {"subjects", SUBJECTS, "GLOBS", 0,
     "only these subjects (CUDA: flat/* and peers; rows/* and peers with --rows; collectives: all)", 1},
    {"n", N, "LIST", 0, "sizes of one row: 1e3,1e6,2^32 (default: the report's, 1e3 to 5e8)", 1},
    {"rows", ROWS, "R", 0, "rows, with --cols", 1},
    {"cols", COLS, "C", 0, "columns, with --rows", 1},
    {"dtype", DTYPE, "LIST", 0, "dtypes (f32)", 1},
    {"op", OP, "OP", 0, "sum (the default), prod, max or min", 1},
    {"generator", GENERATOR, "NAME", 0, "what the inputs hold (normal)", 1},
    {"iterations", ITERATIONS, "N", 0, "timed runs of each subject and size (51)", 1},
    {"seed", SEED, "SEED", 0, "seed of the inputs (1)", 1},
    {"peer", PEER, "SUBJECT", 0, "the subject that ratios are against", 1},
    {"jsonl", JSONL, "FILE", 0, "write a record of each timing", 1},
    {"unverified", UNVERIFIED, NULL, 0, "time without judging first; the table says so", 1},
    {"engine", ENGINE, "ENGINE", 0, "cuda (the default); mpi or nccl: collectives, over ranks", 1},
    {0, 0, 0, 0, "With --engine mpi or nccl (--n: elements of the sums, in all or a rank):", 2},
    {"what", WHAT, "LIST", 0, "of strong, weak (scaling of sharded sums), messages (vectors by length); default: all",
     2},
    {"workers", WORKERS, "LIST", 0, "worlds of so many ranks (1, 2, 4 ... and all); messages take the last", 2},
    {"bytes", BYTES, "LIST", 0, "lengths of messages (1 KiB to 1 GiB; MPI: to 4 MiB)", 2},
    {"settings", SETTINGS, "GLOBS", 0, "how the library is told to work for messages: default: ring and tree", 2},
    {"link", LINK, "GB/S", 0, "what a rank's link carries in one direction (NCCL: 450, NVLink 4)", 2},
    {"memory", MEMORY, "GB/S", 0, "what a rank's memory can be read with (default: measured)", 2},
    {0},
};

static size_t parse_numbers(const char *option, char *arg, uint64_t most, uint64_t numbers[FOLD_BENCH_SIZES],
                            struct argp_state *state) {
  char *rest = NULL;
  size_t n = 0;
  for (char *text = strtok_r(arg, ",", &rest); text; text = strtok_r(NULL, ",", &rest)) {
    if (n == FOLD_BENCH_SIZES) argp_failure(state, 2, 0, "%s: at most %d numbers", option, FOLD_BENCH_SIZES);
    numbers[n++] = fold_option_number(state, option, text, most);
  }
  if (n == 0) argp_failure(state, 2, 0, "%s: an empty list", option);
  return n;
}

/* Worlds rise, and each is there once: the first that is one rank is what speed-ups are against. */
static void parse_workers(struct bench_command *b, char *arg, struct argp_state *state) {
  b->n_workers = parse_numbers("--workers", arg, 1024, b->workers, state);
  for (size_t k = 0; k < b->n_workers; k++)
    if (b->workers[k] == 0 || (k > 0 && b->workers[k] <= b->workers[k - 1]))
      argp_failure(state, 2, 0, "--workers: numbers of ranks, from 1 on and rising");
}

static void parse_what(struct bench_command *b, char *arg, struct argp_state *state) {
  static const char *const names[] = {"messages", "strong", "weak"};
  char *rest = NULL;
  b->what = 0;
  for (char *name = strtok_r(arg, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
    unsigned k = 0;
    while (k < 3 && strcmp(name, names[k]) != 0) k++;
    if (k == 3) argp_failure(state, 2, 0, "--what %s: not one of messages, strong, weak", name);
    b->what |= 1u << k;
  }
  if (b->what == 0) argp_failure(state, 2, 0, "--what: an empty list");
}

static double parse_rate(const char *option, const char *text, struct argp_state *state) {
  char *end;
  double rate = strtod(text, &end);
  if (end == text || *end || !(rate > 0) || !(rate < 1e9))
    argp_failure(state, 2, 0, "%s %s: not a rate in GB/s", option, text);
  return 1e9 * rate;
}

static void parse_dtypes(struct bench_command *b, char *arg, struct argp_state *state) {
  char *rest = NULL;
  b->dtypes = 0;
  for (char *name = strtok_r(arg, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
    b->dtypes |= 1u << fold_option_dtype(state, name);
}

/* What only one kind of bench takes is a mistake to give to the other. */
static void check_kind(const struct bench_command *b, struct argp_state *state) {
  bool collective = fold_engine_has_ranks((enum fold_engine)b->engine);
  if (b->engine == FOLD_HOST) argp_failure(state, 2, 0, "--engine host: only GPUs and collectives are timed");
  if (collective && (b->rows || b->cols)) argp_failure(state, 2, 0, "--rows and --cols are for --engine cuda");
  if (collective && b->options.iterations < LEAST_RUNS)
    argp_failure(state, 2, 0, "--iterations: at least %d of a collective, whose spreads are judged", LEAST_RUNS);
  if (collective && b->options.peer)
    argp_failure(state, 2, 0, "--peer is for --engine cuda: a collective's is the library's own");
  if (!collective && (b->n_workers || b->n_bytes || b->settings || b->what || !isnan(b->link) || !isnan(b->memory)))
    argp_failure(state, 2, 0, "--what, --workers, --bytes, --settings, --link and --memory need --engine mpi or nccl");
  for (size_t k = 0; k < b->n_bytes; k++)
    if (b->bytes[k] < 8 || b->bytes[k] % 8 || b->bytes[k] / 2 > UINT64_C(1) << MOST_TERMS)
      argp_failure(state, 2, 0, "--bytes: multiples of 8 up to 2^35");
}

static void check_options(struct bench_command *b, struct argp_state *state) {
  bool matrix = b->rows != 0 || b->cols != 0;
  check_kind(b, state);
  if (matrix && (b->rows == 0 || b->cols == 0)) argp_failure(state, 2, 0, "--rows and --cols go together");
  if (matrix && b->n_sizes) argp_failure(state, 2, 0, "--n and --rows exclude each other");
  if (matrix && b->rows > (UINT64_C(1) << MOST_TERMS) / b->cols)
    argp_failure(state, 2, 0, "over 2^%d elements", MOST_TERMS);
  b->options.generator = fold_generator_find(b->generator);
  if (!b->options.generator)
    argp_failure(state, 2, 0, "no generator '%s': see foldproof list generators", b->generator);
  if (fold_engine_has_ranks((enum fold_engine)b->engine)) {
    if (!b->what) b->what = FOLD_BENCH_MESSAGES | FOLD_BENCH_STRONG | FOLD_BENCH_WEAK;
    return;
  }
  if (!b->options.subjects)
    b->options.subjects = matrix ? "rows/*,cub/segmented*,flat/canonical" : "flat/*,cub/reduce*,thrust/*";
  if (!b->options.peer) b->options.peer = matrix ? "cub/segmented" : "cub/reduce";
}

static error_t parse(int key, char *arg, struct argp_state *state) {
  struct bench_command *b = state->input;
  switch (key) {
    case SUBJECTS: b->options.subjects = arg; return 0;
    case N: b->n_sizes = parse_numbers("--n", arg, UINT64_C(1) << MOST_TERMS, b->sizes, state); return 0;
    case BYTES: b->n_bytes = parse_numbers("--bytes", arg, UINT64_C(1) << MOST_BYTES, b->bytes, state); return 0;
    case WORKERS: parse_workers(b, arg, state); return 0;
    case WHAT: parse_what(b, arg, state); return 0;
    case SETTINGS: b->settings = arg; return 0;
    case LINK: b->link = parse_rate("--link", arg, state); return 0;
    case MEMORY: b->memory = parse_rate("--memory", arg, state); return 0;
    case ENGINE:
      b->engine = fold_engine_parse(arg);
      if (b->engine < 0) argp_failure(state, 2, 0, "--engine %s: not one of cuda, mpi, nccl", arg);
      return 0;
    case ROWS: b->rows = fold_option_number(state, "--rows", arg, UINT64_C(1) << MOST_TERMS); return 0;
    case COLS: b->cols = fold_option_number(state, "--cols", arg, UINT64_C(1) << MOST_TERMS); return 0;
    case DTYPE: parse_dtypes(b, arg, state); return 0;
    case OP: b->op = (enum fold_op)fold_option_op(state, arg); return 0;
    case GENERATOR: b->generator = arg; return 0;
    case ITERATIONS:
      b->options.iterations = (unsigned)fold_option_number(state, "--iterations", arg, 100000);
      if (b->options.iterations < 3) argp_failure(state, 2, 0, "--iterations: at least 3");
      return 0;
    case SEED: b->options.seed = fold_option_number(state, "--seed", arg, INT64_MAX); return 0;
    case PEER: b->options.peer = arg; return 0;
    case JSONL: b->jsonl = arg; return 0;
    case UNVERIFIED: b->options.verify = false; return 0;
    case ARGP_KEY_END: check_options(b, state); return 0;
    default: return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp_child children[] = {{&fold_world_argp, 0, NULL, 0}, {0}};

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .children = children,
    .doc =
        "Time CUDA subjects, or collectives over ranks, each judged first.\v"
        "Times are of CUDA events, medians over the timed runs; inputs rotate past the L2; the ceiling is a plain read "
        "of memory in the same run. A figure above the ceiling is implausible: exit code 1. So is a refuted claim. "
        "Of a collective the slowest rank counts (MPI: by its host's clock); its local share and its calls are timed "
        "by "
        "themselves too; a speed-up above the world's size, more than link or memory carry, a negative overhead are "
        "implausible."};

static const char *verdict_of(const struct fold_timing *t) {
  if (t->refuted) return "refuted";
  if (t->broken) return "broken";
  return t->held ? "held" : "not judged";
}

static void print_timing(const struct fold_timing *t) {
  printf("%-28s", t->subject->name);
  if (isnan(t->median)) {
    printf(" %10s %9s %9s %9s %8s %8s", "-", "-", "-", "-", "-", "-");
  } else {
    printf(" %10.2f %9.2f %9.2f %9.1f %8.3f", 1e6 * t->median, 1e6 * t->p10, 1e6 * t->p90, 1e-9 * t->bytes_per_second,
           t->of_ceiling);
    if (isnan(t->to_peer))
      printf(" %8s", "-");
    else
      printf(" %8.3f", t->to_peer);
  }
  printf("  %s%s", verdict_of(t), t->implausible ? "  IMPLAUSIBLE: above the ceiling" : "");
  if (t->note[0]) printf("  (%s)", t->note);
  printf("\n");
}

static fold_status write_timing(struct bench_command *b, const struct fold_timing *t, double ceiling) {
  json_t *line =
      json_pack("{s:i, s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:s, s:I, s:i, s:s, s:b}", "schema", FOLD_SCHEMA, "type",
                "timing", "subject", t->subject->name, "engine", "cuda", "dtype", fold_dtype_name(t->shape.dtype), "op",
                fold_op_name(t->shape.op), "rows", (json_int_t)t->shape.rows, "cols", (json_int_t)t->shape.cols,
                "generator", b->generator, "seed", (json_int_t)b->options.seed, "iterations",
                (int)b->options.iterations, "verdict", verdict_of(t), "implausible", (int)t->implausible);
  fold_record_number(line, "median_seconds", t->median);
  fold_record_number(line, "p10_seconds", t->p10);
  fold_record_number(line, "p90_seconds", t->p90);
  fold_record_number(line, "bytes_per_second", t->bytes_per_second);
  fold_record_number(line, "ceiling_bytes_per_second", ceiling);
  fold_record_number(line, "of_ceiling", t->of_ceiling);
  fold_record_number(line, "to_peer", t->to_peer);
  if (line) json_object_set_new(line, "peer", json_string(b->options.peer));
  if (line && t->note[0]) json_object_set_new(line, "note", json_string(t->note));
  return fold_records_line(&b->records, line);
}

void fold_bench_begin_shape(struct bench_command *b, const char *what) {
  fold_progress_show(&b->progress, b->done, b->shapes, what);
}

void fold_bench_end_shape(struct bench_command *b) {
  b->done++;
  fold_progress_clear(&b->progress);
}

static fold_status bench_shape(struct bench_command *b, const struct fold_registry *registry,
                               const struct fold_bench_shape *shape, double ceiling, struct fold_timing *timing,
                               struct bench_outcome *outcome) {
  size_t n;
  char what[80];
  snprintf(what, sizeof what, "%s, %zu x %zu", fold_dtype_name(shape->dtype), shape->rows, shape->cols);
  fold_bench_begin_shape(b, what);
  fold_status status = fold_bench_shape(registry, &b->options, shape, ceiling, timing, &n, fold_watch_interrupt());
  fold_bench_end_shape(b);
  FOLD_TRY(status);
  printf("\n%s %s, %zu x %zu, %s\n", fold_dtype_name(shape->dtype), fold_op_name(shape->op), shape->rows, shape->cols,
         b->generator);
  printf("%-28s %10s %9s %9s %9s %8s %8s  %s\n", "subject", "median us", "p10 us", "p90 us", "GB/s", "ceiling", "peer",
         "judged first");
  for (size_t k = 0; k < n; k++) {
    print_timing(&timing[k]);
    outcome->timed += !isnan(timing[k].median);
    outcome->implausible += timing[k].implausible;
    outcome->refuted += timing[k].refuted > 0;
    outcome->broken += timing[k].broken > 0;
    if (b->records.file) FOLD_TRY(write_timing(b, &timing[k], ceiling));
  }
  fflush(stdout);
  return fold_ok();
}

/* The ceiling is read over as many bytes as the largest input has: 4 GiB stream 1% faster than 1 GiB. */
static size_t ceiling_bytes(const struct bench_command *b) {
  size_t largest = 0, least = (size_t)1 << LEAST_CEILING, most = (size_t)1 << MOST_CEILING;
  for (int d = 0; d < FOLD_DTYPES; d++)
    for (size_t k = 0; k < b->n_sizes && (b->dtypes >> d & 1); k++) {
      size_t nbytes = (b->rows ? b->rows : 1) * b->sizes[k] * fold_dtype_size((enum fold_dtype)d);
      if (nbytes > largest) largest = nbytes;
    }
  return largest < least ? least : largest > most ? most : largest / 16 * 16;
}

static fold_status bench_all(struct bench_command *b, const struct fold_registry *registry,
                             struct bench_outcome *outcome) {
  double ceiling;
  const char *read_shape = "";
  size_t nbytes = ceiling_bytes(b);
  FOLD_TRY(fold_bench_ceiling(nbytes, b->options.iterations, &ceiling, &read_shape));
  printf("ceiling: a plain read of %.2f GB, %s: %.1f GB/s; peer: %s\n", 1e-9 * (double)nbytes, read_shape,
         1e-9 * ceiling, b->options.peer);
  b->shapes = (size_t)__builtin_popcount(b->dtypes) * b->n_sizes;
  struct fold_timing *timing = calloc(registry->n, sizeof *timing);
  if (timing == NULL) return fold_error(FOLD_NO_MEMORY, "not enough memory");
  fold_status status = fold_ok();
  for (int d = 0; d < FOLD_DTYPES; d++)
    for (size_t k = 0; k < b->n_sizes && (b->dtypes >> d & 1) && status.code == FOLD_OK && !*fold_watch_interrupt();
         k++) {
      struct fold_bench_shape shape = {(enum fold_dtype)d, b->op, b->rows ? b->rows : 1, b->sizes[k]};
      status = bench_shape(b, registry, &shape, ceiling, timing, outcome);
    }
  free(timing);
  return status;
}

static void choose_sizes(struct bench_command *b) {
  static const uint64_t report[] = {1000, 10000, 100000, 1000000, 10000000, 100000000, 500000000};
  if (b->rows) {
    b->sizes[0] = b->cols;
    b->n_sizes = 1;
  } else if (b->n_sizes == 0) {
    memcpy(b->sizes, report, sizeof report);
    b->n_sizes = sizeof report / sizeof *report;
  }
}

int fold_command_bench(int argc, char **argv, const struct fold_registry *registry) {
  struct bench_command b = {.options = {.seed = 1, .iterations = 51, .verify = true},
                            .dtypes = 1u << FOLD_F32,
                            .op = FOLD_SUM,
                            .generator = "normal",
                            .engine = FOLD_CUDA,
                            .link = NAN,
                            .memory = NAN};
  argp_parse(&argp, argc, argv, 0, NULL, &b);
  bool collective = fold_engine_has_ranks((enum fold_engine)b.engine);
  if (!collective) choose_sizes(&b);
  struct bench_outcome outcome = {0};
  fold_progress_open(&b.progress);
  struct fold_selection all = {.subjects = b.options.subjects, .engine = b.engine};
  fold_status status = collective ? fold_engine_ready((enum fold_engine)b.engine) : fold_bench_ready();
  if (status.code == FOLD_OK) status = fold_selection_check(&all, registry);
  if (status.code == FOLD_OK && b.jsonl) status = fold_records_open(&b.records, b.jsonl);
  if (status.code == FOLD_OK && b.jsonl) status = fold_records_environment(&b.records);
  if (status.code == FOLD_OK)
    status = collective ? fold_bench_collectives(&b, registry, &outcome) : bench_all(&b, registry, &outcome);
  fold_status closed = fold_records_close(&b.records, status.code == FOLD_OK);
  if (status.code == FOLD_OK) status = closed;
  if (status.code == FOLD_UNSUPPORTED) fprintf(stderr, "%s: skipped\n", argv[0]);
  if (status.code != FOLD_OK) return fold_report(argv[0], status);
  if (outcome.refuted || outcome.implausible) return 1;
  return outcome.broken || *fold_watch_interrupt() ? 99 : outcome.timed ? 0 : 77;
}
