/* sorted.c: the permutation of the sorted order: rising magnitude by bits, ties by index; and that of a keyed one.
 *
 * Promised: a stable order of the patterns without their signs, NaN above infinity; 16 bytes a term while
 * sorting. Short rows by insertion, long ones by a radix sort, least digit first.
 */
#include <stdlib.h>
#include <string.h>

#include "bits.h"
#include "print.h"
#include "split.h"

#define INSERTION_TERMS 48

static uint64_t magnitude(enum fold_dtype dtype, const void *in, size_t i) {
  return fold_bits_load(dtype, in, i) & ~fold_format_of(dtype).sign;
}

static void sort_short(enum fold_dtype dtype, const void *in, size_t n, uint32_t *place) {
  for (size_t i = 0; i < n; i++) {
    uint64_t key = magnitude(dtype, in, i);
    size_t at = i;
    for (; at > 0 && magnitude(dtype, in, place[at - 1]) > key; at--) place[at] = place[at - 1];
    place[at] = (uint32_t)i;
  }
}

/* How often each value of each byte of the key occurs. */
static void count_digits(enum fold_dtype dtype, const void *in, size_t n, size_t count[8][256]) {
  size_t digits = fold_dtype_size(dtype);
  memset(count, 0, 8 * sizeof *count);
  for (size_t i = 0; i < n; i++) {
    uint64_t key = magnitude(dtype, in, i);
    for (size_t d = 0; d < digits; d++) count[d][key >> (8 * d) & 255]++;
  }
}

/* From how often each value occurs to where its first one goes. */
static void starts_of(size_t count[256]) {
  size_t sum = 0;
  for (size_t v = 0; v < 256; v++) {
    size_t here = count[v];
    count[v] = sum;
    sum += here;
  }
}

/* One stable pass from `from` to `to` by byte d; false, and nothing done, where all terms share that byte. */
static bool sort_digit(enum fold_dtype dtype, const void *in, size_t n, size_t d, size_t count[256],
                       const uint32_t *from, uint32_t *to) {
  if (count[magnitude(dtype, in, 0) >> (8 * d) & 255] == n) return false;
  starts_of(count);
  for (size_t k = 0; k < n; k++) to[count[magnitude(dtype, in, from[k]) >> (8 * d) & 255]++] = from[k];
  return true;
}

/* Sorts by way of `spare` and returns which of the two holds the order. */
static uint32_t *sort_long(enum fold_dtype dtype, const void *in, size_t n, uint32_t *place, uint32_t *spare) {
  size_t count[8][256];
  count_digits(dtype, in, n, count);
  for (size_t i = 0; i < n; i++) place[i] = (uint32_t)i;
  for (size_t d = 0; d < fold_dtype_size(dtype); d++)
    if (sort_digit(dtype, in, n, d, count[d], place, spare)) {
      uint32_t *sorted = spare;
      spare = place;
      place = sorted;
    }
  return place;
}

/* Up to 32 bits of magnitude travel with their index, so that memory is read in sequence; the places are written over `keys`. */
static uint32_t *sort_packed(enum fold_dtype dtype, const void *in, size_t n, uint64_t *keys, uint64_t *spare) {
  size_t count[8][256];
  count_digits(dtype, in, n, count);
  for (size_t i = 0; i < n; i++) keys[i] = magnitude(dtype, in, i) << 32 | i;
  for (size_t d = 0; d < fold_dtype_size(dtype); d++) {
    unsigned shift = 32 + 8 * (unsigned)d;
    if (count[d][keys[0] >> shift & 255] == n) continue;
    starts_of(count[d]);
    for (size_t k = 0; k < n; k++) spare[count[d][keys[k] >> shift & 255]++] = keys[k];
    uint64_t *sorted = spare;
    spare = keys;
    keys = sorted;
  }
  uint32_t *place = (uint32_t *)(void *)keys;
  for (size_t k = 0; k < n; k++) {
    uint32_t index = (uint32_t)keys[k];
    memcpy(&place[k], &index, sizeof index);
  }
  return place;
}

static fold_status sort_row(enum fold_dtype dtype, const void *in, size_t n, uint32_t **place) {
  bool is_long = n > INSERTION_TERMS, packed = is_long && fold_dtype_size(dtype) <= 4;
  size_t bytes = n * (packed ? sizeof(uint64_t) : sizeof(uint32_t));
  void *keys = malloc(bytes), *spare = is_long ? malloc(bytes) : NULL;
  if (!keys || (is_long && !spare)) {
    free(keys);
    free(spare);
    return fold_error(FOLD_NO_MEMORY, "no memory to sort %zu terms", n);
  }
  *place = keys;
  if (packed)
    *place = sort_packed(dtype, in, n, keys, spare);
  else if (is_long)
    *place = sort_long(dtype, in, n, keys, spare);
  else
    sort_short(dtype, in, n, keys);
  free(*place == keys ? spare : keys);
  return fold_ok();
}

/* Fisher and Yates's shuffle. */
static fold_status shuffle_row(uint64_t key, size_t n, uint32_t **place) {
  uint32_t *at = *place = malloc(n * sizeof *at);
  if (!at) return fold_error(FOLD_NO_MEMORY, "no memory to shuffle %zu terms", n);
  for (size_t i = 0; i < n; i++) {
    size_t partner = fold_print_mix(key << 32 ^ i) % (i + 1);
    at[i] = at[partner];
    at[partner] = (uint32_t)i;
  }
  return fold_ok();
}

fold_status fold_order_places(const struct fold_order *order, enum fold_dtype dtype, const void *in, size_t n,
                              uint32_t **place) {
  const bool keyed = order->kind == FOLD_ORDER_KEYED;
  *place = NULL;
  if ((order->kind != FOLD_ORDER_SORTED && !keyed) || n == 0) return fold_ok();
  if (!in && !keyed) return fold_error(FOLD_BAD_INPUT, "order %s: its tree depends on the terms", order->name);
  if (n > UINT32_MAX) return fold_error(FOLD_UNSUPPORTED, "order %s: more than 2^32 - 1 terms in a row", order->name);
  return fold_within(keyed ? shuffle_row(order->width, n, place) : sort_row(dtype, in, n, place), "order %s",
                     order->name);
}
