/* environment.c: the environment for which the results of a subject are kept. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/text.h"
#include "golden/golden.h"
#include "ranks/setting.h"

/* An exact result has neither an order nor an accumulator. An order replays in any accumulator. */
bool fold_golden_portable(const struct fold_subject *s) {
  if (s->method == FOLD_EXACT) return s->claims & FOLD_CLAIM(FOLD_CORRECTLY_ROUNDED);
  return s->order && s->claims & FOLD_CLAIM(FOLD_REPLAYS);
}

static const char *text_of(const json_t *object, const char *key) {
  const char *text = json_string_value(json_object_get(object, key));
  return text ? text : "unknown";
}

/* Whether the library chooses its algorithms by this variable. */
static bool is_setting(enum fold_engine engine, const char *variable) {
  static const char *const begins[FOLD_ENGINES] = {[FOLD_MPI] = "OMPI_MCA_coll", [FOLD_NCCL] = "NCCL_"};
  return begins[engine] && strncmp(variable, begins[engine], strlen(begins[engine])) == 0;
}

/* Writes the settings themselves if they are short, else a hash of them. */
static void print_settings(enum fold_engine engine, char text[64]) {
  const char **settings = fold_world_variables(engine);
  uint64_t hash = 0;
  size_t n = 0;
  text[0] = '\0';
  for (size_t i = 0; settings && settings[i]; i++) {
    if (!is_setting(engine, settings[i])) continue;
    hash = XXH3_64bits_withSeed(settings[i], strlen(settings[i]) + 1, hash);
    n += (size_t)snprintf(text + n, n < 64 ? 64 - n : 0, ", %s", settings[i]);
    if (n >= 64) n = 64;
  }
  if (n == 64) snprintf(text, 64, ", settings %016llx", (unsigned long long)hash);
  free(settings);
}

/* Writes how ranks are started, which says on which nodes they are. A long launch command of the user's is written as a
 * hash. */
static void print_launch(enum fold_engine engine, char text[64]) {
  const char *launch = fold_engine_has_ranks(engine) ? getenv("FOLDPROOF_LAUNCH") : NULL;
  if (launch == NULL || *launch == '\0')
    snprintf(text, 64, "its own launch");
  else if (strlen(launch) < 50)
    snprintf(text, 64, "launch %s", launch);
  else
    snprintf(text, 64, "launch %016llx", (unsigned long long)XXH3_64bits(launch, strlen(launch)));
}

/* Writes the GPU model; for a library over GPUs also their number, because it cuts messages by the links between
 * them. */
static void print_gpus(enum fold_engine engine, const json_t *gpus, char text[120]) {
  const size_t n = engine == FOLD_NCCL ? json_array_size(gpus) : 1;
  const size_t at = n > 1 ? (size_t)snprintf(text, 24, "%zu x ", n) : 0;
  snprintf(text + at, 90, "%s", text_of(json_array_get(gpus, 0), "name"));
}

void fold_golden_where(const struct fold_golden *g, const struct fold_subject *s, char text[320]) {
  char version[64] = "", threads[40] = "", settings[64], launch[64], gpus[120];
  const bool on_gpu = !fold_engine_is_host(s->engine);
  const char *library = g->options->library;
  text[0] = '\0';
  if (fold_golden_portable(s)) return;
  fold_peer_version(s, version);
  print_gpus(s->engine, json_object_get(g->environment, "gpus"), gpus);
  const char *own = version[0] ? version : s->guest && library ? library : "";
  if (!on_gpu && json_object_get(g->environment, "OMP_NUM_THREADS"))
    snprintf(threads, sizeof threads, ", OMP_NUM_THREADS %.10s", text_of(g->environment, "OMP_NUM_THREADS"));
  print_settings(s->engine, settings);
  print_launch(s->engine, launch);
  snprintf(text, 320, "%.90s%s%.60s%s%s, %s", on_gpu ? gpus : text_of(g->environment, "cpu"), *own ? ", " : "", own,
           threads, settings, launch);
  fold_text_one_line(text);
}
