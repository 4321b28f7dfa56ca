/* command/rerun_trust.h: what records name that runs code with the user's rights: guests, the launcher of ranks, settings of libraries.
 *
 * Anybody may have written a file of records. So none of this is taken from one unless the user says --trust. What the user gives (guests
 * and --launch on the command line, variables in the environment) replaces what the file names. Numbers of threads are data, and taken.
 */
#ifndef FOLD_COMMAND_RERUN_TRUST_H
#define FOLD_COMMAND_RERUN_TRUST_H

#include <jansson.h>
#include <stdio.h>

#include "run/job.h"

struct fold_rerun_named {
  const json_t *guests, *asked; /* in the first environment of the file that has them; NULL: none has */
  struct fold_options given;    /* the user's guests */
  bool trust;
  bool ranks; /* an engine over ranks will be run */
};

/* Prints a line for each thing that the records name and the user has not given; returns how many there are. */
size_t fold_rerun_show(const struct fold_rerun_named *named, FILE *out);
/* Adds the guests that are to run: those that the user gave, or else, with --trust, those of the records. */
void fold_rerun_add_guests(const struct fold_rerun_named *named, struct fold_options *options);
/* The command that starts ranks; NULL: the user's, or the usual one. */
const char *fold_rerun_launch(const struct fold_rerun_named *named);
/* Sets the recorded numbers of threads and, with --trust, the settings of libraries over ranks. */
void fold_rerun_set_variables(const struct fold_rerun_named *named);

#endif
