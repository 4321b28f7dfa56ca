/* replay_method.c: the replay of methods that are more than additions in some order: Kahan's, Neumaier's, and in f64.
 *
 * Promised: the bits of the methods as they are defined here, whatever computes them. Each operation is done in a format of at
 * least 2p + 2 bits and rounded once to the accumulator, as in replay_wide.c; written from the definitions, apart from the
 * subjects that it judges (kernels/host/compensated.c, accurate.c). With + and - rounded to the accumulator, s = c = +0 at first:
 *
 *   Kahan      y = x - c;  t = s + y;  c = (t - s) - y;  s = t.  The result is s.
 *   Neumaier   t = s + x;  c = c + ((l - t) + m), l the one of s and x that is not the smaller in magnitude, m the other;
 *              s = t.  The result is s + c.
 *   float64    s = s + x in f64, whatever the dtype.  The result is s.
 *
 * Once t is not finite, c is +0 and stays so. The result is rounded once to the dtype. All take the terms in rising index.
 */
#include <math.h>

#include "bits.h"
#include "order.h"

/* A running sum: what a method keeps between terms. */
struct sum {
  bool f64; /* the accumulator; else f32 */
  double s, c;
};

static double plus(const struct sum *k, double a, double b) {
  return k->f64 ? (double)((__float128)a + b) : (double)(float)(a + b);
}
static double minus(const struct sum *k, double a, double b) {
  return k->f64 ? (double)((__float128)a - b) : (double)(float)(a - b);
}

static void take_kahan(struct sum *k, double x) {
  const double before = k->s, y = minus(k, x, k->c);
  k->s = plus(k, before, y);
  k->c = minus(k, minus(k, k->s, before), y);
  if (!isfinite(k->s)) k->c = 0;
}

static void take_neumaier(struct sum *k, double x) {
  const bool turned = fabs(k->s) < fabs(x);
  const double large = turned ? x : k->s, small = turned ? k->s : x;
  k->s = plus(k, k->s, x);
  k->c = plus(k, k->c, plus(k, minus(k, large, k->s), small));
  if (!isfinite(k->s)) k->c = 0;
}

static void take_plainly(struct sum *k, double x) { k->s = plus(k, k->s, x); }

typedef void take(struct sum *sum, double x);

static take *take_of(const struct fold_order *order, enum fold_method method) {
  if (order->kind != FOLD_ORDER_SEQUENTIAL) return NULL;
  switch (method) {
    case FOLD_KAHAN: return take_kahan;
    case FOLD_NEUMAIER: return take_neumaier;
    case FOLD_FLOAT64: return take_plainly;
    default: return NULL;
  }
}

bool fold_method_has_replay(const struct fold_order *order, enum fold_method method) {
  return method == FOLD_PLAIN || take_of(order, method) != NULL;
}

static uint64_t replay_row(take *step, enum fold_method method, enum fold_dtype dtype, const void *in, size_t first,
                           size_t n) {
  struct sum sum = {.f64 = method == FOLD_FLOAT64 || fold_accumulator_of(dtype) == FOLD_F64};
  for (size_t i = first; i < first + n; i++) step(&sum, fold_bits_to_double(dtype, fold_bits_load(dtype, in, i)));
  return fold_bits_from_double(dtype, method == FOLD_NEUMAIER ? plus(&sum, sum.s, sum.c) : sum.s);
}

fold_status fold_method_replay(const struct fold_order *order, enum fold_method method, const struct fold_call *call) {
  if (method == FOLD_PLAIN) return fold_order_replay_wide(order, call);
  take *step = take_of(order, method);
  if (step == NULL || call->op != FOLD_SUM)
    return fold_error(FOLD_UNSUPPORTED, "its method has no replay of %s in the order %s", fold_op_name(call->op),
                      order->name);
  for (size_t r = 0; r < call->rows; r++)
    fold_bits_store(call->dtype, call->out, r,
                    replay_row(step, method, call->dtype, call->in, r * call->cols, call->cols));
  return fold_ok();
}
