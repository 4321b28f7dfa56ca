/* compare/explain.c: reads the records that differ once more, and describes them as JSON. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "compare/compare.h"
#include "compare/recorded.h"
#include "report/text.h"

const char *const fold_change_names[FOLD_CHANGES] = {"only_in_first", "only_in_second", "other_input", "other_results",
                                                     "other_verdict"};

/* Both records of each change that is described, and its description. */
struct explained {
  const struct fold_changed *changed;
  json_t *record[2];
};

struct explaining {
  const struct fold_comparison *c;
  struct explained *at;
  size_t n;
  int side;
  size_t *order; /* sorted by the line numbers of the side that is being read */
  size_t next;
};

/* If more records differ, only the first so many are described and counted by what they are. */
enum { MOST_COUNTED = 20000 };

/* --- reading */

static bool wants(void *context, size_t number) {
  const struct explaining *e = context;
  return e->next < e->n && e->at[e->order[e->next]].changed->number[e->side] == number;
}

static fold_status take(void *context, json_t *record, size_t line) {
  struct explaining *e = context;
  const uint32_t number = e->at[e->order[e->next]].changed->number[e->side];
  (void)line;
  for (; e->next < e->n && e->at[e->order[e->next]].changed->number[e->side] == number; e->next++)
    e->at[e->order[e->next]].record[e->side] = json_incref(record);
  return fold_ok();
}

struct numbered {
  size_t index;
  uint32_t number;
};

static int by_number(const void *a, const void *b) {
  const struct numbered *l = a, *r = b;
  return (l->number > r->number) - (l->number < r->number);
}

static fold_status read_side(struct explaining *e, int side) {
  struct numbered *sorted = calloc(e->n + 1, sizeof *sorted);
  size_t n = 0;
  if (sorted == NULL) return fold_no_memory("for what differs");
  for (size_t i = 0; i < e->n; i++)
    if (e->at[i].changed->line[side]) sorted[n++] = (struct numbered){i, e->at[i].changed->number[side]};
  if (n) qsort(sorted, n, sizeof *sorted, by_number);
  for (size_t i = 0; i < n; i++) e->order[i] = sorted[i].index;
  free(sorted);
  const size_t all = e->n;
  e->side = side;
  e->next = 0;
  e->n = n;
  fold_status status = n ? fold_lines_pick(e->c->side[side].path, wants, take, e) : fold_ok();
  e->n = all;
  return status;
}

/* --- telling */

static void put(json_t *object, const char *key, json_t *value) { json_object_set_new(object, key, value); }

/* The name of a file may not be UTF-8, which JSON requires. */
static json_t *tell_name(const char *name) {
  char *text = fold_text_is_one_line(name) ? NULL : fold_text_escape(name);
  json_t *told = json_string(text ? text : name);
  free(text);
  return told;
}

static void copy(json_t *to, const json_t *from, const char *key) {
  json_t *value = json_object_get(from, key);
  if (value) json_object_set(to, key, value);
}

/* Reads what a record says about what the run did besides computing. */
static void read_traces(const json_t *record, char *text, size_t size) {
  static const char *const others[][2] = {
      {"out_of_bounds", "out of bounds"}, {"wrote_input", "wrote to its input"}, {"left", "left its process changed"}};
  const json_t *unwritten = json_object_get(record, "unwritten"), *split = json_object_get(record, "ranks_differ");
  int n = 0;
  text[0] = '\0';
  if (split)
    n = snprintf(text, size, " (rank %lld differs from rank 0 in row %lld)",
                 (long long)json_integer_value(json_object_get(split, "rank")),
                 (long long)json_integer_value(json_object_get(split, "row")));
  if (unwritten)
    n += snprintf(text + n, size - (size_t)n, " (row %lld not written)",
                  (long long)json_integer_value(json_object_get(unwritten, "row")));
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (json_object_get(record, others[i][0])) n += snprintf(text + n, size - (size_t)n, " (%s)", others[i][1]);
}

/* Reads the case and the declaration; used if the inputs have the same hash. */
static void read_told(const json_t *record, char *text, size_t size) {
  const char *order = fold_record_text(record, "order"), *method = fold_record_text(record, "method"),
             *accumulator = fold_record_text(record, "accumulator"), *factor = fold_record_text(record, "factor_dtype");
  snprintf(text, size, "%.20s %.20s %lld x %lld%s%.60s%s%.20s%s%.20s%s%.20s", fold_record_text(record, "dtype"),
           fold_record_text(record, "op"), (long long)json_integer_value(json_object_get(record, "rows")),
           (long long)json_integer_value(json_object_get(record, "cols")), *order ? " in order " : " in no order",
           order, *method ? ", " : "", method, *accumulator ? ", accumulator " : "", accumulator,
           *factor ? ", factors rounded to " : "", factor);
  fold_text_one_line(text); /* a character may have been cut */
}

