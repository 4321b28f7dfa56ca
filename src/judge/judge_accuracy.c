/* judge_accuracy.c: the error against the exact result: bounded, compensated, faithful, correctly_rounded.
 *
 * Special values are compared by class before any subtraction, and a result is accepted by a positive condition
 * (error <= bound), so that NaN never passes. Each row is judged; the finding keeps the worst.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bits.h"
#include "bound.h"
#include "judge.h"
#include "order.h"

/* Keeps the greater of two evidences; NaN is none. */
static void keep_worst(struct fold_finding *finding, size_t row, uint64_t got, uint64_t want, double ulps,
                       double fraction) {
  bool worse = isnan(finding->ulps) || fraction > finding->fraction || (isnan(fraction) && ulps > finding->ulps);
  if (isnan(finding->ulps) || ulps > finding->ulps) finding->ulps = ulps;
  if (isnan(finding->fraction) || fraction > finding->fraction) finding->fraction = fraction;
  if (!worse) return;
  finding->row = row;
  finding->compared = true;
  finding->got = got;
  finding->want = want;
}

static void refute_row(struct fold_finding *finding, size_t row, uint64_t got, uint64_t want, double ulps) {
  finding->row = row;
  finding->compared = true;
  finding->got = got;
  finding->want = want;
  if (!isnan(ulps)) finding->ulps = ulps;
}

/* A result that is not finite, or that can't be finite: its class decides, by what the theorem leaves possible. */
static bool judge_class(struct fold_trial *trial, struct fold_finding *finding, size_t row, uint64_t got,
                        const struct fold_truth *truth, const struct fold_outcomes *may) {
  enum fold_dtype dtype = trial->c->dtype;
  enum fold_class class = fold_bits_class(dtype, got);
  bool finite = class < FOLD_INFINITE, negative = got & fold_format_of(dtype).sign;
  if (class == FOLD_NAN ? may->nan : finite ? may->finite : may->infinite[negative]) return true;
  refute_row(finding, row, got, truth->rounded[dtype], truth->finite_terms ? INFINITY : NAN);
  if (!truth->finite_terms)
    fold_find_refuted(finding, "the policy for special values asks for another result");
  else if (finite)
    fold_find_refuted(finding, "the result is finite, and every order overflows");
  else if (may->infinite[0] || may->infinite[1])
    fold_find_refuted(finding, "no order overflows that way");
  else
    fold_find_refuted(finding, "the result is not finite, and no partial result can overflow");
  return false;
}

/* With the digits that it takes to tell them apart: "error 1.23457e-05 is above the bound 1.23456e-05". */
static void refute_above(struct fold_finding *finding, mpfr_srcptr error, mpfr_srcptr bound) {
  char text[2][64];
  for (int digits = 3; digits <= 24; digits++) {
    mpfr_snprintf(text[0], sizeof text[0], "%.*Rg", digits, error);
    mpfr_snprintf(text[1], sizeof text[1], "%.*Rg", digits, bound);
    if (strcmp(text[0], text[1]) != 0) break;
  }
  fold_find_refuted(finding, "error %s is above the bound %s", text[0], text[1]);
}

/* A finite result: its error is within the bound, and where the accumulator is exact it is the correctly rounded one, whichever
 * zero a zero is. */
static bool judge_within(struct fold_trial *trial, struct fold_finding *finding, size_t row, uint64_t got,
                         const struct fold_truth *truth, mpfr_srcptr bound, bool exact, struct fold_weighed *weighed) {
  enum fold_dtype dtype = trial->c->dtype;
  uint64_t want = truth->rounded[dtype], sign = fold_format_of(dtype).sign;
  mpfr_t error;
  mpfr_init2(error, 256);
  fold_truth_error(error, truth, dtype, got);
  bool within = mpfr_lessequal_p(error, bound), nearest = got == want || !((got | want) & ~sign);
  double ulps = fold_truth_ulps(error, truth, dtype), fraction = fold_ratio_up(error, bound);
  keep_worst(finding, row, got, want, ulps, fraction);
  weighed->ulps = ulps;
  weighed->fraction = fraction;
  weighed->known = within && (nearest || !exact);
  if (!within || (exact && !nearest)) refute_row(finding, row, got, want, ulps);
  if (exact && !nearest)
    fold_find_refuted(finding, "no order rounds on the way, and this is not the %s",
                      mpfr_zero_p(bound) ? "exact result" : "number nearest to the exact result");
  else if (!within)
    refute_above(finding, error, bound);
  mpfr_clear(error);
  return within && (nearest || !exact);
}

