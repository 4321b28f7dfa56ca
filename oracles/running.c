/* running.c: the running error bound of a sum: u times the sum of |computed partial sums|.
 *
 * A computed partial sum s = fl(a + b) lies within u |s| of a + b (Higham, Accuracy and Stability, 2nd ed., eq. 2.5;
 * sums that fall among the subnormals are exact), and the errors of all joins add up at the root. Joins with a starting
 * zero are exact and do not count. The sum of N magnitudes is itself taken in double, rising; its own error is at most
 * a factor (1 - e)^-N with e = 2^-53, and (1 - e)^-N <= 1 + 2 N e while N e <= 1/2. The product with that factor,
 * rounded up by nextafter at each step, is promised as a bound.
 */
#include <math.h>
#include <stdlib.h>

#include "base/bits.h"
#include "oracles/canonical.h"
#include "oracles/split.h"

/* A partial sum as the accumulator holds it; `some` is false for the starting zero. */
struct partial {
  double value;
  bool some;
};

struct running {
  enum fold_dtype dtype, wide; /* wide: the accumulator */
  const void *in;
  const uint32_t *place;
  double total; /* the sum of |partial sums| */
  uint64_t joins;
};

static struct partial leaf(const struct running *c, size_t i) {
  return (struct partial){fold_bits_to_double(c->dtype, fold_bits_load(c->dtype, c->in, i)), true};
}

static struct partial join(struct running *c, struct partial a, struct partial b) {
  if (!a.some) return b;
  if (!b.some) return a;
  double sum = a.value + b.value;
  if (fold_rounds_by_double(c->wide)) sum = fold_bits_round(c->wide, sum);
  c->total += fabs(sum);
  c->joins++;
  return (struct partial){sum, true};
}

#define NODE struct partial
#define CONTEXT struct running
#define ZERO(c) ((struct partial){0, false})
#define LEAF(c, i) leaf(c, i)
#define JOIN(c, a, b) join(c, a, b)
#define PLACE(c, k) (c)->place[k]
#define SWEEP
#define NAME(x) x##_running
#include "oracles/orders.inc"

static double outward(const struct running *c) {
  double unit = ldexp(1, -fold_format_of(c->wide).precision);
  if (c->total == 0) return 0; /* each partial sum was zero, and exact */
  double inflation = nextafter(1 + (double)c->joins * 0x1p-52, INFINITY);
  return nextafter(nextafter(c->total * inflation, INFINITY) * unit, INFINITY);
}

fold_status fold_order_running_error(const struct fold_order *order, enum fold_dtype dtype, const void *in, size_t n,
                                     double *bound) {
  struct fold_split split;
  uint32_t *place;
  FOLD_TRY(fold_order_split(order, n, &split));
  FOLD_TRY(fold_order_places(order, dtype, in, n, &place));
  struct running c = {dtype, fold_accumulator_of(dtype), in, place, 0, 0};
  fold_running(order, &split, &c, n, 1);
  free(place);
  *bound = outward(&c);
  return fold_ok();
}
