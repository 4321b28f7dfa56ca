/* golden.c: reads a file of goldens, finds which of them a run must give again, and compares. */
#include "golden/golden.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/list.h"
#include "base/path.h"
#include "base/text.h"
#include "compare/compare.h"
#include "compare/recorded.h"
#include "records/record.h"

enum { MOST_LINES = 10 };

/* --- lists of records */

static int by_name(const void *a, const void *b) {
  static const char *const keys[] = {"subject", "engine", "kept_for", "case"};
  const struct fold_golden_entry *l = a, *r = b;
  int d = 0;
  for (size_t i = 0; i < sizeof keys / sizeof *keys && d == 0; i++)
    d = strcmp(fold_record_text(l->record, keys[i]), fold_record_text(r->record, keys[i]));
  return d;
}

fold_status fold_golden_add(struct fold_golden_list *list, json_t *record) {
  struct fold_golden_entry *added = record ? fold_list_grow(&list->at, &list->n, &list->room, sizeof *added) : NULL;
  if (added == NULL) {
    json_decref(record);
    return fold_no_memory("for the goldens");
  }
  added->record = record;
  list->sorted = false;
  return fold_ok();
}

struct fold_golden_entry *fold_golden_find(struct fold_golden_list *list, const json_t *record) {
  const struct fold_golden_entry key = {.record = (json_t *)(uintptr_t)record};
  if (list->n == 0) return NULL;
  if (!list->sorted) qsort(list->at, list->n, sizeof *list->at, by_name);
  list->sorted = true;
  return bsearch(&key, list->at, list->n, sizeof *list->at, by_name);
}

void fold_golden_free_list(struct fold_golden_list *list) {
  for (size_t i = 0; i < list->n; i++) json_decref(list->at[i].record);
  free(list->at);
  *list = (struct fold_golden_list){0};
}

/* --- the file */

struct reading {
  struct fold_golden_list *list;
  bool closed; /* its first line announces a closing line */
};

static fold_status note(void *context, json_t *record, size_t line) {
  struct reading *r = context;
  if (line == 1) r->closed = json_is_true(json_object_get(record, "closing_line"));
  if (line == 1 && r->closed) return fold_ok();
  if (!r->closed || !fold_recorded_is_run(record) || !*fold_record_text(record, "results_xxh3"))
    return fold_error(FOLD_BAD_INPUT, "no golden: see record --bless");
  return fold_golden_add(r->list, json_incref(record));
}

fold_status fold_golden_read(struct fold_golden *g) {
  const char *path = g->options->path;
  struct reading reading = {.list = &g->kept};
  struct fold_lines lines;
  fold_golden_free_list(&g->kept);
  if (g->options->bless && access(path, F_OK) != 0) return fold_ok();
  if (access(path, F_OK) != 0)
    return fold_error(FOLD_BAD_INPUT, "%.150s: no golden is there: see record --bless", fold_path_tail(path));
  FOLD_TRY(fold_lines_read(path, note, &reading, &lines));
  const char *wrong = lines.altered[0] ? lines.altered : lines.incomplete;
  if (!*wrong) return fold_ok();
  return fold_error(FOLD_BAD_INPUT,
                    "%.150s: %s: take the file back from your repository, or remove it and --bless again",
                    fold_path_tail(path), wrong);
}

fold_status fold_golden_open(struct fold_golden *g, const struct fold_golden_options *options,
                             const struct fold_registry *registry, const struct fold_selection *selection) {
  *g = (struct fold_golden){.options = options, .registry = registry, .selection = selection, .subject = SIZE_MAX};
  if (options->bless) FOLD_TRY(fold_golden_check_process());
  FOLD_TRY(fold_golden_read(g));
  return fold_again_open(&g->again, registry, selection->folder);
}

void fold_golden_close(struct fold_golden *g) {
  fold_again_close(&g->again);
  fold_golden_free_list(&g->kept);
  fold_golden_free_list(&g->now);
  json_decref(g->environment);
  json_decref(g->noted);
  *g = (struct fold_golden){0};
}

fold_status fold_golden_begin(struct fold_golden *g, const char *environment) {
  json_decref(g->environment);
  g->environment = json_loads(environment, 0, NULL);
  return g->environment ? fold_ok() : fold_no_memory("for the goldens");
}

/* --- what a run must give again */

/* The record's subject by name. */
static bool is_selected(const struct fold_golden *g, const json_t *record, struct fold_subject *s) {
  static const struct fold_guest_row guest;
  const int engine = fold_engine_parse(fold_record_text(record, "engine"));
  *s = (struct fold_subject){.name = fold_record_text(record, "subject"),
                             .engine = (enum fold_engine)engine,
                             .guest = json_is_true(json_object_get(record, "guest")) ? &guest : NULL};
  return engine >= 0 && fold_selects_subject(g->selection, s);
}

/* Whether the registry has subjects of that engine, or guests. If not (another build, another command line), it cannot
 * say that a subject is gone. */
