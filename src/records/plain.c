/* records/plain.c: see records/plain.h. */
#include "records/plain.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

bool fold_json_is_plain(const char *text, size_t length) {
  bool plain = true;
  for (size_t i = 0; i < length; i++) {
    const unsigned char c = (unsigned char)text[i];
    plain &= c < 0x7f && c != '\\' && !((c == ':' || c == '#') && i + 1 < length && text[i + 1] == text[i]);
  }
  return plain;
}

/* NULL: the text is as it should be, or memory is short. */
static char *escaped(const char *text) { return fold_text_is_one_line(text) ? NULL : fold_text_escape(text); }

static json_t *plain(const json_t *value);

static json_t *plain_object(const json_t *value) {
  json_t *copy = json_object(), *part;
  const char *key;
  json_object_foreach((json_t *)(uintptr_t)value, key, part) {
    char *name = escaped(key);
    json_object_set_new(copy, name ? name : key, strcmp(key, "asked") == 0 ? json_incref(part) : plain(part));
    free(name);
  }
  return copy;
}

static json_t *plain_list(const json_t *value) {
  json_t *copy = json_array(), *part;
  size_t i;
  json_array_foreach(value, i, part) json_array_append_new(copy, plain(part));
  return copy;
}

static json_t *plain(const json_t *value) {
  if (json_is_object(value)) return plain_object(value);
  if (json_is_array(value)) return plain_list(value);
  char *text = json_is_string(value) ? escaped(json_string_value(value)) : NULL;
  json_t *copy = text ? json_string(text) : json_incref((json_t *)(uintptr_t)value);
  free(text);
  return copy;
}

fold_status fold_json_make_plain(json_t **record) {
  json_t *copy = plain(*record);
  if (copy == NULL) return fold_no_memory("for a record");
  json_decref(*record);
  *record = copy;
  return fold_ok();
}
