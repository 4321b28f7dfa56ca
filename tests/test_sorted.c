/* test_sorted.c: the permutation of the sorted order is what its definition says, at lengths for each way in which it
 * is made. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "integers.h"
#include "oracles/order.h"
#include "oracles/split.h"

enum { MOST_TERMS = 70000 };

static uint64_t magnitude(enum fold_dtype dtype, const void *in, size_t i) {
  return fold_bits_load(dtype, in, i) & ~fold_format_of(dtype).sign;
}

/* Each term once, magnitudes rising, ties by index. */
static bool is_sorted(enum fold_dtype dtype, const void *in, size_t n, const uint32_t *place) {
  unsigned char *seen = calloc(n + 1, 1);
  bool right = true;
  for (size_t k = 0; k < n && right; k++) {
    right = place[k] < n && !seen[place[k]]++;
    if (!right || k == 0) continue;
    uint64_t before = magnitude(dtype, in, place[k - 1]), here = magnitude(dtype, in, place[k]);
    right = before < here || (before == here && place[k - 1] < place[k]);
  }
  free(seen);
  return right;
}

Test(sorted, places_rise_by_magnitude_and_ties_by_index) {
  static const size_t lengths[] = {1, 2, 47, 48, 49, 50, 300, 4095, 4096, 4097, MOST_TERMS};
  const struct fold_order *order = fold_order_find("host/sorted");
  uint64_t *in = malloc(MOST_TERMS * sizeof *in), state = 5;
  for (int dtype = 0; dtype < FOLD_FLOATS; dtype++)
    for (int few = 0; few < 3; few++) { /* values that occur often, which share the upper digits, or the lowest */
      const uint64_t masks[] = {UINT64_MAX, 0x8005,
                                fold_dtype_size((enum fold_dtype)dtype) > 2 ? ~UINT64_C(0xffff) : 0xff00};
      for (size_t i = 0; i < MOST_TERMS; i++) {
        uint64_t bits = random_pattern((enum fold_dtype)dtype, false, &state);
        fold_bits_store((enum fold_dtype)dtype, in, i, bits & masks[few]);
      }
      for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        uint32_t *place = NULL;
        fold_status status = fold_order_places(order, (enum fold_dtype)dtype, in, lengths[l], &place);
        cr_assert(status.code == FOLD_OK, "%s", status.text);
        cr_expect(is_sorted((enum fold_dtype)dtype, in, lengths[l], place), "%s n %zu few %d", fold_dtype_name(dtype),
                  lengths[l], few);
        free(place);
      }
    }
  free(in);
}

static uint32_t *shuffled(unsigned key, size_t n) {
  const struct fold_order order = {.name = "keyed", .kind = FOLD_ORDER_KEYED, .width = key};
  uint32_t *place = NULL;
  cr_assert_eq(fold_order_places(&order, FOLD_F32, NULL, n, &place).code, FOLD_OK);
  return place;
}

Test(sorted, a_keyed_order_places_each_term_once_and_by_its_key) {
  static const size_t lengths[] = {1, 2, 3, 100, 5000};
  for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
    const size_t n = lengths[l];
    uint32_t *before = shuffled(1, n), *again = shuffled(1, n);
    cr_expect(memcmp(before, again, n * sizeof *again) == 0, "n %zu: one key, two orders", n);
    free(again);
    for (unsigned key = 1; key < 5; key++) {
      uint32_t *place = shuffled(key, n);
      unsigned char *seen = calloc(n, 1);
      for (size_t i = 0; i < n; i++)
        cr_assert(place[i] < n && !seen[place[i]]++, "n %zu, key %u, place %zu", n, key, i);
      if (key > 1 && n > 3)
        cr_expect(memcmp(before, place, n * sizeof *place) != 0, "n %zu: keys %u and %u", n, key - 1, key);
      free(seen);
      free(before);
      before = place;
    }
    free(before);
  }
}

Test(sorted, other_orders_take_no_places) {
  float in[3] = {3, 2, 1};
  uint32_t some, *place = &some;
  cr_assert_eq(fold_order_places(fold_order_find("host/sequential"), FOLD_F32, in, 3, &place).code, FOLD_OK);
  cr_expect_null(place);
  place = &some;
  cr_assert_eq(fold_order_places(fold_order_find("host/sorted"), FOLD_F32, in, 0, &place).code, FOLD_OK);
  cr_expect_null(place);
}
