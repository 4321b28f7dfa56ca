/* command/help.h: the options that every command has, and the version. */
#ifndef FOLD_COMMAND_HELP_H
#define FOLD_COMMAND_HELP_H

#include <argp.h>

/* "foldproof 0.2.0 (commit 0123456789ab)"; "unknown" where the build knew no commit. */
const char *fold_version_text(void);
/* argp_parse with --help, -h, --usage and --version, each of which ends the process, as an empty word does. */
void fold_help_parse(const struct argp *argp, int argc, char **argv, void *input);

#endif
