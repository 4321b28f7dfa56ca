/* tree.c: makes trees from parents, and checks the rules that every reader relies on. */
#include "reveal/tree.h"

#include <stdlib.h>
#include <string.h>

#include "oracles/fingerprint.h"

void fold_tree_free(struct fold_tree *tree) {
  free(tree->first);
  free(tree->child);
  free(tree->fused);
  free(tree->accumulator);
  *tree = (struct fold_tree){0};
}

bool fold_tree_fused_alike(const struct fold_tree *a, const struct fold_tree *b) {
  bool alike = true;
  for (size_t k = 0; k < a->n; k++) alike &= (a->fused && a->fused[k]) == (b->fused && b->fused[k]);
  return alike;
}

bool fold_tree_accumulators_alike(const struct fold_tree *a, const struct fold_tree *b) {
  if (!a->accumulator || !b->accumulator) return a->accumulator == b->accumulator;
  return a->joins == b->joins && memcmp(a->accumulator, b->accumulator, a->joins) == 0;
}

/* A tree whose nodes are being sorted. All arrays are indexed by the caller's nodes. */
struct draft {
  const uint32_t *parent;
  size_t n, nodes;
  uint32_t *lowest, *left; /* the lowest term below a node; how many of its operands are still to be visited */
  uint32_t *at, *below;    /* below[at[k]] to below[at[k + 1]]: its operands */
  uint32_t *queue, *name;
};

static void close_draft(struct draft *d) {
  free(d->lowest);
  free(d->left);
  free(d->at);
  free(d->below);
  free(d->queue);
  free(d->name);
}

static fold_status open_draft(struct draft *d) {
  d->lowest = malloc(d->nodes * sizeof *d->lowest);
  d->left = calloc(d->nodes, sizeof *d->left);
  d->at = calloc(d->nodes + 2, sizeof *d->at);
  d->below = malloc(d->nodes * sizeof *d->below);
  d->queue = malloc(d->nodes * sizeof *d->queue);
  d->name = malloc(d->nodes * sizeof *d->name);
  if (d->lowest && d->left && d->at && d->below && d->queue && d->name) return fold_ok();
  return fold_no_memory("for a tree of %zu terms", d->n);
}

#define NO_TREE fold_error(FOLD_BAD_INPUT, "these joins are no tree of %zu terms", d->n)

/* Finds the lowest term of each node, from the leaves up, and checks that every node is reached and that there is one
 * root. */
static fold_status find_lowest(struct draft *d) {
  size_t end = 0, roots = 0;
  for (size_t k = 0; k < d->nodes; k++) {
    const uint32_t up = d->parent[k];
    d->lowest[k] = k < d->n ? (uint32_t)k : FOLD_TREE_NONE;
    if (up == FOLD_TREE_NONE) {
      roots++;
      continue;
    }
    if (up < d->n || up >= d->nodes) return NO_TREE;
    d->left[up]++;
  }
  for (size_t k = 0; k < d->nodes; k++) d->at[k + 2] = d->at[k + 1] + d->left[k];
  for (size_t k = 0; k < d->n; k++) d->queue[end++] = (uint32_t)k;
  for (size_t done = 0; done < end; done++) {
    const uint32_t k = d->queue[done], up = d->parent[k];
    if (up == FOLD_TREE_NONE) continue;
    if (d->lowest[k] < d->lowest[up]) d->lowest[up] = d->lowest[k];
    if (--d->left[up] == 0) d->queue[end++] = up;
  }
  return roots == 1 && end == d->nodes ? fold_ok() : NO_TREE;
}

static int by_lowest(const void *a, const void *b, void *lowest) {
  const uint32_t x = ((const uint32_t *)lowest)[*(const uint32_t *)a],
                 y = ((const uint32_t *)lowest)[*(const uint32_t *)b];
  return (x > y) - (x < y);
}

/* Sorts each join's operands by their lowest terms. */
static void sort_operands(struct draft *d) {
  for (size_t k = 0; k < d->nodes; k++)
    if (d->parent[k] != FOLD_TREE_NONE) d->below[d->at[d->parent[k] + 1]++] = (uint32_t)k;
  for (size_t k = d->n; k < d->nodes; k++)
    qsort_r(d->below + d->at[k], d->at[k + 1] - d->at[k], sizeof *d->below, by_lowest, d->lowest);
}

/* Numbers the joins after their operands, first operand first, and writes them. `left` counts operands to visit; the
 * queue is used as a stack. */
static void number_joins(struct draft *d, struct fold_tree *tree) {
  size_t depth = 1, end = 0;
  memset(d->left, 0, d->nodes * sizeof *d->left);
  for (size_t k = 0; k < d->nodes; k++)
    if (d->parent[k] == FOLD_TREE_NONE) d->queue[0] = (uint32_t)k;
  while (depth > 0) {
    const uint32_t k = d->queue[depth - 1], *below = d->below + d->at[k];
    const uint32_t n = k < d->n ? 0 : d->at[k + 1] - d->at[k];
    if (d->left[k] < n) {
      d->queue[depth++] = below[d->left[k]++];
      continue;
    }
    depth--;
    d->name[k] = k;
    if (n == 1) d->name[k] = d->name[below[0]];
    if (n < 2) continue;
    for (uint32_t i = 0; i < n; i++) tree->child[end++] = d->name[below[i]];
    d->name[k] = (uint32_t)(d->n + tree->joins);
    tree->first[++tree->joins] = (uint32_t)end;
  }
}

