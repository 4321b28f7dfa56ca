/* judge/accuracy.c: the error against the exact result: bounded, compensated, accurate_as, ulps, faithful, correctly_rounded.
 *
 * Each row is judged (weighing.c); the finding keeps the worst.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/bits.h"
#include "base/text.h"
#include "judge/evidence.h"
#include "oracles/bound.h"
#include "oracles/order.h"

fold_status fold_evidence_height(const struct fold_evidence *e, uint64_t *height) {
  struct fold_truths *truths = e->truths;
  const struct fold_case *c = truths->c;
  const char *name = e->subject->order;
  const struct fold_order *order = name ? fold_order_find(name) : NULL;
  *height = c->cols > 0 ? c->cols - 1 : 0;
  if (e->subject->height) *height = e->subject->height(c->cols, e->ranks);
  if (name && order == NULL) return fold_error(FOLD_ENVIRONMENT, "its order %s does not exist", name);
  return order ? fold_truths_height(truths, order, height) : fold_ok();
}

/* The declared order of a product, which gives a tighter bound; NULL where there is none. */
static const struct fold_order *product_order(const struct fold_evidence *e) {
  const struct fold_case *c = e->truths->c;
  const bool usual = fold_subject_accumulator(e->subject, c->dtype) == fold_accumulator_of(c->dtype);
  if (fold_dtype_is_integer(c->dtype)) return NULL;
  if (!e->subject->order || c->problem->op != FOLD_PROD || e->subject->method != FOLD_PLAIN || !usual) return NULL;
  return fold_order_find(e->subject->order);
}

/* What that order makes of the row's product. */
static fold_status run_product(const struct fold_truths *truths, struct fold_weighing *w,
                               struct fold_running_product *room) {
  const struct fold_case *c = truths->c;
  const unsigned char *input = truths->in[0];
  if (w->order == NULL) return fold_ok();
  w->running = room;
  return fold_order_running_product(w->order, c->dtype, input + w->row * c->cols * fold_dtype_size(c->dtype), c->cols,
                                    room);
}

/* What rounding the factors of the result's terms may change, or aligning subnormal ones. */
static fold_status narrow(struct fold_truths *truths, struct fold_weighing *w) {
  struct fold_call call;
  const bool kept = w->how.factor == FOLD_FACTORS_KEPT && w->how.method != FOLD_TRUNCATED;
  if (kept || truths->c->problem->factors < 2) return fold_ok();
  FOLD_TRY(fold_truths_call(truths, &call));
  const struct fold_terms terms = fold_call_terms(&call, w->row);
  FOLD_TRY(fold_narrowing_of(&terms, w->how.factor, &w->narrowing));
  if (w->how.method != FOLD_TRUNCATED) return fold_ok();
  return fold_alignment_of(&terms, w->how.accumulator, &w->narrowing);
}

/* Notes an error that is large for a sum whose terms hardly cancel, where no order is declared whose bound would tell. */
static void note_off(const struct fold_evidence *e, bool conditioned, double ulps, struct fold_finding *finding) {
  const bool declared = e->subject->order || e->subject->height;
  if (conditioned && !declared && ulps > FOLD_NOTABLE_ULPS && ulps > finding->off) finding->off = ulps;
}

/* A result that has not all of the terms has the height of its own tree. */
static fold_status own_height(const struct fold_evidence *e, struct fold_weighing *w) {
  const struct fold_case *c = e->truths->c;
  if (c->problem->reach == FOLD_ALL) return fold_ok();
  struct fold_call call;
  FOLD_TRY(fold_truths_call(e->truths, &call));
  const size_t n = fold_terms_in(&call, w->row);
  w->height = n > 0 ? n - 1 : 0;
  return w->tree ? fold_truths_height_of(e->truths, w->tree, n, &w->height) : fold_ok();
}

/* Takes the figures of a result that was weighed before. */
static void take_weighed(const struct fold_evidence *e, const struct fold_weighed *before, size_t row,
                         struct fold_finding *finding) {
  fold_find_backward(finding, before->backward);
  if (!isnan(before->ulps)) /* an infinity or a NaN has no error */
    fold_find_worst(finding, row, before->got, before->want, before->ulps, before->fraction);
  note_off(e, before->conditioned, before->ulps, finding);
}

