/* seen.h: finds, by hash, the results that records hold for a subject and an input, and the verdicts on them. */
#ifndef FOLD_SEEN_H
#define FOLD_SEEN_H

#include <xxhash.h>

#include "run/runner.h"

/* Results of one subject on one input, by hash. Once sorted, those with the same key are neighbours. */
struct fold_seen {
  XXH128_hash_t key;
  char hash[20];
  uint64_t told; /* a hash of what its first record says about its case and subject */
  bool judged;
  uint64_t held, refuted;        /* the claims on which it was judged so, FOLD_CLAIM each */
  uint64_t against;              /* claims that its records call refuted or broken (recorded.h) */
  uint64_t said_held;            /* claims that its records call held */
  uint64_t traced;               /* claims that what its runs did refutes, as far as it was reported */
  enum fold_telling telling;     /* of its input */
  size_t first_figures, figures; /* what its judges measured, as a range of a list (command/recheck.h) */
};

struct fold_seen_list {
  struct fold_seen *at;
  size_t n, room;
};

fold_status fold_seen_add(struct fold_seen_list *list, const struct fold_seen *seen);
/* Sorts the list and removes repetitions, after the last one was added. */
void fold_seen_sort(struct fold_seen_list *list);
/* The first entry that has the key; NULL if there is none. */
struct fold_seen *fold_seen_find(const struct fold_seen_list *list, XXH128_hash_t key);
/* Whether another result with the same key follows. */
bool fold_seen_has_next(const struct fold_seen_list *list, const struct fold_seen *seen);

#endif