/* The height of the declared order, or of a collective's shape; n - 1, which bounds any order, where none is known. */
static fold_status height_of(const struct fold_trial *trial, size_t row, uint64_t *height) {
  const struct fold_case *c = trial->c;
  const struct fold_order *order = trial->subject->order ? fold_order_find(trial->subject->order) : NULL;
  const unsigned char *input = fold_rig_input(trial->rig);
  *height = c->cols > 0 ? c->cols - 1 : 0;
  if (trial->subject->height) *height = trial->subject->height(c->cols, c->ranks);
  if (trial->subject->order && order == NULL)
    return fold_error(FOLD_ENVIRONMENT, "its order %s does not exist", trial->subject->order);
  if (order == NULL) return fold_ok();
  return fold_order_height(order, c->dtype, input + row * c->cols * fold_dtype_size(c->dtype), c->cols, height);
}

/* What the declared order makes of a product; NULL where that is no help. */
static fold_status run_product(const struct fold_trial *trial, size_t row, struct fold_running_product *room,
                               const struct fold_running_product **running) {
  const struct fold_case *c = trial->c;
  const struct fold_order *order = trial->subject->order ? fold_order_find(trial->subject->order) : NULL;
  const unsigned char *input = fold_rig_input(trial->rig);
  *running = NULL;
  if (order == NULL || c->op != FOLD_PROD || trial->subject->method != FOLD_PLAIN) return fold_ok();
  *running = room;
  return fold_order_running_product(order, c->dtype, input + row * c->cols * fold_dtype_size(c->dtype), c->cols, room);
}

/* The same result of the same row, by the same bound; of products the bound is the order's own. */
static const struct fold_weighed *find_weighed(const struct fold_trial *trial, size_t row, uint64_t got,
                                               uint64_t height) {
  const struct fold_weighed *at = trial->truths->weighed[row];
  for (size_t i = 0; i < FOLD_WEIGHED && trial->c->op != FOLD_PROD; i++)
    if (at[i].known && at[i].got == got && at[i].height == height && at[i].method == trial->subject->method)
      return &at[i];
  return NULL;
}

static void keep_weighed(struct fold_trial *trial, size_t row, const struct fold_weighed *weighed) {
  struct fold_weighed *at = trial->truths->weighed[row];
  if (!weighed->known) return;
  memmove(at + 1, at, (FOLD_WEIGHED - 1) * sizeof *at);
  at[0] = *weighed;
}

/* One row against its bound: false when it is refuted. FOLD_UNSUPPORTED, with the reason, when it has no bound. */
static bool judge_row(struct fold_trial *trial, struct fold_finding *finding, size_t row, uint64_t height,
                      fold_status *status) {
  enum fold_dtype dtype = trial->c->dtype;
  uint64_t got = fold_bits_load(dtype, trial->got, row);
  struct fold_weighed weighed = {.got = got, .height = height, .method = trial->subject->method};
  const struct fold_weighed *before = find_weighed(trial, row, got, height);
  const struct fold_truth *truth;
  struct fold_running_product room;
  const struct fold_running_product *running = NULL;
  *status = fold_truths_row(trial->truths, row, &truth);
  if (before) {
    keep_worst(finding, row, got, truth->rounded[dtype], before->ulps, before->fraction);
    return true;
  }
  if (status->code == FOLD_OK) *status = run_product(trial, row, &room, &running);
  if (status->code != FOLD_OK) return true;
  mpfr_t bound;
  struct fold_outcomes may;
  mpfr_init2(bound, 128);
  *status = fold_bound_outcomes(trial->subject->method, truth, height, running, bound, &may);
  bool right = status->code != FOLD_OK || judge_class(trial, finding, row, got, truth, &may);
  if (status->code == FOLD_OK && right && fold_bits_class(dtype, got) < FOLD_INFINITE)
    right = judge_within(trial, finding, row, got, truth, bound, may.exact, &weighed);
  mpfr_clear(bound);
  keep_weighed(trial, row, &weighed);
  return right;
}

bool fold_refutes_row(struct fold_trial *trial, size_t row) {
  struct fold_finding finding = {.ulps = NAN, .fraction = NAN};
  uint64_t height = 0;
  fold_status status = height_of(trial, 0, &height);
  return status.code == FOLD_OK && !judge_row(trial, &finding, row, height, &status);
}

