/* orders.c: the orders of orders.def, and how each cuts a row into parts. What they mean is orders.inc. */
#include "order.h"

#include <string.h>

#include "canonical.h"
#include "split.h"

static const struct fold_order table[] = {
#define FOLD_ORDER_ROW(name, formula, KIND, width, limit, PRODUCT) \
  {name, formula, FOLD_ORDER_##KIND, width, limit, FOLD_##PRODUCT##_PRODUCT},
#include "orders.def"
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
