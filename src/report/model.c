/* report/model.c: counts judgements by subject, claim and fixture, and keeps evidence. */
#include "report/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "records/own_run.h"
#include "records/read.h"
#include "records/schema.h"
#include "report/index.h"
#include "report/text.h"

void fold_model_open(struct fold_model *model) { *model = (struct fold_model){0}; }

const char *fold_model_word(struct fold_model *model, const char *word) {
  json_int_t known = fold_index_find(model->index.words, word, strlen(word));
  if (known >= 0) return model->words[known];
  char *copy = strdup(word);
  char **at = copy ? fold_list_grow(&model->words, &model->n_words, &model->room_words, sizeof *model->words) : NULL;
  if (at == NULL) {
    free(copy);
    return NULL;
  }
  *at = copy; /* the model owns it */
  return fold_index_add(&model->index.words, word, strlen(word), model->n_words - 1) ? copy : NULL;
}

/* The record of an environment without what belongs to its run alone, so that runs in one environment share it. */
static json_t *environment_of(const json_t *record) {
  json_t *copy = json_object(), *value;
  const char *key;
  json_object_foreach((json_t *)(uintptr_t)record, key, value) {
    if (!fold_own_run_has(key)) json_object_set(copy, key, value);
  }
  return copy;
}

/* Keeps a new environment; takes over `described`. */
static fold_status find_environment(struct fold_model *model, json_t *described, int *environment) {
  char *text = json_dumps(described, JSON_COMPACT | JSON_SORT_KEYS);
  const size_t n = text ? strlen(text) : 0;
  const json_int_t known = text ? fold_index_find(model->index.environments, text, n) : -1;
  json_t **at = NULL;
  if (text && known < 0 && fold_index_add(&model->index.environments, text, n, model->n_environments))
    at = fold_list_grow(&model->environments, &model->n_environments, &model->room_environments, sizeof *at);
  *environment = (int)(known >= 0 ? known : (json_int_t)model->n_environments - 1);
  free(text);
  if (at)
    *at = described;
  else
    json_decref(described);
  return at || known >= 0 ? fold_ok() : fold_no_memory("for the report");
}

/* "2026-11-22: foldproof bench -n 1e6" among the environment's runs. */
static fold_status add_run(json_t *environment, const json_t *record) {
  const char *date = fold_record_text(record, FOLD_KEY(date)), *command = fold_record_text(record, FOLD_KEY(command));
  if (!*date && !*command) return fold_ok();
  if (!json_is_array(json_object_get(environment, "runs"))) json_object_set_new(environment, "runs", json_array());
  json_t *run = json_sprintf("%s%s%s", date, *date && *command ? ": " : "", command);
  return json_array_append_new(json_object_get(environment, "runs"), run) == 0 ? fold_ok()
                                                                               : fold_no_memory("for the report");
}

fold_status fold_model_add_environment(struct fold_model *model, const json_t *record, int *environment) {
  FOLD_TRY(find_environment(model, environment_of(record), environment));
  return add_run(model->environments[*environment], record);
}

static struct fold_model_subject *find_subject(struct fold_model *model, const json_t *record) {
  const char *name = fold_record_text(record, "subject"), *engine = fold_record_text(record, "engine");
  name = fold_model_word(model, name);
  engine = fold_model_word(model, engine);
  if (!name || !engine) return NULL;
  /* words are the model's own, so that equal words have equal addresses */
  char key[64];
  int n = snprintf(key, sizeof key, "%p %p", (const void *)name, (const void *)engine);
  json_int_t known = fold_index_find(model->index.subjects, key, (size_t)n);
  if (known >= 0) return &model->subjects[known];
  if (!fold_index_add(&model->index.subjects, key, (size_t)n, model->n_subjects)) return NULL;
  struct fold_model_subject *subject =
      fold_list_grow(&model->subjects, &model->n_subjects, &model->room_subjects, sizeof *subject);
  if (subject) subject->name = name, subject->engine = engine;
  return subject;
}

/* The claim's index; -1 when there are too many or memory is short. */
static int find_claim(struct fold_model *model, const char *name) {
  for (size_t i = 0; i < model->n_claims; i++)
    if (strcmp(model->claims[i], name) == 0) return (int)i;
  const char *word = model->n_claims < MODEL_CLAIMS ? fold_model_word(model, name) : NULL;
  if (word == NULL) return -1;
  model->claims[model->n_claims++] = word;
  return (int)model->n_claims - 1;
}

static struct fold_model_cell *find_cell(struct fold_model *model, const json_t *record) {
  struct fold_model_subject *subject = find_subject(model, record);
  int claim = subject ? find_claim(model, fold_record_text(record, "claim")) : -1;
  if (claim < 0) return NULL;
  struct fold_model_cell **cell = &subject->cells[json_is_true(json_object_get(record, "promised"))][claim];
  if (*cell == NULL) {
    *cell = calloc(1, sizeof **cell);
    if (*cell) (*cell)->ulps = (*cell)->backward = (*cell)->fraction = NAN;
  }
  return *cell;
}

