/* command/gen.c: foldproof gen: writes a generated array to a .npy file. */
#include <stdio.h>
#include <stdlib.h>

#include "command/command.h"
#include "fixtures/npy.h"
#include "fixtures/number.h"

enum { N = 'n', OUT = 'o', ROWS = 0x200, COLS, DTYPE, SEED, CONDITION };

struct gen {
  struct fold_source source;
  const char *generator, *path;
  uint64_t rows, cols;
  bool flat, says_n;
};

static const struct argp_option options[] = {
    {"n", N, "N", 0, "elements, in one dimension", 0},
    {"rows", ROWS, "R", 0, "rows of a two-dimensional array", 0},
    {"cols", COLS, "C", 0, "columns of a two-dimensional array", 0},
    {"dtype", DTYPE, "DTYPE", 0, "f16, bf16 (written as <u2), f32 (the default), f64, e4m3 or e5m2 (as |u1)", 0},
    {"seed", SEED, "SEED", 0, "seed of the generator (1)", 0},
    {"condition", CONDITION, "C", 0, "wanted condition number, where the generator takes one", 0},
    {"output", OUT, "FILE.npy", 0, "where to write", 0},
    {0},
};

enum { MOST = 40 }; /* log2 of the largest number of elements */

static void parse_condition(struct gen *g, const char *arg, struct argp_state *state) {
  const char *wrong = fold_number_condition(arg, &g->source.condition);
  if (wrong) argp_failure(state, 2, 0, "--condition: %s %s", arg, wrong);
}

static void check_options(struct gen *g, struct argp_state *state) {
  const struct fold_generator *found = g->generator ? fold_generator_find(g->generator) : NULL;
  if (!g->generator) argp_failure(state, 2, 0, "name a generator: see foldproof list generators");
  if (!found)
    argp_failure(state, 2, 0, "no generator '%s': %s", g->generator,
                 fold_option_generator(g->generator, (char[240]){0}));
  if (!g->path) argp_failure(state, 2, 0, "--output is missing");
  if (g->says_n && !g->flat) argp_failure(state, 2, 0, "--n does not go with --rows or --cols");
  if (g->cols == UINT64_MAX) argp_failure(state, 2, 0, "--n, or --rows and --cols, is missing");
  if (g->cols && g->rows > (UINT64_C(1) << MOST) / g->cols) argp_failure(state, 2, 0, "over 2^%d elements", MOST);
  g->source.generator = found;
  g->source.cols = g->cols;
}

static error_t parse(int key, char *arg, struct argp_state *state) {
  struct gen *g = state->input;
  uint64_t most = UINT64_C(1) << MOST;
  switch (key) {
    case N: g->cols = fold_option_number(state, "--n", arg, 0, most), g->says_n = true; return 0;
    case ROWS: g->rows = fold_option_number(state, "--rows", arg, 0, most), g->flat = false; return 0;
    case COLS: g->cols = fold_option_number(state, "--cols", arg, 0, most), g->flat = false; return 0;
    case DTYPE: g->source.dtype = (enum fold_dtype)fold_option_dtype(state, "--dtype", arg); return 0;
    case SEED: g->source.seed = fold_option_number(state, "--seed", arg, 0, INT64_MAX); return 0;
    case CONDITION: parse_condition(g, arg, state); return 0;
    case OUT: g->path = arg; return 0;
    case ARGP_KEY_ARG:
      if (g->generator) return ARGP_ERR_UNKNOWN;
      g->generator = arg;
      return 0;
    case ARGP_KEY_END: check_options(g, state); return 0;
    default: return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "GENERATOR",
    .doc =
        "Write an array to a .npy file. The same arguments give the same bits on any machine.\n"
        "\n"
        "Examples:\n"
        "  foldproof gen normal -n 1000 -o x.npy\n"
        "  foldproof gen mixed --rows 8 --cols 1e4 --dtype f16 -o y.npy\n"
        "  foldproof gen ill_conditioned -n 1000 --condition 1e6 --seed 7 -o z.npy"};

static fold_status fill_part(void *context, uint64_t first, size_t n, void *out) {
  fold_generate_parallel(context, first, n, out, 0);
  return fold_ok();
}

int fold_command_gen(int argc, char **argv, const struct fold_registry *registry) {
  (void)registry;
  struct gen g = {.source = {.dtype = FOLD_F32, .seed = 1}, .rows = 1, .cols = UINT64_MAX, .flat = true};
  fold_parse(&argp, argc, argv, &g);
  fold_status status = fold_source_check(&g.source);
  if (status.code == FOLD_OK)
    status = fold_npy_write(g.path, g.source.dtype, g.rows, g.cols, g.flat, fill_part, &g.source);
  return fold_print_error(argv[0], status);
}
