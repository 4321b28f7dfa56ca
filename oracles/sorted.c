/* sorted.c: the permutation of the sorted order: rising magnitude by bits, ties by index.
 *
 * Promised: a stable order of the patterns without their signs, NaN above infinity; 8 bytes a term while sorting, 4
 * afterwards. Short rows by insertion, long ones by a radix sort of indices, least digit first.
 */
#include <stdlib.h>
#include <string.h>

#include "bits.h"
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

/* One stable pass from `from` to `to` by byte d; false, and nothing done, where all terms share that byte. */
static bool sort_digit(enum fold_dtype dtype, const void *in, size_t n, size_t d, size_t count[256],
                       const uint32_t *from, uint32_t *to) {
  if (count[magnitude(dtype, in, 0) >> (8 * d) & 255] == n) return false;
  size_t sum = 0;
  for (size_t v = 0; v < 256; v++) {
    size_t here = count[v];
    count[v] = sum;
    sum += here;
  }
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

fold_status fold_order_places(const struct fold_order *order, enum fold_dtype dtype, const void *in, size_t n,
                              uint32_t **place) {
  *place = NULL;
  if (order->kind != FOLD_ORDER_SORTED || n == 0) return fold_ok();
  if (!in) return fold_error(FOLD_BAD_INPUT, "order %s: its tree depends on the terms", order->name);
  if (n > UINT32_MAX) return fold_error(FOLD_UNSUPPORTED, "order %s: more than 2^32 - 1 terms in a row", order->name);
  uint32_t *both[2] = {malloc(n * sizeof **both), n <= INSERTION_TERMS ? NULL : malloc(n * sizeof **both)};
  if (!both[0] || (n > INSERTION_TERMS && !both[1])) {
    free(both[0]);
    free(both[1]);
    return fold_error(FOLD_NO_MEMORY, "order %s: no memory to sort %zu terms", order->name, n);
  }
  if (n <= INSERTION_TERMS) sort_short(dtype, in, n, both[0]);
  *place = n <= INSERTION_TERMS ? both[0] : sort_long(dtype, in, n, both[0], both[1]);
  free(*place == both[0] ? both[1] : both[0]);
  return fold_ok();
}