static json_t *tell_side(const json_t *record, size_t line, enum fold_change what, bool same_input) {
  const char *first = json_string_value(json_array_get(json_object_get(record, "results"), 0));
  const bool hash = fold_record_text(record, "results_xxh3")[0];
  char traces[240], case_told[240];
  json_t *side = json_pack("{s:I}", "line", (json_int_t)line);
  read_traces(record, traces, sizeof traces);
  read_told(record, case_told, sizeof case_told);
  const char *has = same_input && what == FOLD_CHANGED_INPUT ? case_told
                    : what == FOLD_CHANGED_INPUT             ? fold_record_text(record, "input_xxh3")
                    : what == FOLD_CHANGED_VERDICT           ? fold_record_text(record, "verdict")
                    : !hash                                  ? "no result"
                    : first                                  ? first
                                                             : "no row";
  put(side, "has", json_string(has));
  if (traces[0]) put(side, "did", json_string(traces));
  copy(side, record, "build");
  return side;
}

static fold_status tell(const struct explaining *e, const struct explained *x, struct fold_again *again, json_t *told) {
  static const char *const kept[] = {"subject", "engine", "case", "claim", "dtype",
                                     "op",      "rows",   "cols", "seed",  "generator"};
  const struct fold_changed *c = x->changed;
  const char *const names[2] = {e->c->side[0].name, e->c->side[1].name};
  const json_t *record = x->record[1] ? x->record[1] : x->record[0];
  const bool results = c->what == FOLD_CHANGED_RESULTS, verdict = c->what == FOLD_CHANGED_VERDICT;
  put(told, "what", json_string(fold_change_names[c->what]));
  for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
    if (verdict || strcmp(kept[i], "claim") != 0) copy(told, record, kept[i]);
  const bool same_input =
      x->record[0] && x->record[1] &&
      strcmp(fold_record_text(x->record[0], "input_xxh3"), fold_record_text(x->record[1], "input_xxh3")) == 0;
  for (int k = 0; k < 2; k++)
    if (x->record[k]) put(told, k ? "second" : "first", tell_side(x->record[k], c->line[k], c->what, same_input));
  if (!results && !verdict) return fold_ok();
  if (results) FOLD_TRY(fold_compare_distance(x->record, again, names, told));
  if (!json_object_get(record, "op")) return fold_ok();
  json_t *asked = json_copy((json_t *)(uintptr_t)record);
  if (results) put(asked, "claim", json_string(""));
  fold_recorded_ask(asked, e->c->side[x->record[1] != NULL].environment);
  char *replay = fold_text_replay(asked);
  if (replay) put(told, "replay", json_string(replay));
  free(replay);
  json_decref(asked);
  return fold_ok();
}

/* Counts one more `name` in the table `by`, and which side was nearer. */
static void count(json_t *tables, const char *by, const char *name, const json_t *told) {
  json_t *table = json_object_get(tables, by), *row = json_object_get(table, name);
  if (!row) put(table, name, row = json_pack("{s:i, s:i, s:i}", "differ", 0, "first_nearer", 0, "second_nearer", 0));
  const json_t *nearer = json_object_get(told, "nearer");
  const char *keys[] = {"differ", nearer && json_integer_value(nearer) == 0   ? "first_nearer"
                                  : nearer && json_integer_value(nearer) == 1 ? "second_nearer"
                                                                              : NULL};
  for (int k = 0; k < 2 && keys[k]; k++)
    put(row, keys[k], json_integer(json_integer_value(json_object_get(row, keys[k])) + 1));
}

static void count_all(json_t *tables, const json_t *told) {
  char text[160];
  const char *subject = fold_record_text(told, "subject"), *claim = fold_record_text(told, "claim");
  snprintf(text, sizeof text, "%.90s on %.20s", subject, fold_record_text(told, "engine"));
  fold_text_one_line(text); /* a character may have been cut, or be one that a table's column can't hold */
  count(tables, "subject", text, told);
  count(tables, "claim", *claim ? claim : "(results)", told);
  count(tables, "dtype", fold_record_text(told, "dtype"), told);
  snprintf(text, sizeof text, "%lld x %lld", (long long)json_integer_value(json_object_get(told, "rows")),
           (long long)json_integer_value(json_object_get(told, "cols")));
  count(tables, "size", text, told);
}

