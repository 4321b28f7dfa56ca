/* command_help.c: --help, -h, --usage and --version of every command. argp's own options are left out, because they have no -h. */
#include <stdio.h>
#include <stdlib.h>

#include "build.h"
#include "command.h"
#include "command_help.h"

enum { HELP = 'h', ALSO_HELP = '?', USAGE = 0x7f00, VERSION = 'V' };

static const struct argp_option options[] = {
    {"help", HELP, NULL, 0, "print this help", -1},
    {NULL, ALSO_HELP, NULL, OPTION_ALIAS | OPTION_HIDDEN, NULL, -1},
    {"usage", USAGE, NULL, 0, "print the options in short", -1},
    {"version", VERSION, NULL, 0, "print the version and the commit", -1},
    {0},
};

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

const char *fold_version_text(void) {
  static char text[80];
  snprintf(text, sizeof text, "foldproof " FOLD_VERSION " (commit %s)", fold_build_commit());
  return text;
}

void fold_help_parse(const struct argp *argp, int argc, char **argv, void *input) {
  const struct argp_child children[] = {{argp, 0, NULL, 0}, {0}};
  const struct argp whole = {.options = options, .parser = parse, .children = children};
  argp_parse(&whole, argc, argv, ARGP_NO_HELP, NULL, input);
}
