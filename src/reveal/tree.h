/* tree.h: the tree of a sum as data: which terms are joined with which, independent of how that was found out.
 *
 * A node joins two operands, or more at once (a vector adder, a tensor core). Equal trees up to swapped operands are the same
 * tree: operands are sorted by their lowest terms, and nodes are numbered from the leaves up in that order.
 */
#ifndef FOLD_TREE_H
#define FOLD_TREE_H

#include <stdio.h>

#include "model/claim.h"
#include "oracles/order.h"

/* Node k < n is term k. Node n + j is join j, whose operands are child[first[j]] to child[first[j + 1]]; each has a
 * lower number. The last node is the root. fused[k] says that term k is a product which an FMA joins to the other
 * operand; NULL if there is none. accumulator[j] is the dtype that join j is rounded to; NULL if all joins have one. */
struct fold_tree {
  size_t n, joins;
  uint32_t *first, *child;
  unsigned char *fused, *accumulator;
};
#define FOLD_TREE_NONE UINT32_MAX
enum { FOLD_TREE_MOST = 1 << 24 }; /* terms */

void fold_tree_free(struct fold_tree *tree);
/* The tree in which parent[k] is the parent of node k. Nodes from n on are joins, and the root's parent is
 * FOLD_TREE_NONE. A join of one operand is left out. FOLD_BAD_INPUT if that is no tree of all n terms. n is at least
 * 1. */
fold_status fold_tree_of_parents(const uint32_t *parent, size_t n, size_t nodes, struct fold_tree *tree);
/* The tree that an order has for n terms; `in` is read by orders that depend on the terms. */
fold_status fold_tree_of_order(const struct fold_order *order, enum fold_dtype dtype, const void *in, size_t n,
                               struct fold_tree *tree);

static inline size_t fold_tree_nodes(const struct fold_tree *tree) { return tree->n + tree->joins; }
static inline size_t fold_tree_degree(const struct fold_tree *tree, size_t join) {
  return tree->first[join + 1] - tree->first[join];
}
/* The largest number of operands that a node has. */
size_t fold_tree_width(const struct fold_tree *tree);
size_t fold_tree_height(const struct fold_tree *tree);
/* The same fingerprint as for an order with this tree (fingerprint.h). Fails with FOLD_NO_MEMORY only. */
fold_status fold_tree_fingerprint(const struct fold_tree *tree, uint64_t *fingerprint);

/* The fingerprint of each node's subtree, which the caller frees; NULL if there is no memory. */
uint64_t *fold_tree_prints(const struct fold_tree *tree);

/* Whether two trees of equally many terms differ. If so, also a lowest join that only the first has, given by one term
 * of each of two of its operands. */
fold_status fold_tree_difference(const struct fold_tree *a, const struct fold_tree *b, bool *differ, uint32_t *i,
                                 uint32_t *j);
/* Whether, in two trees of equally many terms, FMAs join the same products. */
bool fold_tree_fused_alike(const struct fold_tree *a, const struct fold_tree *b);
/* Whether, in two such trees, joins have the same accumulators of their own, or none. */
bool fold_tree_accumulators_alike(const struct fold_tree *a, const struct fold_tree *b);

/* How a node of more than two operands adds them. */
enum fold_fusing {
  FOLD_ROUNDED_ONCE, /* their exact sum, rounded once to nearest even */
  /* Each is cut to a multiple of the last bit of the largest one, or of so many bits below; their exact sum is cut, or
   * rounded to nearest. */
  FOLD_CUT_0,
  FOLD_CUT_1,
  FOLD_CUT_2,
  FOLD_CUT_3,
  FOLD_CUT_0_NEAREST,
  FOLD_CUT_1_NEAREST,
  FOLD_CUT_2_NEAREST,
  FOLD_CUT_3_NEAREST,
  FOLD_FUSINGS
};
const char *fold_fusing_text(enum fold_fusing fusing);
struct fold_tree_arithmetic {
  enum fold_dtype accumulator, result;
  enum fold_fusing fusing;
};
/* Replays each row of `call` by the tree: each join is rounded to the accumulator, and the last value is rounded once
 * to the result. If joins have accumulators of their own, products are rounded to how.accumulator, and a join is computed in the widest
 * accumulator of its operands and its own before it is rounded to its own. */
fold_status fold_tree_replay(const struct fold_tree *tree, struct fold_tree_arithmetic how,
                             const struct fold_call *call);

/* The tree in words, indented; parts that repeat are described once, with their strides. */
fold_status fold_tree_text(const struct fold_tree *tree, FILE *out);
fold_status fold_tree_svg(const struct fold_tree *tree, const char *title, FILE *out);

/* The names of the orders that have this tree for so many terms (and that join products in the same way), and of orders
 * of the same kinds with other parameters, separated by ", "; "" if there is none. */
fold_status fold_tree_names(const struct fold_tree *tree, bool products, char text[400]);

/* The kernel of CUB or PyTorch (of sums) or of cuBLAS (of products) that adds by this tree, with its parameters; "" if there is none. */
fold_status fold_tree_kernel_name(const struct fold_tree *tree, bool products, char name[120]);

#endif
