/* truths.c: what is known of a case's terms: exact results, checked against what the fixture states; and replays of orders. */
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "judge/evidence.h"
#include "oracles/order.h"

/* Results that are weighed, and kept, a result; truths that are kept of a large case. */
enum { WEIGHED = 2, WEIGHED_OF_LARGE = 1, KEPT_OF_LARGE = 16 };

fold_status fold_truths_open(struct fold_truths *truths, const struct fold_case *c, const void *input) {
  *truths = (struct fold_truths){.c = c, .in = {input}};
  FOLD_TRY(fold_sample_choose(c, input, &truths->judged));
  const size_t judged = truths->judged.n;
  const bool large = judged > FOLD_TRUTHS_KEPT;
  truths->n_kept = large ? KEPT_OF_LARGE : judged + 1; /* results that are not judged have the last */
  truths->n_weighed = large ? WEIGHED_OF_LARGE : WEIGHED;
  truths->kept = calloc(truths->n_kept, sizeof *truths->kept);
  truths->weighed = calloc(judged * truths->n_weighed + 1, sizeof *truths->weighed); /* unseen: 2 | 0 */
  if (truths->kept && truths->weighed) return fold_ok();
  fold_truths_close(truths);
  return fold_no_memory("for the truths of %zu results", judged);
}

void fold_truths_close(struct fold_truths *truths) {
  for (size_t k = 0; truths->kept && k < truths->n_kept; k++) /* unseen: <= */
    if (truths->kept[k].open) fold_truth_free(&truths->kept[k].truth);
  if (truths->prefixes_of) fold_prefixes_close(&truths->prefixes);
  free(truths->judged.at);
  free(truths->kept);
  free(truths->weighed);
  free(truths->heights);
  free(truths->replayed);
  fold_slots_free(&truths->slots);
  *truths = (struct fold_truths){0};
}

/* A scan's results are asked for in turn, mostly, so that a running pair has all but the last term of each. */
static fold_status of_prefix(struct fold_truths *truths, struct fold_terms terms, struct fold_truth *truth) {
  const size_t n = terms.n;
  terms.n = truths->c->shape.k; /* unseen: drop */
  if (truths->prefixes_of != terms.factor[0]) {
    if (truths->prefixes_of) fold_prefixes_close(&truths->prefixes);
    truths->prefixes_of = NULL;
    FOLD_TRY(fold_prefixes_open(&truths->prefixes, &terms));
    truths->prefixes_of = terms.factor[0];
  }
  return fold_prefixes_truth(&truths->prefixes, n, truth);
}

fold_status fold_truths_call(struct fold_truths *truths, struct fold_call *call) {
  const struct fold_call own = fold_case_call(truths->c, truths->in, NULL);
  if (truths->slots.first == NULL) return fold_call_sorted(&own, &truths->slots, call);
  *call = own;
  call->slots = &truths->slots;
  return fold_ok();
}

static fold_status make(struct fold_truths *truths, size_t result, struct fold_truth *truth) {
  const struct fold_case *c = truths->c;
  struct fold_call call;
  FOLD_TRY(fold_truths_call(truths, &call));
  const struct fold_terms terms = fold_call_terms(&call, result);
  return fold_is_scan(c->problem) ? of_prefix(truths, terms, truth) : fold_oracle_terms(&terms, 0, truth);
}

fold_status fold_truths_row(struct fold_truths *truths, size_t row, const struct fold_truth **truth) {
  struct fold_kept_truth *kept = &truths->kept[fold_sample_place(&truths->judged, row) % truths->n_kept];
  *truth = &kept->truth;
  if (kept->of == row + 1) return fold_ok();
  if (!kept->open) fold_truth_init(&kept->truth);
  kept->open = true;
  const fold_status status = make(truths, row, &kept->truth);
  kept->of = status.code == FOLD_OK ? row + 1 : 0;
  if (status.code != FOLD_OK) *truth = NULL; /* unseen: drop */
  return status;
}

/* What was weighed of a result; NULL of one that is not judged. */
static struct fold_weighed *weighed_of(const struct fold_truths *truths, size_t row) {
  const size_t place = fold_sample_place(&truths->judged, row);
  return place < truths->judged.n ? &truths->weighed[place * truths->n_weighed] : NULL;
}

const struct fold_weighed *fold_truths_find_weighed(const struct fold_truths *truths, const struct fold_weighing *w) {
  const struct fold_weighed *at = weighed_of(truths, w->row);
  for (size_t i = 0; at && i < truths->n_weighed; i++)
    if (at[i].known && at[i].got == w->got && at[i].height == w->height && at[i].wraps == w->wraps &&
        at[i].order == w->order && fold_arithmetic_same(at[i].how, w->how))
      return &at[i]; /* unseen: 0 */
  return NULL;
}

