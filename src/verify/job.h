/* job.h: what is to be judged, as the options that ask for it: the command line of a new process (fresh.h), or of a shell (replay.h).
 */
#ifndef FOLD_JOB_H
#define FOLD_JOB_H

#include <stdbool.h>
#include <stddef.h>

struct fold_option {
  const char *name, *value; /* value: NULL where it takes none */
};

/* Options in the order in which they were added; what they say is lent. */
struct fold_options {
  struct fold_option *at;
  size_t n, room;
  bool failed; /* memory was short */
};
void fold_options_add(struct fold_options *options, const char *name, const char *value);
void fold_options_free(struct fold_options *options);
/* "PROGRAM COMMAND --name value ...", NULL at its end; to be freed. NULL where memory is short. */
const char **fold_options_argv(const struct fold_options *options, const char *program, const char *command);

/* NULL and 0: not said. */
struct fold_job {
  const char *subjects, *engine, *claims;
  bool probe;
  const char *const *npy; /* arrays, and the problem of which they are the inputs */
  size_t n_npy;
  const char *op;
  const char *folder, *set, *fixtures;
};
void fold_options_add_job(struct fold_options *options, const struct fold_job *job);

#endif