/* One result of a row against its bound: false when it is refuted. FOLD_UNSUPPORTED, with the reason, when it has no
 * bound. */
static bool judge_result(const struct fold_evidence *e, struct fold_weighing *w, struct fold_finding *finding,
                         size_t row, uint64_t got, fold_status *status) {
  struct fold_truths *truths = e->truths;
  struct fold_running_product room;
  w->row = row;
  w->got = got;
  *status = own_height(e, w);
  if (status->code != FOLD_OK) return true;
  const struct fold_weighed *before = fold_truths_find_weighed(truths, w);
  if (before) take_weighed(e, before, row, finding);
  if (before) return true;
  *status = fold_truths_row(truths, row, &w->truth);
  if (status->code == FOLD_OK) *status = run_product(truths, w, &room);
  if (status->code == FOLD_OK) *status = narrow(truths, w);
  if (status->code != FOLD_OK) return true;
  bool right = fold_weigh(w, finding, status);
  w->running = NULL;
  if (right && status->code == FOLD_OK) note_off(e, fold_truth_is_conditioned(w->truth), w->ulps, finding);
  if (right && status->code == FOLD_OK) fold_truths_keep_weighed(truths, w);
  return right;
}

static bool judge_row(const struct fold_evidence *e, struct fold_weighing *w, struct fold_finding *finding, size_t row,
                      fold_status *status) {
  return judge_result(e, w, finding, row, fold_bits_load(w->how.result, e->results, row), status);
}

/* Max and min are exact in every order, and have no bound. */
static struct fold_weight weight_of_extreme(const struct fold_evidence *e, size_t row, uint64_t got) {
  const enum fold_dtype dtype = fold_evidence_result_dtype(e);
  const struct fold_truth *truth;
  const bool known = fold_truths_row(e->truths, row, &truth).code == FOLD_OK;
  return (struct fold_weight){known, known && fold_bits_same(dtype, got, truth->rounded[dtype]), NAN};
}

/* Begins to weigh results of the subject's arithmetic; to be freed. */
static void open_weighing(const struct fold_evidence *e, struct fold_weighing *w) {
  fold_weighing_init(w);
  w->how = fold_subject_arithmetic(e->subject, e->truths->c->dtype);
  w->wraps = e->subject->wraps;
  w->c = e->truths->c;
}

/* By the bound that the subject's own sums have. */
static void open_own(const struct fold_evidence *e, struct fold_weighing *w) {
  open_weighing(e, w);
  w->order = product_order(e);
  w->tree = e->subject->order ? fold_order_find(e->subject->order) : NULL;
}

/* Weighs one result by it. */
static bool weigh_own(const struct fold_evidence *e, struct fold_weighing *w, struct fold_finding *finding, size_t row,
                      uint64_t got, fold_status *status) {
  *status = fold_evidence_height(e, &w->height);
  return status->code != FOLD_OK || judge_result(e, w, finding, row, got, status);
}

struct fold_weight fold_weight_of(const struct fold_evidence *e, size_t row, uint64_t got) {
  const enum fold_op op = e->truths->c->problem->op;
  struct fold_finding finding = fold_finding_open(fold_case_results(e->truths->c));
  struct fold_weighing w;
  fold_status status;
  if (op == FOLD_MAX || op == FOLD_MIN) return weight_of_extreme(e, row, got);
  open_own(e, &w);
  const bool allowed = weigh_own(e, &w, &finding, row, got, &status);
  const struct fold_weight weight = {status.code == FOLD_OK, allowed, finding.fraction};
  fold_weighing_free(&w);
  return weight;
}

/* What is missing, of a result that a claim without a bound refutes. */
static void find_missing(const struct fold_evidence *e, struct fold_finding *finding) {
  struct fold_finding here = fold_finding_open(1);
  struct fold_weighing w;
  fold_status status;
  if (e->truths->c->problem->op != FOLD_SUM) return;
  open_own(e, &w);
  if (!weigh_own(e, &w, &here, finding->row, finding->got, &status)) fold_find_missing(e, &w, finding);
  fold_weighing_free(&w);
}

