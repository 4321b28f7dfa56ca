/* report/index.h: maps names to numbers in constant time. It uses jansson's objects, which are seeded hash tables. */
#ifndef FOLD_REPORT_INDEX_H
#define FOLD_REPORT_INDEX_H

#include <jansson.h>
#include <stdbool.h>

/* The number of `name` (its first `n` bytes); -1 if it is not in the index. */
static inline json_int_t fold_index_find(const json_t *index, const char *name, size_t n) {
  const json_t *at = json_object_getn(index, name, n);
  return at ? json_integer_value(at) : -1;
}

/* False if memory is short. The first call makes `*index`. */
static inline bool fold_index_add(json_t **index, const char *name, size_t n, size_t number) {
  if (*index == NULL) *index = json_object();
  return *index && json_object_setn_new_nocheck(*index, name, n, json_integer((json_int_t)number)) == 0;
}

#endif
