/* list.h: arrays that grow; arrays reversed or sorted. */
#ifndef FOLD_LIST_H
#define FOLD_LIST_H

#include <stddef.h>

/* Appends a zeroed element to an array of *n elements of `size` bytes, and returns it; NULL: memory is short. `array`
 * is the address of the pointer to the array. */
void *fold_list_grow(void *array, size_t *n, size_t *room, size_t size);
/* Reverses n items. */
void fold_list_reverse(void *items, size_t n, size_t size);
/* Sorts numbers in rising order; a NaN may end up anywhere. */
void fold_list_rise(double *numbers, size_t n);

#endif
