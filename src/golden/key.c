/* golden/key.c: which sheet a subject's results belong to, as text and back. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/text.h"
#include "golden/golden.h"
#include "ranks/setting.h"

static const char *const rules[FOLD_RULES] = {"usual", "terms", "accumulator"};

static const char *rule_name(unsigned rule) {
  return rule < FOLD_RULES ? rules[rule] : fold_dtype_name((enum fold_dtype)(rule - FOLD_RULES));
}

static bool read_rule(const char *text, unsigned *rule) {
  const int dtype = fold_dtype_parse(text);
  for (*rule = 0; *rule < FOLD_RULES; ++*rule)
    if (strcmp(text, rules[*rule]) == 0) return true;
  *rule = FOLD_ALWAYS((unsigned)dtype);
  return dtype >= 0;
}

/* Whether it is an exact result: that has neither an order nor an accumulator. An order replays in any accumulator. */
static bool is_exact(const struct fold_subject *s) {
  return s->method == FOLD_EXACT && s->claims & FOLD_CLAIM(FOLD_CORRECTLY_ROUNDED);
}
static bool is_ordered(const struct fold_subject *s) {
  return s->order && s->method != FOLD_EXACT && s->claims & FOLD_CLAIM(FOLD_REPLAYS);
}

bool fold_golden_portable(const struct fold_subject *s) { return is_exact(s) || is_ordered(s); }

/* What is the default is left out. */
void fold_golden_of(const struct fold_subject *s, char text[160]) {
  const bool exact = is_exact(s);
  if (!exact && !is_ordered(s)) {
    snprintf(text, 160, "subject %.100s on %s", s->name, fold_engine_name(s->engine));
    return;
  }
  size_t n = (size_t)snprintf(text, 160, exact ? "exact" : "order %.80s", exact ? "" : s->order);
  if (!exact && s->method != FOLD_PLAIN) n += (size_t)snprintf(text + n, 160 - n, ", %s", fold_method_names[s->method]);
  if (!exact && s->accumulator != FOLD_USUAL)
    n += (size_t)snprintf(text + n, 160 - n, ", accumulator %s", rule_name(s->accumulator));
  if (s->result != FOLD_USUAL) snprintf(text + n, 160 - n, ", result %s", rule_name(s->result));
}

static fold_status bad(const char *of) { return fold_error(FOLD_BAD_INPUT, "of '%.100s': no sheet is of that", of); }

static bool read_more(const char *word, struct fold_subject *how) {
  if (strncmp(word, "accumulator ", 12) == 0) return read_rule(word + 12, &how->accumulator);
  if (strncmp(word, "result ", 7) == 0) return read_rule(word + 7, &how->result);
  const int method = fold_method_parse(word);
  if (method != FOLD_KAHAN && method != FOLD_NEUMAIER) return false;
  how->method = (enum fold_method)method;
  return true;
}

fold_status fold_golden_how(char *of, struct fold_subject *how, bool *portable) {
  char was[160], *rest = NULL;
  snprintf(was, sizeof was, "%s", of);
  *how = (struct fold_subject){.name = "a golden", .engine = FOLD_HOST};
  *portable = strncmp(of, "subject ", 8) != 0;
  if (!*portable) return fold_ok();
  char *word = strtok_r(of, ",", &rest);
  const bool ordered = word && strncmp(word, "order ", 6) == 0;
  if (!ordered && (word == NULL || strcmp(word, "exact") != 0)) return bad(was);
  if (ordered) how->order = word + 6;
  while ((word = strtok_r(NULL, ",", &rest)))
    if (!read_more(word + (*word == ' '), how)) return bad(was);
  if (!ordered) how->method = FOLD_EXACT;
  how->claims = ordered ? FOLD_CLAIM(FOLD_REPLAYS) : FOLD_CLAIM(FOLD_CORRECTLY_ROUNDED);
  return fold_ok();
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

void fold_golden_where(const struct fold_subject *s, const json_t *environment, const char *library, char text[320]) {
  char version[64] = "", threads[40] = "", settings[64], launch[64], gpus[120];
  const bool on_gpu = !fold_engine_is_host(s->engine);
  fold_peer_version(s, version);
  print_gpus(s->engine, json_object_get(environment, "gpus"), gpus);
  const char *own = version[0] ? version : s->guest && library ? library : "";
  if (!on_gpu && json_object_get(environment, "OMP_NUM_THREADS"))
    snprintf(threads, sizeof threads, ", OMP_NUM_THREADS %.10s", text_of(environment, "OMP_NUM_THREADS"));
  print_settings(s->engine, settings);
  print_launch(s->engine, launch);
  snprintf(text, 320, "%.90s%s%.60s%s%s, %s", on_gpu ? gpus : text_of(environment, "cpu"), *own ? ", " : "", own,
           threads, settings, launch);
  fold_text_one_line(text);
}

void fold_golden_name(const struct fold_subject *s, char text[120]) {
  snprintf(text, 120, "%s%.90s on %s", s->guest ? "guest " : "", s->name, fold_engine_name(s->engine));
}

bool fold_golden_name_read(char *text, struct fold_subject *s) {
  static const struct fold_guest_row none;
  *s = (struct fold_subject){0};
  if (strncmp(text, "guest ", 6) == 0) {
    s->guest = &none;
    text += 6;
  }
  char *on = strstr(text, " on ");
  const int engine = on ? fold_engine_parse(on + 4) : -1;
  if (engine < 0) return false;
  *on = '\0';
  s->name = text;
  s->engine = (enum fold_engine)engine;
  return true;
}
