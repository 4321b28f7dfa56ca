/* test_orders_trees.c: each order's tree is the one of its definition in orders.def: heights, fingerprints, drawings,
 * compared with naive.c. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "naive.h"
#include "oracles/fingerprint.h"
#include "oracles/order.h"
#include "sample.h"

/* ---- trees ---- */

Test(orders, heights_and_fingerprints_are_those_of_the_definition) {
  size_t orders;
  const struct fold_order *order = fold_orders(&orders);
  for (size_t l = 0; l < SAMPLE_LENGTHS; l++) {
    size_t n = sample_lengths[l];
    void *in = sample_row(SAMPLE_CANCELLING, FOLD_F32, 51, n);
    for (size_t k = 0; k < orders; k++) {
      struct naive want = naive_fold(order + k, FOLD_F32, FOLD_SUM, in, n);
      uint64_t height = 99, print = 99;
      cr_assert(fold_order_height(order + k, FOLD_F32, NULL, n, &height).code == FOLD_OK);
      cr_assert(fold_order_fingerprint(order + k, FOLD_F32, in, n, &print).code == FOLD_OK);
      cr_expect(height == want.height, "%s n %zu: height %lu, want %lu", order[k].name, n, height, want.height);
      cr_expect(print == want.print, "%s n %zu: fingerprint", order[k].name, n);
    }
    free(in);
  }
}

static uint64_t height_of(const char *name, size_t n) {
  uint64_t height = UINT64_MAX;
  cr_assert(fold_order_height(fold_order_find(name), FOLD_F32, NULL, n, &height).code == FOLD_OK);
  return height;
}

static uint64_t log2_up(size_t n) {
  uint64_t k = 0;
  while (((size_t)1 << k) < n) k++;
  return k;
}

static size_t least(size_t a, size_t b) { return a < b ? a : b; }
static size_t ceiling(size_t n, size_t d) { return (n + d - 1) / d; }

Test(orders, heights_have_their_closed_forms) {
  for (size_t l = 1; l < SAMPLE_LENGTHS; l++) {
    size_t n = sample_lengths[l];
    cr_expect(height_of("host/sequential", n) == n - 1, "sequential %zu", n);
    cr_expect(height_of("rows/single_back", n) == n - 1, "single_back %zu", n);
    cr_expect(height_of("host/sorted", n) == n - 1, "sorted %zu", n);
    cr_expect(height_of("host/pairwise", n) == log2_up(n), "pairwise %zu", n);
    size_t part = ceiling(n, 16), tree = ceiling(n, 256);
    cr_expect(height_of("rows/par_16", n) == part - 1 + ceiling(n, part) - 1, "par_16 %zu", n);
    cr_expect(height_of("rows/par_256", n) == tree - 1 + log2_up(ceiling(n, tree)), "par_256 %zu", n);
    uint64_t canonical = least(16, ceiling(n, 256)) - 1 + log2_up(least(n, 256)) + log2_up(ceiling(n, 4096));
    const size_t tiles = ceiling(n, 32);
    cr_expect(height_of("scan/tiled", n) == least(32, n) - 1 + tiles - 1, "tiled %zu", n);
    cr_expect(height_of("scan/warps", n) == log2_up(least(32, n)) + tiles - 1, "warps %zu", n);
    cr_expect(height_of("flat/canonical", n) == canonical, "canonical %zu", n);
  }
  for (size_t k = 0; k <= 6; k++) cr_expect(height_of("host/numpy", (size_t)128 << k) == 18 + k, "numpy %zu", k);
  for (size_t k = 1; k < 9; k++) cr_expect(height_of("host/numpy", 8192 * k) == 24 + k - 1, "numpy %zu pieces", k);
  for (size_t k = 1; k < 4; k++)
    cr_expect(height_of("flat/shuffle", k << 18) == (k - 1) + 8 + 3 + 8, "shuffle of %zu full grids", k);
}

static uint64_t print_of(const char *name, size_t n, const float *in) {
  uint64_t print = 0;
  cr_assert(fold_order_fingerprint(fold_order_find(name), FOLD_F32, in, n, &print).code == FOLD_OK);
  return print;
}

