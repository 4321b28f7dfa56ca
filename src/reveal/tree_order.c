/* tree_order.c: makes trees of orders: orders.inc over an algebra that keeps the joins. */
#include <stdlib.h>

#include "oracles/canonical.h"
#include "oracles/split.h"
#include "reveal/tree.h"

/* Node k < n is term k, the others are joins; NONE is the starting zero. */
struct keeping {
  const uint32_t *place;
  uint32_t *parent;
  size_t nodes;
  unsigned char *fused; /* NULL if products are rounded, or if there are none */
};

static uint32_t join(struct keeping *c, uint32_t a, uint32_t b) {
  if (a == FOLD_TREE_NONE) return b;
  if (b == FOLD_TREE_NONE) return a;
  const uint32_t node = (uint32_t)c->nodes++;
  c->parent[node] = FOLD_TREE_NONE;
  return c->parent[a] = c->parent[b] = node;
}

static uint32_t take(struct keeping *c, uint32_t a, size_t i) {
  if (c->fused && a != FOLD_TREE_NONE) c->fused[i] = 1;
  return join(c, a, (uint32_t)i);
}

#define NODE uint32_t
#define CONTEXT struct keeping
#define ZERO(c) FOLD_TREE_NONE
#define LEAF(c, i) ((uint32_t)(i))
#define JOIN(c, a, b) join(c, a, b)
#define TAKE(c, a, i) take(c, a, i)
#define PLACE(c, k) (c)->place[k]
#define SWEEP
#define NAME(x) x##_keeping
#include "oracles/orders.inc"

fold_status fold_tree_of_order(const struct fold_order *order, enum fold_dtype dtype, const void *in, size_t n,
                               struct fold_tree *tree) {
  struct fold_split split;
  uint32_t *place;
  *tree = (struct fold_tree){0};
  if (n == 0 || n > FOLD_TREE_MOST) return fold_error(FOLD_BAD_INPUT, "no tree of %zu terms is kept", n);
  FOLD_TRY(fold_order_split(order, n, &split));
  FOLD_TRY(fold_order_places(order, dtype, in, n, &place));
  const bool fused = order->product == FOLD_FUSED_PRODUCT;
  struct keeping c = {place, malloc(2 * n * sizeof *c.parent), n, fused ? calloc(n, 1) : NULL};
  fold_status status = fold_no_memory("for a tree of %zu terms", n);
  if (c.parent && (c.fused || !fused)) {
    for (size_t i = 0; i < n; i++) c.parent[i] = FOLD_TREE_NONE;
    fold_keeping(order, &split, &c, n, 1);
    status = fold_tree_of_parents(c.parent, n, c.nodes, tree);
  }
  if (status.code == FOLD_OK)
    tree->fused = c.fused;
  else
    free(c.fused);
  free(c.parent);
  free(place);
  return status;
}
