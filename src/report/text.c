/* report/text.c: writes evidence and environments as text. */
#include "report/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/list.h"
#include "base/text.h"
#include "records/read.h"
#include "records/refutation.h"
#include "records/replay.h"
#include "report/index.h"

const char *fold_text_bits(const json_t *record, const char *key, char text[100]) {
  const char *bits = fold_record_text(record, key);
  int dtype = fold_record_result_dtype(record);
  char *end, value[80];
  uint64_t pattern = strtoull(bits, &end, 16);
  const bool told = dtype >= 0 && *bits && *end == '\0' && strlen(bits) <= 18;
  snprintf(text, 100, "%.99s", told ? fold_bits_print((enum fold_dtype)dtype, pattern, value) : bits);
  return text;
}

char *fold_text_evidence(const json_t *record) {
  char *text = NULL, number[16], rows[32], cols[32], bits[100];
  size_t size;
  FILE *out = open_memstream(&text, &size);
  if (out == NULL) return NULL;
  fprintf(out, "%s, %s x %s", fold_record_text(record, "case"),
          fold_text_count(json_number_value(json_object_get(record, "rows")), rows),
          fold_text_count(json_number_value(json_object_get(record, "cols")), cols));
  const json_t *seed = json_object_get(record, "seed");
  if (json_is_integer(seed)) fprintf(out, ", seed %lld", (long long)json_integer_value(seed));
  if (json_is_string(json_object_get(record, "got"))) {
    fprintf(out, ", row %lld: got ", (long long)json_integer_value(json_object_get(record, "row")));
    fputs(fold_text_bits(record, "got", bits), out);
    fprintf(out, ", want %s", fold_text_bits(record, "want", bits));
  }
  const json_t *ulps = json_object_get(record, "ulps"), *fraction = json_object_get(record, "bound_fraction");
  if (json_is_number(ulps)) fprintf(out, ", %s ulps", fold_text_number(json_number_value(ulps), number));
  if (json_is_number(fraction)) fputs(", ", out), fold_print_of_bound(json_number_value(fraction), out);
  if (fold_record_text(record, "reason")[0]) fprintf(out, ": %s", fold_record_text(record, "reason"));
  if (fold_record_text(record, "order_change")[0])
    fprintf(out, " (order: %s)", fold_record_text(record, "order_change"));
  if (fclose(out) == 0) return text;
  free(text);
  return NULL;
}

size_t fold_text_array(const char *name, unsigned *ranks) {
  size_t n = strlen(name);
  const char *last = strrchr(name, '/');
  unsigned over = 0;
  int parts = last && sscanf(last, "/ranks%u", &over) == 1 ? 4 : 3;
  if (ranks) *ranks = over;
  while (n > 4 && parts > 0) parts -= name[--n] == '/';
  return parts == 0 ? n : strlen(name);
}

struct fold_asked fold_asked_recorded(const json_t *record) {
  const json_t *object = json_object_get(record, "asked"), *repeats = json_object_get(object, "repeats");
  const json_int_t most = UINT32_MAX, n = json_integer_value(repeats);
  return (struct fold_asked){.repeats = n > 0 && n <= most ? (unsigned)n : 0,
                             .strict = json_is_true(json_object_get(object, "strict")),
                             .finite = json_is_true(json_object_get(object, "finite")),
                             .ranks = fold_record_text(object, "ranks"),
                             .launch = fold_record_text(object, "launch"),
                             .timeout = fold_record_text(object, "timeout"),
                             .around = fold_record_text(object, "around"),
                             .sweep = fold_record_text(object, "sweep"),
                             .twin = fold_record_text(object, "same_bits_as"),
                             .accurate_as = fold_record_text(object, "accurate_as"),
                             .ulps = fold_record_text(object, "ulps"),
                             .python = fold_record_text(object, "python"),
                             .variables = json_object_get(object, "variables"),
                             .guests = json_object_get(object, "guests")};
}