fold_status fold_tree_of_parents(const uint32_t *parent, size_t n, size_t nodes, struct fold_tree *tree) {
  struct draft d = {.parent = parent, .n = n, .nodes = nodes};
  *tree = (struct fold_tree){.n = n};
  if (n == 0 || n > FOLD_TREE_MOST || nodes < n || nodes > 4 * n)
    return fold_error(FOLD_BAD_INPUT, "a tree of %zu terms and %zu nodes: at least one term, at most %d", n, nodes,
                      FOLD_TREE_MOST);
  fold_status status = open_draft(&d);
  tree->first = calloc(nodes - n + 2, sizeof *tree->first);
  tree->child = malloc(nodes * sizeof *tree->child);
  if (status.code == FOLD_OK && (!tree->first || !tree->child)) status = fold_no_memory("for a tree of %zu terms", n);
  if (status.code == FOLD_OK) status = find_lowest(&d);
  if (status.code == FOLD_OK) {
    sort_operands(&d);
    number_joins(&d, tree);
  }
  close_draft(&d);
  if (status.code != FOLD_OK) fold_tree_free(tree);
  return status;
}

size_t fold_tree_width(const struct fold_tree *tree) {
  size_t width = 0;
  for (size_t j = 0; j < tree->joins; j++)
    if (fold_tree_degree(tree, j) > width) width = fold_tree_degree(tree, j);
  return width;
}

size_t fold_tree_height(const struct fold_tree *tree) {
  uint32_t *height = calloc(fold_tree_nodes(tree) + 1, sizeof *height);
  if (height == NULL) return 0;
  for (size_t j = 0; j < tree->joins; j++)
    for (uint32_t c = tree->first[j]; c < tree->first[j + 1]; c++)
      if (height[tree->child[c]] + 1 > height[tree->n + j]) height[tree->n + j] = height[tree->child[c]] + 1;
  size_t root = tree->joins ? height[fold_tree_nodes(tree) - 1] : 0;
  free(height);
  return root;
}

/* The hash of a join: fold_fingerprint_join for two operands; for more, from their number and their sum, which does not
 * depend on their order. */
static uint64_t print_join(const struct fold_tree *tree, size_t j, const uint64_t *print) {
  const uint32_t *child = tree->child + tree->first[j];
  const size_t n = fold_tree_degree(tree, j);
  if (n == 2) return fold_fingerprint_join(print[child[0]], print[child[1]]);
  uint64_t sum = fold_fingerprint_mix(n + 0xd1b54a32d192ed03u);
  for (size_t i = 0; i < n; i++) sum += fold_fingerprint_mix(print[child[i]]);
  return fold_fingerprint_mix(sum) | 1;
}

uint64_t *fold_tree_prints(const struct fold_tree *tree) {
  uint64_t *print = malloc(fold_tree_nodes(tree) * sizeof *print);
  for (size_t i = 0; print && i < tree->n; i++) print[i] = fold_fingerprint_leaf(i);
  for (size_t j = 0; print && j < tree->joins; j++) print[tree->n + j] = print_join(tree, j, print);
  return print;
}

#define NO_MEMORY fold_no_memory("for a tree of %zu terms", tree->n)

fold_status fold_tree_fingerprint(const struct fold_tree *tree, uint64_t *fingerprint) {
  uint64_t *print = fold_tree_prints(tree);
  if (print == NULL) return NO_MEMORY;
  *fingerprint = print[fold_tree_nodes(tree) - 1];
  free(print);
  return fold_ok();
}

static int by_value(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static uint32_t some_term(const struct fold_tree *tree, uint32_t node) {
  while (node >= tree->n) node = tree->child[tree->first[node - tree->n]];
  return node;
}

fold_status fold_tree_difference(const struct fold_tree *tree, const struct fold_tree *other, bool *differ, uint32_t *i,
                                 uint32_t *j) {
  uint64_t *print = fold_tree_prints(tree), *others = fold_tree_prints(other);
  fold_status status = print && others ? fold_ok() : NO_MEMORY;
  *differ = false;
  if (status.code == FOLD_OK) qsort(others, fold_tree_nodes(other), sizeof *others, by_value);
  for (size_t k = 0; status.code == FOLD_OK && k < tree->joins && !*differ; k++) {
    if (bsearch(&print[tree->n + k], others, fold_tree_nodes(other), sizeof *others, by_value)) continue;
    *differ = true;
    *i = some_term(tree, tree->child[tree->first[k]]);
    *j = some_term(tree, tree->child[tree->first[k] + 1]);
  }
  free(print);
  free(others);
  return status;
}
