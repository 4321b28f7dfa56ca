/* command_bench.c: foldproof bench: verify, then time, on a GPU; a table and JSON lines. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "command.h"
#include "environment.h"
#include "record.h"

enum { N = 'n', SUBJECTS = 's', ROWS = 0x200, COLS, DTYPE, OP, ITERATIONS, SEED, GENERATOR, PEER, JSONL, UNVERIFIED };
enum { MOST_SIZES = 64, MOST_TERMS = 34, MOST_CEILING = 34, LEAST_CEILING = 30 }; /* log2 of bytes */

struct bench_command {
  struct fold_bench_options options;
  uint64_t sizes[MOST_SIZES];
  size_t n_sizes;
  uint64_t rows, cols;
  unsigned dtypes;
  enum fold_op op;
  const char *generator, *jsonl;
  struct fold_records records;
};

static const struct argp_option options[] = {
    {"subjects", SUBJECTS, "GLOBS", 0, "only these CUDA subjects (flat/* and peers; rows/* and peers with --rows)", 1},
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
    {0},
};

static void parse_sizes(struct bench_command *b, char *arg, struct argp_state *state) {
  char *rest = NULL;
  for (char *size = strtok_r(arg, ",", &rest); size; size = strtok_r(NULL, ",", &rest)) {
    if (b->n_sizes == MOST_SIZES) argp_failure(state, 2, 0, "--n: at most %d sizes", MOST_SIZES);
    b->sizes[b->n_sizes++] = fold_option_number(state, "--n", size, UINT64_C(1) << MOST_TERMS);
  }
}

static void parse_dtypes(struct bench_command *b, char *arg, struct argp_state *state) {
  char *rest = NULL;
  b->dtypes = 0;
  for (char *name = strtok_r(arg, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
    b->dtypes |= 1u << fold_option_dtype(state, name);
}

static void check_options(struct bench_command *b, struct argp_state *state) {
  bool matrix = b->rows != 0 || b->cols != 0;
  if (matrix && (b->rows == 0 || b->cols == 0)) argp_failure(state, 2, 0, "--rows and --cols go together");
  if (matrix && b->n_sizes) argp_failure(state, 2, 0, "--n and --rows exclude each other");
  if (matrix && b->rows > (UINT64_C(1) << MOST_TERMS) / b->cols)
    argp_failure(state, 2, 0, "over 2^%d elements", MOST_TERMS);
  b->options.generator = fold_generator_find(b->generator);
  if (!b->options.generator)
    argp_failure(state, 2, 0, "no generator '%s': see foldproof list generators", b->generator);
  if (!b->options.subjects)
    b->options.subjects = matrix ? "rows/*,cub/segmented*,flat/canonical" : "flat/*,cub/reduce*,thrust/*";
  if (!b->options.peer) b->options.peer = matrix ? "cub/segmented" : "cub/reduce";
}

static error_t parse(int key, char *arg, struct argp_state *state) {
  struct bench_command *b = state->input;
  switch (key) {
    case SUBJECTS: b->options.subjects = arg; return 0;
    case N: parse_sizes(b, arg, state); return 0;
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

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .doc =
        "Time CUDA subjects, each judged on the same input first.\v"
        "Times are of CUDA events, medians over the timed runs; inputs rotate past the L2; the ceiling is a plain read "
        "of memory in the same run. A figure above the ceiling is implausible: exit code 1. So is a refuted claim."};

static const char *verdict_of(const struct fold_timing *t) {
  if (t->refuted) return "refuted";
  if (t->broken) return "broken";
  return t->held ? "held" : "not judged";
}

static void print_timing(const struct fold_timing *t) {
  printf("%-28s", t->subject->name);
  if (isnan(t->median)) {
    printf(" %10s", "-");
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

struct outcome {
  size_t timed, implausible, refuted, broken;
};

static fold_status bench_shape(struct bench_command *b, const struct fold_registry *registry,
                               const struct fold_bench_shape *shape, double ceiling, struct fold_timing *timing,
                               struct outcome *outcome) {
  size_t n;
  FOLD_TRY(fold_bench_shape(registry, &b->options, shape, ceiling, timing, &n, fold_watch_interrupt()));
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

static fold_status bench_all(struct bench_command *b, const struct fold_registry *registry, struct outcome *outcome) {
  double ceiling;
  const char *read_shape = "";
  size_t nbytes = ceiling_bytes(b);
  FOLD_TRY(fold_bench_ceiling(nbytes, b->options.iterations, &ceiling, &read_shape));
  printf("ceiling: a plain read of %.2f GB, %s: %.1f GB/s; peer: %s\n", 1e-9 * (double)nbytes, read_shape,
         1e-9 * ceiling, b->options.peer);
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
                            .generator = "normal"};
  argp_parse(&argp, argc, argv, 0, NULL, &b);
  choose_sizes(&b);
  struct outcome outcome = {0};
  struct fold_selection all = {.subjects = b.options.subjects, .engine = FOLD_CUDA};
  fold_status status = fold_engine_ready(FOLD_CUDA);
  if (status.code == FOLD_OK) status = fold_selection_check(&all, registry);
  if (status.code == FOLD_OK && b.jsonl) status = fold_records_open(&b.records, b.jsonl);
  if (status.code == FOLD_OK && b.jsonl) status = fold_records_environment(&b.records);
  if (status.code == FOLD_OK) status = bench_all(&b, registry, &outcome);
  fold_status closed = fold_records_close(&b.records, status.code == FOLD_OK);
  if (status.code == FOLD_OK) status = closed;
  if (status.code == FOLD_UNSUPPORTED) fprintf(stderr, "%s: skipped\n", argv[0]);
  if (status.code != FOLD_OK) return fold_report(argv[0], status);
  if (outcome.refuted || outcome.implausible) return 1;
  return outcome.broken || *fold_watch_interrupt() ? 99 : outcome.timed ? 0 : 77;
}
