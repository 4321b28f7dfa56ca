/* report_read.c: reads records into the model. Each is checked against the schema first. */
#include <math.h>
#include <string.h>

#include "path.h"
#include "report_lines.h"
#include "report_model.h"
#include "schema.h"

struct reader {
  struct fold_model *model;
  int environment;
};

static fold_status no_memory(void) { return fold_error(FOLD_NO_MEMORY, "not enough memory for the report"); }

static bool flag(const json_t *record, const char *key) { return json_is_true(json_object_get(record, key)); }

static long long read_seed(const json_t *record) {
  const json_t *seed = json_object_get(record, FOLD_KEY(seed));
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
  FOLD_TRY(fold_model_add_time(m, record, r->environment));
  *t = (struct fold_model_timing){.environment = r->environment,
                                  .threads = fold_record_double(record, FOLD_KEY(threads)),
                                  .rows = fold_record_double(record, FOLD_KEY(rows)),
                                  .cols = fold_record_double(record, FOLD_KEY(cols)),
                                  .median = fold_record_double(record, FOLD_KEY(median_seconds)),
                                  .p10 = fold_record_double(record, FOLD_KEY(p10_seconds)),
                                  .p90 = fold_record_double(record, FOLD_KEY(p90_seconds)),
                                  .bytes_per_second = fold_record_double(record, FOLD_KEY(bytes_per_second)),
                                  .ceiling = fold_record_double(record, FOLD_KEY(ceiling_bytes_per_second)),
                                  .of_ceiling = fold_record_double(record, FOLD_KEY(of_ceiling)),
                                  .to_peer = fold_record_double(record, FOLD_KEY(to_peer)),
                                  .implausible = flag(record, FOLD_KEY(implausible))};
  FOLD_TRY(take_word(r, record, FOLD_KEY(subject), &t->subject));
  FOLD_TRY(take_word(r, record, FOLD_KEY(engine), &t->engine));
  FOLD_TRY(take_word(r, record, FOLD_KEY(dtype), &t->dtype));
  FOLD_TRY(take_word(r, record, FOLD_KEY(op), &t->op));
  FOLD_TRY(take_word(r, record, FOLD_KEY(generator), &t->generator));
  FOLD_TRY(take_word(r, record, FOLD_KEY(verdict), &t->verdict));
  FOLD_TRY(take_word(r, record, FOLD_KEY(peer_name), &t->peer));
  return take_word(r, record, FOLD_KEY(note), &t->note);
}

static fold_status read_study(struct reader *r, json_t *record) {
  struct fold_model *m = r->model;
  struct fold_model_point *p = fold_model_grow(&m->study, &m->n_study, &m->room_study, sizeof *p);
  if (p == NULL) return no_memory();
  *p = (struct fold_model_point){.environment = r->environment,
                                 .n = fold_record_double(record, FOLD_KEY(n)),
                                 .error = fold_record_double(record, FOLD_KEY(error_abs)),
                                 .ulps = fold_record_double(record, FOLD_KEY(error_ulps)),
                                 .bound = fold_record_double(record, FOLD_KEY(bound)),
                                 .probable = fold_record_double(record, FOLD_KEY(probabilistic)),
                                 .condition = fold_record_double(record, FOLD_KEY(condition))};
  FOLD_TRY(take_word(r, record, FOLD_KEY(subject), &p->subject));
  FOLD_TRY(take_word(r, record, FOLD_KEY(engine), &p->engine));
  FOLD_TRY(take_word(r, record, FOLD_KEY(generator), &p->generator));
  FOLD_TRY(take_word(r, record, FOLD_KEY(dtype), &p->dtype));
  return take_word(r, record, FOLD_KEY(op), &p->op);
}

static fold_status read_scaling(struct reader *r, json_t *record) {
  struct fold_model *m = r->model;
  struct fold_model_scaling *s = fold_model_grow(&m->scalings, &m->n_scalings, &m->room_scalings, sizeof *s);
  if (s == NULL) return no_memory();
  FOLD_TRY(fold_model_add_time(m, record, r->environment));
  *s = (struct fold_model_scaling){.environment = r->environment,
                                   .n = fold_record_double(record, FOLD_KEY(n)),
                                   .workers = fold_record_double(record, FOLD_KEY(workers)),
                                   .median = fold_record_double(record, FOLD_KEY(median_seconds)),
                                   .local = fold_record_double(record, FOLD_KEY(local_median_seconds)),
                                   .calls = fold_record_double(record, FOLD_KEY(calls_median_seconds)),
                                   .to_library = fold_record_double(record, FOLD_KEY(to_library)),
                                   .implausible = flag(record, FOLD_KEY(implausible)),
                                   .noisy = flag(record, FOLD_KEY(noisy))};
  FOLD_TRY(take_word(r, record, FOLD_KEY(why), &s->why));
  FOLD_TRY(take_word(r, record, FOLD_KEY(subject), &s->subject));
  FOLD_TRY(take_word(r, record, FOLD_KEY(engine), &s->engine));
  FOLD_TRY(take_word(r, record, FOLD_KEY(dtype), &s->dtype));
  FOLD_TRY(take_word(r, record, FOLD_KEY(op), &s->op));
  return take_word(r, record, FOLD_KEY(mode), &s->mode);
}

