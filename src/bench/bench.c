/* bench.c: the bench of one shape: which subjects take part, their judging before it, and the comparison of their times. */
#include <math.h>
#include <string.h>

#include "bench/race.h"

typedef fold_status race(const struct fold_bench_options *options, const struct fold_bench_shape *shape,
                         const struct fold_ceiling *ceiling, struct fold_timing *timing, size_t n,
                         const volatile int *stop);

/* Engines whose subjects are timed here; on the others the ranks time themselves (bench/world.c). */
static const struct {
  fold_status (*ready)(enum fold_engine engine);
  race *race;
} engines[FOLD_ENGINES] = {
    [FOLD_HOST] = {fold_engine_ready, fold_bench_host_race}, [FOLD_CUDA] = {fold_bench_race_ready, fold_bench_race}};

fold_status fold_bench_ready(enum fold_engine engine) {
  if (engines[engine].ready) return engines[engine].ready(engine);
  if (fold_engine_has_ranks(engine)) return fold_engine_ready(engine);
  return fold_error(FOLD_UNSUPPORTED, "subjects on %s are not timed", fold_engine_rows[engine].title);
}

static void compare(struct fold_timing *timing, size_t n, const char *peer) {
  double reference = NAN;
  for (size_t k = 0; k < n; k++)
    if (peer && strcmp(timing[k].subject->name, peer) == 0) reference = timing[k].median;
  for (size_t k = 0; k < n; k++) timing[k].to_peer = reference / timing[k].median;
}

struct verdicts {
  struct fold_timing *timing;
  size_t n;
};

static fold_status count_verdict(void *context, const struct fold_judgement *j) {
  const struct verdicts *verdicts = context;
  for (size_t k = 0; k < verdicts->n; k++) {
    struct fold_timing *t = &verdicts->timing[k];
    if (t->subject == j->subject) fold_judged_count(&t->judged, j->claim->name, &j->finding);
  }
  return fold_ok();
}

/* A host replays so many terms in some seconds. The order of more is judged at the smaller shapes of a bench. */
static const double REPLAYED = 0x1p33;

static bool is_replayed(const struct fold_bench_shape *shape) {
  return (double)fold_results(shape->problem, &shape->shape) * (double)shape->shape.k <= REPLAYED;
}

/* The claims about results, judged on an input of the same recipe as slot 0's: the same bits where k is the last axis
 * of each input. */
static fold_status judge_first(const struct fold_registry *registry, const struct fold_bench_options *options,
                               const struct fold_bench_shape *shape, struct fold_timing *timing, size_t n,
                               const volatile int *stop) {
  char name[] = "bench";
  struct fold_case c = {
      .name = name, .file = name, .dtype = shape->dtype, .problem = shape->problem, .shape = shape->shape};
  c.source = fold_bench_source(options, shape, 0);
  struct fold_cases cases = {&c, 1, 1};
  struct fold_selection selection = {.subjects = options->subjects,
                                     .engine = (int)options->engine,
                                     .claims = is_replayed(shape)
                                                   ? "writes_output,bounded,compensated,replays,correctly_rounded"
                                                   : "writes_output,bounded,compensated,correctly_rounded"};
  struct verdicts verdicts = {timing, n};
  struct fold_sink sink = {.judgement = count_verdict, .context = &verdicts};
  return fold_verify(registry, &selection, &cases, NULL, &sink, stop);
}

static bool takes(const struct fold_subject *subject, const struct fold_bench_options *options,
                  const struct fold_bench_shape *shape) {
  return subject->engine == options->engine && fold_glob_match(options->subjects, subject->name) &&
         (subject->dtypes >> shape->dtype & 1) && (subject->problems >> shape->problem->id & 1);
}

/* What a call must move at least: each input once, also one that all rows share, and the results. */
static double bytes_of(const struct fold_subject *subject, const struct fold_bench_shape *shape) {
  const struct fold_problem *problem = shape->problem;
  double elements = 0;
  for (unsigned k = 0; k < problem->inputs; k++) elements += (double)fold_elements(problem, &shape->shape, k);
  return elements * (double)fold_dtype_size(shape->dtype) +
         (double)fold_results(problem, &shape->shape) *
             (double)fold_dtype_size(fold_subject_result(subject, shape->dtype));
}

static void enter(const struct fold_subject *subject, const struct fold_bench_options *options,
                  const struct fold_bench_shape *shape, struct fold_timing *timing, size_t *n) {
  if (!takes(subject, options, shape)) return;
  timing[(*n)++] = (struct fold_timing){.subject = subject,
                                        .shape = *shape,
                                        .calls = 1,
                                        .median = NAN,
                                        .p10 = NAN,
                                        .p90 = NAN,
                                        .bytes_per_second = NAN,
                                        .of_ceiling = NAN,
                                        .bytes = bytes_of(subject, shape)};
}

fold_status fold_bench_shape(const struct fold_registry *registry, const struct fold_bench_options *options,
                             const struct fold_bench_shape *shape, const struct fold_ceiling *ceiling,
                             struct fold_timing *timing, size_t *n, const volatile int *stop) {
  *n = 0;
  for (size_t i = 0; i < registry->n; i++) enter(&registry->subjects[i], options, shape, timing, n);
  if (options->verify && *n > 0) FOLD_TRY(judge_first(registry, options, shape, timing, *n, stop));
  if (!*stop) FOLD_TRY(engines[options->engine].race(options, shape, ceiling, timing, *n, stop));
  compare(timing, *n, options->peer);
  return fold_ok();
}
