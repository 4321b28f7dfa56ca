/* command/rerun_trust.c: see command/rerun_trust.h. */
#include "command/rerun_trust.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "records/replay.h"

static size_t show(const char *name, const char *between, const char *value, FILE *out) {
  fprintf(out, "  %s%s", name, between);
  fold_put_shell_word(value, out);
  fputc('\n', out);
  return 1;
}

/* The option of a recorded guest, and what it names; NULL if it names nothing. */
static const char *read_guest(const json_t *guest, const char **what) {
  const char *option = json_string_value(json_array_get(guest, 0));
  *what = json_string_value(json_array_get(guest, 1));
  return *what == NULL ? NULL : option && strcmp(option, "--exec") == 0 ? "--exec" : "--guest";
}

static size_t show_guests(const struct fold_rerun_named *n, FILE *out) {
  size_t shown = 0;
  for (size_t i = 0; i < json_array_size(n->guests) && n->given.n == 0; i++) {
    const char *what, *option = read_guest(json_array_get(n->guests, i), &what);
    if (option) shown += show(option, " ", what, out);
  }
  return shown;
}

static const char *named_launch(const struct fold_rerun_named *n) {
  const char *launch = json_string_value(json_object_get(n->asked, "launch"));
  return n->ranks && launch && *launch && !getenv("FOLDPROOF_LAUNCH") ? launch : NULL;
}

/* A number of threads, and not the name of a file; or what foldproof sets itself wherever it opens NCCL. */
static bool is_data(const char *name, const char *value) {
  if (strcmp(name, "NCCL_NVLS_ENABLE") == 0) return strcmp(value, "0") == 0;
  return fold_replay_sets_threads(name) && strchr(value, '/') == NULL;
}

/* The recorded value of a variable that a run would repeat and that the user has not set; else NULL. */
static const char *named_value(const char *name, const json_t *value) {
  return fold_replay_repeats(name) && !getenv(name) ? json_string_value(value) : NULL;
}

size_t fold_rerun_show(const struct fold_rerun_named *n, FILE *out) {
  const char *launch = named_launch(n), *name;
  size_t shown = show_guests(n, out);
  json_t *value;
  if (launch) shown += show("--launch", " ", launch, out);
  json_object_foreach(json_object_get(n->asked, "variables"), name, value) {
    const char *text = named_value(name, value);
    if (text && !is_data(name, text)) shown += show(name, "=", text, out);
  }
  return shown;
}

void fold_rerun_add_guests(const struct fold_rerun_named *n, struct fold_options *o) {
  for (size_t i = 0; i < n->given.n; i++) fold_options_add(o, n->given.at[i].name, n->given.at[i].value);
  for (size_t i = 0; i < json_array_size(n->guests) && n->given.n == 0 && n->trust; i++) {
    const char *what, *option = read_guest(json_array_get(n->guests, i), &what);
    if (option) fold_options_add(o, option, what);
  }
}

const char *fold_rerun_launch(const struct fold_rerun_named *n) { return n->trust ? named_launch(n) : NULL; }

void fold_rerun_set_variables(const struct fold_rerun_named *n) {
  const char *name;
  json_t *value;
  json_object_foreach(json_object_get(n->asked, "variables"), name, value) {
    const char *text = named_value(name, value);
    if (!text || !(n->trust || is_data(name, text))) continue;
    setenv(name, text, 1);
    /* OpenMP read it when this process began, and processes that it forks inherit the value */
    if (strcmp(name, "OMP_NUM_THREADS") == 0 && atoi(text) > 0) omp_set_num_threads(atoi(text));
  }
}
