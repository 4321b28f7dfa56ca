/* golden/bless.c: makes results goldens: certifies them, shows them beside what was kept, and writes them if none is refused.
 *
 * Refused are: results that a claim of results refutes (judged as verify judges it); an error above the bound that holds for any order,
 * whatever the subject claims, unless nobody knows what its results are of; results that change when all is run again, in new processes;
 * bits of an order that differ from its replay by other arithmetic, and exact results that differ from MPFR's; a run that did something
 * else besides (left results unwritten, wrote elsewhere, changed its input, left its process changed); an input that cannot be made again
 * with the same bits. If anything is refused, nothing is written.
 *
 * Some results are left out: those that are not finite although the exact result is, if their order is not known and partial sums may
 * overflow. No bound refutes them, and nothing certifies them. If a finite result was kept for that case, they are refused.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "golden/run.h"
#include "oracles/order.h"

enum { MOST_LINES = 10 };

static void refuse(struct fold_golden_run *run, const struct fold_judgement *j, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void refuse(struct fold_golden_run *run, const struct fold_judgement *j, const char *format, ...) {
  va_list args;
  if (run->refused++ >= MOST_LINES) return;
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

static bool had_accident(const struct fold_judgement *j, const char **what) {
  const struct fold_traces *t = j->traces;
  *what = NULL;
  if (t && t->unwritten) *what = "a result was not written";
  if (t && t->out_of_bounds) *what = "it wrote or read beyond its memory";
  if (t && t->wrote_input) *what = "it changed its input";
  if (t && t->ranks_differ) *what = "its ranks differ";
  if (t && t->left[0]) *what = "it left its process changed";
  return *what != NULL;
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
  *finding = fold_finding_open(e->truths->c->rows);
  fold_judge_bounded(&of_any, finding);
  return finding->verdict != FOLD_REFUTED && finding->verdict != FOLD_BROKEN;
}

/* Finds a row that is NaN or infinite although its exact result is finite; false if there is none. */
static bool find_wild(struct fold_golden_run *run, const struct fold_golden_result *now, size_t *row,
                      fold_status *status) {
  const enum fold_dtype dtype = fold_subject_result(now->subject, now->c->dtype);
  for (*row = 0; *row < now->c->rows && !now->subject->unknown; ++*row) {
    const struct fold_truth *truth;
    if (fold_bits_class(dtype, fold_bits_load(dtype, now->results, *row)) < FOLD_INFINITE) continue;
    *status = fold_truths_row(&run->remade.truths, *row, &truth);
    if (status->code != FOLD_OK) return true;
    if (mpfr_number_p(truth->exact) && fold_bits_class(dtype, fold_mpfr_round(dtype, truth->exact)) < FOLD_INFINITE)
      return true;
  }
  return false;
}

/* Whether exact results are also those of the MPFR oracle, which shares nothing with the oracle that judged them. */
static fold_status is_mpfrs(struct fold_golden_run *run, const struct fold_golden_result *now, bool *is) {
  const struct fold_case *c = run->remade.c;
  const struct fold_shape shape = fold_case_shape(c);
  const void *const inputs[FOLD_INPUTS] = {run->remade.truths.input, run->remade.truths.other};
  const enum fold_dtype dtype = fold_subject_result(now->subject, c->dtype);
  *is = true;
  for (size_t row = 0; row < c->rows && *is; row++) {
    const struct fold_terms terms = fold_problem_terms(fold_case_problem(c), c->dtype, &shape, inputs, row);
    struct fold_truth truth;
    fold_truth_init(&truth);
    fold_status status = fold_oracle_mpfr_terms(&terms, &truth);
    const uint64_t want = dtype < FOLD_DTYPES ? truth.rounded[dtype] : 0;
    *is = fold_bits_same(dtype, want, fold_bits_load(dtype, now->results, row));
    fold_truth_free(&truth);
    FOLD_TRY(status);
  }
  return fold_ok();
}

/* Leaves out a result that is neither right nor wrong: its order is not known, and some orders overflow. */
static void leave_out(struct fold_golden_run *run, const struct fold_judgement *j, size_t row) {
  if (fold_golden_kept(run, j))
    refuse(run, j, "row %zu is not finite, and the exact result and what is kept are", row);
  else
    run->overflowed++;
}

