/* command_study.c: foldproof study: errors of every method by size, data and dtype; or a simulation of many ranks; or a
 * probe of all-reduces; or sums over worlds. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bits.h"
#include "collective/comm.h"
#include "command_study.h"
#include "list.h"
#include "study.h"
#include "study_course.h"
#include "study_ranks.h"

enum { SIZES = 0x200, GENERATORS, DTYPES, OPS, SEED, JSONL, FULL, SIMULATE, MESSAGES, WORLDS, ENGINE, SETTINGS };
enum { MOST_TERMS = 34 };

static const struct argp_option options[] = {
    {"sizes", SIZES, "LIST", 0,
     "numbers of terms: 1e3,1e6,2^20 (default: 1e3 to 1e7; with --simulate: of ranks, 2 to 2^16)", 1},
    {"generators", GENERATORS, "GLOBS", 0, "what the inputs hold (default: mixed, pathological, normal and a few more)",
     1},
    {"dtypes", DTYPES, "LIST", 0, "dtypes: f16, bf16, f32, f64 (default: f32; with --worlds also f64)", 1},
    {"ops", OPS, "LIST", 0, "operations: sum, prod, max, min (default: sum)", 1},
    {"seed", SEED, "SEED", 0, "seed of the inputs (1)", 1},
    {"jsonl", JSONL, "FILE", 0, "write a record of each error", 1},
    {"full", FULL, NULL, 0,
     "all sizes to 5e7 (1e9 on a GPU), finite data, dtypes and operations, unless another option names some; an hour "
     "on 2 cores",
     1},
    {"simulate", SIMULATE, NULL, 0,
     "only: simulate all-reduces by ring, trees and the canonical order for 2 to 65,536 ranks, worlds up to the "
     "largest of --sizes",
     1},
    {"messages", MESSAGES, NULL, 0,
     "only: find which bits of an all-reduce agree, by the library's settings and the message's length (--sizes)", 1},
    {"worlds", WORLDS, NULL, 0,
     "only: compare sums of --sizes terms (1e7) over 1, 2, 3, 4, 5, 8 ranks with one rank's sum, the order's replay "
     "and the exact sum; and all-reduces of as many elements (1e6)",
     1},
    {"engine", ENGINE, "mpi|nccl", 0, "with --messages, --worlds: the ranks' engine (nccl if there are GPUs, else mpi)",
     1},
    {"settings", SETTINGS, "GLOBS", 0, "with --messages: only these settings: default, ring, tree/LL ...", 1},
    {0},
};

static void parse_sizes(struct study_command *s, char *arg, struct argp_state *state) {
  s->n_sizes = fold_option_numbers(state, "--sizes", arg, UINT64_C(1) << MOST_TERMS, s->sizes, FOLD_STUDY_SIZES);
  for (size_t k = 0; k < s->n_sizes; k++)
    for (size_t before = 0; before < k; before++)
      if (s->sizes[before] == s->sizes[k])
        argp_failure(state, 2, 0, "--sizes: %llu twice", (unsigned long long)s->sizes[k]);
}

static bool glob_finds(const char *glob) {
  size_t n;
  const struct fold_generator *all = fold_generators(&n);
  for (size_t g = 0; g < n; g++)
    if (fold_glob_match(glob, all[g].name)) return true;
  return false;
}

/* One idle glob among several is a slip that would pass for a success. */
static void check_generators(const char *globs, struct argp_state *state) {
  char *copy = strdup(globs), *rest = NULL;
  char *glob = copy ? strtok_r(copy, ",", &rest) : NULL;
  if (!glob) argp_failure(state, 2, 0, "--generators: an empty list");
  for (; glob; glob = strtok_r(NULL, ",", &rest))
    if (!glob_finds(glob))
      argp_failure(state, 2, 0, "no generator matches '%s': %s", glob, fold_option_generator(glob, (char[240]){0}));
  free(copy);
}

static const char some_data[] = "mixed,pathological,normal,uniform,alternating,harmonic,ill_conditioned,constant";
static const char finite_data[] =
    "mixed,pathological,normal,uniform,zeros_*,constant,integers,alternating,harmonic,full_range,subnormals,"
    "overflow_partial,overflow_sum,ill_conditioned,ties,near_ties";