static bool is_judge_of(const struct fold_registry *registry, const struct fold_subject *subject) {
  for (size_t i = 0; i < registry->n; i++) {
    const struct fold_subject *s = &registry->subjects[i];
    if (s->engine == subject->engine && (s->guest != NULL) == (subject->guest != NULL)) return true;
  }
  return false;
}

/* The names of the selected cases, to look up each kept one. */
static fold_status find_selected(const struct fold_golden *g, json_t **names) {
  struct fold_cases cases = {0};
  fold_status status = fold_select_cases(g->selection, 0, &cases);
  *names = json_object();
  for (size_t i = 0; i < cases.n && status.code == FOLD_OK; i++)
    if (json_object_set_new(*names, cases.at[i].name, json_null()) != 0) status = fold_no_memory("for the goldens");
  fold_cases_free(&cases);
  return status;
}

static enum fold_golden_state recorded_state_of(const struct fold_golden *g, const json_t *kept, bool unknown) {
  const enum fold_golden_state noted = fold_golden_noted(g, kept);
  if (noted != FOLD_GOLDEN_OTHER) return noted;
  return unknown ? FOLD_GOLDEN_MISSING : FOLD_GOLDEN_UNRECORDED;
}

static enum fold_golden_state state_of(struct fold_golden *g, const json_t *record, const json_t *selected) {
  struct fold_subject s;
  char where[320];
  const char *name = fold_record_text(record, "case");
  if (!is_selected(g, record, &s)) return FOLD_GOLDEN_OTHER;
  const bool unknown = fold_case_index_find(&g->again.fixtures, name) == NULL && strncmp(name, "npy:", 4) != 0;
  if (!g->recorded && !unknown && !json_object_get(selected, name)) return FOLD_GOLDEN_OTHER;
  const struct fold_subject *here = fold_registry_find(g->registry, s.name, s.engine);
  if (here == NULL && g->recorded) return FOLD_GOLDEN_OTHER;
  if (here == NULL && !is_judge_of(g->registry, &s)) return FOLD_GOLDEN_ABSENT;
  const char *kept_for = fold_record_text(record, "kept_for");
  if (here && *kept_for) fold_golden_where(g, here, where);
  if (here && *kept_for && strcmp(where, kept_for) != 0) return FOLD_GOLDEN_STALE;
  if (g->recorded) return recorded_state_of(g, record, unknown);
  const struct fold_golden_entry *ran = fold_golden_find(&g->now, record);
  return ran && !*fold_record_text(ran->record, "results_xxh3") ? FOLD_GOLDEN_ABSENT : FOLD_GOLDEN_DUE;
}

fold_status fold_golden_sort_out(struct fold_golden *g) {
  json_t *selected = NULL;
  fold_status status = g->recorded ? fold_ok() : find_selected(g, &selected);
  memset(g->count, 0, sizeof g->count);
  for (size_t i = 0; i < g->kept.n && status.code == FOLD_OK; i++) {
    struct fold_golden_entry *kept = &g->kept.at[i];
    kept->state = state_of(g, kept->record, selected);
    g->count[kept->state]++;
  }
  json_decref(selected);
  return status;
}

char *fold_golden_names(const struct fold_golden *g, const char *key) {
  json_t *names = json_object(), *none;
  const char *name;
  char *text = NULL;
  size_t size;
  struct fold_subject s;
  for (size_t i = 0; i < g->kept.n; i++) {
    const json_t *record = g->kept.at[i].record;
    if (is_selected(g, record, &s) && fold_case_index_find(&g->again.fixtures, fold_record_text(record, "case")))
      json_object_set_new(names, fold_record_text(record, key), json_null());
  }
  FILE *file = open_memstream(&text, &size);
  json_object_foreach(names, name, none) {
    if (file) fprintf(file, "%s%s", ftell(file) ? "," : "", name);
  }
  json_decref(names);
  return file && fclose(file) == 0 ? text : NULL;
}

/* --- taking runs */

json_t *fold_golden_record(const struct fold_golden *g, const struct fold_judgement *j) {
  struct fold_judgement run = {
      .subject = j->subject, .c = j->c, .input_hash = j->input_hash, .got = j->got, .full = true};
  char where[320];
  run.finding = j->got ? fold_finding_open(fold_case_results(j->c)) : j->finding;
  if (j->got) run.finding.reason[0] = '\0';
  json_t *record = fold_record_of(&run);
  fold_golden_where(g, j->subject, where);
  if (record && *where) json_object_set_new(record, "kept_for", json_string(where));
  return record;
}

bool fold_golden_is_excused(const struct fold_subject *subject, bool broken, const char *reason) {
  return broken || fold_is_left_out(reason) || !subject->guest || !fold_engine_is_here(subject->engine);
}

static bool is_excused(const struct fold_judgement *j) {
  return fold_golden_is_excused(j->subject, j->finding.verdict == FOLD_BROKEN, j->finding.reason);
}

