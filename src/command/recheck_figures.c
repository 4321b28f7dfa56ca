/* command/recheck_figures.c: compares the figures beside a recorded verdict with those of the new judgement.
 *
 * All figures of results that were judged again are known. A judge of runs measures nothing when a claim holds, and whether the input was
 * telling follows from the input. For what it refuted, the row and bits in the record have to be believed. A reason is text for people,
 * which may change; the figures in it are compared.
 */
#include <math.h>
#include <stdlib.h>

#include "base/list.h"
#include "command/recheck.h"
#include "compare/recorded.h"
#include "records/read.h"

fold_status fold_judge_keep_figures(struct fold_judge *j, const struct fold_claim *claim,
                                    const struct fold_finding *f) {
  struct fold_figures *kept = fold_list_grow(&j->figures, &j->n_figures, &j->figures_room, sizeof *kept);
  if (kept == NULL) return fold_no_memory("for what was measured");
  *kept = (struct fold_figures){claim,  f->verdict, f->compared, f->sampled,  f->comparisons, f->unjudged, f->row,
                                f->got, f->want,    f->ulps,     f->backward, f->fraction};
  if (j->last->figures++ == 0) j->last->first_figures = j->n_figures - 1;
  return fold_ok();
}

const struct fold_figures *fold_judge_figures(const struct fold_judge *j, const struct fold_claim *claim) {
  for (size_t i = 0; j->last && i < j->last->figures; i++)
    if (j->figures[j->last->first_figures + i].claim == claim) return &j->figures[j->last->first_figures + i];
  return NULL;
}

static bool is_same(const json_t *a, const json_t *b) {
  if (json_is_number(a) && json_is_number(b)) return json_number_value(a) == json_number_value(b);
  return a == b || json_equal(a, b);
}

static void put(char text[40], const json_t *value) {
  char *dumped = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
  snprintf(text, 40, "%.39s", dumped ? dumped : "nothing");
  free(dumped);
}

static void compare(struct fold_judge *j, const json_t *record, size_t line, const char *key, const json_t *own) {
  char said[40], is[40];
  const json_t *value = json_object_get(record, key);
  if (is_same(value, own)) return;
  put(said, value);
  put(is, own);
  fold_judge_say(&j->contradictions, j, line, record, "CONTRADICTS",
                 "%s of %s: it says %s; its results and input give %s", key, fold_record_text(record, "claim"), said,
                 is);
}

/* The finding that these figures were taken from, without its words; one that measured nothing if there are none. */
static struct fold_finding finding_of(const struct fold_figures *f) {
  if (!f) return (struct fold_finding){.ulps = NAN, .backward = NAN, .fraction = NAN};
  return (struct fold_finding){.compared = f->compared,
                               .sampled = f->sampled,
                               .comparisons = f->comparisons,
                               .unjudged = f->unjudged,
                               .row = f->row,
                               .got = f->got,
                               .want = f->want,
                               .ulps = f->ulps,
                               .backward = f->backward,
                               .fraction = f->fraction};
}

void fold_judge_check_figures(struct fold_judge *j, const json_t *record, size_t line) {
  static const char *const places[] = {"row", "got", "want"}, *const measures[] = {
      "ulps", "bound_fraction", "results_judged", "rows_judged", "rows_without_bound"};
  const struct fold_claim *claim = fold_recorded_claim(record);
  const int verdict = fold_verdict_parse(fold_record_text(record, "verdict")), dtype = fold_record_result_dtype(record);
  if (!claim || !j->last || dtype < 0 || fold_again_is_old(record)) return;
  const struct fold_figures *f = fold_judge_figures(j, claim);
  if (f && verdict != (int)f->verdict) return; /* another verdict is reported elsewhere */
  struct fold_finding own = finding_of(f);
  const bool held = verdict == FOLD_HELD;
  if (held && claim->by_order) own.telling = j->last->telling;
  json_t *figures = json_object();
  fold_record_figures(figures, &own, (enum fold_dtype)dtype);
  if (!held || !claim->by_order || own.telling != FOLD_TELLING_UNKNOWN)
    compare(j, record, line, "telling", json_object_get(figures, "telling"));
  for (size_t i = 0; i < sizeof measures / sizeof *measures && (f || !claim->results); i++)
    compare(j, record, line, measures[i], json_object_get(figures, measures[i]));
  /* Records that were made before this field lack it. */
  if (json_object_get(record, "backward_error") && (f || !claim->results))
    compare(j, record, line, "backward_error", json_object_get(figures, "backward_error"));
  for (size_t i = 0; i < sizeof places / sizeof *places && (f || (held && !claim->results)); i++)
    compare(j, record, line, places[i], json_object_get(figures, places[i]));
  json_decref(figures);
}
