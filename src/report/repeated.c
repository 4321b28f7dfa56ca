/* report/repeated.c: see report/repeated.h. */
#include "report/repeated.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "records/own_run.h"
#include "records/read.h"

/* A hash of a value, however its fields are arranged; `seed` where there is none. */
static uint64_t hash_of(const json_t *value, uint64_t seed) {
  char *text = value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_SORT_KEYS) : NULL;
  const uint64_t hash = text ? XXH3_64bits_withSeed(text, strlen(text), seed) : seed;
  free(text);
  return hash;
}

static void take_environment(struct fold_repeated *r, const json_t *environment) {
  const char *key;
  json_t *value;
  r->environment = 0;
  json_object_foreach((json_t *)(uintptr_t)environment, key, value) {
    if (!fold_own_run_has(key)) r->environment += hash_of(value, XXH3_64bits(key, strlen(key)));
  }
}

/* Skipped cases with one reason share a record, whose fixtures say which. */
static XXH128_hash_t key_of(const struct fold_repeated *r, const json_t *record) {
  static const char *const parts[] = {"type", "claim", "promised", "verdict", "results_xxh3", "fixtures", "reason"};
  const XXH128_hash_t of = fold_record_key(record, true);
  uint64_t more = r->environment;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) more = hash_of(json_object_get(record, parts[i]), more + i);
  XXH128_hash_t key = XXH3_128bits_withSeed(&of, sizeof of, more);
  key.low64 |= key.low64 == 0 && key.high64 == 0;
  return key;
}

/* The place of the key, or a free one. */
static XXH128_hash_t *place_of(XXH128_hash_t *table, size_t room, XXH128_hash_t key) {
  static const XXH128_hash_t none;
  size_t i = key.low64 & (room - 1);
  while (!XXH128_isEqual(table[i], key) && !XXH128_isEqual(table[i], none)) i = (i + 1) & (room - 1);
  return &table[i];
}

static fold_status grow(struct fold_repeated *r) {
  const size_t room = r->room ? 2 * r->room : 1024;
  if (2 * r->n < r->room) return fold_ok();
  XXH128_hash_t *table = calloc(room, sizeof *table);
  if (table == NULL) return fold_no_memory("for the records");
  for (size_t i = 0; i < r->room; i++)
    if (r->at[i].low64 | r->at[i].high64) *place_of(table, room, r->at[i]) = r->at[i];
  free(r->at);
  r->at = table;
  r->room = room;
  return fold_ok();
}

fold_status fold_repeated_add(struct fold_repeated *r, const json_t *record, bool *before) {
  const char *type = fold_record_text(record, "type");
  *before = false;
  if (strcmp(type, "environment") == 0) take_environment(r, record);
  if (strcmp(type, "judgement") != 0 && strcmp(type, "run") != 0) return fold_ok();
  FOLD_TRY(grow(r));
  const XXH128_hash_t key = key_of(r, record);
  XXH128_hash_t *place = place_of(r->at, r->room, key);
  *before = XXH128_isEqual(*place, key);
  *place = key;
  r->n += !*before;
  r->found += *before;
  return fold_ok();
}

const char *fold_repeated_text(const struct fold_repeated *r, char text[120]) {
  snprintf(text, 120, "%zu verdicts and runs occur more than once in one environment, and are counted once", r->found);
  if (r->found == 0) text[0] = '\0';
  return text;
}

void fold_repeated_free(struct fold_repeated *r) { free(r->at); }
