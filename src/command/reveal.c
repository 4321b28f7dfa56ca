/* command/reveal.c: foldproof reveal: reveals the tree of a subject, compiled in or a guest, from outside. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/one_subject.h"
#include "command/reveal_map.h"
#include "judge/reveal_subject.h"
#include "ranks/world.h"

enum { N = 'n', DTYPE = 0x200, PROBLEM, FORMAT, ROWS, MAP, SETTINGS, JSONL };

static const char *const formats[] = {"text", "json", "svg", NULL};

struct reveal {
  const char *program, *format;
  struct fold_one one;
  struct fold_reveal_asked asked;
  bool says_dtype;
  struct fold_map_options maps;
  const char *not_of_maps; /* an option that was given but does not go with --map */
};

static const struct argp_option options[] = {
    {"n", N, "N", 0, "number of terms (64; for an all-reduce the number of ranks)", 0},
    {"dtype", DTYPE, "DTYPE", 0, "dtype of the terms (f32, or the first that the subject takes)", 0},
    {"problem", PROBLEM, "PROBLEM", 0, "sum, or dot (sum, unless the subject takes only dot)", 0},
    {"format", FORMAT, "FORMAT", 0, "text (the default), json or svg", 0},
    {"rows", ROWS, "ROWS", 0, "rows in one call (1,024, or fewer if these have more than four million terms)", 0},
    {"map", MAP, "LENGTHS", 0,
     "for a collective: find the tree over ranks of every element, in messages of these lengths (1,4096,1e6)", 1},
    {"settings", SETTINGS, "GLOBS", 0,
     "with --map: settings of the library: default (if not given), ring, tree/LL, '*' ...", 1},
    {"jsonl", JSONL, "FILE", 0, "with --map: write a record of each map", 1},
    {0},
};

static void take_format(struct reveal *r, const char *arg, struct argp_state *state) {
  for (const char *const *format = formats; *format; format++)
    if (strcmp(arg, *format) == 0) r->format = *format;
  if (strcmp(arg, r->format) != 0) fold_option_refuse(state, "--format", arg, formats);
}

static void check_maps(struct reveal *r, struct argp_state *state) {
  const char *of_maps = r->maps.settings ? "--settings" : r->maps.jsonl ? "--jsonl" : NULL;
  if (r->maps.lengths == 0 && of_maps) argp_failure(state, 2, 0, "%s: with --map", of_maps);
  if (r->maps.lengths > 0 && r->not_of_maps) argp_failure(state, 2, 0, "%s: not with --map", r->not_of_maps);
  if (r->maps.lengths > 0 && r->format != formats[0] && r->format != formats[1])
    argp_failure(state, 2, 0, "--map: as text or json");
  if (!r->maps.settings) r->maps.settings = "default";
}

