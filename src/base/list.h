/* list.h: arrays that grow, are reversed, or rise. */
#ifndef FOLD_LIST_H
#define FOLD_LIST_H

#include <stddef.h>

/* One more of the `n` elements of `size` bytes that the pointer at `array` leads to: zeroed; NULL: memory is short. */
void *fold_list_grow(void *array, size_t *n, size_t *room, size_t size);
/* The last of n items first. */
void fold_list_reverse(void *items, size_t n, size_t size);
/* Numbers in rising order; NaN is nowhere in particular. */
void fold_list_rise(double *numbers, size_t n);

#endif