bool fold_refutes_row(const struct fold_evidence *e, size_t row) {
  const enum fold_dtype dtype = fold_evidence_result_dtype(e);
  const struct fold_weight weight = fold_weight_of(e, row, fold_bits_load(dtype, e->results, row));
  return weight.known && !weight.allowed;
}

/* How many results are judged. Notes in the finding whether these are all of them. */
static size_t count_judged(const struct fold_evidence *e, struct fold_finding *finding) {
  const struct fold_sample *judged = &e->truths->judged;
  if (judged->at == NULL) return finding->rows;
  return finding->sampled = fold_sample_judged(judged);
}

/* Says of a finding that held which results it does not cover. */
static void tell_unjudged(struct fold_finding *finding, fold_status none, size_t suspects) {
  const size_t n = finding->sampled ? finding->sampled : finding->rows, room = sizeof finding->reason;
  char some[32], all[32];
  int used = 0;
  if (finding->sampled)
    used = snprintf(finding->reason, room, "%s of %s results judged", fold_text_grouped((double)n, some),
                    fold_text_grouped((double)finding->rows, all));
  if (suspects)
    used += snprintf(finding->reason + used, room - (size_t)used,
                     "; of all, the %zu furthest from gemm/exact's among them", suspects);
  if (finding->unjudged > 0)
    snprintf(finding->reason + used, room - (size_t)used, "%s%zu of %zu rows have %.120s", used ? "; " : "",
             finding->unjudged, n, none.text);
}

/* Closes the finding when no row is refuted. If any row failed, there is no verdict. */
static void close_rows(const struct fold_evidence *e, struct fold_finding *finding, fold_status none,
                       fold_status failure) {
  if (failure.code != FOLD_OK) {
    fold_find_failed(finding, failure);
  } else if (finding->comparisons == 0 && finding->unjudged > 0) {
    fold_find_failed(finding, none);
  } else {
    fold_find_held(finding);
    if (finding->verdict == FOLD_HELD) tell_unjudged(finding, none, e->truths->judged.n_suspects);
  }
}

/* Judges every row by the bound of w->how at w->height. `failure`: why that height is not known. */
static void judge_rows(const struct fold_evidence *e, struct fold_weighing *w, fold_status failure,
                       struct fold_finding *finding) {
  fold_status none = fold_ok(), status;
  bool right = true, known = failure.code == FOLD_OK;
  const size_t n = count_judged(e, finding);
  for (size_t i = 0; i < n && known && right; i++) {
    right = judge_row(e, w, finding, fold_sample_result(&e->truths->judged, i), &status);
    finding->comparisons += right && status.code == FOLD_OK;
    finding->unjudged += right && status.code == FOLD_UNSUPPORTED;
    if (status.code == FOLD_UNSUPPORTED && none.code == FOLD_OK) none = status;
    if (status.code != FOLD_OK && status.code != FOLD_UNSUPPORTED) failure = status;
  }
  if (right)
    close_rows(e, finding, none, failure);
  else
    fold_find_missing(e, w, finding);
}

static void say_more(struct fold_finding *finding, const char *more) {
  const size_t used = strlen(finding->reason);
  snprintf(finding->reason + used, sizeof finding->reason - used, "%s", more);
}

/* Where the accumulator is wider than the results: one that an accumulator of their dtype allows was probably summed so. */
static void tell_accumulator(const struct fold_evidence *e, struct fold_finding *finding) {
  struct fold_finding here = fold_finding_open(1);
  struct fold_weighing w;
  fold_status status;
  char more[100];
  if (finding->verdict != FOLD_REFUTED || !finding->compared || !e->subject->guest) return;
  open_weighing(e, &w);
  const enum fold_dtype wide = w.how.accumulator, narrow = w.how.result;
  if (!fold_dtype_is_integer(narrow) && fold_format_of(narrow).precision < fold_format_of(wide).precision) {
    w.how.accumulator = narrow;
    snprintf(more, sizeof more, " (an accumulator of %s allows it, if that is declared: accumulator %s)",
             fold_dtype_name(narrow), fold_dtype_name(narrow));
    if (weigh_own(e, &w, &here, finding->row, finding->got, &status) && status.code == FOLD_OK) say_more(finding, more);
  }
  fold_weighing_free(&w);
}