static void fill_defaults(struct study_command *s) {
  static const uint64_t sizes[] = {1000, 10000, 100000, 1000000, 10000000, 50000000};
  if (s->n_sizes == 0) {
    s->gpu_terms = s->full;
    s->n_sizes = s->full ? 6 : 5;
    memcpy(s->sizes, sizes, s->n_sizes * sizeof *sizes);
  }
  if (!s->generators) s->generators = s->full ? finite_data : some_data;
  if (s->dtypes == 0) s->dtypes = s->full ? FOLD_EVERYWHERE : 1u << FOLD_F32;
  if (s->ops == 0) s->ops = s->full ? (1u << FOLD_OPS) - 1 : 1u << FOLD_SUM;
}

static void fill_simulate_defaults(struct study_command *s, struct argp_state *state) {
  static const uint64_t ranks[] = {2, 3, 4, 8, 16, 64, 72, 256, 1000, 1024, 4096, 8192, 10000, 16384, 32768, 65536};
  if (s->full) argp_failure(state, 2, 0, "--simulate and --full exclude each other");
  if (s->ops & ~(1u << FOLD_SUM)) argp_failure(state, 2, 0, "--simulate takes sums only");
  if (s->n_sizes == 0) {
    s->n_sizes = sizeof ranks / sizeof *ranks;
    memcpy(s->sizes, ranks, sizeof ranks);
  }
  for (size_t k = 0; k < s->n_sizes; k++)
    if (s->sizes[k] < 2 || s->sizes[k] > FOLD_RANKS_MOST)
      argp_failure(state, 2, 0, "--simulate: 2 to %zu ranks, not %llu", FOLD_RANKS_MOST,
                   (unsigned long long)s->sizes[k]);
  if (!s->generators) s->generators = "normal,mixed";
  if (s->dtypes == 0) s->dtypes = 1u << FOLD_F32;
}

/* The last one with ranks whose memory can be had here. */
static int engine_here(void) {
  int found = FOLD_MPI;
  for (int e = 0; e < FOLD_ENGINES; e++)
    if (fold_comm_engine_of((enum fold_engine)e) && fold_engine_ready(fold_engine_rows[e].memory).code == FOLD_OK)
      found = e;
  return found;
}

static void fill_worlds_defaults(struct study_command *s, struct argp_state *state) {
  if (s->full || s->simulate || s->messages)
    argp_failure(state, 2, 0, "--worlds excludes --simulate, --messages and --full");
  if (s->ops & ~(1u << FOLD_SUM)) argp_failure(state, 2, 0, "--worlds is for sums only");
  if (s->engine < 0) s->engine = engine_here();
  if (s->n_sizes == 0) s->sizes[s->n_sizes++] = 10000000;
  for (size_t k = 0; k < s->n_sizes; k++)
    if (s->sizes[k] == 0) argp_failure(state, 2, 0, "--worlds: sizes from 1 on");
  if (!s->generators) s->generators = "normal,mixed,pathological";
  if (s->dtypes == 0) s->dtypes = 1u << FOLD_F32 | 1u << FOLD_F64;
}

static void fill_messages_defaults(struct study_command *s, struct argp_state *state) {
  if (s->full || s->simulate) argp_failure(state, 2, 0, "--messages excludes --simulate and --full");
  if (s->ops & ~(1u << FOLD_SUM)) argp_failure(state, 2, 0, "--messages probes sums only");
  if (s->engine < 0) s->engine = engine_here();
  /* Each four times the last: where a chunk ends moves through the first message. */
  bool host = fold_engine_is_host((enum fold_engine)s->engine);
  uint64_t n = host ? 1024 : 4096, most = host ? 1 << 18 : 1 << 24;
  for (bool named = s->n_sizes > 0; !named && n <= most; n *= 4) s->sizes[s->n_sizes++] = n;
  for (size_t k = 0; k < s->n_sizes; k++)
    if (s->sizes[k] == 0) argp_failure(state, 2, 0, "--messages: lengths from 1 on");
  if (!s->generators) s->generators = "normal";
  if (s->dtypes == 0) s->dtypes = 1u << FOLD_F32;
}

