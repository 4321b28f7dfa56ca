/* replay_wide.c: the judge of the native replay: the same orders by other arithmetic.
 *
 * Promised: each operation is done in a format of at least 2p + 2 bits and rounded once to the accumulator, f32 through
 * double, f64 through binary128; the second rounding is innocuous (Figueroa 1995; products are exact in the wide
 * format, so that subnormal ones round once too). Slow, one thread, written apart from native.h on purpose.
 */
#include <math.h>

#include "bits.h"
#include "canonical.h"
#include "split.h"

struct wide {
  enum fold_dtype dtype;
  enum fold_op op;
  const void *in;
  const uint32_t *place;
};

static double zero(const struct wide *c) {
  switch (c->op) {
    case FOLD_SUM: return 0;
    case FOLD_PROD: return 1;
    case FOLD_MAX: return -INFINITY;
    default: return INFINITY;
  }
}

static double leaf(const struct wide *c, size_t i) {
  return fold_bits_to_double(c->dtype, fold_bits_load(c->dtype, c->in, i));
}

/* The greater or smaller by IEEE-754's totalOrder of numbers; NaN wins. */
static double extreme(double a, double b, bool greatest) {
  if (isnan(a) || isnan(b)) return NAN;
  bool below = a < b || (a == b && signbit(a) && !signbit(b));
  return below == greatest ? b : a;
}

static double join_f32(enum fold_op op, double a, double b) { return (float)(op == FOLD_SUM ? a + b : a * b); }

static double join_f64(enum fold_op op, double a, double b) {
  return (double)(op == FOLD_SUM ? (__float128)a + b : (__float128)a * b);
}

static double join(const struct wide *c, double a, double b) {
  if (c->op == FOLD_MAX || c->op == FOLD_MIN) return extreme(a, b, c->op == FOLD_MAX);
  return fold_accumulator_of(c->dtype) == FOLD_F32 ? join_f32(c->op, a, b) : join_f64(c->op, a, b);
}

#define NODE double
#define CONTEXT const struct wide
#define ZERO(c) zero(c)
#define LEAF(c, i) leaf(c, i)
#define JOIN(c, a, b) join(c, a, b)
#define PLACE(c, k) (c)->place[k]
#define SWEEP
#define NAME(x) x##_wide
#include "orders.inc"

static uint64_t row_wide(const struct fold_row *row) {
  const struct wide c = {row->dtype, row->op, row->in, row->place};
  return fold_bits_from_double(row->dtype, fold_wide(row->order, row->split, &c, row->n, 1));
}

fold_status fold_order_replay_wide(const struct fold_order *order, const struct fold_call *call) {
  return fold_rows_replay(order, call, row_wide, 1);
}
