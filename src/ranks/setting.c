/* ranks/setting.c: the table of settings, and how the next world's environment is set. */
#include "ranks/setting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/did_you_mean.h"
#include "ranks/world.h"

#define NCCL(id, bench, ...)                                                     \
  {                                                                              \
    .engine = FOLD_NCCL, .name = id, .timed = bench, .variable = { __VA_ARGS__ } \
  }
#define MPI(id, bench, number)                                    \
  {                                                               \
    .engine = FOLD_MPI, .name = id, .timed = bench, .variable = { \
      {"OMPI_MCA_coll_tuned_use_dynamic_rules", "1"},             \
      {"OMPI_MCA_coll_tuned_allreduce_algorithm", number},        \
    }                                                             \
  }
/* The setting is for all-reduces only (NCCL 2.24 and newer): opening a communicator gathers, and a gather can't use a
 * tree. */
#define ALGORITHM(name) \
  { "NCCL_ALGO", "allreduce:" name }
#define PROTOCOL(name) \
  { "NCCL_PROTO", "allreduce:" name }
#define CHANNELS(name, number) \
  { name, number }

static const struct fold_world_setting settings[] = {
    {.engine = FOLD_NCCL, .name = "default", .timed = true},
    NCCL("ring", true, ALGORITHM("Ring")),
    NCCL("tree", true, ALGORITHM("Tree")),
    NCCL("simple", false, PROTOCOL("Simple")),
    NCCL("LL", false, PROTOCOL("LL")),
    NCCL("LL128", false, PROTOCOL("LL128")),
    NCCL("ring/simple", false, ALGORITHM("Ring"), PROTOCOL("Simple")),
    NCCL("ring/LL", false, ALGORITHM("Ring"), PROTOCOL("LL")),
    NCCL("ring/LL128", false, ALGORITHM("Ring"), PROTOCOL("LL128")),
    NCCL("tree/simple", false, ALGORITHM("Tree"), PROTOCOL("Simple")),
    NCCL("tree/LL", false, ALGORITHM("Tree"), PROTOCOL("LL")),
    NCCL("tree/LL128", false, ALGORITHM("Tree"), PROTOCOL("LL128")),
    NCCL("ring/simple/1 channel", false, ALGORITHM("Ring"), PROTOCOL("Simple"), CHANNELS("NCCL_MAX_NCHANNELS", "1")),
    NCCL("ring/simple/4 channels", false, ALGORITHM("Ring"), PROTOCOL("Simple"), CHANNELS("NCCL_MAX_NCHANNELS", "4")),
    /* The algorithms of Open MPI's coll/tuned allreduce, by their numbers. */
    {.engine = FOLD_MPI, .name = "default", .timed = true},
    MPI("basic linear", false, "1"),
    MPI("reduce, then broadcast", false, "2"),
    MPI("recursive doubling", true, "3"),
    MPI("ring", true, "4"),
    MPI("segmented ring", false, "5"),
    MPI("rabenseifner", false, "6"),
};

const struct fold_world_setting *fold_world_settings(size_t *n) {
  *n = sizeof settings / sizeof *settings;
  return settings;
}

fold_status fold_world_no_setting(enum fold_engine engine, const char *globs) {
  char names[300] = "", meant[160];
  struct fold_did_you_mean guess;
  fold_did_you_mean_open(&guess, globs);
  for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
    const size_t used = strlen(names);
    if (settings[i].engine != engine) continue;
    snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", settings[i].name);
    fold_did_you_mean_try(&guess, settings[i].name);
  }
  return fold_error(FOLD_BAD_INPUT, "no setting of %s matches '%.60s': not one of %s%s", fold_engine_rows[engine].title,
                    globs, names, fold_did_you_mean_text(&guess, meant));
}

/* Puts the first n variables back. */
static void put_back(const struct fold_world_setting *setting, int n, struct fold_setting_before *before) {
  for (int k = 0; k < n && setting->variable[k].name; k++) {
    if (before->value[k])
      setenv(setting->variable[k].name, before->value[k], 1);
    else
      unsetenv(setting->variable[k].name);
    free(before->value[k]);
  }
  *before = (struct fold_setting_before){0};
}

fold_status fold_setting_enter(const struct fold_world_setting *setting, struct fold_setting_before *before) {
  *before = (struct fold_setting_before){0};
  FOLD_TRY(fold_world_close(setting->engine));
  for (int k = 0; k < FOLD_SETTING_VARIABLES && setting->variable[k].name; k++) {
    const char *now = getenv(setting->variable[k].name);
    before->value[k] = now ? strdup(now) : NULL;
    if ((now && !before->value[k]) || setenv(setting->variable[k].name, setting->variable[k].value, 1)) {
      free(before->value[k]);
      put_back(setting, k, before);
      return fold_no_memory("for the environment");
    }
  }
  return fold_ok();
}

fold_status fold_setting_leave(const struct fold_world_setting *setting, struct fold_setting_before *before) {
  fold_status status = fold_world_close(setting->engine);
  put_back(setting, FOLD_SETTING_VARIABLES, before);
  return status;
}

static bool begins(const char *text, const char *begin) { return begin && strncmp(text, begin, strlen(begin)) == 0; }

static bool is_named(const char *variable, const char *name) {
  const size_t n = strlen(name);
  return strncmp(variable, name, n) == 0 && (variable[n] == '=' || variable[n] == '\0');
}

bool fold_world_has_variable(enum fold_engine engine, const char *variable) {
  static const char *const library[FOLD_ENGINES] = {[FOLD_MPI] = "OMPI_MCA_", [FOLD_NCCL] = "NCCL_"};
  /* Containers that have NCCL set NCCL_VERSION, but NCCL does not read it. */
  static const char *const idle[] = {"OMPI_MCA_oob_", "NCCL_DEBUG", "NCCL_VERSION"};
  if (!fold_engine_has_ranks(engine)) return false;
  if (is_named(variable, "FOLDPROOF_PEER") || (engine == FOLD_NCCL && is_named(variable, "FOLDPROOF_NCCL")))
    return true;
  bool counts = begins(variable, library[engine]);
  for (size_t i = 0; i < sizeof idle / sizeof *idle; i++) counts = counts && !begins(variable, idle[i]);
  return counts;
}

static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

const char **fold_world_variables(enum fold_engine engine) {
  size_t n = 0, all = 0;
  while (environ && environ[all]) all++;
  const char **variables = calloc(all + 1, sizeof *variables);
  for (size_t i = 0; variables && i < all; i++)
    if (strchr(environ[i], '=') && fold_world_has_variable(engine, environ[i])) variables[n++] = environ[i];
  if (n) qsort(variables, n, sizeof *variables, by_text);
  return variables;
}
