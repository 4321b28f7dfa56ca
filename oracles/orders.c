/* orders.c: the orders of orders.def, and how each cuts a row into parts. What they mean is orders.inc. */
#include "oracles/order.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracles/canonical.h"
#include "oracles/segments.h"
#include "oracles/split.h"

static const struct fold_order table[] = {
#define FOLD_ORDER_ROW(name, formula, KIND, width, limit, PRODUCT) \
  {name, formula, FOLD_ORDER_##KIND, width, limit, FOLD_##PRODUCT##_PRODUCT},
#include "oracles/orders.def"
};

const struct fold_order *fold_orders(size_t *n) {
  *n = sizeof table / sizeof *table;
  return table;
}

bool fold_order_has_tree(const struct fold_order *order, enum fold_method method) {
  return order && method == FOLD_PLAIN && order->kind != FOLD_ORDER_SORTED;
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

static bool is_tiled(enum fold_order_kind kind) { return kind == FOLD_ORDER_TILES || kind == FOLD_ORDER_HILLIS_STEELE; }

bool fold_order_is_of_scans(const struct fold_order *order) {
  return order->kind == FOLD_ORDER_SEQUENTIAL || is_tiled(order->kind);
}

static void split_segments(const struct fold_order *order, size_t n, struct fold_split *split) {
  size_t segments = 1;
  while (segments < order->limit && ceiling(n, segments) > order->width) segments *= 2;
  if (segments == 1) return;
  split->size = ceiling(ceiling(n, segments), FOLD_SEGMENT_STEP) * FOLD_SEGMENT_STEP;
  split->count = ceiling(n, split->size);
}

static bool fits(const struct fold_order *order) {
  const enum fold_order_kind kind = order->kind;
  const unsigned width = order->width;
  if (kind == FOLD_ORDER_SHUFFLE && (width > 1024 || width % 32 || order->limit == 0 || order->limit > FOLD_PARTS))
    return false;
  if (kind == FOLD_ORDER_CHUNK_TREE && (width & (width - 1)) != 0) return false;
  if ((kind == FOLD_ORDER_CHUNKS || kind == FOLD_ORDER_CHUNK_TREE) && width > FOLD_PARTS) return false;
  if (kind == FOLD_ORDER_HILLIS_STEELE && width > FOLD_LANES) return false;
  if (kind == FOLD_ORDER_SEGMENTS &&
      (order->limit == 0 || order->limit > FOLD_PARTS || (order->limit & (order->limit - 1)) != 0))
    return false;
  const bool has_width = kind == FOLD_ORDER_NUMPY || is_tiled(kind) || kind == FOLD_ORDER_CHUNKS ||
                         kind == FOLD_ORDER_CHUNK_TREE || kind == FOLD_ORDER_SHUFFLE || kind == FOLD_ORDER_SEGMENTS;
  return width > 0 || !has_width;
}

/* The row whose name is the first `length` characters. */
static const struct fold_order *find_row(const char *name, size_t length) {
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if (strlen(table[i].name) == length && memcmp(table[i].name, name, length) == 0) return &table[i];
  return NULL;
}

/* 0 where the text is no number without leading zeros, or is above the range. */
static unsigned read_width(const char *text) {
  char *end;
  if (*text < '1' || *text > '9') return 0;
  const unsigned long width = strtoul(text, &end, 10);
  return *end == '\0' && width <= UINT32_MAX ? (unsigned)width : 0;
}

/* The orders with another width that were asked for. Each is made once and stays, so that it is known by its address. */
static struct made {
  struct made *next;
  const struct fold_order *of;
  struct fold_order order;
  char name[60], formula[80];
} * all_made;
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;

static const struct fold_order *make(const struct fold_order *row, unsigned width) {
  for (const struct made *made = all_made; made; made = made->next)
    if (made->of == row && made->order.width == width) return &made->order;
  struct made *made = malloc(sizeof *made);
  if (made == NULL) return NULL;
  made->of = row;
  snprintf(made->name, sizeof made->name, "%s/%u", row->name, width);
  snprintf(made->formula, sizeof made->formula, "%s with %u in place of %u", row->name, width, row->width);
  made->order = *row;
  made->order.name = made->name, made->order.formula = made->formula, made->order.width = width;
  made->next = all_made;
  all_made = made;
  return &made->order;
}

const struct fold_order *fold_order_find(const char *name) {
  const struct fold_order *row = find_row(name, strlen(name));
  const char *slash = strrchr(name, '/');
  if (row || slash == NULL) return row;
  row = find_row(name, (size_t)(slash - name));
  const unsigned width = read_width(slash + 1);
  if (row == NULL || row->width == 0 || width == 0) return NULL;
  if (width == row->width) return row;
  const struct fold_order asked = {.kind = row->kind, .width = width, .limit = row->limit};
  if (!fits(&asked)) return NULL;
  pthread_mutex_lock(&making);
  const struct fold_order *order = make(row, width);
  pthread_mutex_unlock(&making);
  return order;
}

fold_status fold_order_split(const struct fold_order *order, size_t n, struct fold_split *split) {
  *split = (struct fold_split){.count = 1, .grain = 1, .size = n};
  if (!fits(order))
    return fold_error(FOLD_UNSUPPORTED, "order %s: no such shape (width %u, limit %u)", order->name, order->width,
                      order->limit);
  const enum fold_order_kind kind = order->kind; /* one that is not asked for here has one part: the row */
  if (kind == FOLD_ORDER_CHUNKS || kind == FOLD_ORDER_CHUNK_TREE) {
    split->count = order->width;
    split->size = ceiling(n, order->width);
  } else if (kind == FOLD_ORDER_SHUFFLE) {
    split_grid(order, n, split);
  } else if (kind == FOLD_ORDER_SEGMENTS) {
    split_segments(order, n, split);
  } else if (kind == FOLD_ORDER_NUMPY || is_tiled(kind)) {
    split->count = ceiling(n, order->width);
    split->size = order->width;
  } else if (kind == FOLD_ORDER_PAIRWISE || kind == FOLD_ORDER_CANONICAL) {
    split_aligned(n, split);
  }
  return fold_ok();
}
