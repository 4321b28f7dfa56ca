/* golden/check.c: the checks that need no engine: whether everything that goldens name exists, and whether inputs, trees, replays and
 * exact results are still as they were kept. */
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "golden/run.h"
#include "oracles/order.h"

enum { MOST_LINES = 10 };

/* Prints a message, but only the first few of each kind. */
#define TELL(count, ...)                             \
  do {                                               \
    if ((count)++ < MOST_LINES) printf(__VA_ARGS__); \
  } while (0)

/* Whether the registry has subjects of that engine, or guests. If not (another build, another command line), it cannot
 * say that a name is gone. */
static bool is_judge_of(const struct fold_golden_run *run, const struct fold_subject *subject) {
  for (size_t i = 0; i < run->registry->n; i++) {
    const struct fold_subject *s = &run->registry->subjects[i];
    if (s->engine == subject->engine && (s->guest != NULL) == (subject->guest != NULL)) return true;
  }
  return false;
}

bool fold_golden_is_gone(struct fold_golden_run *run, const struct fold_golden_sheet *sheet, const char *name,
                         bool tell) {
  char text[200], of[160];
  struct fold_subject subject;
  snprintf(text, sizeof text, "%s", name);
  if (!fold_golden_name_read(text, &subject) || !fold_selects_subject(run->selection, &subject)) return false;
  if (!is_judge_of(run, &subject)) return false;
  const struct fold_subject *s = fold_registry_find(run->registry, subject.name, subject.engine);
  if (s) {
    fold_golden_of(s, of);
    if (strcmp(of, sheet->of) == 0) return false;
    if (tell) TELL(run->gone, "GONE: %s is '%s' now, not '%s': %s\n", name, of, sheet->of, sheet->path);
    return true;
  }
  if (tell) TELL(run->gone, "GONE: there is no subject %s: %s\n", name, sheet->path);
  return true;
}

/* A record's subject does not say what it takes. */
static bool takes(const struct fold_subject *s, const struct fold_case *c) {
  if (s->dtypes == 0) return true;
  return s->dtypes >> c->dtype & 1 && s->ops >> fold_case_problem(c)->id & 1 &&
         (c->ranks > 0) == fold_engine_has_ranks(s->engine);
}

bool fold_golden_is_untaken(const struct fold_golden_run *run, const struct fold_golden_sheet *sheet,
                            const struct fold_case *c) {
  size_t here = 0;
  for (size_t i = 0; i < sheet->n_by; i++) {
    char text[200];
    struct fold_subject subject;
    snprintf(text, sizeof text, "%s", sheet->by[i].name);
    if (!fold_golden_name_read(text, &subject)) continue;
    const struct fold_subject *s = fold_registry_find(run->registry, subject.name, subject.engine);
    if (s ? takes(s, c) : !is_judge_of(run, &subject)) return false;
    here += s != NULL;
  }
  return here > 0;
}

/* Reports, as neither pass nor failure, that results were kept from another build of that guest. */
static void tell_object(struct fold_golden_run *run, const struct fold_golden_sheet *sheet,
                        const struct fold_golden_by *by) {
  char text[200];
  struct fold_subject subject;
  snprintf(text, sizeof text, "%s", by->name);
  if (!by->object || !fold_golden_name_read(text, &subject) || !fold_selects_subject(run->selection, &subject)) return;
  const struct fold_subject *s = fold_registry_find(run->registry, subject.name, subject.engine);
  const uint64_t object = s ? fold_golden_object(run, s) : 0;
  if (object && object != by->object)
    TELL(run->other_object, "OTHER OBJECT: %s: it has hash 0x%016llx; 0x%016llx, of commit %s, gave what is kept: %s\n",
         by->name, (unsigned long long)object, (unsigned long long)by->object, sheet->commit, sheet->path);
}

/* Checks results that need no engine. */
static fold_status check_results(struct fold_golden_run *run, const struct fold_golden_sheet *sheet,
                                 const struct fold_golden_line *kept, const struct fold_subject *how) {
  const struct fold_case *c = run->remade.c;
  const struct fold_evidence e = {.subject = how, .truths = &run->remade.truths, .ranks = c->ranks};
  const enum fold_dtype dtype = fold_evidence_result_dtype(&e);
  const void *replayed = NULL;
  size_t place;
  uint64_t *results = calloc(c->rows + 1, sizeof *results);
  fold_status status = results ? fold_ok() : fold_error(FOLD_NO_MEMORY, "not enough memory for the goldens");
  if (status.code == FOLD_OK && how->order) {
    status = fold_evidence_replay(&e, &replayed);
    if (status.code == FOLD_OK) memcpy(results, replayed, c->rows * fold_dtype_size(dtype));
  }
  for (size_t row = 0; row < c->rows && status.code == FOLD_OK && !how->order; row++) {
    const struct fold_truth *truth;
    status = fold_truths_row(&run->remade.truths, row, &truth);
    if (status.code == FOLD_OK) fold_bits_store(dtype, results, row, truth->rounded[dtype]);
  }
  if (status.code == FOLD_OK) {
    fold_results_unify(dtype, results, c->rows);
    struct fold_golden_result now = {.subject = how, .c = c, .results = results};
    fold_golden_keep(&now.line, dtype, results, c->rows);
    if (!fold_golden_differ(kept, &now.line, &place))
      run->held++, run->replayed++;
    else if (run->differ++ < MOST_LINES)
      fold_golden_print(run, "ORACLE DIFFERS", &now, sheet, kept);
  }
  free(results);
  return fold_within(status, "%.100s", c->name);
}

/* Checks that the tree of the order for so many terms is the one that was kept. Idle terms have the same results in
 * another tree. */