void fold_judge_bounded(const struct fold_evidence *e, struct fold_finding *finding) {
  struct fold_weighing w;
  open_own(e, &w);
  judge_rows(e, &w, finding->rows > 0 ? fold_evidence_height(e, &w.height) : fold_ok(), finding);
  fold_weighing_free(&w);
  if (!finding->miscounted) tell_accumulator(e, finding);
}

/* By the bound of its own compensated method, or of Kahan's: a user may ask this of a sum by any method. */
void fold_judge_compensated(const struct fold_evidence *e, struct fold_finding *finding) {
  struct fold_weighing w;
  open_weighing(e, &w);
  if (w.how.method != FOLD_NEUMAIER) w.how.method = FOLD_KAHAN;
  judge_rows(e, &w, fold_ok(), finding);
  fold_weighing_free(&w);
}

/* By the bound of a plain sum of the height of the order that the claim names. No bits are compared. */
void fold_judge_accurate_as(const struct fold_evidence *e, struct fold_finding *finding) {
  const struct fold_order *order = e->subject->accurate_as ? fold_order_find(e->subject->accurate_as) : NULL;
  struct fold_weighing w;
  if (order == NULL) {
    fold_find_skipped(finding, "it names no order to be as accurate as");
    return;
  }
  open_weighing(e, &w);
  w.how.method = FOLD_PLAIN;
  w.tree = order;
  judge_rows(e, &w, finding->rows > 0 ? fold_truths_height(e->truths, order, &w.height) : fold_ok(), finding);
  fold_weighing_free(&w);
}

/* If the exact result is a number of the format, only that number is faithful; else either of the two around it. */
static bool is_faithful(const struct fold_truth *truth, enum fold_dtype dtype, uint64_t got) {
  uint64_t nearest = truth->rounded[dtype];
  if (fold_bits_same(dtype, got, nearest)) return true;
  mpfr_t value;
  mpfr_init2(value, 64); /* unseen: 65 | 63 */
  fold_mpfr_set_bits(value, dtype, nearest);
  int side = mpfr_cmp(value, truth->exact);
  mpfr_clear(value);
  uint64_t other = side < 0 ? fold_bits_up(dtype, nearest) : fold_bits_down(dtype, nearest);
  /* Zero has one place on the line of values and two patterns: a tiny result may round to either zero's own sign only.
   */
  if (fold_bits_class(dtype, other) == FOLD_ZERO && mpfr_signbit(truth->exact)) other |= fold_format_of(dtype).sign;
  return side != 0 && got == other;
}

static void measure(struct fold_finding *finding, size_t row, struct fold_arithmetic how, uint64_t got,
                    const struct fold_truth *truth) {
  const enum fold_dtype dtype = how.result;
  if (fold_bits_class(dtype, got) >= FOLD_INFINITE || !mpfr_number_p(truth->exact)) return;
  mpfr_t error;
  mpfr_init2(error, 256); /* unseen: 257 | 255 */
  fold_truth_error(error, truth, dtype, got);
  fold_find_backward(finding, fold_error_backward(error, truth, how));
  fold_find_worst(finding, row, got, truth->rounded[dtype], fold_truth_ulps(error, truth, dtype), NAN);
  mpfr_clear(error);
}

/* One row against the claim's number of ulps: false when it is refuted. */
static bool judge_ulps(const struct fold_evidence *e, struct fold_finding *finding, size_t row,
                       const struct fold_truth *truth) {
  const struct fold_arithmetic how = fold_subject_arithmetic(e->subject, e->truths->c->dtype);
  const enum fold_dtype dtype = how.result;
  const uint64_t got = fold_bits_load(dtype, e->results, row), want = truth->rounded[dtype];
  struct fold_finding here = fold_finding_open(1);
  measure(&here, row, how, got, truth);
  const double ulps = isnan(here.ulps) ? INFINITY : here.ulps; /* got is infinite or NaN, and want is not */
  fold_find_backward(finding, here.backward);
  fold_find_worst(finding, row, got, want, ulps, NAN);
  if (ulps <= e->subject->most_ulps) return true;
  fold_find_row(finding, row, got, want, ulps);
  fold_find_refuted(finding, "%s%.4g ulps were claimed",
                    isinf(ulps) ? "the result is not finite, and at most " : "at most ", e->subject->most_ulps);
  find_missing(e, finding);
  return false;
}

