/* job.c: see job.h. */
#include "run/job.h"

#include <stdlib.h>

#include "base/list.h"

void fold_options_add(struct fold_options *o, const char *name, const char *value) {
  struct fold_option *added = fold_list_grow(&o->at, &o->n, &o->room, sizeof *added);
  o->failed |= added == NULL;
  if (added) *added = (struct fold_option){name, value};
}

void fold_options_free(struct fold_options *o) {
  free(o->at);
  *o = (struct fold_options){0};
}

const char **fold_options_argv(const struct fold_options *o, const char *program, const char *command) {
  const char **argv = o->failed ? NULL : malloc((2 * o->n + 3) * sizeof *argv);
  size_t n = 0;
  if (argv == NULL) return NULL;
  argv[n++] = program, argv[n++] = command;
  for (size_t i = 0; i < o->n; i++) {
    argv[n++] = o->at[i].name;
    if (o->at[i].value) argv[n++] = o->at[i].value;
  }
  argv[n] = NULL;
  return argv;
}

static void add_said(struct fold_options *o, const char *name, const char *value) {
  if (value) fold_options_add(o, name, value);
}

void fold_options_add_job(struct fold_options *o, const struct fold_job *job) {
  add_said(o, "--subjects", job->subjects);
  add_said(o, "--engine", job->engine);
  add_said(o, "--claims", job->claims);
  if (job->probe) fold_options_add(o, "--probe", NULL);
  for (size_t i = 0; i < job->n_npy; i++) fold_options_add(o, "--npy", job->npy[i]);
  if (job->n_npy > 0) add_said(o, "--problem", job->op);
  add_said(o, "--fixture-folder", job->folder);
  add_said(o, "--set", job->set);
  add_said(o, "--fixtures", job->fixtures);
}
