/* bench.c: the timing loop on a CUDA device. */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/bench.h"
#include "cuda/device.h"
#include "cuda/cuda_generate.h"

enum { WARM_UP = 3, POOL = 256 << 20, ALIGN = 256 };

/* A pair of events around each timed run. */
struct clock {
  void **begin, **end;
  double *seconds;
  unsigned n;
};

static void close_clock(struct clock *clock) {
  for (unsigned i = 0; i < clock->n; i++) {
    if (clock->begin && clock->begin[i]) (void)fold_device_event_destroy(clock->begin[i]);
    if (clock->end && clock->end[i]) (void)fold_device_event_destroy(clock->end[i]);
  }
  free(clock->begin);
  free(clock->end);
  free(clock->seconds);
  *clock = (struct clock){0};
}

static fold_status open_clock(struct clock *clock, unsigned n) {
  *clock = (struct clock){.begin = calloc(n, sizeof(void *)),
                          .end = calloc(n, sizeof(void *)),
                          .seconds = calloc(n, sizeof(double)),
                          .n = n};
  fold_status status = fold_ok();
  if (!clock->begin || !clock->end || !clock->seconds)
    status = fold_error(FOLD_NO_MEMORY, "not enough memory for events");
  for (unsigned i = 0; i < n && status.code == FOLD_OK; i++) {
    status = fold_device_event_create(&clock->begin[i]);
    if (status.code == FOLD_OK) status = fold_device_event_create(&clock->end[i]);
  }
  if (status.code != FOLD_OK) close_clock(clock);
  return status;
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Reads the events and sorts the seconds. */
static fold_status read_clock(struct clock *clock) {
  FOLD_TRY(fold_device_synchronize());
  for (unsigned i = 0; i < clock->n; i++)
    FOLD_TRY(fold_device_event_elapsed(clock->begin[i], clock->end[i], &clock->seconds[i]));
  qsort(clock->seconds, clock->n, sizeof(double), by_value);
  return fold_ok();
}

/* The q quantile of sorted seconds. */
static double quantile(const struct clock *clock, double q) {
  return clock->seconds[(unsigned)lround(q * (double)(clock->n - 1))];
}

static fold_status time_read(int shape, const void *d_in, size_t nbytes, void *d_sink, struct clock *clock) {
  for (unsigned i = 0; i < clock->n; i++) {
    FOLD_TRY(fold_device_event_record(clock->begin[i], NULL));
    FOLD_TRY(fold_cuda_read(shape, d_in, nbytes, d_sink, NULL));
    FOLD_TRY(fold_device_event_record(clock->end[i], NULL));
  }
  return read_clock(clock);
}

fold_status fold_bench_ceiling(size_t nbytes, unsigned iterations, double *bytes_per_second, const char **shape) {
  void *d_in = NULL, *d_sink = NULL;
  struct clock clock = {0};
  *bytes_per_second = 0;
  fold_status status = fold_device_alloc(&d_in, nbytes);
  if (status.code == FOLD_OK) status = fold_device_alloc(&d_sink, ALIGN);
  if (status.code == FOLD_OK) status = fold_device_set(d_in, 0x3c, nbytes, NULL);
  if (status.code == FOLD_OK) status = open_clock(&clock, iterations);
  for (int s = 0; s < fold_cuda_read_shapes() && status.code == FOLD_OK; s++) {
    status = time_read(s, d_in, nbytes, d_sink, &clock);
    if (status.code != FOLD_OK || (double)nbytes / quantile(&clock, 0.5) <= *bytes_per_second) continue;
    *bytes_per_second = (double)nbytes / quantile(&clock, 0.5);
    *shape = fold_cuda_read_shape(s);
  }
  close_clock(&clock);
  (void)fold_device_free(d_in);
  (void)fold_device_free(d_sink);
  return status;
}

/* Inputs of one shape, one after another, `slots` of them, `stride` bytes apart. */
struct pool {
  unsigned char *d_in, *d_out;
  size_t slots, stride;
};

static fold_status fill_pool(struct pool *pool, const struct fold_bench_options *options,
                             const struct fold_bench_shape *shape) {
  size_t n = shape->rows * shape->cols;
  for (size_t k = 0; k < pool->slots; k++) {
    struct fold_source source = {options->generator, shape->dtype, options->seed + k, shape->cols, 0};
    FOLD_TRY(fold_cuda_generate(&source, 0, n, pool->d_in + k * pool->stride, NULL));
  }
  return fold_device_synchronize();
}

static void close_pool(struct pool *pool) {
  (void)fold_device_free(pool->d_in);
  (void)fold_device_free(pool->d_out);
}

/* As many inputs as make several times the L2; one where the input alone is. At most 4096: tiny inputs come from the L2
 * in life as well. */
static fold_status open_pool(struct pool *pool, const struct fold_bench_options *options,
                             const struct fold_bench_shape *shape) {
  size_t size = fold_dtype_size(shape->dtype), nbytes = shape->rows * shape->cols * size;
  *pool = (struct pool){.stride = (nbytes + ALIGN) / ALIGN * ALIGN};
  pool->slots = POOL / pool->stride + 1;
  if (pool->slots > 4096) pool->slots = 4096;
  FOLD_TRY(fold_device_alloc((void **)&pool->d_in, pool->slots * pool->stride));
  fold_status status = fold_device_alloc((void **)&pool->d_out, shape->rows * size + ALIGN);
  if (status.code == FOLD_OK) status = fill_pool(pool, options, shape);
  if (status.code != FOLD_OK) close_pool(pool);
  return status;
}

struct contender {
  struct fold_timing *timing;
  struct clock clock;
  void *d_scratch;
  bool runs;
};

static fold_status run_once(const struct contender *contender, const struct pool *pool, size_t slot) {
  const struct fold_bench_shape *shape = &contender->timing->shape;
  struct fold_call call = {.dtype = shape->dtype,
                           .op = shape->op,
                           .rows = shape->rows,
                           .cols = shape->cols,
                           .in = pool->d_in + slot % pool->slots * pool->stride,
                           .out = pool->d_out,
                           .scratch = contender->d_scratch};
  return contender->timing->subject->run(contender->timing->subject, &call);
}

static fold_status open_contender(struct contender *contender, const struct pool *pool, unsigned iterations) {
  const struct fold_bench_shape *shape = &contender->timing->shape;
  const struct fold_subject *subject = contender->timing->subject;
  struct fold_call call = {.dtype = shape->dtype,
                           .op = shape->op,
                           .rows = shape->rows,
                           .cols = shape->cols,
                           .in = pool->d_in,
                           .out = pool->d_out};
  size_t need = subject->scratch ? subject->scratch(subject, &call) : 0;
  if (need > 0) {
    if (need < FOLD_SCRATCH_ZEROED) need = FOLD_SCRATCH_ZEROED;
    FOLD_TRY(fold_device_alloc(&contender->d_scratch, need));
    FOLD_TRY(fold_device_set(contender->d_scratch, 0, FOLD_SCRATCH_ZEROED, NULL));
  }
  for (unsigned i = 0; i < WARM_UP; i++) FOLD_TRY(run_once(contender, pool, i));
  FOLD_TRY(fold_device_synchronize());
  return open_clock(&contender->clock, iterations);
}

static void close_contender(struct contender *contender) {
  close_clock(&contender->clock);
  (void)fold_device_free(contender->d_scratch);
}

/* All contenders in turn, again and again. */
static fold_status race(struct contender *contenders, size_t n, const struct pool *pool, unsigned iterations,
                        const volatile int *stop) {
  for (unsigned i = 0; i < iterations && !*stop; i++)
    for (size_t k = 0; k < n; k++) {
      if (!contenders[k].runs) continue;
      FOLD_TRY(fold_device_event_record(contenders[k].clock.begin[i], NULL));
      FOLD_TRY(run_once(&contenders[k], pool, (size_t)i * n + k));
      FOLD_TRY(fold_device_event_record(contenders[k].clock.end[i], NULL));
    }
  return fold_device_synchronize();
}

static fold_status conclude(struct contender *contender, double ceiling) {
  struct fold_timing *t = contender->timing;
  if (!contender->runs) return fold_ok();
  FOLD_TRY(read_clock(&contender->clock));
  t->median = quantile(&contender->clock, 0.5);
  t->p10 = quantile(&contender->clock, 0.1);
  t->p90 = quantile(&contender->clock, 0.9);
  t->bytes_per_second = t->bytes / t->median;
  t->of_ceiling = t->bytes_per_second / ceiling;
  /* Both are medians of one run: what lies above by no more than the subject's own spread is the ceiling itself. */
  t->implausible = t->bytes / t->p90 > ceiling;
  return fold_ok();
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
    if (t->subject != j->subject) continue;
    size_t *counts[FOLD_VERDICTS] = {&t->held, &t->refuted, &t->skipped, &t->broken};
    ++*counts[j->finding.verdict];
    if (j->finding.verdict != FOLD_HELD)
      snprintf(t->note, sizeof t->note, "%s: %.*s", j->claim->name, 130, j->finding.reason);
  }
  return fold_ok();
}

