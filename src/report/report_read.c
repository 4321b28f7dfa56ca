/* report_read.c: records into the model, each checked before it is believed.
 *
 * A record's required keys and their kinds stand in one table; keys beyond them are left alone.
 */
#include <math.h>
#include <string.h>

#include "report_lines.h"
#include "report_model.h"

struct reader {
  struct fold_model *model;
  int environment;
};

static fold_status no_memory(void) { return fold_error(FOLD_NO_MEMORY, "not enough memory for the report"); }

static double number(const json_t *record, const char *key) {
  const json_t *value = json_object_get(record, key);
  return json_is_number(value) ? json_number_value(value) : NAN;
}

static bool flag(const json_t *record, const char *key) { return json_is_true(json_object_get(record, key)); }

static long long read_seed(const json_t *record) {
  const json_t *seed = json_object_get(record, "seed");
  return json_is_integer(seed) && json_integer_value(seed) >= 0 ? json_integer_value(seed) : -1;
}

/* Copies names into the model and points at the copies; optional ones that are absent become "". */
static fold_status take_word(struct reader *r, const json_t *record, const char *key, const char **word) {
  *word = fold_model_word(r->model, fold_record_text(record, key));
  return *word ? fold_ok() : no_memory();
}

static fold_status read_environment(struct reader *r, json_t *record) {
  return fold_model_add_environment(r->model, record, &r->environment);
}

static fold_status read_judgement(struct reader *r, json_t *record) {
  return fold_model_add_judgement(r->model, record, r->environment);
}

static fold_status read_run(struct reader *r, json_t *record) {
  (void)record;
  r->model->runs++;
  return fold_ok();
}

static fold_status read_timing(struct reader *r, json_t *record) {
  struct fold_model *m = r->model;
  struct fold_model_timing *t = fold_model_grow(&m->timings, &m->n_timings, &m->room_timings, sizeof *t);
  if (t == NULL) return no_memory();
  *t = (struct fold_model_timing){.environment = r->environment,
                                  .threads = number(record, "threads"),
                                  .rows = number(record, "rows"),
                                  .cols = number(record, "cols"),
                                  .median = number(record, "median_seconds"),
                                  .p10 = number(record, "p10_seconds"),
                                  .p90 = number(record, "p90_seconds"),
                                  .bytes_per_second = number(record, "bytes_per_second"),
                                  .ceiling = number(record, "ceiling_bytes_per_second"),
                                  .of_ceiling = number(record, "of_ceiling"),
                                  .to_peer = number(record, "to_peer"),
                                  .implausible = flag(record, "implausible")};
  FOLD_TRY(take_word(r, record, "subject", &t->subject));
  FOLD_TRY(take_word(r, record, "engine", &t->engine));
  FOLD_TRY(take_word(r, record, "dtype", &t->dtype));
  FOLD_TRY(take_word(r, record, "op", &t->op));
  FOLD_TRY(take_word(r, record, "generator", &t->generator));
  FOLD_TRY(take_word(r, record, "verdict", &t->verdict));
  FOLD_TRY(take_word(r, record, "peer", &t->peer));
  return take_word(r, record, "note", &t->note);
}

static fold_status read_study(struct reader *r, json_t *record) {
  struct fold_model *m = r->model;
  struct fold_model_point *p = fold_model_grow(&m->study, &m->n_study, &m->room_study, sizeof *p);
  if (p == NULL) return no_memory();
  *p = (struct fold_model_point){.environment = r->environment,
                                 .n = number(record, "n"),
                                 .error = number(record, "error_abs"),
                                 .ulps = number(record, "error_ulps"),
                                 .bound = number(record, "bound"),
                                 .probable = number(record, "probabilistic"),
                                 .condition = number(record, "condition")};
  FOLD_TRY(take_word(r, record, "subject", &p->subject));
  FOLD_TRY(take_word(r, record, "engine", &p->engine));
  FOLD_TRY(take_word(r, record, "generator", &p->generator));
  FOLD_TRY(take_word(r, record, "dtype", &p->dtype));
  return take_word(r, record, "op", &p->op);
}

static fold_status read_scaling(struct reader *r, json_t *record) {
  struct fold_model *m = r->model;
  struct fold_model_scaling *s = fold_model_grow(&m->scalings, &m->n_scalings, &m->room_scalings, sizeof *s);
  if (s == NULL) return no_memory();
  *s = (struct fold_model_scaling){.environment = r->environment,
                                   .n = number(record, "n"),
                                   .workers = number(record, "workers"),
                                   .median = number(record, "median_seconds"),
                                   .local = number(record, "local_median_seconds"),
                                   .calls = number(record, "calls_median_seconds"),
                                   .to_library = number(record, "to_library"),
                                   .implausible = flag(record, "implausible"),
                                   .noisy = flag(record, "noisy")};
  FOLD_TRY(take_word(r, record, "why", &s->why));
  FOLD_TRY(take_word(r, record, "subject", &s->subject));
  FOLD_TRY(take_word(r, record, "engine", &s->engine));
  FOLD_TRY(take_word(r, record, "dtype", &s->dtype));
  FOLD_TRY(take_word(r, record, "op", &s->op));
  return take_word(r, record, "mode", &s->mode);
}

