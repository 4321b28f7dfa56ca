/* replay_method.c: the replay of methods that are more than additions in some order: Kahan's and Neumaier's.
 *
 * Promised: the bits of the methods as they are defined here, whatever computes them. Each operation is done in a format of at
 * least 2p + 2 bits and rounded once to the accumulator, as in replay_wide.c; written from the definitions, apart from the
 * subjects that it judges (kernels/host/accurate.c). With + and - rounded to the accumulator, s = c = +0 at first:
 *
 *   Kahan      y = x - c;  t = s + y;  c = (t - s) - y;  s = t.  The result is s.
 *   Neumaier   t = s + x;  c = c + ((l - t) + m), l the one of s and x that is not the smaller in magnitude, m the other;
 *              s = t.  The result is s + c.
 *
 * Once t is not finite, c is +0 and stays so. The result is rounded once to its dtype. All take the terms in rising index.
 */
#include <math.h>
#include <stdlib.h>

#include "base/bits.h"
#include "oracles/order.h"
#include "oracles/split.h"

/* A running sum: what a method keeps between terms. */
struct sum {
  enum fold_dtype accumulator;
  double s, c;
};

static double plus(const struct sum *k, double a, double b) {
  if (fold_rounds_by_double(k->accumulator)) return fold_bits_round(k->accumulator, a + b);
  return (double)((__float128)a + b);
}
static double minus(const struct sum *k, double a, double b) { return plus(k, a, -b); } /* unseen: - b , a */

static void take_kahan(struct sum *k, double x) {
  const double before = k->s, y = minus(k, x, k->c);
  k->s = plus(k, before, y);
  k->c = minus(k, minus(k, k->s, before), y);
  if (!isfinite(k->s)) k->c = 0; /* unseen: 1 */
}

static void take_neumaier(struct sum *k, double x) {
  const bool turned = fabs(k->s) < fabs(x); /* unseen: <= */
  const double large = turned ? x : k->s, small = turned ? k->s : x;
  k->s = plus(k, k->s, x);
  k->c = plus(k, k->c, plus(k, minus(k, large, k->s), small));
  if (!isfinite(k->s)) k->c = 0; /* unseen: 1 */
}

typedef void take(struct sum *sum, double x);

static take *take_of(const struct fold_order *order, enum fold_method method) {
  if (order->kind != FOLD_ORDER_SEQUENTIAL) return NULL;
  switch (method) {
    case FOLD_KAHAN: return take_kahan;
    case FOLD_NEUMAIER: return take_neumaier;
    case FOLD_PLAIN:
    case FOLD_TRUNCATED:
    case FOLD_EXACT: break;
  }
  return NULL;
}

bool fold_method_has_replay(const struct fold_order *order, enum fold_method method) {
  return method == FOLD_PLAIN || take_of(order, method) != NULL;
}

static uint64_t replay_row(take *step, struct fold_arithmetic how, const struct fold_terms *terms) {
  struct sum sum = {.accumulator = how.accumulator};
  for (size_t i = 0; i < terms->n; i++)
    step(&sum, fold_bits_to_double(terms->dtype, fold_bits_load(terms->dtype, terms->factor[0], i)));
  return fold_bits_from_double(how.result, how.method == FOLD_NEUMAIER ? plus(&sum, sum.s, sum.c) : sum.s);
}

static fold_status replay_rows(take *step, struct fold_arithmetic how, const struct fold_call *call) {
  for (size_t r = 0; r < fold_results(call->problem, &call->shape); r++) {
    const struct fold_terms terms = fold_call_terms(call, r);
    struct fold_terms line;
    void *room;
    FOLD_TRY(fold_terms_line(&terms, &line, &room));
    fold_bits_store(how.result, call->out, r, replay_row(step, how, &line));
    free(room);
  }
  return fold_ok();
}

fold_status fold_method_replay(const struct fold_order *order, struct fold_arithmetic how,
                               const struct fold_call *call) {
  if (how.method == FOLD_PLAIN) return fold_rows_replay(order, how, call, fold_rows_wide, 1);
  take *step = take_of(order, how.method);
  if (step == NULL || call->problem->op != FOLD_SUM)
    return fold_error(FOLD_UNSUPPORTED, "its method has no replay of %s in the order %s",
                      fold_op_name(call->problem->op), order->name);
  struct fold_slots slots;
  struct fold_call sorted;
  FOLD_TRY(fold_call_sorted(call, &slots, &sorted));
  const fold_status status = replay_rows(step, how, &sorted);
  fold_slots_free(&slots);
  return status;
}