/* The claims that say what a result must be, judged on the very input of slot 0. */
static fold_status judge_first(const struct fold_registry *registry, const struct fold_bench_options *options,
                               const struct fold_bench_shape *shape, struct fold_timing *timing, size_t n,
                               const volatile int *stop) {
  char name[] = "bench";
  struct fold_case c = {
      .name = name, .fixture = name, .dtype = shape->dtype, .op = shape->op, .rows = shape->rows, .cols = shape->cols};
  c.source = (struct fold_source){options->generator, shape->dtype, options->seed, shape->cols, 0};
  struct fold_cases cases = {&c, 1, 1};
  struct fold_selection selection = {
      .subjects = options->subjects, .engine = FOLD_CUDA, .claims = "writes_output,bounded,replays,correctly_rounded"};
  struct verdicts verdicts = {timing, n};
  struct fold_sink sink = {count_verdict, NULL, &verdicts};
  return fold_verify(registry, &selection, &cases, NULL, &sink, stop);
}

static bool takes(const struct fold_subject *subject, const struct fold_bench_options *options,
                  const struct fold_bench_shape *shape) {
  return subject->engine == FOLD_CUDA && fold_glob_match(options->subjects, subject->name) &&
         (subject->dtypes >> shape->dtype & 1) && (subject->ops >> shape->op & 1);
}

