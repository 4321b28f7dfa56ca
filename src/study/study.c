/* study.c: runs subjects on inputs. */
#include "study/study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "oracles/order.h"

/* Whether the subject takes the case. Errors are compared in units of the last place, so all results must have one dtype. Early versions of
 * kernels are left out if another subject has their order. */
static bool takes(const struct fold_subject *subject, const struct fold_study_case *c) {
  return (c->engines >> subject->engine & 1) && (subject->dtypes >> c->dtype & 1) && (subject->problems >> c->op & 1) &&
         strchr(subject->name, '@') == NULL && fold_subject_result(subject, c->dtype) == c->dtype;
}

/* A cache of heights: a walk over a billion leaves takes seconds, and many subjects share orders and sizes. */
enum { MOST_HEIGHTS = 64 };
struct heights {
  struct {
    const struct fold_order *order;
    size_t n;
    uint64_t height;
  } at[MOST_HEIGHTS];
  size_t n;
};

/* One input while it is studied, in the memory of each engine that runs on it. */
struct input {
  const struct fold_study_case *c;
  struct heights *heights;
  struct fold_source source;
  struct fold_rig rig[FOLD_ENGINES];
  bool open[FOLD_ENGINES];
  bool truth_known;
  fold_status truth_status;
  struct fold_truth truth;
};

static fold_status open_rig(struct input *input, enum fold_engine engine) {
  const struct fold_study_case *c = input->c;
  if (input->open[engine]) return input->truth_status;
  FOLD_TRY(fold_rig_open_rows(&input->rig[engine], engine, c->op, c->dtype, c->n, 1));
  input->open[engine] = true;
  void *terms = fold_rig_input(&input->rig[engine]);
  fold_generate_parallel(&input->source, 0, c->n, terms, 0);
  FOLD_TRY(fold_rig_load(&input->rig[engine]));
  if (!input->truth_known) input->truth_status = fold_oracle_exact(c->dtype, c->op, terms, c->n, 0, &input->truth);
  input->truth_known = true;
  return input->truth_status;
}

static void close_input(struct input *input) {
  for (int e = 0; e < FOLD_ENGINES; e++)
    if (input->open[e]) fold_rig_close(&input->rig[e]);
  fold_truth_free(&input->truth);
}

static fold_status append(struct fold_study *study, const struct fold_study_point *point) {
  struct fold_study_point *added = fold_list_grow(&study->at, &study->n, &study->capacity, sizeof *added);
  if (added == NULL) return fold_no_memory("for %zu points", study->n + 1);
  *added = *point;
  return fold_ok();
}

void fold_study_free(struct fold_study *study) {
  free(study->at);
  *study = (struct fold_study){0};
}

/* The tree's height is a function of order and n alone; sorting relabels the leaves. */
static fold_status height_of(struct heights *heights, struct fold_study_point *point, const void *terms) {
  const struct fold_study_case *c = &point->c;
  const struct fold_order *order = point->subject->order ? fold_order_find(point->subject->order) : NULL;
  point->height = c->n > 0 ? c->n - 1 : 0;
  if (order == NULL) return fold_ok();
  for (size_t k = 0; k < heights->n && k < MOST_HEIGHTS; k++)
    if (heights->at[k].order == order && heights->at[k].n == c->n) {
      point->height = heights->at[k].height;
      return fold_ok();
    }
  FOLD_TRY(fold_order_height(order, c->dtype, terms, c->n, &point->height));
  size_t place = heights->n++ % MOST_HEIGHTS;
  heights->at[place].order = order;
  heights->at[place].n = c->n;
  heights->at[place].height = point->height;
  return fold_ok();
}

/* A poison that is no subject's result. */
enum { POISON = 0xa5 };

static fold_status run_subject(struct input *input, struct fold_study_point *point) {
  const struct fold_study_case *c = input->c;
  struct fold_rig *rig = &input->rig[point->subject->engine];
  struct fold_request request = {.rows = 1, .cols = c->n, .poison = POISON};
  struct fold_traces traces;
  uint64_t room = 0;
  FOLD_TRY(fold_rig_run(rig, point->subject, &request, &room, &traces));
  if (traces.unwritten) return fold_error(FOLD_ENVIRONMENT, "%s wrote no result", point->subject->name);
  memcpy(&point->got, &room, sizeof room);
  return height_of(input->heights, point, fold_rig_input(rig));
}

