/* compare_environment.c: what differs between the environments of two files of records. */
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "own_run.h"
#include "text.h"

static bool is_of_run(const char *key) { return fold_own_run_has(key) || strcmp(key, "asked") == 0; }

/* What of two environments has other words; of lists (GPUs) their first element's. */
static void tell_changes(const json_t *a, const json_t *b, const char *prefix, json_t *changes) {
  const char *key;
  json_t *value;
  json_object_foreach((json_t *)(uintptr_t)b, key, value) {
    const json_t *before = json_object_get(a, key);
    char name[100];
    snprintf(name, sizeof name, "%s%.80s", prefix, key);
    fold_text_one_line(name);
    if (json_equal(before, value) || is_of_run(key)) continue;
    if (json_is_array(value)) {
      tell_changes(json_array_get(before, 0), json_array_get(value, 0), "gpu ", changes);
      continue;
    }
    char *was = before ? json_dumps(before, JSON_ENCODE_ANY | JSON_COMPACT) : strdup("\"\"");
    char *is = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    if (was && is)
      json_object_set_new(changes, name,
                          json_pack("[s,s]", json_is_string(before) ? json_string_value(before) : was,
                                    json_is_string(value) ? json_string_value(value) : is));
    free(was);
    free(is);
  }
  json_object_foreach((json_t *)(uintptr_t)a, key, value) {
    char name[100];
    snprintf(name, sizeof name, "%s%.80s", prefix, key);
    fold_text_one_line(name);
    if (b && !json_object_get(b, key) && json_is_string(value) && !is_of_run(key))
      json_object_set_new(changes, name, json_pack("[s,s]", json_string_value(value), ""));
  }
}

json_t *fold_compare_environments(const json_t *a, const json_t *b) {
  json_t *changes = json_object();
  tell_changes(a, b, "", changes);
  return changes;
}
