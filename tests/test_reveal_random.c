/* test_reveal_random.c: trees of random shapes are revealed, whatever their nodes' operands and precisions. */
#include "revealed.h"

static size_t random_integer(uint64_t *state) {
  return (size_t)(fold_fingerprint_mix(*state += 0x9e3779b97f4a7c15u) >> 8);
}

/* Joins terms at random, up to `width` at once. */
static size_t random_parents(uint32_t *parent, size_t n, size_t width, uint64_t *state) {
  uint32_t top[600];
  size_t tops = n, nodes = n;
  for (size_t i = 0; i < n; i++) top[i] = (uint32_t)i;
  while (tops > 1) {
    size_t k = width > 2 ? 2 + random_integer(state) % (width - 1) : 2;
    if (k > tops) k = tops;
    for (size_t c = 0; c < k; c++) {
      const size_t at = random_integer(state) % tops;
      parent[top[at]] = (uint32_t)nodes;
      top[at] = top[--tops];
    }
    top[tops++] = (uint32_t)nodes++;
  }
  parent[nodes - 1] = FOLD_TREE_NONE;
  return nodes;
}

/* A random tree of two operands a node, by plain float additions over the parents: not by what is tested. */
static fold_status by_parents(void *context, size_t rows, void *out) {
  const struct subject *s = context;
  const size_t n = s->summer.n;
  for (size_t r = 0; r < rows; r++) {
    float value[1200];
    bool has[1200] = {false};
    for (size_t i = 0; i < n; i++) value[i] = ((const float *)s->summer.in[0])[r * n + i];
    size_t k = 0;
    for (; s->parent[k] != FOLD_TREE_NONE; k++) {
      const uint32_t up = s->parent[k];
      value[up] = has[up] ? value[up] + value[k] : value[k];
      has[up] = true;
    }
    ((float *)out)[r] = value[k];
  }
  return fold_ok();
}

Test(reveal, two_hundred_random_trees) {
  uint64_t state = 11;
  for (int k = 0; k < 200; k++) {
    const size_t n = 2 + random_integer(&state) % 120;
    uint32_t parent[1200];
    struct fold_tree tree;
    uint64_t want;
    const size_t nodes = random_parents(parent, n, 2, &state);
    struct subject s = {.parent = parent};
    cr_assert_eq(fold_tree_of_parents(parent, n, nodes, &tree).code, FOLD_OK);
    fold_tree_fingerprint(&tree, &want);
    struct fold_revealed revealed = reveal_usual(&s, by_parents, n, FOLD_F32);
    cr_expect(revealed.kind == FOLD_REVEALED_TREE && print_of(&revealed) == want, "tree %d of %zu terms: %s %s", k, n,
              fold_revealed_text(revealed.kind), revealed.why);
    fold_revealed_free(&revealed);
    fold_tree_free(&tree);
  }
}

/* The result shows of the root's own dtype no more than the result's. */
static void expect_mixed(uint64_t *state, int k, enum fold_dtype narrow, enum fold_dtype wide, unsigned factors) {
  const size_t n = 20 + random_integer(state) % 100;
  uint32_t parent[1200];
  struct fold_tree tree;
  const size_t nodes = random_parents(parent, n, 2, state);
  cr_assert_eq(fold_tree_of_parents(parent, n, nodes, &tree).code, FOLD_OK);
  tree.accumulator = malloc(tree.joins);
  for (size_t j = 0; j < tree.joins; j++)
    tree.accumulator[j] = (unsigned char)(j + 1 < tree.joins && random_integer(state) % 3 == 0 ? wide : narrow);
  struct subject s = {.tree = &tree, .how = {narrow, narrow, FOLD_ROUNDED_ONCE}, .summer.factors = factors};
  struct fold_revealed revealed = reveal_usual(&s, by_tree, n, narrow);
  cr_expect(revealed.kind == FOLD_REVEALED_TREE && fold_tree_accumulators_alike(&revealed.tree, &tree),
            "tree %d of %zu terms, %s and %s: %s %s", k, n, fold_dtype_name(narrow), fold_dtype_name(wide),
            fold_revealed_text(revealed.kind), revealed.why);
  fold_revealed_free(&revealed);
  fold_tree_free(&tree);
}

Test(reveal, sixty_trees_in_more_than_one_precision) {
  uint64_t state = 13;
  for (int k = 0; k < 20; k++) {
    expect_mixed(&state, k, FOLD_F32, FOLD_F64, 1);
    expect_mixed(&state, k, FOLD_F32, FOLD_F64, 2);
    expect_mixed(&state, k, FOLD_BF16, FOLD_F32, 1);
  }
}

