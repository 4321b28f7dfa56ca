/* seen.c: see seen.h. */
#include "compare/seen.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"

static int by_key(const void *a, const void *b) {
  const struct fold_seen *l = a, *r = b;
  const int d = XXH128_cmp(&l->key, &r->key);
  return d ? d : strcmp(l->hash, r->hash);
}

fold_status fold_seen_add(struct fold_seen_list *list, const struct fold_seen *seen) {
  if (list->n && by_key(&list->at[list->n - 1], seen) == 0) {
    list->at[list->n - 1].against |= seen->against;
    list->at[list->n - 1].said_held |= seen->said_held;
    return fold_ok();
  }
  struct fold_seen *added = fold_list_grow(&list->at, &list->n, &list->room, sizeof *added);
  if (added == NULL) return fold_no_memory("for the records");
  *added = *seen;
  return fold_ok();
}

void fold_seen_sort(struct fold_seen_list *list) {
  size_t n = 0;
  if (list->n) qsort(list->at, list->n, sizeof *list->at, by_key);
  for (size_t i = 0; i < list->n; i++)
    if (n == 0 || by_key(&list->at[n - 1], &list->at[i]) != 0)
      list->at[n++] = list->at[i];
    else {
      list->at[n - 1].against |= list->at[i].against;
      list->at[n - 1].said_held |= list->at[i].said_held;
    }
  list->n = n;
}

struct fold_seen *fold_seen_find(const struct fold_seen_list *list, XXH128_hash_t key) {
  size_t from = 0, to = list->n;
  while (from < to) {
    const size_t middle = from + (to - from) / 2;
    if (XXH128_cmp(&list->at[middle].key, &key) < 0)
      from = middle + 1;
    else
      to = middle;
  }
  return from < list->n && XXH128_isEqual(list->at[from].key, key) ? &list->at[from] : NULL;
}

bool fold_seen_has_next(const struct fold_seen_list *list, const struct fold_seen *seen) {
  return seen + 1 < list->at + list->n && XXH128_isEqual(seen->key, seen[1].key);
}