/* A point without a result says why; a failure of the engine counts as broken. */
static void explain(struct fold_study *study, struct fold_study_point *point, fold_status status) {
  point->ran = status.code == FOLD_OK;
  snprintf(point->note, sizeof point->note, "%.*s", (int)sizeof point->note - 1, status.text);
  study->broken += status.code == FOLD_ENVIRONMENT;
}

static fold_status study_subject(struct input *input, const struct fold_subject *subject, struct fold_study *study,
                                 const struct fold_study_sink *sink) {
  struct fold_study_point point = {.c = *input->c, .subject = subject};
  point.exact = point.abs_sum = point.condition = point.error = point.ulps = NAN;
  point.relative = point.bound = point.probabilistic = NAN;
  fold_status status = open_rig(input, subject->engine);
  if (status.code != FOLD_OK && fold_engine_is_here(subject->engine)) return status;
  if (status.code == FOLD_OK) status = run_subject(input, &point);
  explain(study, &point, status);
  if (point.ran) fold_study_measure(&point, &input->truth);
  FOLD_TRY(append(study, &point));
  return sink->point ? sink->point(sink->context, &point) : fold_ok();
}

/* Progress in elements: each subject of a case counts its share of the case's elements. */
struct progress {
  const struct fold_study_sink *sink;
  size_t done, all;
};

static void show(const struct progress *progress, const struct fold_study_case *c, size_t subject, size_t subjects) {
  char what[80];
  if (progress->sink->progress == NULL) return;
  snprintf(what, sizeof what, "elements; %s %s %s", c->generator->name, fold_dtype_name(c->dtype), fold_op_name(c->op));
  size_t part = (size_t)((double)c->n * (double)subject / (double)subjects);
  progress->sink->progress(progress->sink->context, progress->done + part, progress->all, what);
}

static fold_status study_case(const struct fold_registry *registry, const struct fold_study_case *c,
                              struct heights *heights, struct fold_study *study, const struct progress *progress,
                              const volatile int *stop) {
  struct input input = {.c = c, .heights = heights, .source = {c->generator, c->dtype, c->seed, c->n, 0}};
  fold_truth_init(&input.truth);
  fold_status status = fold_source_check(&input.source);
  for (size_t i = 0; i < registry->n && status.code == FOLD_OK && !*stop; i++) {
    if (!takes(&registry->subjects[i], c)) continue;
    show(progress, c, i, registry->n);
    status = study_subject(&input, &registry->subjects[i], study, progress->sink);
  }
  close_input(&input);
  return fold_within(status, "%s %s %s, n %zu", c->generator->name, fold_dtype_name(c->dtype), fold_op_name(c->op),
                     c->n);
}

fold_status fold_study_run(const struct fold_registry *registry, const struct fold_study_case *cases, size_t n_cases,
                           struct fold_study *study, const struct fold_study_sink *sink, const volatile int *stop) {
  struct progress progress = {.sink = sink};
  struct heights heights = {.n = 0};
  for (size_t k = 0; k < n_cases; k++) progress.all += cases[k].n;
  for (size_t k = 0; k < n_cases && !*stop; k++) {
    FOLD_TRY(study_case(registry, &cases[k], &heights, study, &progress, stop));
    progress.done += cases[k].n;
  }
  return fold_ok();
}

const struct fold_study_point *fold_study_find(const struct fold_study *study, const struct fold_study_case *c,
                                               enum fold_engine engine, const char *subject) {
  for (size_t i = 0; i < study->n; i++) {
    const struct fold_study_point *p = &study->at[i];
    if (p->c.generator == c->generator && p->c.dtype == c->dtype && p->c.op == c->op && p->c.n == c->n &&
        p->c.seed == c->seed && p->subject->engine == engine && strcmp(p->subject->name, subject) == 0)
      return p;
  }
  return NULL;
}