fold_status fold_golden_take(struct fold_golden *g, const struct fold_judgement *j) {
  bool right = true;
  if (j->got == NULL && j->finding.verdict != FOLD_SKIPPED && j->finding.verdict != FOLD_BROKEN) return fold_ok();
  if (g->subject == j->subject_index && g->last == j->c->name) return fold_ok();
  g->subject = j->subject_index;
  g->last = j->c->name;
  if (j->got == NULL) return is_excused(j) ? fold_golden_add(&g->now, fold_golden_record(g, j)) : fold_ok();
  if (!g->options->bless) return fold_ok();
  if (!(fold_claims_of(j->subject, j->c->problem->op) & FOLD_CLAIM(FOLD_RUN_TO_RUN))) {
    g->unsteady++;
    return fold_ok();
  }
  FOLD_TRY(fold_golden_certify(g, j, &right));
  return right ? fold_golden_add(&g->now, fold_golden_record(g, j)) : fold_ok();
}

/* --- comparing */

static bool is_due(void *context, const json_t *record) {
  struct fold_golden *g = context;
  const struct fold_golden_entry *kept = fold_golden_find(&g->kept, record);
  return kept && (kept->state == FOLD_GOLDEN_DUE || kept->state == FOLD_GOLDEN_MISSING);
}

/* Prints once for each subject and environment how many goldens are for that environment. */
static void print_stale(const struct fold_golden *g) {
  struct fold_subject s;
  char here[320];
  for (size_t i = 0, n = 0; i < g->kept.n; i++) {
    const struct fold_golden_entry *kept = &g->kept.at[i], *next = i + 1 < g->kept.n ? kept + 1 : NULL;
    n += kept->state == FOLD_GOLDEN_STALE;
    if (next && strcmp(fold_record_text(kept->record, "subject"), fold_record_text(next->record, "subject")) == 0 &&
        strcmp(fold_record_text(kept->record, "kept_for"), fold_record_text(next->record, "kept_for")) == 0)
      continue;
    if (n && is_selected(g, kept->record, &s)) {
      fold_golden_where(g, fold_registry_find(g->registry, s.name, s.engine), here);
      fold_print_line("STALE: %zu of %s on %s: kept for %s; here %s%s", n, s.name, fold_engine_name(s.engine),
                      fold_record_text(kept->record, "kept_for"), here,
                      s.guest && !g->options->library ? ", no --library" : "");
    }
    n = 0;
  }
}

static fold_status check(struct fold_golden *g, const char *records) {
  const char *name = g->recorded || strncmp(records, "/proc/", 6) == 0 ? "this run" : records;
  struct fold_comparison two = {
      .side = {{.path = g->options->path, .name = g->options->path, .takes = is_due, .context = g},
               {.path = records, .name = name}},
      .ignore = {[FOLD_ONLY_SECOND] = true}};
  json_t *told = NULL;
  FOLD_TRY(fold_golden_sort_out(g));
  fold_status status = fold_compare(&two);
  if (status.code == FOLD_OK) status = fold_compare_explain(&two, &g->again, MOST_LINES, &told);
  if (status.code == FOLD_OK) fold_compare_text(told, stdout);
  json_decref(told);
  g->held = two.agree;
  g->differ = two.n[FOLD_CHANGED_RESULTS] + two.n[FOLD_CHANGED_INPUT] + two.n[FOLD_ONLY_FIRST];
  fold_comparison_free(&two);
  if (status.code == FOLD_OK) print_stale(g);
  return status;
}

fold_status fold_golden_end(struct fold_golden *g, const char *records) {
  char text[160];
  FOLD_TRY(g->options->bless ? fold_golden_bless(g) : check(g, records));
  fold_golden_beside(g, text);
  if (!g->recorded) printf("%s\n", text + 2);
  return fold_ok();
}

void fold_golden_beside(const struct fold_golden *g, char text[160]) {
  const size_t unrecorded = g->count[FOLD_GOLDEN_UNRECORDED];
  text[0] = '\0';
  if (g->options && g->options->bless)
    snprintf(text, 160, "; goldens: %zu added, %zu changed, %zu as they were, %zu removed, %zu refused", g->added,
             g->changed, g->same, g->removed, g->refused);
  else if (g->options)
    snprintf(text, 160, "; goldens: %zu held, %zu differ or are missing, %zu stale, %zu not run here", g->held,
             g->differ, g->count[FOLD_GOLDEN_STALE], g->count[FOLD_GOLDEN_ABSENT]);
  const size_t n = strlen(text);
  if (g->options && !g->options->bless && unrecorded)
    snprintf(text + n, 160 - n, ", %zu not in the records", unrecorded);
}

int fold_golden_exit_code(const struct fold_golden *g) {
  if (g->refused || g->differ) return 1;
  if (g->options->bless) return g->added + g->changed + g->same ? 0 : 2;
  return g->held ? 0 : g->count[FOLD_GOLDEN_STALE] + g->count[FOLD_GOLDEN_ABSENT] ? 77 : 2;
}
