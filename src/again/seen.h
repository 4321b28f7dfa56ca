/* seen.h: which results records hold of a subject on an input, by hash; what was judged of them, and what records say themselves.
 */
#ifndef FOLD_SEEN_H
#define FOLD_SEEN_H

#include <xxhash.h>

#include "runner.h"

/* One subject's results on one input, by hash: those of a key are neighbours, once sorted. */
struct fold_seen {
  XXH128_hash_t key;
  char hash[20];
  uint64_t told; /* hash of what the first of its records tells of its case and subject */
  bool judged;
  uint64_t held, refuted;        /* what it was judged to be, FOLD_CLAIM each */
  uint64_t against;              /* what its records say against it (recorded.h), */
  uint64_t said_held;            /* and for it */
  uint64_t traced;               /* what its runs did against it, once that was told */
  enum fold_telling telling;     /* of its input, */
  size_t first_figures, figures; /* and what its judges measured: these of a list (command_judge.h) */
};

struct fold_seen_list {
  struct fold_seen *at;
  size_t n, room;
};

fold_status fold_seen_add(struct fold_seen_list *list, const struct fold_seen *seen);
/* After the last one was added: sorts them, each once. */
void fold_seen_sort(struct fold_seen_list *list);
/* The first that has the key; NULL. */
struct fold_seen *fold_seen_find(const struct fold_seen_list *list, XXH128_hash_t key);
/* Another result of that key follows. */
bool fold_seen_has_next(const struct fold_seen_list *list, const struct fold_seen *seen);

#endif
