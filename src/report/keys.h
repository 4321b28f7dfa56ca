/* report/keys.h: how items are sorted and grouped: by a list of their members, most significant first. A group is the neighbouring items
 * that agree in as many of these keys as a caller says.
 */
#ifndef FOLD_REPORT_KEYS_H
#define FOLD_REPORT_KEYS_H

#include <stddef.h>

#include "sheet/sheet.h"

enum { FOLD_KEYS_MOST = 10 };

struct fold_keys {
  size_t size; /* the size of an item */
  struct fold_by {
    enum fold_by_kind {
      FOLD_BY_NOTHING, /* ends the keys */
      FOLD_BY_INDEX,
      FOLD_BY_NUMBER, /* NaN is less than every number, and equals itself */
      FOLD_BY_SEED,
      FOLD_BY_WORD,
      FOLD_BY_ASKED, /* a word; those that readers ask about most come first (report/methods.h) */
    } kind;
    size_t at;
  } key[FOLD_KEYS_MOST + 1];
};

/* A key for a member, by its type; and a key for a word that is sorted by FOLD_BY_ASKED. */
#define FOLD_BY(type, member)                                                                     \
  {                                                                                               \
    _Generic(((struct type *)0)->member, int : FOLD_BY_INDEX, double : FOLD_BY_NUMBER,          \
             long long : FOLD_BY_SEED, const char * : FOLD_BY_WORD), offsetof(struct type, member) \
  }
#define FOLD_ASKED(type, member) \
  { FOLD_BY_ASKED, offsetof(struct type, member) }

/* The end of the group of items[i]: the neighbours that have the same first `n_keys` keys. */
size_t fold_keys_end(const struct fold_keys *keys, size_t n_keys, const void *items, size_t i, size_t n);
/* A copy, sorted by all keys, for the caller to free; NULL if there are no items or memory is short. */
void *fold_keys_sorted(const struct fold_keys *keys, const void *items, size_t n);
/* The same for items that become rows: the sheet remembers if memory was short. */
void *fold_sheet_sorted(struct fold_sheet *sheet, const struct fold_keys *keys, const void *items, size_t n);

#endif
