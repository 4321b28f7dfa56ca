/* compare/print.h: what the writers of a comparison share; each writes what compare/explain.c describes. */
#ifndef FOLD_COMPARE_PRINT_H
#define FOLD_COMPARE_PRINT_H

#include <jansson.h>
#include <stdio.h>

/* What may be wrong with the file of a side, and the key under which its text stands. */
struct fold_compare_flaw {
  const char *key, *word;
  int side;
};
enum { FOLD_COMPARE_FLAWS = 4 };
extern const struct fold_compare_flaw fold_compare_flaws[FOLD_COMPARE_FLAWS];

size_t fold_told_number(const json_t *object, const char *key);
const char *fold_told_side(const json_t *told, int side);
/* One change in one line, for the caller to free; NULL: memory is short. */
char *fold_told_change(const json_t *told, const json_t *change);

#endif
