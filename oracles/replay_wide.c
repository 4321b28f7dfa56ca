/* replay_wide.c: replays the same orders by other arithmetic, to check the native replay.
 *
 * Promised: each operation is done in a format of at least 2p + 2 bits and rounded once to the accumulator, f32 and what is
 * narrower through double, f64 through binary128; the second rounding is innocuous (Figueroa 1995; products are exact in the wide
 * format, so that subnormal ones round once too). An FMA's sum of an exact product may have more bits than that: it is rounded to
 * odd first, which no second rounding turns wrong (Boldo, Melquiond, IEEE Trans. Computers 57 (2008), 462). Slow, one thread,
 * written apart from native.h on purpose.
 */
#include <math.h>
#include <string.h>

#include "bits.h"
#include "canonical.h"
#include "split.h"

struct wide {
  enum fold_dtype dtype, accumulator;
  enum fold_op op;
  const void *in, *other;
  const uint32_t *place;
  bool fused, by_double; /* by_double: fold_rounds_by_double(accumulator) */
};

static double zero(const struct wide *c) {
  switch (c->op) {
    case FOLD_SUM: return 0;
    case FOLD_PROD: return 1;
    case FOLD_MAX: return -INFINITY;
    case FOLD_MIN: return INFINITY;
    case FOLD_OPS: break;
  }
  return NAN;
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
  return NAN;
}

/* Products of two f64 have 106 bits. The accumulator is f32 or f64. */
static double rounded_to_accumulator(const struct wide *c, __float128 x) {
  return c->accumulator == FOLD_F32 ? (double)(float)x : (double)x;
}

static double leaf(const struct wide *c, size_t i) {
  const double x = element(c, c->in, i);
  return c->other ? rounded_to_accumulator(c, (__float128)x * element(c, c->other, i)) : x;
}

/* a + b, or, where that is not a number of 113 bits, the neighbour of it whose last bit is odd: by TwoSum (Knuth), whose error is
 * exact. */
static __float128 add_to_odd(__float128 a, __float128 b) {
  const __float128 s = a + b, c = s - a, error = (a - (s - c)) + (b - c);
  unsigned __int128 bits;
  memcpy(&bits, &s, sizeof bits);
  if (error == 0 || error != error || (bits & 1)) return s;
  bits += (error > 0) == (s > 0) ? 1 : -(unsigned __int128)1;
  __float128 odd;
  memcpy(&odd, &bits, sizeof odd);
  return odd;
}

static double take(const struct wide *c, double a, size_t i) {
  if (!c->fused) return join(c, a, leaf(c, i));
  return rounded_to_accumulator(c, add_to_odd((__float128)element(c, c->in, i) * element(c, c->other, i), a));
}

#define NODE double
#define CONTEXT const struct wide
#define ZERO(c) zero(c)
#define LEAF(c, i) leaf(c, i)
#define JOIN(c, a, b) join(c, a, b)
#define TAKE(c, a, i) take(c, a, i)
#define PLACE(c, k) (c)->place[k]
#define SWEEP
#define NAME(x) x##_wide
#include "orders.inc"

double fold_rows_wide(const struct fold_row *row) {
  const bool fused = row->other && row->order->product == FOLD_FUSED_PRODUCT;
  const struct wide c = {row->dtype, row->accumulator, row->op, row->in,
                         row->other, row->place,       fused,   fold_rounds_by_double(row->accumulator)};
  return fold_wide(row->order, row->split, &c, row->n, 1);
}

fold_status fold_order_replay_wide(const struct fold_order *order, const struct fold_call *call) {
  return fold_rows_replay(order, fold_arithmetic_of(FOLD_PLAIN, call->dtype), call, fold_rows_wide, 1);
}