static error_t parse(int key, char *arg, struct argp_state *state) {
  struct reveal *r = state->input;
  switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &r->one; return 0;
    case N:
      r->not_of_maps = "-n";
      r->asked.n = (size_t)fold_option_number(state, "--n", arg, 1, FOLD_TREE_MOST);
      return 0;
    case DTYPE:
      r->asked.dtype = (enum fold_dtype)fold_option_dtype(state, "--dtype", arg);
      r->says_dtype = true;
      return 0;
    case PROBLEM:
      r->not_of_maps = "--problem";
      r->asked.problem = fold_option_problem(state, arg)->id;
      return 0;
    case ROWS:
      r->not_of_maps = "--rows";
      r->asked.rows = (size_t)fold_option_number(state, "--rows", arg, 1, FOLD_REVEAL_MOST_ROWS);
      return 0;
    case FORMAT: take_format(r, arg, state); return 0;
    case MAP:
      r->maps.lengths =
          fold_option_numbers(state, "--map", arg, 1, UINT64_C(1) << 32, r->maps.length, FOLD_MAP_LENGTHS);
      return 0;
    case SETTINGS: r->maps.settings = arg; return 0;
    case JSONL: r->maps.jsonl = arg; return 0;
    case ARGP_KEY_END: check_maps(r, state); return 0;
    default: return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp_child children[] = {{&fold_one_argp, 0, NULL, 0}, {&fold_world_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    .options = options,
    .parser = parse,
    .children = children,
    .args_doc = "[SUBJECT]",
    .doc =
        "Find the tree by which a subject sums n terms, only from its results, and print it.\n"
        "\n"
        "Examples:\n"
        "  foldproof reveal host/pairwise -n 32\n"
        "  foldproof reveal host/numpy --dtype f64 --format json\n"
        "  foldproof reveal --guest ./my_sum.so --format svg >tree.svg\v"
        "A tree is printed only if its replay gave the subject's bits on random data, in calls with many rows and row "
        "by row. Exit code 1: no tree's replay gave these bits, because the order varies from run to run, depends on "
        "values or is no tree; or the tree depends on the row's place in a call."};

static void print_ways(FILE *out, const struct fold_revealed *v) {
  if (v->how.fusing != FOLD_ROUNDED_ONCE || fold_tree_width(&v->tree) > 2)
    fprintf(out, "several      up to %zu operands at once, %s\n", fold_tree_width(&v->tree),
            fold_fusing_text(v->how.fusing));
  size_t fused = 0;
  for (size_t k = 0; v->tree.fused && k < v->tree.n; k++) fused += v->tree.fused[k];
  if (v->tree.fused)
    fprintf(out, "products     %zu of %zu enter %s\n", fused, v->tree.n,
            v->tree.accumulator ? "unrounded" : "by an FMA");
}

static fold_status print_text(FILE *out, const struct reveal *r, const struct fold_subject *s,
                              const struct fold_revealed *v) {
  const enum fold_dtype declared = fold_subject_accumulator(s, r->asked.dtype);
  uint64_t print;
  fprintf(out, "%s on %s: %s of %zu %s\n", s->name, fold_engine_rows[s->engine].title,
          s->unknown ? "function of rows, of unknown value," : fold_problem(r->asked.problem)->name, r->asked.n,
          fold_dtype_name(r->asked.dtype));
  if (v->kind == FOLD_REVEALED_TREE) {
    FOLD_TRY(fold_tree_fingerprint(&v->tree, &print));
    fprintf(out, "order        %s\nfingerprint  0x%016llx\nheight       %zu\n", v->name[0] ? v->name : "unknown",
            (unsigned long long)print, fold_tree_height(&v->tree));
    print_ways(out, v);
    if (v->tree.accumulator)
      fprintf(out, "accumulator  %s\n", v->why);
    else if (v->how.accumulator != declared)
      fprintf(out, "accumulator  %s, and not %s as declared\n", fold_dtype_name(v->how.accumulator),
              fold_dtype_name(declared));
    fprintf(out, "\n");
    FOLD_TRY(fold_tree_text(&v->tree, out));
    fprintf(out, "\n");
  } else {
    fprintf(out, "order        %s%s%s%s%s\n", fold_revealed_text(v->kind), v->name[0] ? ": " : "", v->name,
            v->why[0] ? ": " : "", v->why);
  }
  if (v->place[0]) fprintf(out, "place        this tree is of a single row: in a call with more rows %s\n", v->place);
  if (v->by_batch && v->batch_print)
    fprintf(out, "batch        the tree depends on the batch: this is that of one row, many have another (0x%016llx)\n",
            (unsigned long long)v->batch_print);
  else if (v->by_batch)
    fprintf(out, "batch        this tree is of a single row: some calls with more rows have different bits\n");
  if (v->proofs)
    fprintf(out, "tested       %llu rows of data, %llu pairs of terms in %llu calls\n", (unsigned long long)v->proofs,
            (unsigned long long)v->probes, (unsigned long long)v->launches);
  return fold_ok();
}

static fold_status print(FILE *out, const struct reveal *r, const struct fold_subject *s,
                         const struct fold_revealed *v) {
  char title[160], *line;
  const struct fold_summer summer = {.n = r->asked.n,
                                     .dtype = r->asked.dtype,
                                     .accumulator = fold_subject_accumulator(s, r->asked.dtype),
                                     .factors = fold_problem(r->asked.problem)->factors};
  snprintf(title, sizeof title, "%s, n = %zu", s->name, r->asked.n);
  if (r->format == formats[0]) return print_text(out, r, s, v);
  if (r->format == formats[1]) {
    FOLD_TRY(fold_revealed_json(v, s, &summer, &line));
    fprintf(out, "%s\n", line);
    free(line);
    return fold_ok();
  }
  if (v->kind != FOLD_REVEALED_TREE)
    return fold_error(FOLD_UNSUPPORTED, "there is no tree to draw: %s%s%s", fold_revealed_text(v->kind),
                      v->name[0] || v->why[0] ? ": " : "", v->name[0] ? v->name : v->why);
  return fold_tree_svg(&v->tree, title, out);
}

/* Fills in what follows from the subject: the only problem that it takes, and the ranks of its engine. */
static fold_status complete(const struct fold_subject *s, struct fold_reveal_asked *asked) {
  struct fold_world *world;
  if (asked->problem == FOLD_ROWS_SUM) asked->problem = fold_reveal_usual_problem(s);
  if (!fold_engine_has_ranks(s->engine)) return fold_ok();
  FOLD_TRY(fold_world_of(s->engine, &world));
  asked->ranks = fold_world_ranks(world);
  if (s->vector) asked->n = asked->ranks;
  return fold_ok();
}

static int reveal_maps(const struct reveal *r, const struct fold_subject *subject, FILE *out) {
  int code = 0;
  fold_status status = fold_reveal_maps(&r->maps, subject, r->asked.dtype, r->format == formats[1], out, &code);
  const fold_status closed = fold_worlds_close();
  if (status.code == FOLD_OK) status = closed;
  return status.code != FOLD_OK ? fold_print_error(r->program, status) : code;
}

static int reveal(void *context, const struct fold_subject *subject, FILE *out) {
  struct reveal *r = context;
  struct fold_revealed revealed = {0};
  if (!r->says_dtype) r->asked.dtype = fold_reveal_usual_dtype(subject);
  if (r->maps.lengths > 0) return reveal_maps(r, subject, out);
  fold_status status = complete(subject, &r->asked);
  if (status.code == FOLD_OK) status = fold_reveal_subject(subject, &r->asked, &revealed);
  if (status.code == FOLD_OK) status = print(out, r, subject, &revealed);
  const bool found = revealed.kind <= FOLD_REVEALED_METHOD && !revealed.place[0];
  fold_revealed_free(&revealed);
  fold_status closed = fold_worlds_close();
  if (status.code == FOLD_OK) status = closed;
  return status.code != FOLD_OK ? fold_print_error(r->program, status) : !found;
}

int fold_command_reveal(int argc, char **argv, const struct fold_registry *registry) {
  struct reveal r = {
      .program = argv[0], .format = formats[0], .one = {.engine = -1}, .asked = {.n = 64, .problem = FOLD_ROWS_SUM}};
  fold_parse(&argp, argc, argv, &r);
  return fold_one_subject(argv[0], &r.one, registry, reveal, &r);
}
