/* replay_wide.c: replays the same orders by other arithmetic, to check the native replay.
 *
 * Promised: each operation is done in a format of at least 2p + 2 bits and rounded once to the accumulator, f32 and what is
 * narrower through double, f64 through binary128; the second rounding is innocuous (Figueroa 1995; products are exact in the wide
 * format, so that subnormal ones round once too). An FMA's sum of an exact product may have more bits than that: it is rounded to
 * odd first (odd.h). Slow, one thread, written apart from native.h on purpose.
 */
#include <math.h>

#include "base/bits.h"
#include "oracles/canonical.h"
#include "oracles/odd.h"
#include "oracles/split.h"

struct wide {
  enum fold_dtype dtype, accumulator;
  enum fold_op op;
  const void *in, *other;
  const uint32_t *place;
  bool fused, by_double; /* by_double: fold_rounds_by_double(accumulator) */
  double *partials;      /* fold_row's */
};

static double zero(const struct wide *c) {
  switch (c->op) {
    case FOLD_SUM: return 0;
    case FOLD_PROD: return 1;
    case FOLD_MAX: return -INFINITY;
    case FOLD_MIN: return INFINITY;
    case FOLD_OPS: break;
  }
  return NAN; /* unseen: 0 */
}

static double element(const struct wide *c, const void *in, size_t i) {
  return fold_bits_to_double(c->dtype, fold_bits_load(c->dtype, in, i));
}

/* The greater or smaller by IEEE-754's totalOrder of numbers; NaN wins. */
static double extreme(double a, double b, bool greatest) {
  if (isnan(a) || isnan(b)) return NAN;
  bool below = a < b || (a == b && signbit(a) && !signbit(b));
  return below == greatest ? b : a;
}

static double add(const struct wide *c, double a, double b) {
  return c->by_double ? fold_bits_round(c->accumulator, a + b) : (double)((__float128)a + b);
}
static double multiply(const struct wide *c, double a, double b) {
  return c->by_double ? fold_bits_round(c->accumulator, a * b) : (double)((__float128)a * b);
}

static double join(const struct wide *c, double a, double b) {
  switch (c->op) {
    case FOLD_SUM: return add(c, a, b);
    case FOLD_PROD: return multiply(c, a, b);
    case FOLD_MAX: return extreme(a, b, true);
    case FOLD_MIN: return extreme(a, b, false);
    case FOLD_OPS: break;
  }
  return NAN; /* unseen: 0 */
}

/* Products of two f64 have 106 bits. */
static __float128 product(const struct wide *c, size_t i) {
  return (__float128)element(c, c->in, i) * element(c, c->other, i);
}

static double leaf(const struct wide *c, size_t i) {
  return c->other ? fold_odd_round(c->accumulator, product(c, i)) : element(c, c->in, i);
}

static double take(const struct wide *c, double a, size_t i) {
  if (!c->fused) return join(c, a, leaf(c, i));
  return fold_odd_round(c->accumulator, fold_odd_sum(product(c, i), a));
}

#define NODE double
#define CONTEXT const struct wide
#define ZERO(c) zero(c)
#define LEAF(c, i) leaf(c, i)
#define JOIN(c, a, b) join(c, a, b)
#define TAKE(c, a, i) take(c, a, i)
#define PLACE(c, k) (c)->place[k]
#define SEEN(c, i, a) ((c)->partials[i] = (a))
#define SWEEP
#define NAME(x) x##_wide
#include "oracles/orders.inc"

double fold_rows_wide(const struct fold_row *row) {
  const bool fused = row->other && row->order->product == FOLD_FUSED_PRODUCT;
  const struct wide c = {row->dtype,   row->accumulator, row->op, row->in,
                         row->other,   row->place,       fused,   fold_rounds_by_double(row->accumulator),
                         row->partials};
  if (row->partials == NULL) return fold_wide(row->order, row->split, &c, row->n, 1);
  prefixes_wide(row->order, &c, row->n);
  return NAN;
}

fold_status fold_order_replay_wide(const struct fold_order *order, const struct fold_call *call) {
  return fold_rows_replay(order, fold_arithmetic_of(FOLD_PLAIN, call->dtype), call, fold_rows_wide, 1);
}
