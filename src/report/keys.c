/* report/keys.c: see report/keys.h. */
#include "report/keys.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/methods.h"

static int compare_numbers(double a, double b) {
  return (a > b || (isnan(b) && !isnan(a))) - (a < b || (isnan(a) && !isnan(b)));
}

static int compare_by(const struct fold_by *by, const void *a, const void *b) {
  switch (by->kind) {
    case FOLD_BY_NOTHING: break;
    case FOLD_BY_INDEX: return *(const int *)a - *(const int *)b;
    case FOLD_BY_NUMBER: return compare_numbers(*(const double *)a, *(const double *)b);
    case FOLD_BY_SEED:
      return (*(const long long *)a > *(const long long *)b) - (*(const long long *)a < *(const long long *)b);
    case FOLD_BY_WORD: return strcmp(*(const char *const *)a, *(const char *const *)b);
    case FOLD_BY_ASKED: return fold_methods_compare(*(const char *const *)a, *(const char *const *)b);
  }
  return 0;
}

static int compare(const struct fold_keys *keys, size_t n_keys, const char *a, const char *b) {
  int d = 0;
  for (const struct fold_by *by = keys->key; by < keys->key + n_keys && by->kind && !d; by++)
    d = compare_by(by, a + by->at, b + by->at);
  return d;
}

static int compare_all(const void *a, const void *b, void *keys) { return compare(keys, FOLD_KEYS_MOST, a, b); }

size_t fold_keys_end(const struct fold_keys *keys, size_t n_keys, const void *items, size_t i, size_t n) {
  const char *at = items;
  size_t end = i + 1;
  while (end < n && compare(keys, n_keys, at + i * keys->size, at + end * keys->size) == 0) end++;
  return end;
}

void *fold_keys_sorted(const struct fold_keys *keys, const void *items, size_t n) {
  void *copy = n ? malloc(n * keys->size) : NULL;
  if (copy == NULL) return NULL;
  memcpy(copy, items, n * keys->size);
  qsort_r(copy, n, keys->size, compare_all, (void *)(uintptr_t)keys);
  return copy;
}

void *fold_sheet_sorted(struct fold_sheet *sheet, const struct fold_keys *keys, const void *items, size_t n) {
  void *copy = fold_keys_sorted(keys, items, n);
  sheet->failed |= n && copy == NULL;
  return copy;
}
