/* fingerprint.c: the fingerprint of an order's tree (fingerprint.h): 64 bits that a revealed tree must match.
 *
 * Promised: 0 for the empty row; else a function of the tree alone, operands of a join unordered.
 */
#include <stdlib.h>

#include "oracles/canonical.h"
#include "oracles/fingerprint.h"
#include "oracles/split.h"

struct places {
  const uint32_t *place;
};

#define NODE uint64_t
#define CONTEXT const struct places
#define ZERO(c) 0
#define LEAF(c, i) fold_fingerprint_leaf(i)
#define JOIN(c, a, b) fold_fingerprint_join(a, b)
#define PLACE(c, k) (c)->place[k]
#define SWEEP
#define NAME(x) x##_print
#include "oracles/orders.inc"

fold_status fold_order_fingerprint(const struct fold_order *order, enum fold_dtype dtype, const void *in, size_t n,
                                   uint64_t *fingerprint) {
  struct fold_split split;
  uint32_t *place;
  FOLD_TRY(fold_order_split(order, n, &split));
  FOLD_TRY(fold_order_places(order, dtype, in, n, &place));
  const struct places c = {place};
  *fingerprint = fold_print(order, &split, &c, n, 1); /* unseen: 2 */
  free(place);
  return fold_ok();
}
