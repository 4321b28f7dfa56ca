/* rank_trees/names.c: names trees over ranks by the algorithms that have them. */
#include <stdlib.h>
#include <string.h>

#include "rank_trees/map.h"

/* A tree over n ranks that is being made. */
struct draft {
  uint32_t parent[2 * FOLD_MAP_RANKS_MOST], n, nodes;
};

static uint32_t join(struct draft *d, uint32_t a, uint32_t b) {
  d->parent[a] = d->parent[b] = d->nodes;
  return d->nodes++;
}

static fold_status is_draft(struct draft *d, const struct fold_tree *tree, bool *is) {
  struct fold_tree other;
  bool differ;
  uint32_t i, j;
  d->parent[d->nodes - 1] = FOLD_TREE_NONE;
  FOLD_TRY(fold_tree_of_parents(d->parent, d->n, d->nodes, &other));
  const fold_status status = fold_tree_difference(tree, &other, &differ, &i, &j);
  fold_tree_free(&other);
  *is = status.code == FOLD_OK && !differ;
  return status;
}

/* Whether ranks numbered from `root` on are joined as neighbours, then neighbours' sums: the tree of a binomial tree
 * and of recursive doubling. */
static fold_status is_binomial(const struct fold_tree *tree, uint32_t root, bool *is) {
  struct draft d = {.n = (uint32_t)tree->n, .nodes = (uint32_t)tree->n};
  uint32_t at[FOLD_MAP_RANKS_MOST];
  for (uint32_t r = 0; r < d.n; r++) at[r] = (r + root) % d.n;
  for (uint32_t step = 1; step < d.n; step *= 2)
    for (uint32_t i = 0; i + step < d.n; i += 2 * step) at[i] = join(&d, at[i], at[i + step]);
  return is_draft(&d, tree, is);
}

/* Whether the first ranks pair up until a power of two is left, which then joins neighbours first, or the two
 * halves. */
static fold_status is_butterfly(const struct fold_tree *tree, bool halving, bool *is) {
  struct draft d = {.n = (uint32_t)tree->n, .nodes = (uint32_t)tree->n};
  uint32_t at[FOLD_MAP_RANKS_MOST], left = 1, k = 0;
  while (2 * left <= d.n) left *= 2;
  for (uint32_t r = 0; r < d.n; k++) {
    const bool pairs = k < d.n - left;
    at[k] = pairs ? join(&d, r, r + 1) : r;
    r += pairs ? 2 : 1;
  }
  for (; left > 1; left /= 2)
    for (uint32_t i = 0; i < left / 2; i++)
      at[i] = halving ? join(&d, at[i], at[i + left / 2]) : join(&d, at[2 * i], at[2 * i + 1]);
  return is_draft(&d, tree, is);
}

/* Whether ranks are added in turn, and in which sequence; the first two may be swapped. */
static bool is_chain(const struct fold_tree *tree, uint32_t *rank) {
  for (size_t j = 0; j < tree->joins; j++) {
    const uint32_t *child = tree->child + tree->first[j];
    if (fold_tree_degree(tree, j) != 2) return false;
    const uint32_t leaf = child[0] < tree->n ? child[0] : child[1], other = child[0] < tree->n ? child[1] : child[0];
    if (leaf >= tree->n || (j > 0 ? other != tree->n + j - 1 : other >= tree->n)) return false;
    if (j == 0) rank[0] = other;
    rank[j + 1] = leaf;
  }
  return tree->joins > 0;
}

static bool goes_around(const uint32_t *rank, size_t n, size_t step) {
  for (size_t k = 1; k < n; k++)
    if (rank[k] != (rank[0] + k * step) % n) return false;
  return true;
}

static void name_chain(uint32_t *rank, size_t n, char name[FOLD_MAP_NAME]) {
  for (unsigned swapped = 0; swapped < 2; swapped++) {
    const uint32_t first = rank[0];
    const bool up = goes_around(rank, n, 1), down = goes_around(rank, n, n - 1);
    if (up && rank[0] == 0)
      snprintf(name, FOLD_MAP_NAME, "ranks sequentially, from 0 up");
    else if (up)
      snprintf(name, FOLD_MAP_NAME, "ring from rank %u up", rank[0]);
    else if (down && rank[0] == n - 1)
      snprintf(name, FOLD_MAP_NAME, "ranks sequentially, from %zu down", n - 1);
    else if (down)
      snprintf(name, FOLD_MAP_NAME, "ring from rank %u down", rank[0]);
    if (up || (down && (n > 3 || swapped))) return;
    rank[0] = rank[1];
    rank[1] = first;
  }
  const uint32_t low = rank[0] < rank[1] ? rank[0] : rank[1];
  rank[1] = rank[0] + rank[1] - low;
  rank[0] = low;
  size_t used = (size_t)snprintf(name, FOLD_MAP_NAME, "ranks sequentially:");
  for (size_t k = 0; k < n && used < FOLD_MAP_NAME - 12; k++)
    used += (size_t)snprintf(name + used, FOLD_MAP_NAME - used, " %u", rank[k]);
  if (n > 30) snprintf(name, FOLD_MAP_NAME, "ranks sequentially");
}

fold_status fold_map_name(const struct fold_tree *tree, char name[FOLD_MAP_NAME]) {
  const size_t n = tree->n, width = fold_tree_width(tree);
  uint32_t rank[FOLD_MAP_RANKS_MOST] = {0};
  bool is;
  name[0] = '\0';
  if (n < 3 || n > FOLD_MAP_RANKS_MOST) {
    if (n == 2) snprintf(name, FOLD_MAP_NAME, "two ranks");
    return fold_ok();
  }
  if (width > 2) {
    snprintf(name, FOLD_MAP_NAME, tree->joins == 1 ? "all ranks at once" : "nodes of up to %zu operands", width);
    return fold_ok();
  }
  if (is_chain(tree, rank)) {
    name_chain(rank, n, name);
    return fold_ok();
  }
  FOLD_TRY(is_butterfly(tree, false, &is));
  if (is) snprintf(name, FOLD_MAP_NAME, "recursive doubling");
  if (!is) FOLD_TRY(is_butterfly(tree, true, &is));
  if (is && !name[0]) snprintf(name, FOLD_MAP_NAME, "recursive halving");
  for (uint32_t root = 0; root < n && !is; root++) {
    FOLD_TRY(is_binomial(tree, root, &is));
    if (is) snprintf(name, FOLD_MAP_NAME, "binomial tree from rank %u", root);
  }
  size_t levels = 0;
  while ((size_t)1 << levels < n) levels++;
  if (!name[0] && fold_tree_height(tree) == levels) snprintf(name, FOLD_MAP_NAME, "binary tree of %zu levels", levels);
  return fold_ok();
}
