/* test_tree.c: a tree as data: what is none is refused; and its text. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "reveal/tree.h"

Test(reveal, parents_that_are_no_tree_are_refused) {
  const uint32_t none = FOLD_TREE_NONE, two_roots[] = {3, 3, none, none}, ring[] = {3, 3, 4, 4, 3},
                 under_a_term[] = {1, 3, 3, none};
  struct fold_tree tree;
  cr_expect_eq(fold_tree_of_parents(two_roots, 3, 4, &tree).code, FOLD_BAD_INPUT);
  cr_expect_eq(fold_tree_of_parents(ring, 3, 5, &tree).code, FOLD_BAD_INPUT);
  cr_expect_eq(fold_tree_of_parents(under_a_term, 3, 4, &tree).code, FOLD_BAD_INPUT);
}

static void expect_text(const char *name, size_t n, const char *want) {
  struct fold_tree tree;
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  cr_assert_eq(fold_tree_of_order(fold_order_find(name), FOLD_F32, NULL, n, &tree).code, FOLD_OK);
  cr_expect_eq(fold_tree_text(&tree, out).code, FOLD_OK);
  fclose(out);
  cr_expect_str_eq(text, want, "%s, %zu terms:\n%s", name, n, text);
  free(text);
  fold_tree_free(&tree);
}

Test(reveal, trees_are_told_in_a_few_lines) {
  expect_text("host/sequential", 64, "x[0..63] sequentially\n");
  expect_text("host/reverse", 64, "x[63..0 by -1] sequentially\n");
  expect_text("host/pairwise", 64, "x[0..63] pairwise\n");
  expect_text("host/numpy", 64, "8 parts, each 1 on, pairwise; the first:\n  x[0..56 by 8] sequentially\n");
  expect_text("rows/par_16", 64, "16 parts, each 4 on, sequentially; the first:\n  x[0..3] sequentially\n");
  expect_text("flat/canonical", 4096, "256 parts, each 1 on, pairwise; the first:\n  x[0..3840 by 256] sequentially\n");
  expect_text("host/pairwise", 65, "2 parts joined:\n  x[0..63] pairwise\n  x[64]\n");
  expect_text("flat/canonical", 257,
              "10 parts sequentially:\n  x[0]\n  x[256]\n  x[1]\n  x[2] x[3] pairwise\n  x[4..7] pairwise\n  x[8..15] "
              "pairwise\n"
              "  x[16..31] pairwise\n  x[32..63] pairwise\n  x[64..127] pairwise\n  x[128..255] pairwise\n");
  expect_text("flat/shuffle", 32, "x[0..31] pairwise, halves to halves\n");
  expect_text("host/pairwise", 1, "x[0]\n");
}
