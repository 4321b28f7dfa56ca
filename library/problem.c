/* problem.c: the installed library's functions of a problem and a shape. They find names, and turn statuses into codes; they have no
 * numerics. */
#include <math.h>
#include <mpfr.h>
#include <stdlib.h>

#include "base/bits.h"
#include "foldproof.h"
#include "judge/judge.h"
#include "library/answer.h"
#include "library/call.h"
#include "library/own.h"
#include "model/subject.h"
#include "oracles/bound.h"
#include "oracles/exact.h"
#include "oracles/order.h"

/* More threads would only wait for each other, and a process may have so many that OpenMP can't start them. */
static unsigned useful(unsigned threads) {
  enum { MOST_THREADS = 256 };
  return threads < MOST_THREADS ? threads : MOST_THREADS;
}

int foldproof_problem_results(const struct foldproof_problem *problem, size_t *n) {
  struct fold_call call;
  fold_status status = fold_library_call(problem, &call);
  if (status.code == FOLD_OK && n == NULL) status = fold_error(FOLD_BAD_INPUT, "the output is a null pointer");
  if (status.code == FOLD_OK) *n = fold_results(call.problem, &call.shape);
  return fold_answer(status);
}

int foldproof_problem_exact(const struct foldproof_problem *problem, const char *to, unsigned threads, void *out) {
  struct fold_call call;
  enum fold_dtype target;
  struct fold_own own;
  fold_status status = fold_library_call(problem, &call);
  if (status.code == FOLD_OK) status = fold_library_dtype(to, &target);
  if (status.code == FOLD_OK) status = fold_library_out(&call, target, out);
  if (status.code != FOLD_OK) return fold_answer(status);
  fold_own_begin(&own);
  status = fold_oracle_results(&call, target, useful(threads), out);
  fold_own_end(&own);
  return fold_answer(status);
}

/* ---- orders ---- */

/* How a sum is added, and in which order; NULL: any. */
struct declared {
  const struct fold_order *order;
  struct fold_arithmetic how;
};

static fold_status check_subject(const struct fold_subject *subject, const struct fold_call *call) {
  const char *name = subject->name;
  if (subject->order == NULL) return fold_error(FOLD_UNSUPPORTED, "%s declares no order", name);
  if (!(subject->problems >> call->problem->id & 1) || !(subject->dtypes >> call->dtype & 1))
    return fold_error(FOLD_UNSUPPORTED, "%s does not take %s of %s", name, call->problem->name,
                      fold_dtype_name(call->dtype));
  if (fold_subject_result(subject, call->dtype) != call->dtype)
    return fold_error(FOLD_UNSUPPORTED, "%s has results in %s: its order is %s", name,
                      fold_dtype_name(fold_subject_result(subject, call->dtype)), subject->order);
  return fold_ok();
}

/* By the name of an order, or of a host's subject that declares one. */
static fold_status find_declared(const char *name, const struct fold_call *call, struct declared *d) {
  const struct fold_subject *subject = name ? fold_subject_find(name, FOLD_HOST) : NULL;
  d->how = fold_arithmetic_of(FOLD_PLAIN, call->dtype);
  if (subject == NULL || fold_order_find(name)) return fold_order_named(name ? name : "(null)", &d->order);
  FOLD_TRY(check_subject(subject, call));
  d->how = fold_subject_arithmetic(subject, call->dtype);
  return fold_order_named(subject->order, &d->order);
}

int foldproof_problem_replay(const char *order, const struct foldproof_problem *problem, unsigned threads, void *out) {
  struct fold_call call;
  struct declared d;
  struct fold_own own;
  fold_status status = fold_library_call(problem, &call);
  if (status.code == FOLD_OK) status = fold_library_out(&call, call.dtype, out);
  if (status.code == FOLD_OK) status = find_declared(order, &call, &d);
  if (status.code != FOLD_OK) return fold_answer(status);
  const bool usual = fold_arithmetic_same(d.how, fold_arithmetic_of(FOLD_PLAIN, call.dtype));
  call.out = out;
  call.launch.threads = useful(threads);
  fold_own_begin(&own);
  status = usual ? fold_order_replay(d.order, &call) : fold_method_replay(d.order, d.how, &call);
  fold_own_end(&own);
  return fold_answer(status);
}

/* ---- measures ---- */

