/* tree_names.c: which orders a tree is: those of the table, and those of their kinds with other parameters. */
#include <stdlib.h>
#include <string.h>

#include "tree.h"

struct naming {
  const struct fold_tree *tree;
  uint64_t print;
  bool products;
  char *text;
};

static void add_name(struct naming *naming, const char *name) {
  const size_t used = strlen(naming->text);
  if (used + strlen(name) + 3 < 400) snprintf(naming->text + used, 400 - used, "%s%s", used ? ", " : "", name);
}

static fold_status is_fused_alike(const struct naming *naming, const struct fold_order *order, bool *is) {
  struct fold_tree tree;
  FOLD_TRY(fold_tree_of_order(order, FOLD_F64, NULL, naming->tree->n, &tree));
  *is = fold_tree_fused_alike(&tree, naming->tree);
  fold_tree_free(&tree);
  return fold_ok();
}

/* Whether the order has this tree. FOLD_UNSUPPORTED means that there is no order with these parameters, and so no. */
static fold_status is_tree_of(const struct naming *naming, const struct fold_order *order, bool *is) {
  uint64_t print;
  *is = false;
  const fold_status status = fold_order_fingerprint(order, FOLD_F64, NULL, naming->tree->n, &print);
  if (status.code == FOLD_UNSUPPORTED) return fold_ok();
  *is = status.code == FOLD_OK && print == naming->print;
  return *is && naming->products ? is_fused_alike(naming, order, is) : status;
}

static fold_status try_widths(struct naming *naming, enum fold_order_kind kind, const char *format, unsigned limit) {
  const size_t n = naming->tree->n;
  for (unsigned width = 2; width <= 4096 && width < 2 * n; width++) {
    const bool power = (width & (width - 1)) == 0;
    if (!power && (kind != FOLD_ORDER_CHUNKS || width > 256)) continue;
    const struct fold_order order = {.name = "tried", .kind = kind, .width = width, .limit = limit};
    bool is;
    char name[120];
    FOLD_TRY(is_tree_of(naming, &order, &is));
    if (!is) continue;
    snprintf(name, sizeof name, format, width);
    add_name(naming, name);
    return fold_ok();
  }
  return fold_ok();
}

/* The table's orders of elements, or of products. */
static fold_status try_table(struct naming *naming, bool products, const char *format) {
  size_t n;
  const struct fold_order *orders = fold_orders(&n);
  for (size_t i = 0; i < n; i++) {
    bool is;
    char name[120];
    /* The trees of these depend on the terms. */
    if (orders[i].kind == FOLD_ORDER_SORTED || orders[i].kind == FOLD_ORDER_KEYED) continue;
    if ((orders[i].product != FOLD_NO_PRODUCT) != products) continue;
    FOLD_TRY(is_tree_of(naming, &orders[i], &is));
    snprintf(name, sizeof name, format, orders[i].name);
    if (is) add_name(naming, name);
  }
  return fold_ok();
}

/* Joins the nodes at[0] to at[n - 1] pairwise: neighbours, then their sums, and so on. The root is at[0]. */
static void join_pairwise(uint32_t *parent, uint32_t *nodes, uint32_t *at, size_t n) {
  for (size_t step = 1; step < n; step *= 2)
    for (size_t i = 0; i + step < n; i += 2 * step) {
      parent[at[i]] = parent[at[i + step]] = *nodes;
      at[i] = (*nodes)++;
    }
}

static uint32_t join_in_turn(uint32_t *parent, uint32_t *nodes, uint32_t a, uint32_t b) {
  parent[a] = parent[b] = *nodes;
  return (*nodes)++;
}

/* CUB's BlockReduce of one tile (block_reduce_warp_reductions.cuh): thread t adds x[t], x[t + threads], ... in turn; the lanes of each
 * warp are joined pairwise; the warps' sums in turn. */
static fold_status try_block(struct naming *naming, unsigned threads) {
  enum { LANES = 32 };
  const size_t n = naming->tree->n;
  struct fold_tree tree = {0};
  uint32_t *parent = malloc(2 * n * sizeof *parent), nodes = (uint32_t)n, top = 0;
  uint64_t print = 0;
  if (parent == NULL) return fold_error(FOLD_NO_MEMORY, "not enough memory to name a tree of %zu terms", n);
  for (size_t warp = 0; warp < threads && warp < n; warp += LANES) {
    uint32_t at[LANES];
    size_t lanes = 0;
    for (size_t t = warp; t < warp + LANES && t < n; t++, lanes++) {
      at[lanes] = (uint32_t)t;
      for (size_t i = t + threads; i < n; i += threads)
        at[lanes] = join_in_turn(parent, &nodes, at[lanes], (uint32_t)i);
    }
    join_pairwise(parent, &nodes, at, lanes);
    top = warp ? join_in_turn(parent, &nodes, top, at[0]) : at[0];
  }
  parent[top] = FOLD_TREE_NONE;
  fold_status status = fold_tree_of_parents(parent, n, nodes, &tree);
  if (status.code == FOLD_OK) status = fold_tree_fingerprint(&tree, &print);
  char name[120];
  snprintf(name, sizeof name, "CUB's block of %u threads", threads);
  if (status.code == FOLD_OK && print == naming->print) add_name(naming, name);
  fold_tree_free(&tree);
  free(parent);
  return status;
}

fold_status fold_tree_names(const struct fold_tree *tree, bool products, char text[400]) {
  struct naming naming = {.tree = tree, .products = products, .text = text};
  bool is;
  text[0] = '\0';
  if (fold_tree_width(tree) > 2) return fold_ok();
  FOLD_TRY(fold_tree_fingerprint(tree, &naming.print));
  FOLD_TRY(try_table(&naming, products, "%s"));
  if (!text[0] && products) FOLD_TRY(try_table(&naming, false, "%s of rounded products"));
  if (text[0] || tree->n < 4 || products) return fold_ok();
  FOLD_TRY(try_widths(&naming, FOLD_ORDER_CHUNKS, "rows/par_16's, of %u chunks", 0));
  if (!text[0]) FOLD_TRY(try_widths(&naming, FOLD_ORDER_CHUNK_TREE, "rows/par_256's, of %u chunks", 0));
  if (!text[0]) FOLD_TRY(try_widths(&naming, FOLD_ORDER_NUMPY, "host/numpy's, in pieces of %u", 0));
  if (!text[0]) FOLD_TRY(try_widths(&naming, FOLD_ORDER_SHUFFLE, "flat/shuffle's, %u threads a block", 1024));
  const struct fold_order whole = {.name = "tried", .kind = FOLD_ORDER_NUMPY, .width = 1u << 31};
  FOLD_TRY(is_tree_of(&naming, &whole, &is));
  if (is && !text[0]) add_name(&naming, "host/numpy's, in one piece");
  for (unsigned threads = 64; threads <= 1024 && !text[0]; threads *= 2) FOLD_TRY(try_block(&naming, threads));
  return fold_ok();
}
