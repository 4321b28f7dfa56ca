/* sorted.c: the permutation of the sorted order: rising magnitude by bits, ties by index; and that of a keyed one.
 *
 * Promised: a stable order of the patterns without their signs, NaN above infinity; 16 bytes a term while
 * sorting. Short rows by insertion, long ones by a radix sort, least digit first.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "oracles/fingerprint.h"
#include "oracles/split.h"

#define INSERTION_TERMS 48
#define WIDE_TERMS 4096 /* from this length on, fewer passes with more bits a digit are faster */

/* The key of term i: its pattern without the sign. `size` is a constant wherever this is inlined. */
#define INLINE static inline __attribute__((always_inline))

INLINE uint64_t key_at(size_t size, const void *in, size_t i) {
  union {
    uint8_t of_1;
    uint16_t of_2;
    uint32_t of_4;
    uint64_t of_8;
  } bits;
  memcpy(&bits, (const unsigned char *)in + i * size, size);
  switch (size) {
    case 1: return bits.of_1 & 0x7fu;
    case 2: return bits.of_2 & 0x7fffu;
    case 4: return bits.of_4 & 0x7fffffffu;
    default: return bits.of_8 & 0x7fffffffffffffffu;
  }
}

INLINE void sort_short(size_t size, const void *in, size_t n, uint32_t *place) {
  for (size_t i = 0; i < n; i++) {
    uint64_t key = key_at(size, in, i);
    size_t at = i;
    for (; at > 0 && key_at(size, in, place[at - 1]) > key; at--) place[at] = place[at - 1];
    place[at] = (uint32_t)i;
  }
}

/* How many digits of `width` bits a key has: at most eight. MOST_VALUES is enough for the values of all of them. */
#define DIGITS(size, width) ((8 * (size)-1 + (width)-1) / (width))
enum { MOST_VALUES = 6 << 11 }; /* unseen: 7 | 12 */

INLINE size_t digit(uint64_t key, unsigned width, size_t d) { return key >> (width * d) & ((1u << width) - 1); }

/* How often each value of each digit of the key occurs. */
INLINE void count_digits(size_t size, unsigned width, const void *in, size_t n, uint32_t count[MOST_VALUES]) {
  memset(count, 0, (DIGITS(size, width) << width) * sizeof *count);
  for (size_t i = 0; i < n; i++) {
    uint64_t key = key_at(size, in, i);
#pragma GCC unroll 8
    for (size_t d = 0; d < DIGITS(size, width); d++) count[(d << width) + digit(key, width, d)]++;
  }
}

/* Turns the number of times that each value occurs into the place of its first key. */
static void starts_of(uint32_t *count, size_t values) {
  uint32_t sum = 0;
  for (size_t v = 0; v < values; v++) {
    uint32_t here = count[v];
    count[v] = sum;
    sum += here;
  }
}

/* Sorts with the help of `spare` and returns the array that holds the order. Each digit takes one stable pass; a digit
 * that is the same in all terms is skipped. */
INLINE uint32_t *sort_long(size_t size, unsigned width, const void *in, size_t n, uint32_t *place, uint32_t *spare) {
  uint32_t count[MOST_VALUES];
  count_digits(size, width, in, n, count);
  for (size_t i = 0; i < n; i++) place[i] = (uint32_t)i;
  for (size_t d = 0; d < DIGITS(size, width); d++) {
    uint32_t *at = count + (d << width);
    if (at[digit(key_at(size, in, 0), width, d)] == n) continue; /* unseen: d , width | 1 */
    starts_of(at, (size_t)1 << width);
    for (size_t k = 0; k < n; k++) spare[at[digit(key_at(size, in, place[k]), width, d)]++] = place[k];
    uint32_t *sorted = spare;
    spare = place;
    place = sorted;
  }
  return place;
}

/* Magnitudes of up to 32 bits are moved together with their index, so that memory is read in sequence. The places
 * overwrite `keys`. */
INLINE uint32_t *sort_packed(size_t size, unsigned width, const void *in, size_t n, uint64_t *keys, uint64_t *spare) {
  uint32_t count[MOST_VALUES];
  count_digits(size, width, in, n, count);
  for (size_t i = 0; i < n; i++) keys[i] = key_at(size, in, i) << 32 | i;
  for (size_t d = 0; d < DIGITS(size, width); d++) {
    uint32_t *at = count + (d << width);
    if (at[digit(keys[0] >> 32, width, d)] == n) continue; /* unseen: d , width */
    starts_of(at, (size_t)1 << width);
    for (size_t k = 0; k < n; k++) spare[at[digit(keys[k] >> 32, width, d)]++] = keys[k];
    uint64_t *sorted = spare;
    spare = keys;
    keys = sorted;
  }
  uint32_t *place = (uint32_t *)(void *)keys;
  for (size_t k = 0; k < n; k++) { /* unseen: 1 */
    uint32_t index = (uint32_t)keys[k];
    memcpy(&place[k], &index, sizeof index);
  }
  return place;
}

INLINE uint32_t *sort(size_t size, unsigned width, const void *in, size_t n, void *keys, void *spare) {
  if (size > 4) return sort_long(size, width, in, n, keys, spare);
  return sort_packed(size, width, in, n, keys, spare);
}

INLINE uint32_t *sort_any(size_t size, const void *in, size_t n, void *keys, void *spare) {
  if (spare && size >= 4 && n >= WIDE_TERMS) return sort(size, 11, in, n, keys, spare); /* unseen: 10 | || */
  if (spare) return sort(size, 8, in, n, keys, spare);                                  /* unseen: 7 */
  sort_short(size, in, n, keys);
  return keys;
}

static uint32_t *sort_by_size(size_t size, const void *in, size_t n, void *keys, void *spare) {
  switch (size) {
    case 1: return sort_any(1, in, n, keys, spare);
    case 2: return sort_any(2, in, n, keys, spare);
    case 4: return sort_any(4, in, n, keys, spare);
    default: return sort_any(8, in, n, keys, spare);
  }
}

static fold_status sort_row(enum fold_dtype dtype, const void *in, size_t n, uint32_t **place) {
  bool is_long = n > INSERTION_TERMS, packed = is_long && fold_dtype_size(dtype) <= 4; /* unseen: 5 | >= */
  size_t bytes = n * (packed ? sizeof(uint64_t) : sizeof(uint32_t));
  void *keys = malloc(bytes), *spare = is_long ? malloc(bytes) : NULL;
  if (!keys || (is_long && !spare)) {
    free(keys);
    free(spare);
    return fold_no_memory("to sort %zu terms", n);
  }
  *place = sort_by_size(fold_dtype_size(dtype), in, n, keys, spare);
  free(*place == keys ? spare : keys);
  return fold_ok();
}

/* Fisher and Yates's shuffle. */
static fold_status shuffle_row(uint64_t key, size_t n, uint32_t **place) {
  uint32_t *at = *place = malloc(n * sizeof *at);
  if (!at) return fold_no_memory("to shuffle %zu terms", n);
  for (size_t i = 0; i < n; i++) {
    size_t partner = fold_fingerprint_mix(key << 32 ^ i) % (i + 1);
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