static size_t enter(const struct fold_registry *registry, const struct fold_bench_options *options,
                    const struct fold_bench_shape *shape, struct fold_timing *timing) {
  size_t n = 0;
  for (size_t i = 0; i < registry->n; i++) {
    if (!takes(&registry->subjects[i], options, shape)) continue;
    double terms = (double)shape->rows * (double)(shape->cols + 1);
    timing[n++] = (struct fold_timing){.subject = &registry->subjects[i],
                                       .shape = *shape,
                                       .median = NAN,
                                       .p10 = NAN,
                                       .p90 = NAN,
                                       .bytes_per_second = NAN,
                                       .of_ceiling = NAN,
                                       .bytes = terms * (double)fold_dtype_size(shape->dtype)};
  }
  return n;
}

/* A subject that can't run here is noted and left out; only what breaks the device ends the bench. */
static void start(struct contender *contender, const struct pool *pool, unsigned iterations) {
  struct fold_timing *t = contender->timing;
  contender->runs = t->refuted == 0 && t->broken == 0;
  if (!contender->runs) return;
  fold_status status = open_contender(contender, pool, iterations);
  if (status.code == FOLD_OK) return;
  contender->runs = false;
  snprintf(t->note, sizeof t->note, "%.*s", (int)sizeof t->note - 1, status.text);
}

static fold_status race_shape(const struct fold_bench_options *options, const struct fold_bench_shape *shape,
                              double ceiling, struct fold_timing *timing, size_t n, const volatile int *stop) {
  struct pool pool;
  struct contender *contenders = calloc(n + 1, sizeof *contenders);
  if (contenders == NULL) return fold_error(FOLD_NO_MEMORY, "not enough memory for %zu subjects", n);
  fold_status status = open_pool(&pool, options, shape);
  if (status.code == FOLD_OK) {
    for (size_t k = 0; k < n; k++) {
      contenders[k].timing = &timing[k];
      start(&contenders[k], &pool, options->iterations);
    }
    status = race(contenders, n, &pool, options->iterations, stop);
    for (size_t k = 0; k < n && status.code == FOLD_OK && !*stop; k++) status = conclude(&contenders[k], ceiling);
    for (size_t k = 0; k < n; k++) close_contender(&contenders[k]);
    close_pool(&pool);
  }
  free(contenders);
  return status;
}

fold_status fold_bench_shape(const struct fold_registry *registry, const struct fold_bench_options *options,
                             const struct fold_bench_shape *shape, double ceiling, struct fold_timing *timing,
                             size_t *n, const volatile int *stop) {
  *n = enter(registry, options, shape, timing);
  if (options->verify && *n > 0) FOLD_TRY(judge_first(registry, options, shape, timing, *n, stop));
  if (!*stop) FOLD_TRY(race_shape(options, shape, ceiling, timing, *n, stop));
  compare(timing, *n, options->peer);
  return fold_ok();
}