/* Every row whose exact result is a finite number of the format is judged, however its terms cancel. */
void fold_judge_ulps(const struct fold_evidence *e, struct fold_finding *finding) {
  const enum fold_dtype dtype = fold_evidence_result_dtype(e);
  const fold_status none = fold_error(FOLD_UNSUPPORTED, "no ulps: the exact result is not finite");
  const size_t n = count_judged(e, finding);
  for (size_t i = 0; i < n; i++) {
    const size_t row = fold_sample_result(&e->truths->judged, i);
    const struct fold_truth *truth;
    const fold_status status = fold_truths_row(e->truths, row, &truth);
    if (status.code != FOLD_OK) {
      fold_find_failed(finding, status);
      return;
    }
    const bool finite = truth->finite_terms && fold_bits_class(dtype, truth->rounded[dtype]) < FOLD_INFINITE;
    finding->comparisons += finite;
    finding->unjudged += !finite;
    if (finite && !judge_ulps(e, finding, row, truth)) return;
  }
  close_rows(e, finding, none, fold_ok());
}

static void judge_integers(const struct fold_evidence *e, struct fold_finding *finding) {
  struct fold_weighing w;
  open_weighing(e, &w);
  judge_rows(e, &w, fold_ok(), finding);
  fold_weighing_free(&w);
}

/* fmax and many libraries return either zero; IEEE 754-2019's maximum does not. */
static void tell_zeros(enum fold_op op, enum fold_dtype dtype, uint64_t got, uint64_t want,
                       struct fold_finding *finding) {
  const bool extreme = op == FOLD_MAX || op == FOLD_MIN;
  if (!extreme || fold_bits_class(dtype, got) != FOLD_ZERO || fold_bits_class(dtype, want) != FOLD_ZERO) return;
  say_more(finding, op == FOLD_MAX ? ": of -0 and +0 the greatest is +0, in IEEE 754-2019 (np.max and fmax may give -0)"
                                   : ": of -0 and +0 the least is -0, in IEEE 754-2019 (np.min and fmin may give +0)");
}

static void judge_rounding(const struct fold_evidence *e, struct fold_finding *finding, bool nearest) {
  const struct fold_arithmetic how = fold_subject_arithmetic(e->subject, e->truths->c->dtype);
  const enum fold_dtype dtype = how.result;
  if (fold_dtype_is_integer(dtype)) {
    judge_integers(e, finding);
    return;
  }
  const size_t n = count_judged(e, finding);
  for (size_t i = 0; i < n; i++) {
    const size_t row = fold_sample_result(&e->truths->judged, i);
    const struct fold_truth *truth;
    fold_status status = fold_truths_row(e->truths, row, &truth);
    if (status.code != FOLD_OK) {
      fold_find_failed(finding, status);
      return;
    }
    finding->comparisons++;
    uint64_t got = fold_bits_load(dtype, e->results, row);
    measure(finding, row, how, got, truth);
    if (nearest ? fold_bits_same(dtype, got, truth->rounded[dtype]) : is_faithful(truth, dtype, got)) continue;
    fold_find_row(finding, row, got, truth->rounded[dtype], NAN);
    fold_find_refuted(finding, nearest ? "not the number nearest to the exact result"
                                       : "neither the exact result nor a neighbour of it");
    tell_zeros(truth->op, dtype, got, truth->rounded[dtype], finding);
    find_missing(e, finding);
    return;
  }
  close_rows(e, finding, fold_ok(), fold_ok());
}

void fold_judge_faithful(const struct fold_evidence *e, struct fold_finding *finding) {
  judge_rounding(e, finding, false);
}

void fold_judge_correctly_rounded(const struct fold_evidence *e, struct fold_finding *finding) {
  judge_rounding(e, finding, true);
}