Test(orders, fingerprints_agree_just_where_trees_do) {
  float rising[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, falling[9] = {9, 8, 7, 6, 5, 4, 3, 2, 1};
  cr_expect(print_of("rows/single_for", 9, NULL) == print_of("host/sequential", 9, NULL));
  cr_expect(print_of("rows/single_for", 9, NULL) != print_of("rows/single_back", 9, NULL));
  cr_expect(print_of("rows/single_for", 2, NULL) == print_of("rows/single_back", 2, NULL), "operands are unordered");
  cr_expect(print_of("host/sorted", 9, rising) == print_of("host/sequential", 9, NULL));
  cr_expect(print_of("host/sorted", 9, falling) == print_of("host/reverse", 9, NULL));
  for (size_t n = 0; n <= 256; n++) {
    cr_expect(print_of("host/pairwise", n, NULL) == print_of("rows/par_256", n, NULL), "chunks of one: n %zu", n);
    cr_expect(print_of("host/pairwise", n, NULL) == print_of("flat/canonical", n, NULL), "one line: n %zu", n);
  }
  cr_expect(print_of("host/pairwise", 512, NULL) == print_of("rows/par_256", 512, NULL), "chunks of two");
  cr_expect(print_of("host/pairwise", 513, NULL) != print_of("rows/par_256", 513, NULL), "chunks of three");
  cr_expect(print_of("host/pairwise", 257, NULL) != print_of("flat/canonical", 257, NULL));
  cr_expect(print_of("flat/shuffle", 8, NULL) != print_of("host/pairwise", 8, NULL));
  cr_expect(print_of("host/pairwise", 8, NULL) != print_of("host/pairwise", 7, NULL));
}

Test(orders, fingerprints_are_functions_of_the_tree) {
  uint64_t x0 = fold_fingerprint_leaf(0), x1 = fold_fingerprint_leaf(1), x2 = fold_fingerprint_leaf(2);
  cr_expect(fold_fingerprint_join(x0, x1) == fold_fingerprint_join(x1, x0));
  cr_expect(fold_fingerprint_join(fold_fingerprint_join(x0, x1), x2) !=
            fold_fingerprint_join(x0, fold_fingerprint_join(x1, x2)));
  cr_expect(fold_fingerprint_join(0, x2) == x2 && fold_fingerprint_join(x2, 0) == x2 &&
            fold_fingerprint_join(0, 0) == 0);
  cr_expect(print_of("host/sequential", 3, NULL) == fold_fingerprint_join(fold_fingerprint_join(x0, x1), x2));
  cr_expect(print_of("host/sequential", 0, NULL) == 0 && print_of("flat/canonical", 1, NULL) == x0);
}

Test(orders, the_sorted_tree_needs_its_terms) {
  uint64_t print;
  const struct fold_order *sorted = fold_order_find("host/sorted");
  cr_expect(fold_order_fingerprint(sorted, FOLD_F32, NULL, 3, &print).code == FOLD_BAD_INPUT);
}

/* ---- drawings ---- */

static void expect_drawing(const char *name, size_t n, const char *want) {
  char *text = NULL;
  size_t length;
  FILE *out = open_memstream(&text, &length);
  cr_assert(fold_order_draw(fold_order_find(name), FOLD_F32, NULL, n, out).code == FOLD_OK);
  fclose(out);
  cr_expect(strcmp(text, want) == 0, "%s n %zu: got %s, want %s", name, n, text, want);
  free(text);
}

Test(orders, drawings_show_the_tree) {
  expect_drawing("host/sequential", 0, "0\n");
  expect_drawing("host/sequential", 1, "x0\n");
  expect_drawing("host/sequential", 4, "(((x0+x1)+x2)+x3)\n");
  expect_drawing("host/reverse", 4, "(((x3+x2)+x1)+x0)\n");
  expect_drawing("host/pairwise", 7, "(((x0+x1)+(x2+x3))+((x4+x5)+x6))\n");
  expect_drawing("host/numpy", 3, "((x0+x1)+x2)\n");
  expect_drawing("host/numpy", 10, "(((((x0+x1)+(x2+x3))+((x4+x5)+(x6+x7)))+x8)+x9)\n");
  expect_drawing("host/numpy", 17,
                 "(((((x0+x8)+(x1+x9))+((x2+x10)+(x3+x11)))+(((x4+x12)+(x5+x13))+((x6+x14)+(x7+x15))))+x16)\n");
  expect_drawing("rows/par_16", 17,
                 "(((((((((x0+x1)+(x2+x3))+(x4+x5))+(x6+x7))+(x8+x9))+(x10+x11))+(x12+x13))+(x14+x15))+x16)\n");
  expect_drawing("rows/par_256", 5, "(((x0+x1)+(x2+x3))+x4)\n");
  expect_drawing("flat/shuffle", 4, "((x0+x2)+(x1+x3))\n");
  expect_drawing("flat/canonical", 3, "((x0+x1)+x2)\n");
}

Test(orders, drawings_have_a_limit) {
  const struct fold_order *order = fold_order_find("host/sequential");
  FILE *out = fopen("/dev/null", "w");
  cr_expect(fold_order_draw(order, FOLD_F32, NULL, 4096, out).code == FOLD_OK);
  cr_expect(fold_order_draw(order, FOLD_F32, NULL, 4097, out).code == FOLD_BAD_INPUT);
  fclose(out);
}

Test(orders, a_drawing_that_can_not_be_written_is_told) {
  const struct fold_order *order = fold_order_find("host/sequential");
  FILE *full = fopen("/dev/full", "w");
  cr_assert(full && setvbuf(full, NULL, _IONBF, 0) == 0);
  fold_status status = fold_order_draw(order, FOLD_F32, NULL, 3, full);
  cr_expect_eq(status.code, FOLD_BAD_INPUT);
  cr_expect_str_eq(status.text, "cannot write the tree of host/sequential");
  fclose(full);
}