static fold_status check_tree(struct fold_golden_run *run, const struct fold_golden_sheet *sheet,
                              const struct fold_golden_line *kept, const struct fold_order *order) {
  const struct fold_case *c = run->remade.c;
  uint64_t tree = 0;
  if (!kept->has_tree) return fold_ok();
  FOLD_TRY(fold_order_fingerprint(order, c->dtype, run->remade.input[0], c->cols, &tree));
  if (tree == kept->tree) return fold_ok();
  if (run->other_order++ < MOST_LINES) {
    printf("DIFFERENT ORDER: %s: its tree of %zu terms is not the one that was kept: ", order->name, c->cols);
    for (size_t i = 0; i < sheet->n_by; i++) printf("%s%s", i ? ", " : "", sheet->by[i].name);
    printf("\n  golden: %s:%zu, of commit %s\n", sheet->path, kept->number, sheet->commit);
  }
  return fold_ok();
}

static void tell_input(struct fold_golden_run *run, const struct fold_golden_sheet *sheet,
                       const struct fold_golden_line *kept) {
  const struct fold_case *c = run->remade.c;
  char seed[40];
  snprintf(seed, sizeof seed, ", seed %llu,", (unsigned long long)c->source.seed);
  TELL(run->other_input, "DIFFERENT INPUT: %s: %s%s%s makes different terms: hash 0x%016llx, not 0x%016llx: %s:%zu\n",
       c->name, c->source.generator ? "generator " : "",
       c->source.generator ? c->source.generator->name : "its fixture", c->source.generator ? seed : "",
       (unsigned long long)run->remade.hash, (unsigned long long)kept->input, sheet->path, kept->number);
}

/* Checks one case on all sheets that have it. */
static fold_status check_case(struct fold_golden_run *run, const struct fold_case *c) {
  bool told = false;
  for (size_t i = 0; i < run->goldens.n; i++) {
    const struct fold_golden_sheet *sheet = &run->goldens.sheet[i];
    const struct fold_golden_line *kept = fold_golden_find(sheet, c->name);
    struct fold_subject how;
    bool portable;
    char of[200];
    if (kept == NULL || !fold_golden_selects(run, sheet)) continue;
    snprintf(of, sizeof of, "%s", sheet->of);
    FOLD_TRY(fold_golden_how(of, &how, &portable));
    FOLD_TRY(fold_remake_other(&run->remade, c));
    if (kept->input != run->remade.hash) {
      if (!told) tell_input(run, sheet, kept);
      told = true;
      continue;
    }
    const struct fold_order *order = how.order ? fold_order_find(how.order) : NULL;
    if (!portable || (how.order && order == NULL)) continue;
    if (order) FOLD_TRY(check_tree(run, sheet, kept, order));
    FOLD_TRY(check_results(run, sheet, kept, &how));
  }
  return fold_ok();
}

/* Whether the sheet is for another environment. `here` is the environment for which this machine would keep it, as ";
 * here ..."; "" if no subject here gives its results. */
static bool is_stale(const struct fold_golden_run *run, const struct fold_golden_sheet *sheet, char here[360]) {
  here[0] = '\0';
  if (!*sheet->where) return false;
  for (size_t i = 0; i < run->registry->n; i++) {
    char of[160], where[320];
    fold_golden_of(&run->registry->subjects[i], of);
    if (strcmp(of, sheet->of) != 0) continue;
    fold_golden_where(&run->registry->subjects[i], run->environment, run->options->library, where);
    const bool unsaid = run->registry->subjects[i].guest && !run->options->library;
    snprintf(here, 360, "; here %s%s", where, unsaid ? ", no --library" : "");
    return strcmp(where, sheet->where) != 0;
  }
  return true;
}

static void check_sheet(struct fold_golden_run *run, const struct fold_golden_sheet *sheet) {
  struct fold_subject how;
  bool portable;
  char of[200], here[360];
  size_t selected = 0;
  if (!fold_golden_selects(run, sheet)) return;
  for (size_t i = 0; i < sheet->n_by; i++)
    if (!fold_golden_is_gone(run, sheet, sheet->by[i].name, true)) tell_object(run, sheet, &sheet->by[i]);
  for (size_t k = 0; k < sheet->n; k++) {
    const char *name = sheet->line[k].name;
    const struct fold_case *c = fold_case_index_find(&run->index, name);
    if (c == NULL && strncmp(name, "npy:", 4) != 0)
      TELL(run->gone, "GONE: there is no case %s: %s:%zu\n", name, sheet->path, sheet->line[k].number);
    const bool matches = !c || fold_case_matches(c, run->selection->fixtures);
    if (c && matches && fold_golden_is_untaken(run, sheet, c))
      TELL(run->gone, "GONE: no subject that gave it takes %s any more: %s:%zu\n", name, sheet->path,
           sheet->line[k].number);
    selected += matches;
  }
  snprintf(of, sizeof of, "%s", sheet->of);
  if (fold_golden_how(of, &how, &portable).code == FOLD_OK && how.order && !fold_order_find(how.order))
    TELL(run->gone, "GONE: there is no order %s: %s\n", how.order, sheet->path);
  if (!is_stale(run, sheet, here)) return;
  printf("STALE: %zu of %s: kept for %s%s\n", selected, sheet->of, sheet->where, here);
  run->stale += selected;
}

fold_status fold_golden_check(struct fold_golden_run *run) {
  for (size_t i = 0; i < run->goldens.n; i++) check_sheet(run, &run->goldens.sheet[i]);
  for (size_t i = 0; i < run->index.cases.n; i++)
    if (fold_case_matches(&run->index.cases.at[i], run->selection->fixtures))
      FOLD_TRY(check_case(run, &run->index.cases.at[i]));
  return fold_ok();
}