/* What became of all rows, none of them refuted. A failure is no verdict, whichever row it is of. */
static void close_rows(struct fold_finding *finding, size_t rows, fold_status none, fold_status failure) {
  if (failure.code != FOLD_OK) {
    fold_find_failed(finding, failure);
  } else if (finding->comparisons > 0) {
    fold_find_held(finding);
    if (finding->unjudged > 0)
      snprintf(finding->reason, sizeof finding->reason, "%zu of %zu rows have %.150s", finding->unjudged, rows,
               none.text);
  } else if (finding->unjudged > 0) {
    fold_find_failed(finding, none);
  } else {
    fold_find_skipped(finding, "no row");
  }
}

void fold_judge_bounded(struct fold_trial *trial, struct fold_finding *finding) {
  uint64_t height = 0;
  fold_status none = fold_ok(), failure = fold_ok();
  if (trial->c->rows > 0) failure = height_of(trial, 0, &height);
  if (failure.code != FOLD_OK) {
    fold_find_failed(finding, failure);
    return;
  }
  for (size_t row = 0; row < trial->c->rows; row++) {
    fold_status status;
    if (!judge_row(trial, finding, row, height, &status)) return;
    finding->comparisons += status.code == FOLD_OK;
    finding->unjudged += status.code == FOLD_UNSUPPORTED;
    if (status.code == FOLD_UNSUPPORTED && none.code == FOLD_OK) none = status;
    if (status.code != FOLD_OK && status.code != FOLD_UNSUPPORTED) failure = status;
  }
  close_rows(finding, trial->c->rows, none, failure);
}

/* The bound is the method's own (fold_method): Kahan's, Neumaier's. */
void fold_judge_compensated(struct fold_trial *trial, struct fold_finding *finding) {
  fold_judge_bounded(trial, finding);
}

/* Where the exact result is a number of the format, only that; else one of the two around it. */
static bool is_faithful(const struct fold_truth *truth, enum fold_dtype dtype, uint64_t got) {
  uint64_t nearest = truth->rounded[dtype];
  if (fold_bits_same(dtype, got, nearest)) return true;
  if (!mpfr_number_p(truth->exact) || mpfr_zero_p(truth->exact)) return false;
  mpfr_t value;
  mpfr_init2(value, 64);
  fold_mpfr_set_bits(value, dtype, nearest);
  int side = mpfr_cmp(value, truth->exact);
  mpfr_clear(value);
  uint64_t other = side < 0 ? fold_bits_up(dtype, nearest) : fold_bits_down(dtype, nearest);
  /* Zero has one place on the line of values and two patterns: a tiny result may round to either zero's own sign only.
   */
  if (fold_bits_class(dtype, other) == FOLD_ZERO && mpfr_signbit(truth->exact)) other |= fold_format_of(dtype).sign;
  return side != 0 && got == other;
}

static void measure(struct fold_trial *trial, struct fold_finding *finding, size_t row, uint64_t got,
                    const struct fold_truth *truth) {
  enum fold_dtype dtype = trial->c->dtype;
  if (fold_bits_class(dtype, got) >= FOLD_INFINITE || !mpfr_number_p(truth->exact)) return;
  mpfr_t error;
  mpfr_init2(error, 256);
  fold_truth_error(error, truth, dtype, got);
  keep_worst(finding, row, got, truth->rounded[dtype], fold_truth_ulps(error, truth, dtype), NAN);
  mpfr_clear(error);
}

static void judge_rounding(struct fold_trial *trial, struct fold_finding *finding, bool nearest) {
  enum fold_dtype dtype = trial->c->dtype;
  if (trial->c->rows == 0) {
    fold_find_skipped(finding, "no row");
    return;
  }
  for (size_t row = 0; row < trial->c->rows; row++) {
    const struct fold_truth *truth;
    fold_status status = fold_truths_row(trial->truths, row, &truth);
    if (status.code != FOLD_OK) {
      fold_find_failed(finding, status);
      return;
    }
    finding->comparisons++;
    uint64_t got = fold_bits_load(dtype, trial->got, row);
    measure(trial, finding, row, got, truth);
    if (nearest ? fold_bits_same(dtype, got, truth->rounded[dtype]) : is_faithful(truth, dtype, got)) continue;
    refute_row(finding, row, got, truth->rounded[dtype], NAN);
    fold_find_refuted(finding, nearest ? "not the number nearest to the exact result"
                                       : "neither the exact result nor a neighbour of it");
    return;
  }
  fold_find_held(finding);
}

void fold_judge_faithful(struct fold_trial *trial, struct fold_finding *finding) {
  judge_rounding(trial, finding, false);
}

void fold_judge_correctly_rounded(struct fold_trial *trial, struct fold_finding *finding) {
  judge_rounding(trial, finding, true);
}