/* Whether some node of the tree has more than two operands. */
static bool expect_fused(uint64_t *state, int k, enum fold_fusing fusing) {
  const size_t n = 3 + random_integer(state) % 60;
  uint32_t parent[1200];
  struct fold_tree tree;
  uint64_t want;
  const size_t nodes = random_parents(parent, n, 3 + (size_t)k % 7, state);
  struct subject s = {.tree = &tree, .how = {FOLD_F32, FOLD_F32, fusing}};
  cr_assert_eq(fold_tree_of_parents(parent, n, nodes, &tree).code, FOLD_OK);
  fold_tree_fingerprint(&tree, &want);
  struct fold_revealed revealed = reveal_usual(&s, by_tree, n, FOLD_F32);
  const bool flat = tree.joins == 1 && fusing == FOLD_ROUNDED_ONCE;
  cr_expect((revealed.kind == FOLD_REVEALED_TREE || (flat && revealed.kind == FOLD_REVEALED_EXACT)) &&
                print_of(&revealed) == want && (fold_tree_width(&tree) == 2 || revealed.how.fusing == fusing),
            "tree %d of %zu terms, %s: %s %s", k, n, fold_fusing_text(fusing), fold_revealed_text(revealed.kind),
            revealed.why);
  fold_revealed_free(&revealed);
  const bool wide = fold_tree_width(&tree) > 2;
  fold_tree_free(&tree);
  return wide;
}

Test(reveal, fifty_trees_whose_nodes_have_several_operands) {
  uint64_t state = 12;
  int wide = 0;
  for (int k = 0; wide < 50 && k < 100; k++) wide += expect_fused(&state, k, (enum fold_fusing)(k % FOLD_FUSINGS));
  cr_expect_eq(wide, 50);
}

/* As a machine with 4 lanes of 8 terms adds: ((0 + 8 terms) + 8 terms) ... Returns the arithmetic that was revealed. */
static enum fold_fusing expect_chain(enum fold_dtype dtype, enum fold_dtype result, enum fold_fusing fusing) {
  uint32_t parent[1200];
  const size_t n = 64;
  struct fold_tree tree;
  uint64_t want;
  for (uint32_t i = 0; i < n; i++) parent[i] = (uint32_t)n + i / 8;
  for (uint32_t j = 0; j < 8; j++) parent[n + j] = j < 7 ? (uint32_t)n + j + 1 : FOLD_TREE_NONE;
  cr_assert_eq(fold_tree_of_parents(parent, n, n + 8, &tree).code, FOLD_OK);
  fold_tree_fingerprint(&tree, &want);
  struct subject s = {.tree = &tree, .how = {FOLD_F32, result, fusing}, .summer.accumulator = FOLD_F32};
  s.summer.result = result;
  struct fold_revealed revealed = reveal(&s, by_tree, n, 64, dtype);
  cr_expect(revealed.kind == FOLD_REVEALED_TREE && print_of(&revealed) == want, "%s, %s: %s %s", fold_dtype_name(dtype),
            fold_fusing_text(fusing), fold_revealed_text(revealed.kind), revealed.why);
  fold_revealed_free(&revealed);
  fold_tree_free(&tree);
  return revealed.how.fusing;
}

Test(reveal, chains_of_eight_terms_at_once) {
  for (int fusing = 0; fusing < FOLD_FUSINGS; fusing++)
    cr_expect_eq((int)expect_chain(FOLD_F16, FOLD_F16, (enum fold_fusing)fusing), fusing);
}

/* The range of e5m2 leaves few bits between M and a unit, and its sums seldom tell how many bits are kept. */
Test(reveal, masks_absorb_units_even_where_operands_keep_bits_below_the_last) {
  for (int fusing = 0; fusing < FOLD_FUSINGS; fusing++) expect_chain(FOLD_E5M2, FOLD_F32, (enum fold_fusing)fusing);
}

/* As one step of a tensor core: all products in one node. Its result has few bits, so that only products that cancel show a cut. */
Test(reveal, a_dot_product_of_one_cut_node_is_not_called_exact) {
  for (size_t n = 4; n <= 16; n++) {
    uint32_t parent[17];
    struct fold_tree tree;
    for (size_t i = 0; i < n; i++) parent[i] = (uint32_t)n;
    parent[n] = FOLD_TREE_NONE;
    cr_assert_eq(fold_tree_of_parents(parent, n, n + 1, &tree).code, FOLD_OK);
    struct subject s = {.tree = &tree, .how = {FOLD_F32, FOLD_F16, FOLD_CUT_0}, .summer.factors = 2};
    struct fold_revealed revealed = reveal_usual(&s, by_tree, n, FOLD_F16);
    cr_expect(revealed.kind == FOLD_REVEALED_TREE && revealed.how.fusing == FOLD_CUT_0, "%zu products: %s, %s", n,
              fold_revealed_text(revealed.kind), fold_fusing_text(revealed.how.fusing));
    fold_revealed_free(&revealed);
    fold_tree_free(&tree);
  }
}