char *fold_text_replay(const json_t *record) {
  char *text = NULL;
  size_t size;
  const struct fold_asked asked = fold_asked_recorded(record);
  if (!fold_replay_can_run(&asked, json_is_true(json_object_get(record, "guest")))) return NULL;
  FILE *out = open_memstream(&text, &size);
  if (out == NULL) return NULL;
  const char *name = fold_record_text(record, "case");
  const bool npy = strncmp(name, "npy:", 4) == 0;
  unsigned ranks = 0;
  char *told = npy ? strndup(name + 4, fold_text_array(name, &ranks) - 4) : NULL;
  char *path = told ? fold_text_unescape(told) : NULL;
  const struct fold_replay replay = {.program = "foldproof",
                                     .subject = fold_record_text(record, "subject"),
                                     .engine = fold_record_text(record, "engine"),
                                     .claim = fold_record_text(record, "claim"),
                                     .probe = json_is_false(json_object_get(record, "promised")),
                                     .npy = path,
                                     .op = fold_record_text(record, "op"),
                                     .ranks = ranks,
                                     .fixtures = npy ? NULL : name,
                                     .asked = asked};
  fold_put_replay(&replay, out);
  const bool whole = path || !npy;
  free(told);
  free(path);
  if (fclose(out) == 0 && whole) return text;
  free(text);
  return NULL;
}

/* A number of an environment as people say it: bytes in GiB or MiB, CUDA's 13000 as 13.0. Returns the key without its
 * unit. */
static const char *say_number(const char *key, double value, char name[96], char text[64]) {
  const char *bytes = strstr(key, "_bytes");
  snprintf(name, 96, "%.*s", bytes && bytes[6] == '\0' ? (int)(bytes - key) : 95, key);
  if (bytes && bytes[6] == '\0' && value >= 1 << 30)
    snprintf(text, 64, "%.1f GiB", value / (1 << 30));
  else if (bytes && bytes[6] == '\0')
    snprintf(text, 64, "%.1f MiB", value / (1 << 20));
  else if (strcmp(key, "driver_cuda") == 0 || strcmp(key, "runtime_cuda") == 0)
    snprintf(text, 64, "%d.%d", (int)value / 1000, (int)value % 1000 / 10);
  else
    snprintf(text, 64, "%.15g", value);
  return name;
}

/* "name a, arch b": one level of an object in one line. */
static void flatten(const json_t *object, char *text, size_t size) {
  FILE *out = fmemopen(text, size, "w");
  const char *key, *between = "";
  char name[96], number[64];
  json_t *value;
  text[0] = '\0';
  if (out == NULL) return;
  json_object_foreach((json_t *)(uintptr_t)object, key, value) {
    if (json_is_string(value))
      fprintf(out, "%s%s %s", between, key, json_string_value(value));
    else if (json_is_number(value))
      fprintf(out, "%s%s %s", between, say_number(key, json_number_value(value), name, number), number);
    else
      continue;
    between = ", ";
  }
  fclose(out);
  text[size - 1] = '\0';
}

static void put_value(const char *key, const json_t *value, void (*put)(FILE *, const char *, const char *),
                      FILE *out) {
  char text[600], name[96];
  if (json_is_string(value)) {
    put(out, key, json_string_value(value));
  } else if (json_is_number(value)) {
    const char *said = say_number(key, json_number_value(value), name, text);
    put(out, said, text);
  } else if (json_is_object(value)) {
    flatten(value, text, sizeof text);
    put(out, key, text);
  }
}

void fold_text_environment(const json_t *environment, void (*put)(FILE *, const char *, const char *), FILE *out) {
  const char *key;
  json_t *value;
  json_object_foreach((json_t *)(uintptr_t)environment, key, value) {
    if (strcmp(key, "schema") == 0 || strcmp(key, "type") == 0) continue;
    if (!json_is_array(value)) put_value(key, value, put, out);
    for (size_t i = 0; i < json_array_size(value); i++) {
      char name[96];
      snprintf(name, sizeof name, "%.*s %zu", (int)strlen(key) - 1, key, i); /* gpus, runs */
      put_value(name, json_array_get(value, i), put, out);
    }
  }
}

