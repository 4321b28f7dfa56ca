/* orders.c: the table of orders, and how each cuts a row into parts. What they mean is orders.inc. */
#include "order.h"

#include <string.h>

#include "canonical.h"
#include "split.h"

static const struct fold_order table[] = {
    {"host/sequential", "(((x0 + x1) + x2) + x3) + ... from zero", FOLD_ORDER_SEQUENTIAL, 0, 0, 0},
    {"host/reverse", "(((x[n-1] + x[n-2]) + x[n-3]) + ... from zero", FOLD_ORDER_REVERSE, 0, 0, 0},
    {"host/pairwise", "tree over neighbours; an odd last term moves up", FOLD_ORDER_PAIRWISE, 0, 0, 0},
    {"host/sorted", "rising |x|, ties by index, then sequential", FOLD_ORDER_SORTED, 0, 0, 0},
    {"host/numpy", "NumPy before 2.3: pieces of 8192 in turn; halves down to 128 terms, there 8 partials by stride 8",
     FOLD_ORDER_NUMPY, 8192, 0, 0},
    {"rows/single_for", "one partial, rising index", FOLD_ORDER_SEQUENTIAL, 0, 0, 0},
    {"rows/single_back", "one partial, falling index", FOLD_ORDER_REVERSE, 0, 0, 0},
    {"rows/par_16", "16 chunks, their partials in turn from zero", FOLD_ORDER_CHUNKS, 16, 0, 0},
    {"rows/par_64", "64 chunks, their partials in turn from zero", FOLD_ORDER_CHUNKS, 64, 0, 0},
    {"rows/par_256", "256 chunks, a tree over neighbouring partials", FOLD_ORDER_CHUNK_TREE, 256, 0, 0},
    {"flat/shuffle", "grid of at most 1024 blocks of 256 by stride, shuffles down, twice", FOLD_ORDER_SHUFFLE, 256,
     1024, 0},
    {"flat/canonical", "tiles of 16 lines of 256: chains down the lines, trees over places and tiles",
     FOLD_ORDER_CANONICAL, 0, 0, 0},
    {"dot/sequential", "((x0 y0 + x1 y1) + x2 y2) + ... from zero, each product rounded", FOLD_ORDER_SEQUENTIAL, 0, 0,
     FOLD_ROUNDED_PRODUCT},
    {"dot/sequential_fma", "... fma(x2, y2, fma(x1, y1, fma(x0, y0, 0)))", FOLD_ORDER_SEQUENTIAL, 0, 0,
     FOLD_FUSED_PRODUCT},
    {"dot/pairwise", "tree over neighbours, each product rounded", FOLD_ORDER_PAIRWISE, 0, 0, FOLD_ROUNDED_PRODUCT},
    {"dot/canonical", "flat/canonical's tree, by FMA down the lines", FOLD_ORDER_CANONICAL, 0, 0, FOLD_FUSED_PRODUCT},
};

const struct fold_order *fold_orders(size_t *n) {
  *n = sizeof table / sizeof *table;
  return table;
}

const struct fold_order *fold_order_find(const char *name) {
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if (strcmp(table[i].name, name) == 0) return &table[i];
  return NULL;
}

static size_t ceiling(size_t n, size_t d) { return n / d + (n % d != 0); }

/* Blocks of a power of two, at least four tiles, so few of them that FOLD_PARTS suffices. */
static void split_aligned(size_t n, struct fold_split *split) {
  split->size = 4 * FOLD_CANONICAL_TILE;
  while (ceiling(n, split->size) > FOLD_PARTS) split->size *= 2;
  split->count = ceiling(n, split->size);
}

static void split_grid(const struct fold_order *order, size_t n, struct fold_split *split) {
  size_t blocks = ceiling(n, order->width);
  split->count = blocks < order->limit ? blocks : order->limit;
  split->grain = FOLD_LANES / order->width;
}

static bool fits(const struct fold_order *order) {
  switch (order->kind) {
    case FOLD_ORDER_NUMPY: return order->width > 0;
    case FOLD_ORDER_CHUNKS: return order->width > 0 && order->width <= FOLD_PARTS;
    case FOLD_ORDER_CHUNK_TREE:
      return order->width > 0 && order->width <= FOLD_PARTS && (order->width & (order->width - 1)) == 0;
    case FOLD_ORDER_SHUFFLE:
      return order->width > 0 && order->width <= 1024 && order->width % 32 == 0 && order->limit > 0 &&
             order->limit <= FOLD_PARTS;
    default: return true;
  }
}

fold_status fold_order_split(const struct fold_order *order, size_t n, struct fold_split *split) {
  *split = (struct fold_split){.count = 1, .grain = 1, .size = n};
  if (!fits(order))
    return fold_error(FOLD_UNSUPPORTED, "order %s: no such shape (width %u, limit %u)", order->name, order->width,
                      order->limit);
  switch (order->kind) {
    case FOLD_ORDER_CHUNKS:
    case FOLD_ORDER_CHUNK_TREE:
      split->count = order->width;
      split->size = ceiling(n, order->width);
      break;
    case FOLD_ORDER_SHUFFLE: split_grid(order, n, split); break;
    case FOLD_ORDER_NUMPY:
      split->count = ceiling(n, order->width);
      split->size = order->width;
      break;
    case FOLD_ORDER_PAIRWISE:
    case FOLD_ORDER_CANONICAL: split_aligned(n, split); break;
    default: break;
  }
  return fold_ok();
}