static fold_status read_message(struct reader *r, json_t *record) {
  struct fold_model *m = r->model;
  struct fold_model_message *s = fold_model_grow(&m->messages, &m->n_messages, &m->room_messages, sizeof *s);
  if (s == NULL) return no_memory();
  *s = (struct fold_model_message){.environment = r->environment,
                                   .bytes = number(record, "bytes"),
                                   .workers = number(record, "workers"),
                                   .median = number(record, "median_seconds"),
                                   .bus = number(record, "bus_bytes_per_second"),
                                   .link = number(record, "link_bytes_per_second"),
                                   .to_library = number(record, "to_library"),
                                   .implausible = flag(record, "implausible"),
                                   .noisy = flag(record, "noisy")};
  FOLD_TRY(take_word(r, record, "why", &s->why));
  FOLD_TRY(take_word(r, record, "subject", &s->subject));
  FOLD_TRY(take_word(r, record, "dtype", &s->dtype));
  FOLD_TRY(take_word(r, record, "op", &s->op));
  return take_word(r, record, "setting", &s->setting);
}

static fold_status read_probe(struct reader *r, json_t *record) {
  struct fold_model *m = r->model;
  struct fold_model_probe *p = fold_model_grow(&m->probes, &m->n_probes, &m->room_probes, sizeof *p);
  if (p == NULL) return no_memory();
  *p = (struct fold_model_probe){.environment = r->environment,
                                 .bytes = number(record, "bytes"),
                                 .workers = number(record, "workers"),
                                 .head = number(record, "head"),
                                 .agrees = flag(record, "rank_agreement"),
                                 .repeats = flag(record, "run_to_run")};
  FOLD_TRY(take_word(r, record, "subject", &p->subject));
  FOLD_TRY(take_word(r, record, "dtype", &p->dtype));
  FOLD_TRY(take_word(r, record, "generator", &p->generator));
  FOLD_TRY(take_word(r, record, "setting", &p->setting));
  return take_word(r, record, "letter", &p->letter);
}

/* The simulation tells errors relative to the exact result, the worst of its elements. */
static fold_status read_ranks(struct reader *r, json_t *record) {
  struct fold_model *m = r->model;
  struct fold_model_point *p = fold_model_grow(&m->ranks, &m->n_ranks, &m->room_ranks, sizeof *p);
  if (p == NULL) return no_memory();
  *p = (struct fold_model_point){.environment = r->environment,
                                 .n = number(record, "ranks"),
                                 .error = number(record, "error_relative_worst"),
                                 .ulps = number(record, "error_ulps_worst"),
                                 .bound = number(record, "bound_relative"),
                                 .probable = NAN,
                                 .condition = NAN};
  FOLD_TRY(take_word(r, record, "subject", &p->subject));
  FOLD_TRY(take_word(r, record, "", &p->engine));
  FOLD_TRY(take_word(r, record, "generator", &p->generator));
  FOLD_TRY(take_word(r, record, "dtype", &p->dtype));
  return take_word(r, record, "op", &p->op);
}

static fold_status read_world(struct reader *r, json_t *record) {
  struct fold_model *m = r->model;
  struct fold_model_world *w = fold_model_grow(&m->worlds, &m->n_worlds, &m->room_worlds, sizeof *w);
  if (w == NULL) return no_memory();
  *w = (struct fold_model_world){.ranks = number(record, "ranks"),
                                 .elements = number(record, "elements"),
                                 .worlds = number(record, "worlds"),
                                 .changed = number(record, "elements_changed"),
                                 .most_distinct = number(record, "most_distinct")};
  FOLD_TRY(take_word(r, record, "subject", &w->subject));
  FOLD_TRY(take_word(r, record, "generator", &w->generator));
  return take_word(r, record, "dtype", &w->dtype);
}

