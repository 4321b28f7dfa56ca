/* job.h: what is to be judged, as command-line options: for a new process (fresh.h), or for a shell (replay.h).
 */
#ifndef FOLD_JOB_H
#define FOLD_JOB_H

#include <stdbool.h>
#include <stddef.h>

struct fold_option {
  const char *name, *value; /* value: NULL where it takes none */
};

/* Options in the order in which they were added. Their texts belong to the caller. */
struct fold_options {
  struct fold_option *at;
  size_t n, room;
  bool failed; /* memory was short */
};
void fold_options_add(struct fold_options *options, const char *name, const char *value);
void fold_options_free(struct fold_options *options);
/* "PROGRAM COMMAND --name value ...", NULL at its end; to be freed. NULL where memory is short. */
const char **fold_options_argv(const struct fold_options *options, const char *program, const char *command);

/* NULL or 0: the option is left out. */
struct fold_job {
  const char *subjects, *engine, *claims;
  bool probe;
  const char *const *npy; /* paths of arrays; `op` is the problem whose inputs they are */
  size_t n_npy;
  const char *op;
  const char *folder, *set, *fixtures;
};
void fold_options_add_job(struct fold_options *options, const struct fold_job *job);

#endif