/* *right says that nothing was found against the results. */
static fold_status certify(struct fold_golden_run *run, const struct fold_judgement *j,
                           const struct fold_golden_result *now, bool *right) {
  const struct fold_subject *s = j->subject;
  const char *accident;
  struct fold_finding any_order;
  struct judged judged = {0};
  size_t row;
  fold_status status = fold_ok();
  *right = false;
  if (had_accident(j, &accident)) {
    refuse(run, j, "%s", accident);
    return fold_ok();
  }
  FOLD_TRY(fold_golden_remake(run, j->c));
  if (run->remade.hash != j->input_hash) {
    refuse(run, j, "its input has different bits when it is made again");
    return fold_ok();
  }
  struct fold_subject as_host = *s; /* replayed by other arithmetic, whatever engine ran */
  if (s->order) as_host.engine = FOLD_HOST;
  const struct fold_evidence e = {
      .subject = &as_host, .truths = &run->remade.truths, .ranks = j->c->ranks, .results = now->results};
  fold_judge_evidence(&e, NULL, take_finding, &judged);
  const bool exact = s->method == FOLD_EXACT, portable = fold_golden_portable(s);
  const uint64_t needed = !portable ? 0 : exact ? FOLD_CLAIM(FOLD_CORRECTLY_ROUNDED) : FOLD_CLAIM(FOLD_REPLAYS);
  if (judged.claim)
    refuse(run, j, "%s is %s: %s", judged.claim->name, fold_verdict_name(judged.finding.verdict),
           judged.finding.reason);
  else if ((judged.held & needed) != needed && j->c->rows > 0)
    refuse(run, j, "no oracle can certify it");
  else if (!is_bounded(&e, &judged, &any_order))
    refuse(run, j, "no order has such an error: %s", any_order.reason);
  else if (!portable && find_wild(run, now, &row, &status))
    leave_out(run, j, row);
  else
    *right = true;
  if (*right && portable && exact) {
    FOLD_TRY(is_mpfrs(run, now, right));
    if (!*right) refuse(run, j, "MPFR gives a different result");
  }
  return status;
}

static fold_status add_tree(struct fold_golden_run *run, struct fold_golden_result *now) {
  const struct fold_case *c = run->remade.c;
  const struct fold_order *order = now->subject->order ? fold_order_find(now->subject->order) : NULL;
  if (!fold_golden_portable(now->subject) || !order || c->rows == 0 || now->subject->method == FOLD_EXACT)
    return fold_ok();
  now->line.has_tree = true;
  return fold_order_fingerprint(order, c->dtype, run->remade.input[0], c->cols, &now->line.tree);
}

/* Prints what happens to a golden. */
static void show(struct fold_golden_run *run, const struct fold_golden_result *now, struct fold_golden_sheet *sheet,
                 const struct fold_golden_line *kept) {
  const struct fold_golden_line *line = &now->line;
  size_t place;
  if (run->changed++ >= MOST_LINES) return;
  if (fold_golden_differ(kept, line, &place)) fold_golden_print(run, "CHANGES", now, sheet, kept);
  if (kept->input != line->input)
    printf("CHANGES: %s: its input's hash was %016llx, is %016llx\n", now->c->name, (unsigned long long)kept->input,
           (unsigned long long)line->input);
  if (kept->has_tree && kept->tree != line->tree)
    printf("CHANGES: %s: the order's tree of %zu terms is different\n", now->c->name, now->c->cols);
}

static fold_status keep(struct fold_golden_run *run, const struct fold_golden_result *now) {
  const struct fold_subject *s = now->subject;
  char of[160], where[320] = "", name[120];
  const struct fold_golden_by by = {name, fold_golden_object(run, s)};
  size_t place;
  fold_golden_of(s, of);
  fold_golden_name(s, name);
  if (!fold_golden_portable(s)) fold_golden_where(s, run->environment, run->options->library, where);
  struct fold_golden_sheet *sheet = fold_golden_sheet_add(&run->goldens, of, where);
  if (sheet == NULL) return fold_error(FOLD_NO_MEMORY, "not enough memory for the goldens");
  const struct fold_golden_line *kept = fold_golden_find(sheet, now->line.name);
  const bool same = kept && kept->input == now->line.input && kept->has_tree == now->line.has_tree &&
                    kept->tree == now->line.tree && !fold_golden_differ(kept, &now->line, &place);
  FOLD_TRY(fold_golden_put_name(sheet, &by));
  run->same += same;
  if (same && !sheet->changed) return fold_ok();
  if (kept && !same) show(run, now, sheet, kept);
  run->added += !kept;
  if (!same) FOLD_TRY(fold_golden_put(sheet, &now->line));
  if (strcmp(sheet->commit, run->commit) == 0) return fold_ok();
  free(sheet->commit);
  sheet->commit = strdup(run->commit);
  return sheet->commit ? fold_ok() : fold_error(FOLD_NO_MEMORY, "not enough memory for the goldens");
}

