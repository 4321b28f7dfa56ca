/* compare/environment.c: what differs between the environments of two files of records. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "compare/compare.h"
#include "records/own_run.h"

static bool is_of_run(const char *key) { return fold_own_run_has(key) || strcmp(key, "asked") == 0; }

/* A value as it is printed, for the caller to free; empty if it was not recorded. */
static char *words_of(const json_t *value) {
  if (json_is_string(value)) return strdup(json_string_value(value));
  return value ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT) : strdup("");
}

static void tell(const char *name, const json_t *before, const json_t *now, json_t *changes) {
  char *was = words_of(before), *is = words_of(now);
  if (was && is) json_object_set_new(changes, name, json_pack("[s,s]", was, is));
  free(was);
  free(is);
}

static void tell_changes(const json_t *a, const json_t *b, const char *prefix, json_t *changes);

/* Compares lists: the first entry of "gpus" becomes "gpu name", the next "gpu 2 name". What one list has more than the
 * other is counted, so that eight equal GPUs take one line. */
static void tell_lists(const char *key, const json_t *a, const json_t *b, json_t *changes) {
  const size_t n_a = json_array_size(a), n_b = json_array_size(b), fewer = n_a < n_b ? n_a : n_b;
  for (size_t i = 0; i < (fewer ? fewer : 1); i++) {
    char prefix[100];
    snprintf(prefix, sizeof prefix, i ? "%.*s %zu " : "%.*s ", (int)strnlen(key, 60) - 1, key, i + 1);
    tell_changes(json_array_get(a, i), json_array_get(b, i), prefix, changes);
  }
  if (n_a == n_b || n_a + n_b == 1) return;
  json_t *counts[2] = {a ? json_integer((json_int_t)n_a) : NULL, b ? json_integer((json_int_t)n_b) : NULL};
  tell(key, counts[0], counts[1], changes);
  json_decref(counts[0]);
  json_decref(counts[1]);
}

static void tell_change(const char *key, const json_t *a, const json_t *b, const char *prefix, json_t *changes) {
  char name[200];
  snprintf(name, sizeof name, "%s%.80s", prefix, key);
  fold_text_one_line(name);
  if (json_equal(a, b) || is_of_run(key)) return;
  if (json_is_array(a) || json_is_array(b))
    tell_lists(name, a, b, changes);
  else
    tell(name, a, b, changes);
}

/* Lists what differs between two environments: first in the sequence of the second, then what only the first has. */
static void tell_changes(const json_t *a, const json_t *b, const char *prefix, json_t *changes) {
  const char *key;
  json_t *value;
  json_object_foreach((json_t *)(uintptr_t)b, key, value) {
    tell_change(key, json_object_get(a, key), value, prefix, changes);
  }
  json_object_foreach((json_t *)(uintptr_t)a, key, value) {
    if (!json_object_get(b, key)) tell_change(key, value, NULL, prefix, changes);
  }
}

json_t *fold_compare_environments(const json_t *a, const json_t *b) {
  json_t *changes = json_object();
  tell_changes(a, b, "", changes);
  return changes;
}