/* Whether `a` is the smaller case: it has fewer terms, or as many terms and fewer rows. */
static bool is_smaller(const json_t *a, const json_t *b) {
  double size[2], rows[2];
  const json_t *const both[2] = {a, b};
  for (int k = 0; k < 2; k++) {
    rows[k] = json_number_value(json_object_get(both[k], "rows"));
    size[k] = rows[k] * json_number_value(json_object_get(both[k], "cols"));
  }
  return size[0] < size[1] || (size[0] == size[1] && rows[0] < rows[1]);
}

static fold_status tell_all(struct explaining *e, struct fold_again *again, size_t most, json_t *all) {
  json_t *list = json_array(), *tables = json_pack("{s:{}, s:{}, s:{}, s:{}}", "subject", "claim", "dtype", "size");
  const json_t *smallest = NULL;
  size_t listed[FOLD_CHANGES] = {0}, looked = 0;
  fold_status status = fold_ok();
  for (size_t i = 0; i < e->n && status.code == FOLD_OK; i++) {
    const struct explained *x = &e->at[i];
    const enum fold_change what = x->changed->what;
    const bool counted = what == FOLD_CHANGED_RESULTS || what == FOLD_CHANGED_VERDICT;
    if (!counted && listed[what] >= most) continue;
    json_t *told = json_object();
    status = tell(e, x, counted && looked++ < FOLD_EXPLAINED ? again : NULL, told);
    if (counted) count_all(tables, told);
    if (what == FOLD_CHANGED_RESULTS && json_object_get(told, "cols") && (!smallest || is_smaller(told, smallest))) {
      json_object_set(all, "smallest", told);
      smallest = told;
    }
    if (listed[what]++ < most) json_array_append(list, told);
    json_decref(told);
  }
  put(all, "changes", list);
  put(all, "by", tables);
  return status;
}

static json_t *tell_counts(const struct fold_comparison *c) {
  json_t *all = json_pack("{s:o, s:o, s:I, s:I, s:I}", "first", tell_name(c->side[0].name), "second",
                          tell_name(c->side[1].name), "agree", (json_int_t)c->agree, "broken_in_both",
                          (json_int_t)c->broken, "verdicts_compared", (json_int_t)c->verdicts);
  for (int k = 0; k < FOLD_CHANGES; k++) put(all, fold_change_names[k], json_integer((json_int_t)c->n[k]));
  if (c->subset) put(all, "subset", json_true());
  for (int k = 0; k < 2; k++) {
    const struct fold_lines *l = &c->side[k].lines;
    if (l->incomplete[0]) put(all, k ? "second_incomplete" : "first_incomplete", json_string(l->incomplete));
    if (l->altered[0]) put(all, k ? "second_altered" : "first_altered", json_string(l->altered));
  }
  put(all, "environment", fold_compare_environments(c->side[0].environment, c->side[1].environment));
  return all;
}

fold_status fold_compare_explain(const struct fold_comparison *c, struct fold_again *again, size_t most,
                                 json_t **told) {
  struct explaining e = {.c = c};
  size_t chosen[FOLD_CHANGES] = {0};
  e.at = calloc(c->n_changed + 1, sizeof *e.at);
  e.order = calloc(c->n_changed + 1, sizeof *e.order);
  fold_status status = e.at && e.order ? fold_ok() : fold_no_memory("for what differs");
  for (size_t i = 0; i < c->n_changed && e.at; i++) {
    const enum fold_change what = c->changed[i].what;
    const bool counted = what == FOLD_CHANGED_RESULTS || what == FOLD_CHANGED_VERDICT;
    if (chosen[what]++ < (counted ? MOST_COUNTED : most)) e.at[e.n++].changed = &c->changed[i];
  }
  for (int k = 0; k < 2 && status.code == FOLD_OK; k++) status = read_side(&e, k);
  *told = tell_counts(c);
  if (status.code == FOLD_OK) status = tell_all(&e, again, most, *told);
  for (size_t i = 0; i < e.n; i++)
    for (int k = 0; k < 2; k++) json_decref(e.at[i].record[k]);
  free(e.at);
  free(e.order);
  return status;
}
