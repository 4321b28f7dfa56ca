/* watch.c: see watch.h. One pointer for the process: rigs are opened by many, and none may be forgotten. */
#include "watch.h"

#include <stddef.h>

static struct fold_watch *watching;

void fold_watch_set(struct fold_watch *watch) { watching = watch; }

void fold_watch_begin(uint64_t elements) {
  if (watching == NULL) return;
  atomic_store(&watching->elements, elements);
  atomic_fetch_add(&watching->turns, 1);
}

void fold_watch_end(void) {
  if (watching) atomic_fetch_add(&watching->turns, 1);
}
