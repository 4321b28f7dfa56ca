/* command/certify.c: foldproof certify and foldproof check: writes a certificate of a subject's results, and checks
 * one. */
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "certify/certify.h"
#include "certify/check.h"
#include "command/one.h"

enum { FIXTURES = 'f', OUTPUT = 'o', FOLDER = 0x200 };

struct certify {
  struct fold_one one;
  struct fold_selection_options defaults;
  const char *program, *fixtures, *folder, *output;
};

static const struct argp_option options[] = {
    {"fixtures", FIXTURES, "CASE", 0, "the case, one of foldproof list fixtures", 0},
    {"fixture-folder", FOLDER, "DIR", 0, "the folder of the *.ini files", 0},
    {"output", OUTPUT, "FILE", 0, "write the certificate here (standard output)", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state) {
  struct certify *c = state->input;
  switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &c->one; return 0;
    case FIXTURES: c->fixtures = arg; return 0;
    case FOLDER: c->folder = arg; return 0;
    case OUTPUT: c->output = arg; return 0;
    case ARGP_KEY_END:
      if (!c->fixtures) argp_failure(state, 2, 0, "--fixtures names the case");
      return 0;
    default: return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp_child children[] = {{&fold_one_argp, 0, NULL, 0}, {&fold_timeout_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    .options = options,
    .parser = parse,
    .children = children,
    .args_doc = "[SUBJECT]",
    .doc =
        "Run a subject once on a case and write a certificate: the inputs, the order of additions, the results, the "
        "exact results, the bounds and the environment, as a text that foldproof check verifies without the subject.\n"
        "\n"
        "Examples:\n"
        "  foldproof certify host/pairwise -f normal/f32/sum/1x33/seed1 -o sum.cert\n"
        "  foldproof certify --guest ./my_sum.so -f thirds/f32/sum/1x3 -o my.cert\n"
        "  foldproof certify host/exact -f thirds/f32/sum/1x3 >exact.cert\v"
        "The order is the declared one, or a revealed one. Exit code 77: a certificate cannot state this result."};

static int certify(void *context, const struct fold_subject *subject, FILE *out) {
  const struct certify *c = context;
  struct fold_cases cases = {0};
  const struct fold_selection selection = {.engine = -1, .folder = c->folder, .set = "all", .fixtures = c->fixtures};
  fold_status status = fold_select_cases(&selection, 0, &cases);
  if (status.code == FOLD_OK && cases.n != 1)
    status = fold_error(FOLD_BAD_INPUT, "--fixtures %.100s: %zu cases, and one is certified at a time", c->fixtures,
                        cases.n);
  if (status.code == FOLD_OK) status = fold_certify(subject, &cases.at[0], c->output, out);
  fold_cases_free(&cases);
  return fold_print_error(c->program, status);
}

int fold_command_certify(int argc, char **argv, const struct fold_registry *registry) {
  struct certify c = {.one = {.engine = -1}, .program = argv[0]};
  fold_selection_defaults(&c.defaults);
  c.folder = c.defaults.selection.folder;
  fold_parse(&argp, argc, argv, &c);
  return fold_one_subject(argv[0], &c.one, registry, certify, &c);
}

struct check {
  char **files;
  size_t n;
};

static error_t parse_check(int key, char *arg, struct argp_state *state) {
  struct check *c = state->input;
  (void)arg;
  switch (key) {
    case ARGP_KEY_ARGS:
      c->files = state->argv + state->next;
      c->n = (size_t)(state->argc - state->next);
      return 0;
    case ARGP_KEY_NO_ARGS: argp_failure(state, 2, 0, "name a certificate"); return 0;
    default: return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp check_argp = {
    .parser = parse_check,
    .args_doc = "FILE...",
    .doc =
        "Check certificates: add the inputs of each one in its order, compare with its results, and compute its exact "
        "values and bounds again. The subjects are not run.\n"
        "\n"
        "Examples:\n"
        "  foldproof check sum.cert\n"
        "  foldproof check *.cert\n"
        "  foldproof check sum.cert my.cert && echo both hold\v"
        "Exit code 1: a certificate does not hold; the message names the file, the line and what is wrong. Exit code "
        "2: a file cannot be read or is no certificate, and the rest hold."};

/* A name or a line of the file may be any bytes. */
static void print_refused(const char *program, const char *file, const char *why) {
  char *name = fold_text_escape(file), *what = fold_text_escape(why);
  fprintf(stderr, "%s: %s: %s\n", program, name ? name : "", what ? what : "");
  free(name);
  free(what);
}

int fold_command_check(int argc, char **argv, const struct fold_registry *registry) {
  (void)registry;
  struct check c = {0};
  size_t wrong = 0, unread = 0;
  fold_parse(&check_argp, argc, argv, &c);
  for (size_t i = 0; i < c.n; i++) {
    char why[300];
    bool read;
    const bool held = fold_certificate_check(c.files[i], &read, why);
    wrong += read && !held;
    unread += !read;
    if (held)
      fold_print_line("held: %s: %s", c.files[i], why);
    else
      print_refused(argv[0], c.files[i], why);
  }
  return fold_finish_output(argv[0], wrong ? 1 : unread ? 2 : 0);
}
