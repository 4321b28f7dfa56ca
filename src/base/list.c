/* list.c: see list.h. */
#include "base/list.h"

#include <stdlib.h>
#include <string.h>

/* `array` is the address of a pointer of any type. It is copied, because reading it as a char * would break the aliasing rules. */
void *fold_list_grow(void *array, size_t *n, size_t *room, size_t size) {
  char *base;
  memcpy(&base, array, sizeof base);
  if (*n == *room) {
    size_t more = *room ? 2 * *room : 16;
    base = reallocarray(base, more, size);
    if (base == NULL) return NULL;
    memcpy(array, &base, sizeof base);
    *room = more;
  }
  char *item = base + *n * size;
  memset(item, 0, size);
  ++*n;
  return item;
}

void fold_list_reverse(void *items, size_t n, size_t size) {
  if (n == 0) return; /* `items` may be NULL then */
  for (char *first = items, *last = first + n * size; n > 1; n -= 2, first += size) {
    last -= size;
    for (size_t i = 0; i < size; i++) {
      const char byte = first[i];
      first[i] = last[i];
      last[i] = byte;
    }
  }
}

static int rising(const void *left, const void *right) {
  const double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

void fold_list_rise(double *numbers, size_t n) {
  if (n) qsort(numbers, n, sizeof *numbers, rising);
}
