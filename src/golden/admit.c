/* admit.c: which results may be kept.
 *
 * Refused are: results that a claim of results refutes (judged as verify judges it); an error above the bound that holds for any order,
 * whatever the subject claims, unless it declares no problem; bits of an order that differ from its replay by other
 * arithmetic, and exact results that differ from MPFR's; a run that did something else besides (left results unwritten, wrote elsewhere,
 * changed its input, left its process changed); an input that cannot be made again with the same bits.
 *
 * Some results are left out: those that are not finite although the exact result is, if their order is not known and partial sums may
 * overflow. No bound refutes them, and nothing certifies them. If a finite result was kept for that case, they are refused.
 */
#include <stdarg.h>

#include "base/bits.h"
#include "golden/golden.h"
#include "records/read.h"

enum { MOST_LINES = 10 };

void fold_golden_refuse(struct fold_golden *g, const struct fold_judgement *j, const char *format, ...) {
  va_list args;
  if (g->refused++ >= MOST_LINES) return;
  printf("REFUSED: %s on %s: %s: ", j->subject->name, fold_engine_name(j->subject->engine), j->c->name);
  va_start(args, format);
  vprintf(format, args);
  va_end(args);
  putchar('\n');
}

/* The verdicts of the judges of results. */
struct judged {
  const struct fold_claim *claim;
  struct fold_finding finding;
  uint64_t held;
};

static void take_finding(void *context, const struct fold_claim *claim, const struct fold_finding *finding) {
  struct judged *judged = context;
  if (finding->verdict == FOLD_HELD) judged->held |= FOLD_CLAIM(claim->id);
  if (judged->claim || finding->verdict == FOLD_HELD || finding->verdict == FOLD_SKIPPED) return;
  judged->claim = claim;
  judged->finding = *finding;
}

static const char *find_accident(const struct fold_traces *t) {
  if (t == NULL) return NULL;
  if (t->unwritten) return "a result was not written";
  if (t->out_of_bounds) return "it wrote or read beyond its memory";
  if (t->wrote_input) return "it changed its input";
  if (t->ranks_differ) return "its ranks differ";
  return t->left[0] ? "it left its process changed" : NULL;
}

/* Whether a subject that claims nothing about its error is within the bound that holds for any order in its arithmetic.
 * If not, the finding says why. */
static bool is_bounded(const struct fold_evidence *e, const struct judged *judged, struct fold_finding *finding) {
  const uint64_t of_error = FOLD_CLAIM(FOLD_BOUNDED) | FOLD_CLAIM(FOLD_COMPENSATED) | FOLD_CLAIM(FOLD_FAITHFUL) |
                            FOLD_CLAIM(FOLD_CORRECTLY_ROUNDED) | FOLD_CLAIM(FOLD_REPLAYS);
  struct fold_subject any = *e->subject;
  struct fold_evidence of_any = *e;
  if (judged->held & of_error || e->subject->unknown) return true;
  any.order = NULL;
  any.method = FOLD_PLAIN;
  of_any.subject = &any;
  *finding = fold_finding_open(fold_case_results(e->truths->c));
  fold_judge_bounded(&of_any, finding);
  return finding->verdict != FOLD_REFUTED && finding->verdict != FOLD_BROKEN;
}

/* Finds a row that is NaN or infinite although its exact result is finite; false if there is none. */
static bool find_wild(struct fold_golden *g, const struct fold_judgement *j, size_t *row, fold_status *status) {
  const enum fold_dtype dtype = fold_subject_result(j->subject, j->c->dtype);
  for (*row = 0; *row < fold_case_results(j->c) && !j->subject->unknown; ++*row) {
    const struct fold_truth *truth;
    if (fold_bits_class(dtype, fold_bits_load(dtype, j->got, *row)) < FOLD_INFINITE) continue;
    *status = fold_truths_row(&g->again.remade.truths, *row, &truth);
    if (status->code != FOLD_OK) return true;
    if (mpfr_number_p(truth->exact) && fold_bits_class(dtype, fold_mpfr_round(dtype, truth->exact)) < FOLD_INFINITE)
      return true;
  }
  return false;
}