const char *fold_text_machine(const struct fold_model *model, int environment, char text[160]) {
  if (environment < 0) return "environment not recorded";
  const json_t *e = model->environments[environment], *gpus = json_object_get(e, "gpus");
  size_t n = json_array_size(gpus);
  const char *gpu = fold_record_text(json_array_get(gpus, 0), "name"), *cpu = fold_record_text(e, "cpu");
  if (n > 1)
    snprintf(text, 160, "%zu x %.120s", n, gpu);
  else
    snprintf(text, 160, "%.120s", n ? gpu : cpu[0] ? cpu : "unnamed machine");
  return text;
}

const char *fold_text_place(const struct fold_model *model, int environment, char text[200]) {
  char machine[160];
  text[0] = '\0';
  if (model->n_environments > 1)
    snprintf(text, 200, "%s, environment %d", fold_text_machine(model, environment, machine), environment + 1);
  return text;
}

struct machine {
  char text[420];
  size_t environments;
};

/* Each machine once, in the order of appearance; NULL if there is none or no memory. */
static struct machine *find_machines(const struct fold_model *model, size_t *n) {
  struct machine *machines = NULL;
  json_t *index = NULL;
  size_t room = 0;
  *n = 0;
  for (size_t i = 0; i < model->n_environments; i++) {
    char text[420], name[160];
    const char *system = json_string_value(json_object_get(model->environments[i], "system"));
    int length = snprintf(text, sizeof text, "%s%s%.250s", fold_text_machine(model, (int)i, name), system ? ", " : "",
                          system ? system : "");
    json_int_t known = fold_index_find(index, text, (size_t)length);
    if (known < 0) {
      struct machine *new = fold_list_grow(&machines, n, &room, sizeof *new);
      known = (json_int_t)*n - 1;
      if (new == NULL || !fold_index_add(&index, text, (size_t)length, (size_t)known)) break;
      memcpy(new->text, text, sizeof text);
    }
    machines[known].environments++;
  }
  json_decref(index);
  return machines;
}

void fold_text_machines(const struct fold_model *model, void (*put)(FILE *out, const char *text), const char *before,
                        const char *behind, FILE *out) {
  enum { MOST_MACHINES = 8 };
  size_t n;
  struct machine *machines = find_machines(model, &n);
  for (size_t i = 0; machines && i < n && i < MOST_MACHINES; i++) {
    fputs(i ? "; " : before, out);
    put(out, machines[i].text);
    if (machines[i].environments > 1) fprintf(out, " (%zu environments)", machines[i].environments);
  }
  if (n > MOST_MACHINES) fprintf(out, "; and %zu more", n - MOST_MACHINES);
  if (n) fputs(behind, out);
  free(machines);
}

void fold_text_repeated(const struct fold_model *model, const char *before, const char *behind, FILE *out) {
  char text[120];
  if (*fold_repeated_text(&model->repeated, text)) fprintf(out, "%s%s.%s", before, text, behind);
}

void fold_text_incomplete(const struct fold_model *model, void (*put)(FILE *out, const char *text), const char *before,
                          const char *between, const char *behind, FILE *out) {
  for (size_t i = 0; i < model->n_files; i++) {
    if (!model->files[i].incomplete[0]) continue;
    fputs(before, out);
    put(out, model->files[i].path);
    fputs(between, out);
    put(out, model->files[i].incomplete);
    fputs(behind, out);
  }
}

/* A timing's record does not say why it is implausible, if a rate of bytes is. */
static const char *why_of(const struct fold_model_timed *t) {
  if (strcmp(t->type, "timing") != 0 || *t->why) return t->why;
  return strcmp(t->engine, "host") == 0 ? "faster than the caches are read" : "above the ceiling";
}

bool fold_text_judged(const struct fold_model_timed *t, char text[500]) {
  const char *doubt = t->implausible ? "implausible" : t->noisy ? "too noisy" : "", *why = *doubt ? why_of(t) : "";
  const bool told = *t->verdict || *doubt;
  snprintf(text, 500, "%.40s%s%s%s%.150s%s%.200s", t->verdict, *t->verdict && *doubt ? ", " : "", doubt,
           *why ? ": " : "", why, told && *t->note ? "; " : "", t->note);
  return *doubt || (*t->verdict && strcmp(t->verdict, fold_verdict_name(FOLD_HELD)) != 0);
}