fold_status fold_golden_bless(struct fold_golden_run *run, const struct fold_judgement *j,
                              const struct fold_golden_result *run_now) {
  struct fold_golden_result now = *run_now;
  bool right;
  if (!(fold_claims_of(j->subject, j->c->op) & FOLD_CLAIM(FOLD_RUN_TO_RUN))) {
    run->unsteady++;
    return fold_ok();
  }
  if (strpbrk(j->c->name, " \n")) {
    refuse(run, j, "its name has a blank, which a line of a golden cannot hold");
    return fold_ok();
  }
  FOLD_TRY(certify(run, j, &now, &right));
  if (!right) return fold_ok();
  now.line.name = j->c->name;
  now.line.input = j->input_hash;
  FOLD_TRY(add_tree(run, &now));
  return keep(run, &now);
}

/* Compares the results of a second run with those of the first. */
static fold_status compare_again(struct fold_golden_run *run, const struct fold_judgement *j,
                                 const struct fold_golden_result *now) {
  const struct fold_golden_line *kept = fold_golden_kept(run, j);
  fold_status status = fold_ok();
  size_t place;
  if (kept == NULL) FOLD_TRY(fold_golden_remake(run, j->c));
  if (kept == NULL && !fold_golden_portable(now->subject) && find_wild(run, now, &place, &status)) return status;
  if (kept == NULL || kept->input != j->input_hash)
    refuse(run, j, "it varies from run to run: in a new process it has a different input, or the case is missing");
  else if (fold_golden_differ(kept, &now->line, &place))
    refuse(run, j, "it varies from run to run: different bits in a new process");
  return fold_ok();
}

fold_status fold_golden_again(struct fold_golden_run *run, const struct fold_judgement *j) {
  struct fold_golden_result now;
  const enum fold_verdict verdict = j->finding.verdict;
  if (!(fold_claims_of(j->subject, j->c->op) & FOLD_CLAIM(FOLD_RUN_TO_RUN))) return fold_ok();
  if (verdict == FOLD_REFUTED || verdict == FOLD_BROKEN) {
    refuse(run, j, "it varies from run to run: %s", j->finding.reason);
    return fold_ok();
  }
  if (j->claim || j->got == NULL) return fold_ok();
  FOLD_TRY(fold_golden_result_of(j, &now));
  const fold_status status = compare_again(run, j, &now);
  free(now.results);
  return status;
}

/* Removes from the goldens the names of what no longer exists. */
static void drop_gone(struct fold_golden_run *run, struct fold_golden_sheet *sheet) {
  if (!fold_golden_selects(run, sheet)) return;
  for (size_t k = sheet->n; k-- > 0;) {
    const char *name = sheet->line[k].name;
    const struct fold_case *c = fold_case_index_find(&run->index, name);
    const bool untaken = c && fold_case_matches(c, run->selection->fixtures) && fold_golden_is_untaken(run, sheet, c);
    if ((c || strncmp(name, "npy:", 4) == 0) && !untaken) continue;
    printf("DROPS: %s: %s: %s\n", name,
           untaken ? "no subject that gave it takes it any more" : "there is no such case any more", sheet->path);
    fold_golden_drop(sheet, &sheet->line[k]);
  }
  for (size_t k = sheet->n_by; k-- > 0;)
    if (fold_golden_is_gone(run, sheet, sheet->by[k].name, false)) {
      printf("DROPS: %s, which no longer gives this: %s\n", sheet->by[k].name, sheet->path);
      fold_golden_drop_name(sheet, k);
    }
}

fold_status fold_golden_bless_end(struct fold_golden_run *run) {
  if (run->changed > MOST_LINES) printf("%d of %zu changes shown\n", MOST_LINES, run->changed);
  if (run->refused > MOST_LINES) printf("%d of %zu refusals shown\n", MOST_LINES, run->refused);
  for (size_t i = 0; i < run->goldens.n && run->refused == 0; i++) drop_gone(run, &run->goldens.sheet[i]);
  if (run->refused == 0) fold_golden_list_tell(&run->goldens);
  printf("goldens in %s: %zu %s, %zu changed, %zu as they were, %zu refused; code of commit %s\n", run->options->folder,
         run->added, run->refused ? "new" : "added", run->changed, run->same, run->refused, run->commit);
  if (run->unsteady) printf("%zu results are not kept: their subjects do not claim run_to_run\n", run->unsteady);
  if (run->overflowed)
    printf("%zu left out: partial sums overflowed where the exact result is finite, and no order is declared\n",
           run->overflowed);
  if (run->refused)
    printf("nothing is written: %zu result%s refused\n", run->refused, run->refused == 1 ? " was" : "s were");
  return run->refused ? fold_ok() : fold_goldens_write(&run->goldens);
}