static fold_status read_message(struct reader *r, json_t *record) {
  struct fold_model *m = r->model;
  struct fold_model_message *s = fold_model_grow(&m->messages, &m->n_messages, &m->room_messages, sizeof *s);
  if (s == NULL) return no_memory();
  FOLD_TRY(fold_model_add_time(m, record, r->environment));
  *s = (struct fold_model_message){.environment = r->environment,
                                   .bytes = fold_record_double(record, FOLD_KEY(bytes)),
                                   .workers = fold_record_double(record, FOLD_KEY(workers)),
                                   .median = fold_record_double(record, FOLD_KEY(median_seconds)),
                                   .bus = fold_record_double(record, FOLD_KEY(bus_bytes_per_second)),
                                   .link = fold_record_double(record, FOLD_KEY(link_bytes_per_second)),
                                   .to_library = fold_record_double(record, FOLD_KEY(to_library)),
                                   .implausible = flag(record, FOLD_KEY(implausible)),
                                   .noisy = flag(record, FOLD_KEY(noisy))};
  FOLD_TRY(take_word(r, record, FOLD_KEY(why), &s->why));
  FOLD_TRY(take_word(r, record, FOLD_KEY(subject), &s->subject));
  FOLD_TRY(take_word(r, record, FOLD_KEY(dtype), &s->dtype));
  FOLD_TRY(take_word(r, record, FOLD_KEY(op), &s->op));
  return take_word(r, record, FOLD_KEY(setting), &s->setting);
}

static fold_status read_probe(struct reader *r, json_t *record) {
  struct fold_model *m = r->model;
  struct fold_model_probe *p = fold_model_grow(&m->probes, &m->n_probes, &m->room_probes, sizeof *p);
  if (p == NULL) return no_memory();
  *p = (struct fold_model_probe){.environment = r->environment,
                                 .bytes = fold_record_double(record, FOLD_KEY(bytes)),
                                 .workers = fold_record_double(record, FOLD_KEY(workers)),
                                 .head = fold_record_double(record, FOLD_KEY(head)),
                                 .agrees = flag(record, FOLD_KEY(rank_agreement)),
                                 .repeats = flag(record, FOLD_KEY(run_to_run))};
  FOLD_TRY(take_word(r, record, FOLD_KEY(subject), &p->subject));
  FOLD_TRY(take_word(r, record, FOLD_KEY(dtype), &p->dtype));
  FOLD_TRY(take_word(r, record, FOLD_KEY(generator), &p->generator));
  FOLD_TRY(take_word(r, record, FOLD_KEY(setting), &p->setting));
  return take_word(r, record, FOLD_KEY(letter), &p->letter);
}

/* The simulation records the worst relative error of its elements. */
static fold_status read_ranks(struct reader *r, json_t *record) {
  struct fold_model *m = r->model;
  struct fold_model_point *p = fold_model_grow(&m->ranks, &m->n_ranks, &m->room_ranks, sizeof *p);
  if (p == NULL) return no_memory();
  *p = (struct fold_model_point){.environment = r->environment,
                                 .n = fold_record_double(record, FOLD_KEY(ranks)),
                                 .error = fold_record_double(record, FOLD_KEY(error_relative_worst)),
                                 .ulps = fold_record_double(record, FOLD_KEY(error_ulps_worst)),
                                 .bound = fold_record_double(record, FOLD_KEY(bound_relative)),
                                 .probable = NAN,
                                 .condition = NAN};
  FOLD_TRY(take_word(r, record, FOLD_KEY(subject), &p->subject));
  FOLD_TRY(take_word(r, record, "", &p->engine));
  FOLD_TRY(take_word(r, record, FOLD_KEY(generator), &p->generator));
  FOLD_TRY(take_word(r, record, FOLD_KEY(dtype), &p->dtype));
  return take_word(r, record, FOLD_KEY(op), &p->op);
}

static fold_status read_world(struct reader *r, json_t *record) {
  struct fold_model *m = r->model;
  struct fold_model_world *w = fold_model_grow(&m->worlds, &m->n_worlds, &m->room_worlds, sizeof *w);
  if (w == NULL) return no_memory();
  *w = (struct fold_model_world){.ranks = fold_record_double(record, FOLD_KEY(ranks)),
                                 .elements = fold_record_double(record, FOLD_KEY(elements)),
                                 .worlds = fold_record_double(record, FOLD_KEY(worlds)),
                                 .changed = fold_record_double(record, FOLD_KEY(elements_changed)),
                                 .most_distinct = fold_record_double(record, FOLD_KEY(most_distinct))};
  FOLD_TRY(take_word(r, record, FOLD_KEY(subject), &w->subject));
  FOLD_TRY(take_word(r, record, FOLD_KEY(generator), &w->generator));
  return take_word(r, record, FOLD_KEY(dtype), &w->dtype);
}

