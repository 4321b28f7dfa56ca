/* running_product.c: a product in an order: what each join gives, and how far that may be from the exact partial product.
 *
 * A join of a' and b', held for the exact a and b with |a' - a| <= A and |b' - b| <= B, gives c = fl(a' b'):
 *   |c - a b| <= |c - a' b'| + |a'| B + |b'| A + A B,
 * and |c - a' b'| is 0 where a' b' is a number of the accumulator, at most u |c| where c is normal, and half of the smallest
 * subnormal below. Underflow, to zero too, needs no other care, and what it loses is weighed by the factors that follow it in this
 * very order. (Higham, Accuracy and Stability, 2nd ed., section 3.3: running error analysis.)
 *
 * Errors are held in long double, of 64 bits or more and a range far beyond f64's; each is the result of fewer than 8 roundings
 * of 2^-64, all of positive numbers, so that a factor 1 + 2^-60 covers them; and none is held below FLOOR but an exact 0, so that
 * none underflows. An error above the range is infinite, and so no bound.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/bits.h"
#include "oracles/canonical.h"
#include "oracles/split.h"

_Static_assert(LDBL_MANT_DIG >= 64 && LDBL_MIN_EXP <= -16000, "a long double wider than a double");
#define FLOOR 0x1p-16000L

struct partial {
  double value; /* as the accumulator holds it */
  long double error;
  bool some; /* false for the starting 1 */
};

struct product {
  enum fold_dtype dtype, wide; /* wide: the accumulator */
  const void *in;
  const uint32_t *place;
};

static struct partial leaf(const struct product *c, size_t i) {
  return (struct partial){fold_bits_to_double(c->dtype, fold_bits_load(c->dtype, c->in, i)), 0, true};
}

/* The product in the accumulator; *off bounds its distance from a b. */
static double multiply(const struct product *c, double a, double b, long double *off) {
  const struct fold_format f = fold_format_of(c->wide);
  const __float128 exact = (__float128)a * b;
  const double value = fold_rounds_by_double(c->wide) ? fold_bits_round(c->wide, a * b) : (double)exact;
  *off = 0;
  if (isfinite(value) && (__float128)value != exact)
    *off = fabs(value) >= ldexp(1, f.emin) ? ldexpl(fabsl(value), -f.precision) : ldexpl(1, f.emin - f.precision);
  return value;
}

static struct partial join(const struct product *c, struct partial a, struct partial b) {
  if (!a.some) return b;
  if (!b.some) return a;
  long double off;
  struct partial both = {.value = multiply(c, a.value, b.value, &off), .some = true};
  if (off > 0 || a.error > 0 || b.error > 0) {
    long double sum = off + fabsl(a.value) * b.error + fabsl(b.value) * a.error + a.error * b.error;
    /* An infinite error stays infinite, even if it is multiplied by an operand or an error of 0. */
    both.error = isfinite(sum) ? fmaxl(sum * (1 + 0x1p-60L), FLOOR) : INFINITY;
  }
  return both;
}

#define NODE struct partial
#define CONTEXT const struct product
#define ZERO(c) ((struct partial){1, 0, false})
#define LEAF(c, i) leaf(c, i)
#define JOIN(c, a, b) join(c, a, b)
#define PLACE(c, k) (c)->place[k]
#define SWEEP
#define NAME(x) x##_product
#include "oracles/orders.inc"

fold_status fold_order_running_product(const struct fold_order *order, enum fold_dtype dtype, const void *in, size_t n,
                                       struct fold_running_product *running) {
  struct fold_split split;
  uint32_t *place;
  FOLD_TRY(fold_order_split(order, n, &split));
  FOLD_TRY(fold_order_places(order, dtype, in, n, &place));
  const struct product c = {dtype, fold_accumulator_of(dtype), in, place};
  struct partial root = fold_product(order, &split, &c, n, 1);
  free(place);
  *running = (struct fold_running_product){root.value, root.error};
  return fold_ok();
}
