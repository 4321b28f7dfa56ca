/* height.c: the height of an order's tree: the h of the error bound.
 *
 * Promised: the greatest number of joins between two non-empty partials on a path from a leaf to the root; a join with
 * a starting zero is exact and does not count. 0 for no term and for one.
 */
#include <omp.h>

#include "oracles/canonical.h"
#include "oracles/split.h"

/* With fewer leaves a parallel region costs more than it saves. */
#define SERIAL_LEAVES (UINT64_C(1) << 24)

/* A partial's height plus one; 0 stands for the starting zero. */
static uint64_t join(uint64_t a, uint64_t b) {
  if (a == 0 || b == 0) return a + b;
  return (a > b ? a : b) + 1;
}

#define NODE uint64_t
#define CONTEXT uint64_t /* receives the height of each prefix, plus one */
#define ZERO(c) 0
#define LEAF(c, i) ((void)(i), 1)
#define JOIN(c, a, b) join(a, b)
#define PLACE(c, k) (k)
#define SEEN(c, i, a) ((c)[i] = (a))
#define SWEEP
#define NAME(x) x##_height
#include "oracles/orders.inc"

/* Whether each term joins the partial of all terms before it, in some sequence: judges of scans ask for the height of each prefix. */
static bool is_chain(const struct fold_order *order) {
  const enum fold_order_kind kind = order->kind;
  return kind == FOLD_ORDER_SEQUENTIAL || kind == FOLD_ORDER_REVERSE || kind == FOLD_ORDER_SORTED ||
         kind == FOLD_ORDER_KEYED || kind == FOLD_ORDER_RING;
}

fold_status fold_order_height(const struct fold_order *order, enum fold_dtype dtype, const void *in, size_t n,
                              uint64_t *height) {
  (void)dtype, (void)in; /* sorting relabels the leaves: the height stays */
  struct fold_split split;
  *height = n > 0 ? n - 1 : 0;
  if (is_chain(order)) return fold_ok();
  FOLD_TRY(fold_order_split(order, n, &split));
  uint64_t node = fold_height(order, &split, NULL, n, n < SERIAL_LEAVES ? 1 : (unsigned)omp_get_max_threads());
  *height = node > 0 ? node - 1 : 0;
  return fold_ok();
}

fold_status fold_order_prefix_heights(const struct fold_order *order, size_t n, uint64_t *heights) {
  struct fold_split split;
  if (!fold_order_is_of_scans(order)) return fold_error(FOLD_UNSUPPORTED, "%s is no order of scans", order->name);
  FOLD_TRY(fold_order_split(order, n, &split));
  prefixes_height(order, heights, n);
  for (size_t i = 0; i < n; i++) heights[i]--;
  return fold_ok();
}