/* Of a sum, errors and bounds are absolute; of a vector, the worst of its elements. */
static fold_status read_any_validation(struct reader *r, json_t *record, bool vector) {
  struct fold_model *m = r->model;
  struct fold_model_validation *v =
      fold_model_grow(&m->validations, &m->n_validations, &m->room_validations, sizeof *v);
  if (v == NULL) return no_memory();
  double error = number(record, "error_abs"), join = number(record, "join_error");
  *v = (struct fold_model_validation){.environment = r->environment,
                                      .vector = vector,
                                      .n = number(record, "n"),
                                      .workers = number(record, "workers"),
                                      .ulps = number(record, vector ? "error_ulps_worst" : "error_ulps"),
                                      .relative = number(record, vector ? "error_relative_worst" : "error_relative"),
                                      .fraction = vector       ? number(record, "error_over_bound_worst")
                                                  : error == 0 ? 0
                                                               : error / number(record, "bound"),
                                      .join = join == 0 ? 0 : join / number(record, "join_bound"),
                                      .not_canonical = number(record, "not_canonical"),
                                      .distance = number(record, "distance_relative_worst"),
                                      .seed = read_seed(record)};
  FOLD_TRY(take_word(r, record, "subject", &v->subject));
  FOLD_TRY(take_word(r, record, "engine", &v->engine));
  FOLD_TRY(take_word(r, record, "dtype", &v->dtype));
  FOLD_TRY(take_word(r, record, "generator", &v->generator));
  FOLD_TRY(take_word(r, record, "library", &v->library));
  FOLD_TRY(take_word(r, record, "verdict", &v->verdict));
  FOLD_TRY(take_word(r, record, "note", &v->note));
  FOLD_TRY(take_word(r, record, "got", &v->got));
  FOLD_TRY(take_word(r, record, "one_rank", &v->one));
  return take_word(r, record, "promised", &v->promised);
}

static fold_status read_validation(struct reader *r, json_t *record) { return read_any_validation(r, record, false); }
static fold_status read_validation_vector(struct reader *r, json_t *record) {
  return read_any_validation(r, record, true);
}

/* Keys: 's' a string, 'n' a number, 'b' true or false, in front of each name. */
static const struct {
  const char *type;
  fold_status (*read)(struct reader *reader, json_t *record);
  const char *keys[10];
} kinds[] = {
    {"environment", read_environment, {0}},
    {"judgement",
     read_judgement,
     {"ssubject", "sengine", "sclaim", "bpromised", "scase", "sdtype", "sop", "nrows", "ncols", "sverdict"}},
    {"run", read_run, {"ssubject", "sengine", "scase"}},
    {"timing", read_timing, {"ssubject", "sengine", "sdtype", "sop", "nrows", "ncols"}},
    {"study", read_study, {"ssubject", "sengine", "sgenerator", "sdtype", "sop", "nn"}},
    {"study_ranks", read_ranks, {"ssubject", "sgenerator", "sdtype", "sop", "nranks"}},
    {"study_worlds", read_world, {"ssubject", "sgenerator", "sdtype", "nranks", "nworlds", "nelements_changed"}},
    {"scaling", read_scaling, {"ssubject", "sengine", "sdtype", "sop", "nn", "nworkers", "smode"}},
    {"allreduce", read_message, {"ssubject", "sengine", "sdtype", "sop", "nbytes", "nworkers", "ssetting"}},
    {"validation", read_validation, {"ssubject", "sengine", "sgenerator", "sdtype", "nn", "nworkers", "sverdict"}},
    {"validation_vector",
     read_validation_vector,
     {"ssubject", "sengine", "sgenerator", "sdtype", "nn", "nworkers", "sverdict"}},
    {"messages",
     read_probe,
     {"ssubject", "sengine", "sdtype", "nbytes", "nworkers", "ssetting", "sletter", "brank_agreement", "brun_to_run"}},
};

static bool has_key(const json_t *record, const char *key) {
  const json_t *value = json_object_get(record, key + 1);
  return *key == 's' ? json_is_string(value) : *key == 'n' ? json_is_number(value) : json_is_boolean(value);
}

static fold_status take_record(void *context, json_t *record, size_t line) {
  struct reader *r = context;
  (void)line;
  const char *type = json_string_value(json_object_get(record, "type"));
  for (size_t i = 0; type && i < sizeof kinds / sizeof *kinds; i++) {
    if (strcmp(type, kinds[i].type) != 0) continue;
    for (size_t k = 0; k < sizeof kinds[i].keys / sizeof *kinds[i].keys && kinds[i].keys[k]; k++)
      if (!has_key(record, kinds[i].keys[k]))
        return fold_error(FOLD_BAD_INPUT, "a record of type %s needs the key '%s' (%s)", type, kinds[i].keys[k] + 1,
                          kinds[i].keys[k][0] == 's'   ? "a string"
                          : kinds[i].keys[k][0] == 'n' ? "a number"
                                                       : "true or false");
    return kinds[i].read(r, record);
  }
  return fold_error(FOLD_BAD_INPUT, "no type '%.40s' of record is known", type ? type : "");
}

fold_status fold_model_read(struct fold_model *model, const char *path) {
  struct reader reader = {model, -1};
  struct fold_lines lines;
  FOLD_TRY(fold_lines_read(path, take_record, &reader, &lines));
  struct fold_model_file *at = fold_model_grow(&model->files, &model->n_files, &model->room_files, sizeof *at);
  if (at) *at = (struct fold_model_file){.path = strdup(path), .records = lines.records};
  if (at) memcpy(at->incomplete, lines.incomplete, sizeof at->incomplete);
  if (at == NULL || at->path == NULL) return no_memory();
  fold_model_arrange(model);
  return fold_ok();
}