/* Integers are not rounded, nor are the greatest and the least term. */
static double bound_of(struct fold_arithmetic how, const struct fold_truth *truth, uint64_t height) {
  if (fold_dtype_is_integer(truth->dtype)) return 0;
  if (truth->op == FOLD_MAX || truth->op == FOLD_MIN) return truth->finite_terms ? 0 : NAN;
  mpfr_t bound;
  mpfr_init2(bound, 128);
  bool known = fold_bound(how, truth, height, bound).code == FOLD_OK;
  double value = known ? mpfr_get_d(bound, MPFR_RNDU) : NAN;
  mpfr_clear(bound);
  return value;
}

static void measure_one(const struct fold_truth *truth, uint64_t got, struct foldproof_measure *m) {
  const enum fold_dtype dtype = truth->dtype;
  const uint64_t want = truth->rounded[dtype];
  m->exact = mpfr_get_d(truth->exact, MPFR_RNDN);
  m->abs_sum = mpfr_get_d(truth->abs_sum, MPFR_RNDN);
  m->condition = truth->condition;
  if (fold_bits_class(dtype, got) >= FOLD_INFINITE || fold_bits_class(dtype, want) >= FOLD_INFINITE ||
      !mpfr_number_p(truth->exact)) {
    m->error = m->ulps = fold_bits_same(dtype, got, want) ? 0 : INFINITY;
    return;
  }
  mpfr_t error;
  mpfr_init2(error, 256);
  fold_truth_error(error, truth, dtype, got);
  m->error = mpfr_get_d(error, MPFR_RNDU);
  m->ulps = fold_dtype_is_integer(dtype) ? m->error : fold_truth_ulps(error, truth, dtype);
  mpfr_clear(error);
}

static fold_status height_of(const struct declared *d, const struct fold_terms *line, uint64_t *height) {
  *height = line->n > 0 ? line->n - 1 : 0;
  return d->order ? fold_order_height(d->order, line->dtype, line->factor[0], line->n, height) : fold_ok();
}

static fold_status measure_line(const struct declared *d, const struct fold_terms *line, uint64_t got,
                                struct foldproof_measure *m) {
  struct fold_truth truth;
  uint64_t height;
  FOLD_TRY(height_of(d, line, &height));
  fold_truth_init(&truth);
  const fold_status status = fold_oracle_terms(line, 0, &truth);
  if (status.code == FOLD_OK) measure_one(&truth, got, m);
  if (status.code == FOLD_OK) m->bound = bound_of(d->how, &truth, height);
  fold_truth_free(&truth);
  return status;
}

static fold_status measure_result(const struct declared *d, const struct fold_call *call, size_t result, uint64_t got,
                                  struct foldproof_measure *m) {
  struct fold_slots slots;
  struct fold_call sorted;
  struct fold_terms line;
  void *room = NULL;
  FOLD_TRY(fold_call_sorted(call, &slots, &sorted));
  const struct fold_terms terms = fold_call_terms(&sorted, result);
  fold_status status = fold_terms_line(&terms, &line, &room);
  if (status.code == FOLD_OK) status = measure_line(d, &line, got, m);
  free(room);
  fold_slots_free(&slots);
  return status;
}

int foldproof_problem_measure(const char *order, const struct foldproof_problem *problem, size_t result,
                              const void *got, struct foldproof_measure *measure) {
  struct fold_call call;
  struct fold_own own;
  fold_status status = fold_library_call(problem, &call);
  if (status.code != FOLD_OK) return fold_answer(status);
  struct declared d = {NULL, fold_arithmetic_of(FOLD_PLAIN, call.dtype)};
  const size_t n = fold_results(call.problem, &call.shape);
  if (got == NULL) status = fold_error(FOLD_BAD_INPUT, "the result is a null pointer");
  if (measure == NULL) status = fold_error(FOLD_BAD_INPUT, "the output is a null pointer");
  if (result >= n) status = fold_error(FOLD_BAD_INPUT, "no result %zu: there are %zu", result, n);
  if (status.code == FOLD_OK && order) status = find_declared(order, &call, &d);
  if (status.code == FOLD_OK && order) status = fold_order_takes(d.order, call.problem);
  if (status.code != FOLD_OK) return fold_answer(status);
  fold_own_begin(&own);
  status = measure_result(&d, &call, result, fold_bits_load(call.dtype, got, 0), measure);
  fold_own_end(&own);
  return fold_answer(status);
}