/* Of a sum, errors and bounds are absolute; of a vector, the worst of its elements. */
static fold_status read_any_validation(struct reader *r, json_t *record, bool vector) {
  struct fold_model *m = r->model;
  struct fold_model_validation *v =
      fold_model_grow(&m->validations, &m->n_validations, &m->room_validations, sizeof *v);
  if (v == NULL) return no_memory();
  double error = fold_record_double(record, FOLD_KEY(error_abs)),
         join = fold_record_double(record, FOLD_KEY(join_error));
  *v = (struct fold_model_validation){
      .environment = r->environment,
      .vector = vector,
      .n = fold_record_double(record, FOLD_KEY(n)),
      .workers = fold_record_double(record, FOLD_KEY(workers)),
      .ulps = fold_record_double(record, vector ? FOLD_KEY(error_ulps_worst) : FOLD_KEY(error_ulps)),
      .relative = fold_record_double(record, vector ? FOLD_KEY(error_relative_worst) : FOLD_KEY(error_relative)),
      .fraction = vector       ? fold_record_double(record, FOLD_KEY(error_over_bound_worst))
                  : error == 0 ? 0
                               : error / fold_record_double(record, FOLD_KEY(bound)),
      .join = join == 0 ? 0 : join / fold_record_double(record, FOLD_KEY(join_bound)),
      .not_canonical = fold_record_double(record, FOLD_KEY(not_canonical)),
      .distance = fold_record_double(record, FOLD_KEY(distance_relative_worst)),
      .seed = read_seed(record)};
  FOLD_TRY(take_word(r, record, FOLD_KEY(subject), &v->subject));
  FOLD_TRY(take_word(r, record, FOLD_KEY(engine), &v->engine));
  FOLD_TRY(take_word(r, record, FOLD_KEY(dtype), &v->dtype));
  FOLD_TRY(take_word(r, record, FOLD_KEY(generator), &v->generator));
  FOLD_TRY(take_word(r, record, FOLD_KEY(library), &v->library));
  FOLD_TRY(take_word(r, record, FOLD_KEY(verdict), &v->verdict));
  FOLD_TRY(take_word(r, record, FOLD_KEY(note), &v->note));
  FOLD_TRY(take_word(r, record, FOLD_KEY(got), &v->got));
  FOLD_TRY(take_word(r, record, FOLD_KEY(one_rank), &v->one));
  return take_word(r, record, FOLD_KEY(promised_bits), &v->promised);
}

static fold_status read_validation(struct reader *r, json_t *record) { return read_any_validation(r, record, false); }
static fold_status read_validation_vector(struct reader *r, json_t *record) {
  return read_any_validation(r, record, true);
}

/* Reports leave out maps, which reveal prints, and the records that only docs/report.md uses. */
static fold_status pass_record(struct reader *r, json_t *record) {
  (void)r, (void)record;
  return fold_ok();
}

static const struct {
  const char *type;
  fold_status (*read)(struct reader *reader, json_t *record);
} kinds[] = {{"environment", read_environment},
             {"judgement", read_judgement},
             {"run", read_run},
             {"timing", read_timing},
             {"study", read_study},
             {"study_float64", pass_record},
             {"study_ranks", read_ranks},
             {"study_worlds", read_world},
             {"scaling", read_scaling},
             {"allreduce", read_message},
             {"validation", read_validation},
             {"validation_vector", read_validation_vector},
             {"messages", read_probe},
             {"map", pass_record}};

static fold_status take_record(void *context, json_t *record, size_t line) {
  const char *type = fold_record_text(record, FOLD_KEY(type));
  (void)line;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (strcmp(type, kinds[i].type) == 0) return kinds[i].read(context, record);
  return fold_error(FOLD_BAD_INPUT, "no type '%.40s' of record is known", type);
}

fold_status fold_model_read(struct fold_model *model, const char *path) {
  struct reader reader = {model, -1};
  struct fold_lines lines;
  FOLD_TRY(fold_lines_read(path, take_record, &reader, &lines));
  if (lines.altered[0]) return fold_error(FOLD_BAD_INPUT, "%.100s: %s", fold_path_tail(path), lines.altered);
  struct fold_model_file *at = fold_model_grow(&model->files, &model->n_files, &model->room_files, sizeof *at);
  if (at) *at = (struct fold_model_file){.path = strdup(path), .records = lines.records};
  if (at) memcpy(at->incomplete, lines.incomplete, sizeof at->incomplete);
  if (at == NULL || at->path == NULL) return no_memory();
  fold_model_arrange(model);
  return fold_ok();
}