/* Whether exact results are also those of the MPFR oracle, which shares nothing with the oracle that judged them. */
static fold_status is_mpfrs(struct fold_golden *g, const struct fold_judgement *j, bool *is) {
  struct fold_call call;
  FOLD_TRY(fold_truths_call(&g->again.remade.truths, &call));
  const enum fold_dtype dtype = fold_subject_result(j->subject, j->c->dtype);
  *is = true;
  for (size_t row = 0; row < fold_case_results(j->c) && *is; row++) {
    const struct fold_terms terms = fold_call_terms(&call, row);
    struct fold_truth truth;
    fold_truth_init(&truth);
    fold_status status = fold_oracle_mpfr_terms(&terms, &truth);
    *is = dtype < FOLD_DTYPES && fold_bits_same(dtype, truth.rounded[dtype], fold_bits_load(dtype, j->got, row));
    fold_truth_free(&truth);
    FOLD_TRY(status);
  }
  return fold_ok();
}

/* Leaves out a result that is neither right nor wrong: its order is not known, and some orders overflow. */
static fold_status leave_out(struct fold_golden *g, const struct fold_judgement *j, size_t row) {
  json_t *record = fold_golden_record(g, j);
  if (record && fold_golden_find(&g->kept, record)) {
    fold_golden_refuse(g, j, "row %zu is not finite, and the exact result and what is kept are", row);
    json_decref(record);
    return fold_ok();
  }
  g->overflowed++;
  json_object_del(record, "results_xxh3");
  return fold_golden_add(&g->now, record);
}

/* Makes the input of that case again; if the folder of fixtures lacks the case, from `c` itself. */
static fold_status remake(struct fold_golden *g, const struct fold_case *c) {
  const struct fold_case *own = fold_case_index_find(&g->again.fixtures, c->name);
  if (own == NULL) fold_remade_free(&g->again.remade); /* a case of another index may have had the same address */
  return fold_remake(&g->again.remade, own ? own : c);
}

static fold_status judge(struct fold_golden *g, const struct fold_judgement *j, bool *right) {
  const struct fold_subject *s = j->subject;
  const bool exact = s->method == FOLD_EXACT, portable = fold_golden_portable(s);
  const uint64_t needed = !portable ? 0 : exact ? FOLD_CLAIM(FOLD_CORRECTLY_ROUNDED) : FOLD_CLAIM(FOLD_REPLAYS);
  struct fold_subject as_host = *s; /* replayed by other arithmetic, whatever engine ran */
  struct fold_finding any_order;
  struct judged judged = {0};
  size_t row;
  fold_status status = fold_ok();
  if (s->order) as_host.engine = FOLD_HOST;
  const struct fold_evidence e = {
      .subject = &as_host, .truths = &g->again.remade.truths, .ranks = j->c->ranks, .results = j->got};
  fold_judge_evidence(&e, NULL, take_finding, &judged);
  if (judged.claim)
    fold_golden_refuse(g, j, "%s is %s: %s", judged.claim->name, fold_verdict_name(judged.finding.verdict),
                       judged.finding.reason);
  else if ((judged.held & needed) != needed && fold_case_results(j->c) > 0)
    fold_golden_refuse(g, j, "no oracle can certify it");
  else if (!is_bounded(&e, &judged, &any_order))
    fold_golden_refuse(g, j, "no order has such an error: %s", any_order.reason);
  else if (!portable && find_wild(g, j, &row, &status))
    return status.code == FOLD_OK ? leave_out(g, j, row) : status;
  else
    *right = true;
  if (!*right || !portable || !exact) return fold_ok();
  FOLD_TRY(is_mpfrs(g, j, right));
  if (!*right) fold_golden_refuse(g, j, "MPFR gives a different result");
  return fold_ok();
}

fold_status fold_golden_certify(struct fold_golden *g, const struct fold_judgement *j, bool *right) {
  const char *accident = find_accident(j->traces);
  *right = false;
  if (accident) {
    fold_golden_refuse(g, j, "%s", accident);
    return fold_ok();
  }
  FOLD_TRY(remake(g, j->c));
  fold_status status = fold_ok();
  if (g->again.remade.hash == j->input_hash)
    status = judge(g, j, right);
  else
    fold_golden_refuse(g, j, "its input has different bits when it is made again");
  if (!fold_case_index_find(&g->again.fixtures, j->c->name))
    fold_remade_free(&g->again.remade); /* the case is not from our index */
  return status;
}
