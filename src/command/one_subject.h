/* command/one_subject.h: what commands on one subject share: finding it, and running it in a process of its own. */
#ifndef FOLD_COMMAND_ONE_SUBJECT_H
#define FOLD_COMMAND_ONE_SUBJECT_H

#include <stdio.h>

#include "command/command.h"

struct fold_one {
  const char *name;
  int engine; /* -1: any */
  struct fold_guest guests[FOLD_GUESTS_MOST];
  size_t n_guests;
};
/* [SUBJECT], --engine, --guest, --exec; the input is a struct fold_one. */
extern const struct argp fold_one_argp;

/* Writes to `out`, the command's standard output: what the subject's code prints goes to standard error. Returns the exit code. */
typedef int fold_one_work(void *context, const struct fold_subject *subject, FILE *out);

/* Finds the subject that is named, or the only one of a guest, and works on it in a process of its own. So a subject
 * that crashes, exits or hangs (FOLDPROOF_TIMEOUT) is reported as such. Returns the exit code. */
int fold_one_subject(const char *program, struct fold_one *one, const struct fold_registry *registry,
                     fold_one_work *work, void *context);

#endif