static size_t fixture_length(const char *name) {
  return strncmp(name, "npy:", 4) == 0 ? fold_text_array(name, NULL) : strcspn(name, "/");
}

/* The fixture whose name is the first `n` bytes of `name`. */
static struct fold_model_fixture *find_fixture(struct fold_model_cell *cell, const char *name, size_t n) {
  /* Records come case by case, so it is nearly always the last fixture. */
  const struct fold_model_fixture *last = cell->n_fixtures ? &cell->fixtures[cell->n_fixtures - 1] : NULL;
  if (last && strncmp(last->name, name, n) == 0 && last->name[n] == '\0') return &cell->fixtures[cell->n_fixtures - 1];
  json_int_t known = fold_index_find(cell->index, name, n);
  if (known >= 0) return &cell->fixtures[known];
  if (!fold_index_add(&cell->index, name, n, cell->n_fixtures)) return NULL;
  char *copy = strndup(name, n);
  struct fold_model_fixture *fixture =
      copy ? fold_list_grow(&cell->fixtures, &cell->n_fixtures, &cell->capacity, sizeof *fixture) : NULL;
  if (fixture)
    fixture->name = copy;
  else
    free(copy);
  return fixture;
}

/* How many cases a record stands for: skipped cases with one reason share a record (skips.h). */
static size_t cases_of(const json_t *record) {
  const json_int_t n = json_integer_value(json_object_get(record, "cases"));
  return n > 1 ? (size_t)n : 1;
}

static fold_status count_reason(struct fold_model_cell *cell, struct fold_model_fixture *fixture, const char *text,
                                size_t cases) {
  if (fixture->why == NULL && (fixture->why = strdup(text)) == NULL) return fold_no_memory("for the report");
  for (size_t i = 0; i < cell->n_reasons; i++)
    if (strcmp(cell->reasons[i].text, text) == 0) {
      cell->reasons[i].count += cases;
      return fold_ok();
    }
  if (cell->n_reasons == MODEL_REASONS) {
    cell->other_reasons += cases;
    return fold_ok();
  }
  char *copy = strdup(text);
  if (copy == NULL) return fold_no_memory("for the report");
  cell->reasons[cell->n_reasons++] = (struct fold_model_reason){copy, cases};
  return fold_ok();
}

/* One record of a skip counts for the cases of several fixtures. */
static fold_status count_covered(struct fold_model_cell *cell, const json_t *record, const json_t *fixtures,
                                 size_t cases) {
  const char *name;
  json_t *n;
  size_t covered = 0;
  json_object_foreach((json_t *)(uintptr_t)fixtures, name, n) {
    const size_t more = json_integer_value(n) > 0 ? (size_t)json_integer_value(n) : 0;
    if (more > cases) return fold_error(FOLD_BAD_INPUT, "its fixtures have more than %zu cases", cases);
    struct fold_model_fixture *fixture = find_fixture(cell, name, strlen(name));
    if (fixture == NULL) return fold_no_memory("for the report");
    fixture->count[FOLD_SKIPPED] += more;
    covered += more;
    if (more) FOLD_TRY(count_reason(cell, fixture, fold_record_text(record, "reason"), more));
  }
  if (covered == cases) return fold_ok();
  return fold_error(FOLD_BAD_INPUT, "its fixtures have %zu cases, not %zu", covered, cases);
}

bool fold_model_is_known(const json_t *record) {
  const json_t *known = json_object_get(record, "known");
  const char *verdict = fold_record_text(record, "verdict");
  if (strcmp(verdict, "refuted") != 0 || !json_is_true(json_object_get(record, "promised"))) return false;
  return known ? json_is_string(known) : json_is_true(json_object_get(record, "peer"));
}

/* A new refutation replaces a known one. */
static json_t **place_of(struct fold_model_cell *cell, bool known) {
  if (cell->n_evidence < MODEL_EVIDENCE) return &cell->evidence[cell->n_evidence++];
  for (size_t i = MODEL_EVIDENCE; i-- > 0 && !known;)
    if (fold_model_is_known(cell->evidence[i])) return &cell->evidence[i];
  return NULL;
}

static void keep_evidence(struct fold_model_cell *cell, struct fold_model_fixture *fixture, json_t *record,
                          int environment) {
  bool known = fold_model_is_known(record);
  bool first = fixture->first == NULL || (!known && fold_model_is_known(fixture->first));
  json_t **listed = place_of(cell, known);
  if (!first && !listed) return;
  json_object_del(record, "results");
  json_object_del(record, "values");
  json_object_set_new(record, "environment_index", json_integer(environment));
  if (first) json_decref(fixture->first), fixture->first = json_incref(record);
  if (listed) json_decref(*listed), *listed = json_incref(record);
}

static size_t count_at(const json_t *record, const char *key) {
  const json_int_t n = json_integer_value(json_object_get(record, key));
  return n > 0 ? (size_t)n : 0;
}

