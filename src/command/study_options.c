/* command/study_options.c: the command line of foldproof study. */
#include <stdlib.h>
#include <string.h>

#include "command/study.h"
#include "kernels/collective/comm.h"
#include "study/ranks.h"

enum { SIZES = 0x200, GENERATORS, DTYPES, PROBLEMS, SEED, JSONL, FULL, SIMULATE, MESSAGES, WORLDS, ENGINE, SETTINGS };
enum { MOST_TERMS = 34 };

static const struct argp_option options[] = {
    {"sizes", SIZES, "LIST", 0,
     "numbers of terms: 1e3,1e6,2^20 (default: 1e3 to 1e7; with --simulate: of ranks, 2 to 2^16)", 1},
    {"generators", GENERATORS, "GLOBS", 0, "what the inputs hold (default: mixed, pathological, normal and a few more)",
     1},
    {"dtypes", DTYPES, "LIST", 0, "dtypes: f16, bf16, f32, f64, e4m3, e5m2 (default: f32; with --worlds also f64)", 1},
    {"problems", PROBLEMS, "LIST", 0, "OPERATIONS (default: sum)", 1},
    {"seed", SEED, "SEED", 0, "seed of the inputs (1)", 1},
    {"jsonl", JSONL, "FILE", 0, "write a record of each error", 1},
    {"full", FULL, NULL, 0,
     "all sizes to 5e7 (1e9 on a GPU), finite data, dtypes and problems, unless another option names some; an hour "
     "on 2 cores",
     1},
    {"simulate", SIMULATE, NULL, 0,
     "do only this: simulate all-reduces by ring, trees and the canonical order for 2 to 65,536 ranks, in worlds up to "
     "the largest of --sizes",
     1},
    {"messages", MESSAGES, NULL, 0,
     "do only this: find which bits of an all-reduce agree, by the library's settings and the message's length "
     "(--sizes)",
     1},
    {"worlds", WORLDS, NULL, 0,
     "do only this: compare sums of --sizes terms (1e7) over 1, 2, 3, 4, 5, 8 ranks with one rank's sum, the order's "
     "replay and the exact sum; and all-reduces of as many elements (1e6)",
     1},
    {"engine", ENGINE, "mpi|nccl", 0, "with --messages, --worlds: the ranks' engine (nccl if there are GPUs, else mpi)",
     1},
    {"settings", SETTINGS, "GLOBS", 0, "with --messages: only these settings: default, ring, tree/LL ...", 1},
    {0},
};

static void parse_sizes(struct study_command *s, char *arg, struct argp_state *state) {
  s->n_sizes = fold_option_numbers(state, "--sizes", arg, 0, UINT64_C(1) << MOST_TERMS, s->sizes, FOLD_STUDY_SIZES);
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

/* Refuses globs of which one matches nothing: it is a mistake that would look like a success. */
static void check_generators(const char *globs, struct argp_state *state) {
  char *copy = strdup(globs), *rest = NULL;
  char *glob = copy ? strtok_r(copy, ",", &rest) : NULL;
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
  if (s->full) argp_failure(state, 2, 0, "--simulate does not go with --full");
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

/* The last engine with ranks whose memory exists on this machine. */
static int engine_here(void) {
  int found = FOLD_MPI;
  for (int e = 0; e < FOLD_ENGINES; e++)
    if (fold_comm_engine_of((enum fold_engine)e) && fold_engine_ready(fold_engine_rows[e].memory).code == FOLD_OK)
      found = e;
  return found;
}

static void fill_worlds_defaults(struct study_command *s, struct argp_state *state) {
  if (s->full || s->simulate || s->messages)
    argp_failure(state, 2, 0, "--worlds does not go with --simulate, --messages or --full");
  if (s->ops & ~(1u << FOLD_SUM)) argp_failure(state, 2, 0, "--worlds is for sums only");
  if (s->engine < 0) s->engine = engine_here();
  if (s->n_sizes == 0) s->sizes[s->n_sizes++] = 10000000;
  for (size_t k = 0; k < s->n_sizes; k++)
    if (s->sizes[k] == 0) argp_failure(state, 2, 0, "--worlds: sizes from 1 on");
  if (!s->generators) s->generators = "normal,mixed,pathological";
  if (s->dtypes == 0) s->dtypes = 1u << FOLD_F32 | 1u << FOLD_F64;
}

static void fill_messages_defaults(struct study_command *s, struct argp_state *state) {
  if (s->full || s->simulate) argp_failure(state, 2, 0, "--messages does not go with --simulate or --full");
  if (s->ops & ~(1u << FOLD_SUM)) argp_failure(state, 2, 0, "--messages tests sums only");
  if (s->engine < 0) s->engine = engine_here();
  /* Each length is four times the former one, so that the end of a chunk moves through the first message. */
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
    case PROBLEMS: s->ops = fold_option_mask(state, "--problems", arg, fold_option_op); return 0;
    case SEED: s->seed = fold_option_number(state, "--seed", arg, 0, INT64_MAX); return 0;
    case JSONL: s->jsonl = arg; return 0;
    case FULL: s->full = true; return 0;
    case SIMULATE: s->simulate = true; return 0;
    case MESSAGES: s->messages = true; return 0;
    case WORLDS: s->worlds = true; return 0;
    case SETTINGS: s->settings = arg; return 0;
    case ENGINE:
      s->engine = fold_engine_parse(arg);
      if (s->engine < 0 || !fold_engine_has_ranks((enum fold_engine)s->engine))
        fold_option_refuse(state, "--engine", arg, (const char *const[]){"mpi", "nccl", NULL});
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
    .help_filter = fold_help_operations,
    .doc =
        "Measure the error of every method by size, data, dtype and problem, against the exact result.\n"
        "\n"
        "Examples:\n"
        "  foldproof study --sizes 1e3 --generators normal,mixed\n"
        "  foldproof study --simulate --sizes 2,8,64 --generators normal\n"
        "  foldproof study --messages --engine nccl --jsonl messages.jsonl\v"
        "Prints the tables of the reference study with the exact sum as reference (docs/case-study.md says why its "
        "figures differ); and for each kind of data the errors with their bound, the square-root curve and the "
        "condition number. It judges nothing; use foldproof verify for that. But if --messages or --worlds refutes a "
        "subject's claim, the exit code is 1. An interrupted study prints and records what was finished. The reference "
        "study used --sizes 1e3,1e4,1e5,1e6,1e7,5e7 --generators mixed,pathological,normal."};

void fold_study_parse(struct study_command *s, int argc, char **argv) {
  *s = (struct study_command){.seed = 1, .engine = -1};
  fold_parse(&argp, argc, argv, s);
}
