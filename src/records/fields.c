/* records/fields.c: reads single fields of a record, which may hold anything. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "records/read.h"

const char *fold_record_text(const json_t *record, const char *key) {
  const char *text = json_string_value(json_object_get(record, key));
  return text ? text : "";
}

double fold_record_double(const json_t *record, const char *key) {
  const json_t *value = json_object_get(record, key);
  return json_is_number(value) ? json_number_value(value) : NAN;
}

/* Each part is hashed with its final zero byte, so that different parts cannot join to the same text. */
XXH128_hash_t fold_record_key(const json_t *record, bool with_input) {
  static const char *const parts[] = {"subject", "engine", "case", "kept_for", "input_xxh3"};
  XXH128_hash_t key = {0, 0};
  for (size_t i = 0; i < (with_input ? 5 : 4); i++) {
    const char *text = fold_record_text(record, parts[i]);
    key = XXH3_128bits_withSeed(text, strlen(text) + 1, key.low64 ^ key.high64);
  }
  return key;
}

bool fold_record_read_bits(const char *text, enum fold_dtype dtype, uint64_t *bits) {
  char *end = NULL;
  if (text == NULL || strncmp(text, "0x", 2) != 0 || strlen(text) > 2 + 16) return false;
  *bits = strtoull(text, &end, 16);
  const int width = fold_format_of(dtype).bits;
  return end > text + 2 && *end == '\0' && (width == 64 || *bits >> width == 0);
}

int fold_record_result_dtype(const json_t *record) {
  const char *own = json_object_get(record, "result_dtype") ? "result_dtype" : "dtype";
  return fold_dtype_parse(fold_record_text(record, own));
}