bool fold_truth_is_conditioned(const struct fold_truth *truth) {
  return truth->op == FOLD_SUM && truth->condition <= FOLD_WELL_CONDITIONED;
}

void fold_truths_keep_weighed(struct fold_truths *truths, const struct fold_weighing *w) {
  struct fold_weighed *at = weighed_of(truths, w->row);
  if (at == NULL) return;
  memmove(at + 1, at, (truths->n_weighed - 1) * sizeof *at); /* unseen: drop */
  at[0] = (struct fold_weighed){.known = true,
                                .conditioned = fold_truth_is_conditioned(w->truth),
                                .how = w->how,
                                .order = w->order,
                                .height = w->height,
                                .got = w->got,
                                .wraps = w->wraps,
                                .want = w->truth->rounded[w->how.result],
                                .ulps = w->ulps,
                                .backward = w->backward,
                                .fraction = w->fraction};
}

fold_status fold_truths_height(struct fold_truths *truths, const struct fold_order *order, uint64_t *height) {
  const struct fold_case *c = truths->c;
  if (truths->high_order != order) {
    FOLD_TRY(fold_order_height(order, c->dtype, truths->in[0], c->cols, &truths->height));
    free(truths->heights);
    truths->heights = NULL;
  }
  truths->high_order = order;
  *height = truths->height;
  return fold_ok();
}

/* The heights of all prefixes at once, where one pass makes them; else none is known yet. */
static fold_status make_heights(struct fold_truths *truths, const struct fold_order *order) {
  const size_t k = truths->c->shape.k;
  truths->heights = calloc(k, sizeof *truths->heights);
  if (truths->heights == NULL) return fold_no_memory("for the heights of %zu results", k);
  const fold_status status = fold_order_prefix_heights(order, k - 1, truths->heights + 1);
  if (status.code == FOLD_UNSUPPORTED) return fold_ok();
  for (size_t n = 1; n < k; n++) truths->heights[n]++;
  return status;
}

/* Results with as many terms have one height, whatever their row. */
fold_status fold_truths_height_of(struct fold_truths *truths, const struct fold_order *order, size_t n,
                                  uint64_t *height) {
  const struct fold_case *c = truths->c;
  FOLD_TRY(fold_truths_height(truths, order, height));
  if (n == c->shape.k) return fold_ok();
  if (truths->heights == NULL) FOLD_TRY(make_heights(truths, order));
  if (truths->heights[n] == 0) {
    FOLD_TRY(fold_order_height(order, c->dtype, truths->in[0], n, height));
    truths->heights[n] = *height + 1;
  }
  *height = truths->heights[n] - 1;
  return fold_ok();
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
  *telling = FOLD_TELLING_UNKNOWN;
  if (fold_dtype_is_integer(how.accumulator)) return fold_ok(); /* no order can show: integers are not rounded */
  /* Trees in a wider accumulator take long: dtype.def's accumulator answers for these. */
  if (!fold_dtype_is_integer(usual) && fold_format_holds(fold_format_of(how.accumulator), fold_format_of(usual)))
    how.accumulator = usual;
  enum fold_telling *known = &truths->telling[how.accumulator][how.result];
  const struct fold_call call = fold_case_call(c, truths->in, NULL);
  if (*known == FOLD_TELLING_UNKNOWN && truths->in[0]) FOLD_TRY(fold_panel_ask(&call, how, known));
  *telling = *known;
  return fold_ok();
}

enum fold_dtype fold_evidence_result_dtype(const struct fold_evidence *e) {
  return fold_subject_result(e->subject, e->truths->c->dtype);
}

/* A factor that is no number of the narrower format may be rounded in two ways, or kept. */
static fold_status check_factors(const struct fold_truths *truths, enum fold_factor_dtype to) {
  const struct fold_case *c = truths->c;
  for (unsigned k = 0; to != FOLD_FACTORS_KEPT && c->problem->factors > 1 && k < c->problem->inputs; k++)
    if (!fold_factors_fit(c->dtype, truths->in[k], fold_elements(c->problem, &c->shape, k), to))
      return fold_error(FOLD_UNSUPPORTED, "not all factors are numbers of %s: how others are rounded is not declared",
                        fold_factor_dtype_names[to]);
  return fold_ok();
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
  FOLD_TRY(check_factors(truths, how.factor));
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
