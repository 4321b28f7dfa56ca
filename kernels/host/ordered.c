/* ordered.c: the plain host subjects: an order of the table, replayed in native arithmetic. */
#include "kernels/host/host.h"
#include "oracles/order.h"

fold_status fold_host_ordered(const struct fold_subject *subject, const struct fold_call *call) {
  const struct fold_order *order = fold_order_find(subject->order);
  if (!order) return fold_error(FOLD_UNSUPPORTED, "%s: no order is called %s", subject->name, subject->order);
  return fold_order_replay_to(order, call, fold_subject_result(subject, call->dtype));
}