/* A case holds if the rows that have a bound hold; its record counts the rows without a bound. */
static void count_rows(struct fold_model_cell *cell, const json_t *record) {
  const size_t unbounded = count_at(record, "rows_without_bound");
  const size_t sampled = count_at(record, "results_judged");
  cell->rows += sampled ? sampled : count_at(record, "rows");
  cell->sampled += sampled;
  cell->sampled_of += sampled ? count_at(record, "rows") : 0;
  cell->unbounded += unbounded;
  if (unbounded == 0) return;
  const char *reason = strstr(fold_record_text(record, "reason"), "no bound");
  snprintf(cell->no_bound, sizeof cell->no_bound, "%s", reason ? reason : "no bound");
}

const char *fold_model_unbounded(const struct fold_model_cell *cell, char text[240]) {
  char some[32], all[32];
  int used = 0;
  text[0] = '\0';
  if (cell->sampled)
    used = snprintf(text, 240, "%s of %s results judged", fold_text_grouped((double)cell->sampled, some),
                    fold_text_grouped((double)cell->sampled_of, all));
  if (cell->unbounded)
    snprintf(text + used, 240 - (size_t)used, "%s%zu of %zu rows have %s", used ? "; " : "", cell->unbounded,
             cell->rows, cell->no_bound);
  return text;
}

/* Keeps the worst error over u sum |x|, and the dtype of that u. */
static void keep_backward(struct fold_model_cell *cell, const json_t *record) {
  const double backward = fold_record_double(record, "backward_error");
  const int terms = fold_dtype_parse(fold_record_text(record, "dtype")), result = fold_record_result_dtype(record),
            named = fold_dtype_parse(fold_record_text(record, "accumulator"));
  if (isnan(backward) || backward <= cell->backward || terms < 0 || result < 0) return;
  const enum fold_dtype usual = fold_accumulator_of((enum fold_dtype)terms);
  cell->backward = backward;
  cell->unit = fold_error_unit((struct fold_arithmetic){.accumulator = named < 0 ? usual : (enum fold_dtype)named,
                                                        .result = (enum fold_dtype)result});
}

fold_status fold_model_add_judgement(struct fold_model *model, json_t *record, int environment) {
  int verdict = fold_verdict_parse(fold_record_text(record, "verdict"));
  if (verdict < 0) return fold_error(FOLD_BAD_INPUT, "no verdict '%.40s'", fold_record_text(record, "verdict"));
  struct fold_model_cell *cell = find_cell(model, record);
  if (cell == NULL && model->n_claims == MODEL_CLAIMS)
    return fold_error(FOLD_BAD_INPUT, "more than %d claims", MODEL_CLAIMS);
  const size_t cases = cases_of(record);
  const json_t *fixtures = json_object_get(record, "fixtures");
  if (cell == NULL) return fold_no_memory("for the report");
  cell->count[verdict] += cases;
  if (verdict == FOLD_SKIPPED && fixtures) return count_covered(cell, record, fixtures, cases);
  const char *name = fold_record_text(record, "case");
  struct fold_model_fixture *fixture = find_fixture(cell, name, fixture_length(name));
  if (fixture == NULL) return fold_no_memory("for the report");
  double ulps = fold_record_double(record, "ulps"), fraction = fold_record_double(record, "bound_fraction");
  fixture->count[verdict] += cases;
  if (fold_model_is_known(record)) cell->known++, fixture->known++;
  const json_t *telling = verdict == FOLD_HELD ? json_object_get(record, "telling") : NULL;
  if (json_is_true(telling)) cell->telling++, fixture->telling++;
  if (json_is_false(telling)) cell->idle++, fixture->idle++;
  if (isnan(cell->ulps) || ulps > cell->ulps) cell->ulps = ulps;
  keep_backward(cell, record);
  if (isnan(cell->fraction) || fraction > cell->fraction) cell->fraction = fraction;
  if (verdict == FOLD_SKIPPED) FOLD_TRY(count_reason(cell, fixture, fold_record_text(record, "reason"), cases));
  if (verdict == FOLD_HELD) count_rows(cell, record);
  if (verdict == FOLD_REFUTED || verdict == FOLD_BROKEN) keep_evidence(cell, fixture, record, environment);
  return fold_ok();
}

static bool names(const json_t *explanation, const json_t *judgement, int environment) {
  static const char *const keys[] = {"subject", "engine", "claim", "case"};
  bool same = json_integer_value(json_object_get(judgement, "environment_index")) == environment;
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    same = same && strcmp(fold_record_text(explanation, keys[i]), fold_record_text(judgement, keys[i])) == 0;
  return same;
}

void fold_model_add_explanation(struct fold_model *model, const json_t *record, int environment) {
  for (size_t s = 0; s < model->n_subjects; s++)
    for (size_t k = 0; k < model->n_claims; k++) {
      const struct fold_model_cell *cell = model->subjects[s].cells[true][k];
      for (size_t i = 0; cell && i < cell->n_evidence; i++)
        if (names(record, cell->evidence[i], environment))
          json_object_set(cell->evidence[i], "order_change", json_object_get(record, "order_change"));
    }
}
