/* truths.c: what is known of a case's terms: exact results, checked against what the fixture states; and replays of orders. */
#include <stdlib.h>

#include "base/bits.h"
#include "judge/evidence.h"
#include "oracles/order.h"

fold_status fold_truths_open(struct fold_truths *truths, const struct fold_case *c, const void *input) {
  *truths = (struct fold_truths){.c = c, .in = {input}};
  truths->row = calloc(fold_case_results(c) + 1, sizeof *truths->row);     /* unseen: 0 */
  truths->known = calloc(fold_case_results(c) + 1, sizeof *truths->known); /* unseen: 2 | 0 */
  truths->weighed = calloc(fold_case_results(c) + 1, sizeof *truths->weighed);
  if (truths->row && truths->known && truths->weighed) return fold_ok();
  fold_truths_close(truths);
  return fold_no_memory("for the truths of %zu results", fold_case_results(c));
}

void fold_truths_close(struct fold_truths *truths) {
  if (truths->row && truths->known)
    for (size_t r = 0; r < fold_case_results(truths->c); r++) /* unseen: <= */
      if (truths->known[r]) fold_truth_free(&truths->row[r]);
  free(truths->row);
  free(truths->known);
  free(truths->weighed);
  free(truths->replayed);
  *truths = (struct fold_truths){0};
}

fold_status fold_truths_row(struct fold_truths *truths, size_t row, const struct fold_truth **truth) {
  const struct fold_case *c = truths->c;
  *truth = &truths->row[row];
  if (truths->known[row]) return fold_ok();
  const struct fold_call call = fold_case_call(c, truths->in, NULL);
  const struct fold_terms terms = fold_call_terms(&call, row);
  fold_truth_init(&truths->row[row]);
  fold_status status = fold_oracle_terms(&terms, 0, &truths->row[row]);
  truths->known[row] = status.code == FOLD_OK;
  if (truths->known[row]) return status;
  fold_truth_free(&truths->row[row]);
  *truth = NULL; /* unseen: drop */
  return status;
}

/* Reads the stated sum with more bits than any exact sum has: if it is rounded even so, it is no exact sum. Zeros keep
 * their signs. */
fold_status fold_truths_check_expected(struct fold_truths *truths) {
  const struct fold_case *c = truths->c;
  const struct fold_truth *truth;
  if (c->expect == NULL || fold_case_results(c) != 1 || c->problem->op != FOLD_SUM) return fold_ok();
  FOLD_TRY(fold_truths_row(truths, 0, &truth));
  mpfr_t want;
  char *end;
  mpfr_init2(want, 8192); /* unseen: 8193 | 8191 */
  int rounded = mpfr_strtofr(want, c->expect, &end, 0, MPFR_RNDN);
  bool nan = mpfr_nan_p(want) && mpfr_nan_p(truth->exact);
  bool equal = nan || (mpfr_equal_p(want, truth->exact) && mpfr_signbit(want) == mpfr_signbit(truth->exact));
  mpfr_clear(want);
  if (equal && rounded == 0 && *end == '\0') return fold_ok();
  char *exact = mpfr_number_p(truth->exact) ? fold_mpfr_decimal(truth->exact) : NULL;
  fold_status status = fold_error(FOLD_BAD_INPUT, "%s: expect_sum %.60s of %s: the exact sum is %.80s", c->where,
                                  c->expect, c->name, exact ? exact : "not finite");
  free(exact);
  return status;
}

fold_status fold_truths_telling(struct fold_truths *truths, const struct fold_subject *subject,
                                enum fold_telling *telling) {
  const struct fold_case *c = truths->c;
  const enum fold_dtype usual = fold_accumulator_of(c->dtype);
  struct fold_arithmetic how = fold_subject_arithmetic(subject, c->dtype);
  /* Trees in a wider accumulator take long: dtype.def's accumulator answers for these. */
  if (fold_format_holds(fold_format_of(how.accumulator), fold_format_of(usual))) how.accumulator = usual;
  enum fold_telling *known = &truths->telling[how.accumulator][how.result];
  const struct fold_call call = fold_case_call(c, truths->in, NULL);
  if (*known == FOLD_TELLING_UNKNOWN && truths->in[0]) FOLD_TRY(fold_panel_ask(&call, how, known));
  *telling = *known;
  return fold_ok();
}

enum fold_dtype fold_evidence_result_dtype(const struct fold_evidence *e) {
  return fold_subject_result(e->subject, e->truths->c->dtype);
}

/* Sums made on the host, by one process or by ranks, are compared with a replay in wide arithmetic, which shares no
 * addition with them. A GPU's sums are compared with the native replay, which the host's subjects have certified, and
 * which is fast enough for large inputs. Other methods or accumulators than the usual have the wide replay too. */
fold_status fold_evidence_replay(const struct fold_evidence *e, const void **results) {
  struct fold_truths *truths = e->truths;
  const struct fold_case *c = truths->c;
  const char *name = e->subject->order;
  const struct fold_order *order = name ? fold_order_find(name) : NULL;
  const struct fold_arithmetic how = fold_subject_arithmetic(e->subject, c->dtype);
  bool usual = how.method == FOLD_PLAIN && how.accumulator == fold_accumulator_of(c->dtype);
  bool wide = fold_engine_is_host(e->subject->engine) || !usual;
  if (name == NULL) return fold_error(FOLD_UNSUPPORTED, "it declares no order");
  if (order == NULL) return fold_error(FOLD_ENVIRONMENT, "its order %s does not exist", name);
  if (truths->in[0] == NULL) return fold_error(FOLD_UNSUPPORTED, "its terms are not at hand");
  if (truths->replayed == NULL) truths->replayed = malloc((fold_case_results(c) + 1) * sizeof(uint64_t));
  if (truths->replayed == NULL) return fold_no_memory("for %zu results", fold_case_results(c));
  *results = truths->replayed;
  if (truths->replayed_order == order && fold_arithmetic_same(truths->replayed_how, how) &&
      truths->replayed_wide == wide) /* unseen: != */
    return fold_ok();
  const struct fold_call call = fold_case_call(c, truths->in, truths->replayed);
  truths->replayed_order = NULL;
  FOLD_TRY(wide ? fold_method_replay(order, how, &call) : fold_order_replay_to(order, &call, how.result));
  truths->replayed_order = order; /* unseen: drop */
  truths->replayed_how = how;
  truths->replayed_wide = wide;
  return fold_ok();
}
