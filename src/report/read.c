/* report/read.c: reads records into the model. Each is checked against the schema first. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/list.h"
#include "base/path.h"
#include "records/read.h"
#include "records/schema.h"
#include "report/model.h"

struct reader {
  struct fold_model *model;
  int environment;
};

static fold_status read_environment(struct reader *r, json_t *record) {
  return fold_model_add_environment(r->model, record, &r->environment);
}

static fold_status read_run(struct reader *r, json_t *record) {
  (void)record;
  r->model->runs++;
  return fold_ok();
}

/* Where an item of a list keeps a field of its record (report/kept.def). */
struct kept {
  enum fold_field field;
  enum { KEEP_WORD, KEEP_NUMBER, KEEP_FLAG, KEEP_SEED, KEEP_EXTENT } how;
  size_t at;
  enum fold_axis axis; /* of an extent */
};
#define KEPT(type, ...) static const struct kept type[] = {__VA_ARGS__};
#define AT(member, name, how) {FOLD_FIELD_##name, KEEP_##how, offsetof(struct ITEM, member), FOLD_AXES},
#define WORD(name) AT(name, name, WORD)
#define FLAG(name) AT(name, name, FLAG)
#define SEED(name) AT(name, name, SEED)
#define NUMBER(member, name) AT(member, name, NUMBER)
#define EXTENT(member, axis) {FOLD_FIELD_shape, KEEP_EXTENT, offsetof(struct ITEM, member), axis},
#include "report/kept.def"

