/* command/help.c: what every command line has: --help, -h, --usage, --version, and no empty words. argp's own options are left out,
 * because they have no -h. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/build.h"
#include "command/command.h"
#include "model/problem.h"

enum { HELP = 'h', ALSO_HELP = '?', USAGE = 0x7f00, VERSION = 'V' };

static const struct argp_option options[] = {
    {"help", HELP, NULL, 0, "print this help", -1},
    {NULL, ALSO_HELP, NULL, OPTION_ALIAS | OPTION_HIDDEN, NULL, -1},
    {"usage", USAGE, NULL, 0, "print the options in short", -1},
    {"version", VERSION, NULL, 0, "print the version and the commit", -1},
    {0},
};

static bool is_empty(const char *text) { return text[strspn(text, " \t\n,")] == '\0'; }

/* No option takes an empty word, and no argument is one: mostly it is a variable of the shell that is not set. */
static void refuse_empty(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    const char *word = argv[i], *before = i > 1 && *argv[i - 1] == '-' ? argv[i - 1] : "", *equals = strchr(word, '=');
    if (strncmp(word, "--", 2) == 0 && equals && is_empty(equals + 1))
      fprintf(stderr, "%s: %.*s '%s': it is empty\n", argv[0], (int)(equals - word), word, equals + 1);
    else if (is_empty(word))
      fprintf(stderr, "%s: %s%s'%s': it is empty\n", argv[0], before, *before ? " " : "", word);
    else
      continue;
    exit(argp_err_exit_status);
  }
}

static error_t parse(int key, char *arg, struct argp_state *state) {
  (void)arg;
  switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = state->input; return 0;
    case HELP:
    case ALSO_HELP: argp_state_help(state, state->out_stream, ARGP_HELP_STD_HELP); return 0;
    case USAGE: argp_state_help(state, state->out_stream, ARGP_HELP_USAGE | ARGP_HELP_EXIT_OK); return 0;
    case VERSION: fprintf(state->out_stream, "%s\n", fold_version_text()); exit(0);
    default: return ARGP_ERR_UNKNOWN;
  }
}

/* Leaves out the note on options with two names, which everybody knows. */
static char *filter(int key, const char *text, void *input) {
  (void)input;
  return key == ARGP_KEY_HELP_DUP_ARGS_NOTE ? NULL : (char *)(uintptr_t)text;
}

/* The text with the names in place of the word, or as it is. */
static char *put_names(const char *text, const char *word, const char *names) {
  const char *at = text ? strstr(text, word) : NULL;
  char *whole;
  if (!at || asprintf(&whole, "%.*s%s%s", (int)(at - text), text, names, at + strlen(word)) < 0)
    return (char *)(uintptr_t)text;
  return whole;
}

char *fold_help_problems(int key, const char *text, void *input) {
  char names[120];
  (void)key;
  (void)input;
  return put_names(text, "PROBLEMS", fold_problem_names(names));
}

char *fold_help_operations(int key, const char *text, void *input) {
  char names[120];
  size_t n = 0;
  (void)key;
  (void)input;
  for (int op = 0; op < FOLD_OPS; op++)
    n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", op ? ", " : "", fold_op_name((enum fold_op)op));
  return put_names(text, "OPERATIONS", names);
}

const char *fold_version_text(void) {
  static char text[80];
  snprintf(text, sizeof text, "foldproof " FOLD_VERSION " (commit %s)", fold_build_commit());
  return text;
}

void fold_help_parse(const struct argp *argp, int argc, char **argv, void *input) {
  const struct argp_child children[] = {{argp, 0, NULL, 0}, {0}};
  const struct argp whole = {.options = options, .parser = parse, .children = children, .help_filter = filter};
  refuse_empty(argc, argv);
  argp_parse(&whole, argc, argv, ARGP_NO_HELP, NULL, input);
}
