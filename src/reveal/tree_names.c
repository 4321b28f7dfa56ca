/* tree_names.c: which orders a tree is: those of the table, and those of their kinds with other parameters. */
#include <string.h>

#include "reveal/tree.h"

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

static bool is_of_tiles(const struct fold_order *order) {
  return order->kind == FOLD_ORDER_TILES || order->kind == FOLD_ORDER_HILLIS_STEELE;
}

/* The table's orders of elements, or of products; those that are made for scans, or the others. */
static fold_status try_table(struct naming *naming, bool products, bool scans, const char *format) {
  size_t n;
  const struct fold_order *orders = fold_orders(&n);
  for (size_t i = 0; i < n; i++) {
    bool is;
    char name[120];
    /* The trees of these depend on the terms. */
    if (orders[i].kind == FOLD_ORDER_SORTED || orders[i].kind == FOLD_ORDER_KEYED) continue;
    if (is_of_tiles(&orders[i]) != scans || (orders[i].product != FOLD_NO_PRODUCT) != products) continue;
    FOLD_TRY(is_tree_of(naming, &orders[i], &is));
    snprintf(name, sizeof name, format, orders[i].name);
    if (is) add_name(naming, name);
  }
  return fold_ok();
}

/* The whole row's tree in an order of scans. They come last: a row of few tiles has the tree of many an order. */
static fold_status try_scans(struct naming *naming) {
  FOLD_TRY(try_table(naming, false, true, "%s"));
  if (!naming->text[0]) FOLD_TRY(try_widths(naming, FOLD_ORDER_TILES, "scan/tiled's, in tiles of %u", 0));
  if (!naming->text[0]) FOLD_TRY(try_widths(naming, FOLD_ORDER_HILLIS_STEELE, "scan/warps', in tiles of %u", 0));
  return fold_ok();
}

fold_status fold_tree_names(const struct fold_tree *tree, bool products, char text[400]) {
  struct naming naming = {.tree = tree, .products = products, .text = text};
  bool is;
  text[0] = '\0';
  if (fold_tree_width(tree) > 2) return fold_ok();
  FOLD_TRY(fold_tree_fingerprint(tree, &naming.print));
  FOLD_TRY(try_table(&naming, products, false, "%s"));
  if (!text[0] && products) FOLD_TRY(try_table(&naming, false, false, "%s of rounded products"));
  if (text[0] || tree->n < 4) return fold_ok();
  if (products) return fold_tree_kernel_name(tree, true, text);
  FOLD_TRY(try_widths(&naming, FOLD_ORDER_CHUNKS, "rows/par_16's, of %u chunks", 0));
  if (!text[0]) FOLD_TRY(try_widths(&naming, FOLD_ORDER_CHUNK_TREE, "rows/par_256's, of %u chunks", 0));
  if (!text[0]) FOLD_TRY(try_widths(&naming, FOLD_ORDER_NUMPY, "host/numpy's, in pieces of %u", 0));
  if (!text[0]) FOLD_TRY(try_widths(&naming, FOLD_ORDER_SHUFFLE, "flat/shuffle's, %u threads a block", 1024));
  const struct fold_order whole = {.name = "tried", .kind = FOLD_ORDER_NUMPY, .width = 1u << 31};
  FOLD_TRY(is_tree_of(&naming, &whole, &is));
  if (is && !text[0]) add_name(&naming, "host/numpy's, in one piece");
  if (!text[0]) FOLD_TRY(fold_tree_kernel_name(tree, false, text));
  return text[0] ? fold_ok() : try_scans(&naming);
}