/* A list of the model that keeps the records of one type. Each item begins with its environment. */
struct list {
  size_t items, n, room, size; /* offsets of the items, their number and room in the model; an item's size */
  const struct kept *kept;
  size_t n_kept;
};
#define LIST(name, kept)                                                                                              \
  offsetof(struct fold_model, name), offsetof(struct fold_model, n_##name), offsetof(struct fold_model, room_##name), \
      sizeof *((struct fold_model *)0)->name, kept, sizeof kept / sizeof *kept

/* Copies a field to its member. A name becomes the model's copy, and "" if it is absent; an absent number becomes
 * NaN. */
static fold_status keep_field(struct fold_model *m, const json_t *record, const struct kept *kept, void *member) {
  const char *key = fold_fields[kept->field].key;
  const json_t *value = json_object_get(record, key);
  switch (kept->how) {
    case KEEP_NUMBER: *(double *)member = fold_record_double(record, key); break;
    case KEEP_EXTENT: {
      const json_t *extent = json_array_get(value, kept->axis);
      *(double *)member = extent ? (double)json_integer_value(extent) : NAN;
      break;
    }
    case KEEP_FLAG: *(bool *)member = json_is_true(value); break;
    case KEEP_SEED: *(long long *)member = json_is_integer(value) ? json_integer_value(value) : -1; break;
    case KEEP_WORD: {
      const char **word = member;
      *word = fold_model_word(m, fold_record_text(record, key));
      if (*word == NULL) return fold_no_memory("for the report");
    }
  }
  return fold_ok();
}

static fold_status keep(struct reader *r, const json_t *record, const struct list *list, void **kept) {
  char *model = (char *)r->model;
  char *item = fold_list_grow(model + list->items, (void *)(model + list->n), (void *)(model + list->room), list->size);
  if (item == NULL) return fold_no_memory("for the report");
  memcpy(item, &r->environment, sizeof r->environment);
  for (size_t i = 0; i < list->n_kept; i++)
    FOLD_TRY(keep_field(r->model, record, &list->kept[i], item + list->kept[i].at));
  if (kept) *kept = item;
  return fold_ok();
}

/* Keeps errors of one-row sums, which are drawn against n: over u sum |x| where the record has that, else in ulps. The
 * bound in the same unit is the error over its fraction of the bound. */
static fold_status keep_judged(struct reader *r, const json_t *record) {
  static const struct list scaled = {LIST(judged, judged)}, in_ulps = {LIST(judged_ulps, judged_ulps)};
  const bool has_scale = isfinite(fold_record_double(record, FOLD_KEY(backward_error)));
  void *kept;
  if (!has_scale && !isfinite(fold_record_double(record, FOLD_KEY(ulps)))) return fold_ok();
  if (fold_record_double(record, FOLD_KEY(rows)) != 1) return fold_ok();
  if (strcmp(fold_record_text(record, FOLD_KEY(op)), "sum") != 0) return fold_ok();
  FOLD_TRY(keep(r, record, has_scale ? &scaled : &in_ulps, &kept));
  struct fold_model_point *p = kept;
  p->bound = p->error > 0 && p->bound > 0 ? p->error / p->bound : NAN;
  if (p->generator[0] == '\0') p->generator = fold_model_word(r->model, "literal values");
  return p->generator ? fold_ok() : fold_no_memory("for the report");
}

static fold_status read_judgement(struct reader *r, json_t *record) {
  if (strcmp(fold_record_text(record, FOLD_KEY(verdict)), fold_verdict_name(FOLD_SKIPPED)) != 0)
    FOLD_TRY(keep_judged(r, record));
  return fold_model_add_judgement(r->model, record, r->environment);
}

static fold_status read_explanation(struct reader *r, json_t *record) {
  fold_model_add_explanation(r->model, record, r->environment);
  return fold_ok();
}

/* What is done with a type of record: a function reads it, or a list keeps it. Reports leave out maps, which reveal
 * prints, and records that only docs/case-study.md uses. */
static const struct kind {
  const char *type;
  fold_status (*read)(struct reader *reader, json_t *record);
  struct list list;
} kinds[] = {{"environment", read_environment, {0}},
             {"judgement", read_judgement, {0}},
             {"run", read_run, {0}},
             {"explanation", read_explanation, {0}},
             {"timing", NULL, {LIST(timings, timed)}},
             {"scaling", NULL, {LIST(scalings, timed)}},
             {"allreduce", NULL, {LIST(messages, timed)}},
             {"messages", NULL, {LIST(probes, messages)}},
             {"study", NULL, {LIST(study, study)}},
             {"study_ranks", NULL, {LIST(ranks, study_ranks)}},
             {"study_worlds", NULL, {LIST(worlds, study_worlds)}},
             {"validation", NULL, {LIST(validations, validation)}},
             {"validation_vector", NULL, {LIST(validations, validation_vector)}},
             {"study_float64", NULL, {0}},
             {"map", NULL, {0}}};

static fold_status take_record(void *context, json_t *record, size_t line) {
  const char *type = fold_record_text(record, FOLD_KEY(type));
  const struct kind *kind = NULL;
  struct reader *r = context;
  (void)line;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !kind; i++)
    if (strcmp(type, kinds[i].type) == 0) kind = &kinds[i];
  if (kind == NULL) return fold_error(FOLD_BAD_INPUT, "no type '%.40s' of record is known", type);
  if (kind->read) return kind->read(r, record);
  return kind->list.n_kept ? keep(r, record, &kind->list, NULL) : fold_ok();
}

/* A verdict that occurs twice in one environment is counted once. */
static fold_status take_once(void *context, json_t *record, size_t line) {
  struct reader *r = context;
  bool before;
  FOLD_TRY(fold_repeated_add(&r->model->repeated, record, &before));
  return before ? fold_ok() : take_record(context, record, line);
}

fold_status fold_model_add(struct fold_model *model, json_t *record) {
  struct reader reader = {model, -1};
  return take_record(&reader, record, 0);
}

fold_status fold_model_read(struct fold_model *model, const char *path) {
  struct reader reader = {model, -1};
  struct fold_lines lines;
  model->repeated.environment = 0;
  FOLD_TRY(fold_lines_read(path, take_once, &reader, &lines));
  if (lines.altered[0]) return fold_error(FOLD_BAD_INPUT, "%.100s: %s", fold_path_tail(path), lines.altered);
  struct fold_model_file *at = fold_list_grow(&model->files, &model->n_files, &model->room_files, sizeof *at);
  if (at) *at = (struct fold_model_file){.path = strdup(path), .records = lines.records};
  if (at) memcpy(at->incomplete, lines.incomplete, sizeof at->incomplete);
  if (at == NULL || at->path == NULL) return fold_no_memory("for the report");
  fold_model_arrange(model);
  return fold_ok();
}
