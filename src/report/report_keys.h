/* report_keys.h: in which sequence items stand, and which of them belong together: a list of their members, most significant first. As many
 * of these as a caller says name a group, whose items are neighbours.
 */
#ifndef FOLD_REPORT_KEYS_H
#define FOLD_REPORT_KEYS_H

#include <stddef.h>

#include "sheet.h"

enum { FOLD_KEYS_MOST = 10 };

struct fold_keys {
  size_t size; /* of an item */
  struct fold_by {
    enum fold_by_kind {
      FOLD_BY_NOTHING, /* the end of the keys */
      FOLD_BY_INDEX,
      FOLD_BY_NUMBER, /* NaN is less than all others, and equals itself */
      FOLD_BY_SEED,
      FOLD_BY_WORD,
      FOLD_BY_ASKED, /* a word; those that readers ask about most come first (report_methods.h) */
    } kind;
    size_t at;
  } key[FOLD_KEYS_MOST + 1];
};

/* A member by its type, and one by FOLD_BY_ASKED. */
#define FOLD_BY(type, member)                                                                     \
  {                                                                                               \
    _Generic(((struct type *)0)->member, int : FOLD_BY_INDEX, double : FOLD_BY_NUMBER,          \
             long long : FOLD_BY_SEED, const char * : FOLD_BY_WORD), offsetof(struct type, member) \
  }
#define FOLD_ASKED(type, member) \
  { FOLD_BY_ASKED, offsetof(struct type, member) }

/* Where the neighbours of items[i] end that have its first `n_keys` keys. */
size_t fold_keys_end(const struct fold_keys *keys, size_t n_keys, const void *items, size_t i, size_t n);
/* A copy, sorted by all keys, for the caller to free; NULL: there are none, or memory is short. */
void *fold_keys_sorted(const struct fold_keys *keys, const void *items, size_t n);
/* The same of items that become rows: the sheet remembers that memory was short. */
void *fold_sheet_sorted(struct fold_sheet *sheet, const struct fold_keys *keys, const void *items, size_t n);

#endif
