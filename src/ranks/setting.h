/* ranks/setting.h: the environment variables that choose a library's all-reduce method, and worlds that are started with
 * them.
 *
 * NCCL and MPI read their variables once, before the first communicator. So each setting has a world of its own: new
 * processes, started after the last world has ended. A launcher exports variables to ranks on its own node; to other
 * nodes only if its command line says so.
 */
#ifndef FOLD_WORLD_SETTING_H
#define FOLD_WORLD_SETTING_H

#include "base/fold.h"

enum { FOLD_SETTING_VARIABLES = 3 };

struct fold_world_setting {
  enum fold_engine engine;
  const char *name; /* "default", "ring", "ring/simple" */
  bool timed;       /* the bench compares these; the others are probed only */
  struct {
    const char *name, *value;
  } variable[FOLD_SETTING_VARIABLES];
};

/* Both engines' settings, each engine's "default" before its others. */
const struct fold_world_setting *fold_world_settings(size_t *n);
/* BAD_INPUT for globs that match no setting of the engine: it names these, and the nearest. */
fold_status fold_world_no_setting(enum fold_engine engine, const char *globs);

/* fold_setting_enter ends the engine's world and sets the variables for the next one; fold_setting_leave ends that
 * world and puts the variables back. Under "default" the user's own values stay in force. */
struct fold_setting_before {
  char *value[FOLD_SETTING_VARIABLES];
};
fold_status fold_setting_enter(const struct fold_world_setting *setting, struct fold_setting_before *before);
fold_status fold_setting_leave(const struct fold_world_setting *setting, struct fold_setting_before *before);

/* The environment's variables that configure an engine with ranks and its library: "NAME=value" each, sorted, with NULL
 * behind the last. The caller frees the list; NULL: no memory. Variables for logs and for the launcher's own
 * connections are left out, since no result depends on them. */
const char **fold_world_variables(enum fold_engine engine);
/* Whether a variable of that name (with or without its value) is one of them. */
bool fold_world_has_variable(enum fold_engine engine, const char *variable);

#endif