static error_t parse(int key, char *arg, struct argp_state *state) {
  struct study_command *s = state->input;
  switch (key) {
    case SIZES:
      parse_sizes(s, arg, state);
      s->named_sizes = true;
      return 0;
    case GENERATORS:
      check_generators(arg, state);
      s->generators = arg;
      return 0;
    case DTYPES: s->dtypes = fold_option_mask(state, "--dtypes", arg, fold_option_dtype); return 0;
    case OPS: s->ops = fold_option_mask(state, "--ops", arg, fold_option_op); return 0;
    case SEED: s->seed = fold_option_number(state, "--seed", arg, INT64_MAX); return 0;
    case JSONL: s->jsonl = arg; return 0;
    case FULL: s->full = true; return 0;
    case SIMULATE: s->simulate = true; return 0;
    case MESSAGES: s->messages = true; return 0;
    case WORLDS: s->worlds = true; return 0;
    case SETTINGS: s->settings = arg; return 0;
    case ENGINE:
      s->engine = fold_engine_parse(arg);
      if (s->engine < 0 || !fold_engine_has_ranks((enum fold_engine)s->engine))
        argp_failure(state, 2, 0, "--engine %s: not mpi or nccl", arg);
      return 0;
    case ARGP_KEY_END:
      if (!s->messages && s->settings) argp_failure(state, 2, 0, "--settings needs --messages");
      if (!s->messages && !s->worlds && s->engine >= 0)
        argp_failure(state, 2, 0, "--engine needs --messages or --worlds");
      if (s->worlds)
        fill_worlds_defaults(s, state);
      else if (s->messages)
        fill_messages_defaults(s, state);
      else if (s->simulate)
        fill_simulate_defaults(s, state);
      else
        fill_defaults(s);
      return 0;
    default: return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .children = fold_world_child,
    .doc =
        "Measure the error of every method by size, data, dtype and operation, against the exact result.\vPrints the "
        "tables of a course report (docs/claims.md) with the exact reference (docs/report.md says why its figures "
        "differ); and for each "
        "kind of data the errors with their bound, the square-root curve and the condition number. It judges nothing; "
        "use foldproof verify for that. But if --messages or --worlds refutes a subject's promise, the exit code is 1. "
        "An interrupted study prints and records what was finished. The course report's own sizes: --sizes "
        "1e3,1e4,1e5,1e6,1e7,5e7 --generators mixed,pathological,normal."};

struct plan {
  struct fold_study_case *at;
  size_t n, capacity;
  fold_status left_out; /* the last thing that a generator can't do */
};

static fold_status add_case(struct plan *plan, struct fold_study_case c) {
  struct fold_source source = {c.generator, c.dtype, c.seed, c.n, 0};
  fold_status can = fold_source_check(&source);
  if (can.code != FOLD_OK) {
    plan->left_out = can;
    return fold_ok();
  }
  struct fold_study_case *added = fold_list_grow(&plan->at, &plan->n, &plan->capacity, sizeof *added);
  if (added == NULL) return fold_error(FOLD_NO_MEMORY, "not enough memory for the plan");
  *added = c;
  return fold_ok();
}

static int rising(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

void fold_study_sort(struct study_command *s) { qsort(s->sizes, s->n_sizes, sizeof *s->sizes, rising); }

static fold_status plan_size(const struct study_command *s, size_t n, unsigned engines, struct plan *plan) {
  static const enum fold_dtype first[] = {FOLD_F32, FOLD_F64, FOLD_BF16, FOLD_F16};
  size_t n_generators;
  const struct fold_generator *all = fold_generators(&n_generators);
  for (unsigned d = 0; d < FOLD_DTYPES; d++)
    for (int op = 0; op < FOLD_OPS; op++)
      for (size_t g = 0; g < n_generators; g++) {
        const enum fold_dtype dtype = d < sizeof first / sizeof *first ? first[d] : (enum fold_dtype)d;
        if (!(s->dtypes >> dtype & 1) || !(s->ops >> op & 1)) continue;
        if (!fold_glob_match(s->generators, all[g].name)) continue;
        FOLD_TRY(add_case(plan, (struct fold_study_case){&all[g], dtype, (enum fold_op)op, n, s->seed, engines}));
      }
  return fold_ok();
}

enum { GPU_TERMS = 1000000000 };

/* What finishes first comes first: sizes rise, and f32 goes ahead. A billion terms are for a GPU. */
static fold_status make_plan(struct study_command *s, unsigned gpus, struct plan *plan) {
  static const char *const data[] = {"mixed", "pathological", "normal"};
  const unsigned engines = 1u << FOLD_HOST | gpus;
  fold_study_sort(s);
  for (size_t k = 0; k < s->n_sizes; k++) FOLD_TRY(plan_size(s, s->sizes[k], engines, plan));
  bool wanted = s->gpu_terms && gpus && (s->dtypes >> FOLD_F32 & 1) && (s->ops >> FOLD_SUM & 1);
  for (size_t g = 0; g < 3 && wanted; g++)
    if (fold_glob_match(s->generators, data[g]))
      FOLD_TRY(add_case(
          plan, (struct fold_study_case){fold_generator_find(data[g]), FOLD_F32, FOLD_SUM, GPU_TERMS, s->seed, gpus}));
  return plan->n > 0 ? fold_ok() : plan->left_out;
}

void fold_study_set_errors(json_t *line, const struct fold_study_point *p) {
  fold_record_number(line, "exact", p->exact);
  fold_record_number(line, "abs_sum", p->abs_sum);
  fold_record_number(line, "error_abs", p->error);
  fold_record_number(line, "error_ulps", p->ulps);
  fold_record_number(line, "error_relative", p->relative);
  fold_record_number(line, "bound", p->bound);
}

static fold_status write_point(void *context, const struct fold_study_point *p) {
  struct study_command *s = context;
  const struct fold_study_case *c = &p->c;
  json_t *line = json_pack("{s:i, s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:I}", "schema", FOLD_SCHEMA, "type", "study",
                           "subject", p->subject->name, "engine", fold_engine_name(p->subject->engine), "generator",
                           c->generator->name, "dtype", fold_dtype_name(c->dtype), "op", fold_op_name(c->op), "n",
                           (json_int_t)c->n, "seed", (json_int_t)c->seed, "height", (json_int_t)p->height);
  if (line && p->ran) {
    fold_record_bits(line, "got", c->dtype, p->got);
    fold_record_bits(line, "want", c->dtype, p->want);
    fold_study_set_errors(line, p);
    fold_record_number(line, "probabilistic", p->probabilistic);
    fold_record_number(line, "condition", p->condition);
  }
  if (line && p->note[0]) json_object_set_new(line, "note", json_string(p->note));
  return fold_measuring_take(&s->measuring, line);
}

static void show_progress(void *context, size_t done, size_t all, const char *what) {
  fold_progress_show(&((struct study_command *)context)->measuring.progress, done, all, what);
}

/* What the course report measured against, and the tree in float64: of each row of its tables. */
static fold_status write_course(struct study_command *s, const struct fold_course *course) {
  for (int t = 0; t < 3; t++)
    for (size_t r = 0; r < course->table[t].n; r++) {
      const struct fold_course_way *way = &course->table[t].row[r].way;
      const struct fold_study_case *c = &course->table[t].row[r].at[0]->c;
      json_t *line = json_pack("{s:i, s:s, s:s, s:s, s:s, s:I, s:I}", "schema", FOLD_SCHEMA, "type", "study_float64",
                               "generator", c->generator->name, "dtype", fold_dtype_name(c->dtype), "op",
                               fold_op_name(c->op), "n", (json_int_t)c->n, "seed", (json_int_t)c->seed);
      fold_record_number(line, "float64_sum", way->reference);
      fold_record_number(line, "float64_error", way->reference_error);
      fold_record_number(line, "float64_tree", way->tree64);
      fold_record_number(line, "float64_tree_error", way->tree64_error);
      FOLD_TRY(fold_measuring_take(&s->measuring, line));
    }
  return fold_ok();
}

static fold_status print_study(struct study_command *s, const struct fold_study *study,
                               const struct fold_course *course, fold_status gpu, const fold_status *left_out) {
  fold_study_print_associativity(stdout);
  fold_course_print(course, study, gpu.code == FOLD_OK ? NULL : gpu.text, stdout);
  if (study->n)
    printf(
        "\nErrors by size, data and method\n"
        "bound: the method's theorem for the order's own height (foldproof's claim bounded); curve: sqrt(height) u sum |x|\n"
        "with its constant taken as 1 (Higham and Mary 2019): statistics, not a bound; condition: sum |x| / |sum x|.\n"
        "Errors are rounded up.\n");
  const fold_status status = fold_measuring_show(&s->measuring);
  if (left_out->code != FOLD_OK) printf("\nleft out, among others maybe: %s\n", left_out->text);
  if (gpu.code != FOLD_OK) printf("\nGPU subjects are left out: %s\n", gpu.text);
  return status;
}

/* The exit code, where nothing failed: 77 when no subject gave a result. */
static int study_code(const struct fold_study *study) {
  size_t ran = 0;
  for (size_t i = 0; i < study->n; i++) ran += study->at[i].ran;
  return study->broken ? 99 : ran ? 0 : 77;
}

/* Which engines with a memory of their own can run, as a mask; with none, `why` says why. */
static fold_status find_gpus(const struct fold_registry *registry, unsigned *gpus, fold_status *why) {
  *gpus = 0;
  *why = fold_error(FOLD_UNSUPPORTED, "this build has no subject on a GPU");
  for (int e = 0; e < FOLD_ENGINES; e++) {
    bool any = false;
    for (size_t i = 0; i < registry->n; i++) any |= (int)registry->subjects[i].engine == e;
    if (!any || fold_engine_is_host((enum fold_engine)e) || fold_engine_has_ranks((enum fold_engine)e)) continue;
    fold_status ready = fold_engine_ready((enum fold_engine)e);
    if (ready.code == FOLD_OK)
      *gpus |= 1u << e;
    else if (ready.code != FOLD_UNSUPPORTED)
      return ready;
    else
      *why = ready;
  }
  if (*gpus) *why = fold_ok();
  return fold_ok();
}

static fold_status study_errors(struct study_command *s, const struct fold_registry *registry, int *exit_code) {
  struct fold_study study = {0};
  struct fold_course course;
  struct plan plan = {0};
  struct fold_study_sink sink = {write_point, show_progress, s};
  const volatile int *stop = fold_watch_interrupt();
  unsigned gpus;
  fold_status gpu, status = find_gpus(registry, &gpus, &gpu);
  if (status.code == FOLD_OK) status = make_plan(s, gpus, &plan);
  if (status.code == FOLD_OK) status = fold_measuring_open(&s->measuring, s->jsonl);
  if (status.code == FOLD_OK) status = fold_study_run(registry, plan.at, plan.n, &study, &sink, stop);
  if (status.code == FOLD_OK) status = fold_course_fill(&course, &study);
  if (status.code == FOLD_OK) status = write_course(s, &course);
  if (status.code == FOLD_OK) status = print_study(s, &study, &course, gpu, &plan.left_out);
  status = fold_measuring_close(&s->measuring, "foldproof study", status);
  *exit_code = study_code(&study);
  fold_study_free(&study);
  free(plan.at);
  return status;
}

int fold_command_study(int argc, char **argv, const struct fold_registry *registry) {
  struct study_command s = {.seed = 1, .engine = -1};
  int exit_code = 0;
  fold_parse(&argp, argc, argv, &s);
  fold_status status = s.worlds     ? fold_study_worlds(&s, registry, &exit_code)
                       : s.messages ? fold_study_messages(&s, registry, &exit_code)
                       : s.simulate ? fold_study_ranks(&s)
                                    : study_errors(&s, registry, &exit_code);
  if (status.code != FOLD_OK) return fold_print_error(argv[0], status);
  if (!*fold_watch_interrupt()) return exit_code;
  fprintf(stderr, "%s: interrupted: what is above was finished\n", argv[0]);
  return 99;
}
