/* bench_world.c: asks ranks to lay, check and race; the harness's half of the timing loop. */
#include "bench_world.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bits.h"

/* What is judged before it is timed: small enough for the judges, more than one block of every method here. */
enum { SMALL_VECTOR = 4099, SMALL_SUM = (1 << 20) + 77, LONG_SUM = 1 << 22 };
enum { WARM_UP = 3, PILOT = 3 };
static const char *const judged_first = "writes_output,bounded,replays,correctly_rounded,rank_agreement";
static const char *const judged_at_size = "bounded,replays,correctly_rounded";

/* One shape in the making. */
struct sitting {
  const struct fold_registry *registry;
  const struct fold_world_options *options;
  const struct fold_world_shape *shape;
  struct fold_world *world;
  struct fold_world_timing *timing;
  size_t n;
  unsigned shares; /* of each subject that race: all alone for vectors */
  uint32_t in;     /* mask of entrants that race */
};

void fold_world_timing_refute(struct fold_world_timing *t, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(t->note, sizeof t->note, format, args);
  va_end(args);
  t->refuted++;
}

static void enter(struct sitting *s) {
  const struct fold_world_shape *shape = s->shape;
  for (size_t i = 0; i < s->registry->n; i++) {
    const struct fold_subject *subject = &s->registry->subjects[i];
    if (subject->engine != shape->engine || subject->vector != shape->vectors) continue;
    if (!fold_glob_match(s->options->subjects, subject->name)) continue;
    if (!(subject->dtypes >> shape->dtype & 1) || !(subject->ops >> shape->op & 1)) continue;
    struct fold_world_timing *t = &s->timing[s->n++];
    *t = (struct fold_world_timing){.subject = subject, .shape = *shape};
    for (int k = 0; k < FOLD_SHARES; k++) t->share[k] = (struct fold_span){NAN, NAN, NAN};
  }
}

static void count(struct fold_world_timing *t, const struct fold_claim *claim, const struct fold_finding *finding) {
  size_t *counts[FOLD_VERDICTS] = {&t->held, &t->refuted, &t->skipped, &t->broken};
  ++*counts[finding->verdict];
  if (finding->verdict != FOLD_HELD) snprintf(t->note, sizeof t->note, "%s: %.*s", claim->name, 150, finding->reason);
}

static fold_status count_judgement(void *context, const struct fold_judgement *j) {
  struct sitting *s = context;
  for (size_t k = 0; k < s->n; k++)
    if (s->timing[k].subject == j->subject) count(&s->timing[k], j->claim, &j->finding);
  return fold_ok();
}

static fold_status judge_small(struct sitting *s, const volatile int *stop) {
  const struct fold_world_shape *shape = s->shape;
  char name[] = "bench";
  size_t most = shape->vectors ? SMALL_VECTOR : SMALL_SUM, rows = shape->rows;
  struct fold_case c = {
      .name = name, .fixture = name, .dtype = shape->dtype, .op = shape->op, .rows = rows, .ranks = shape->ranks};
  if (shape->vectors && rows > most) c.rows = most;
  c.cols = shape->vectors ? shape->ranks : shape->cols;
  if (!shape->vectors && c.cols > most / (rows ? rows : 1)) c.cols = most / (rows ? rows : 1);
  c.source = (struct fold_source){s->options->generator, shape->dtype, s->options->seed, c.cols, 0};
  struct fold_cases cases = {&c, 1, 1};
  struct fold_selection selection = {
      .subjects = s->options->subjects, .engine = (int)shape->engine, .claims = judged_first};
  struct fold_sink sink = {count_judgement, NULL, s};
  return fold_verify(s->registry, &selection, &cases, NULL, &sink, stop);
}

/* Rank r's part of a subject's columns. */
static void fill_lay(const struct sitting *s, unsigned rank, struct wire_lay *lay) {
  const struct fold_world_shape *shape = s->shape;
  *lay = (struct wire_lay){.dtype = shape->dtype,
                           .op = shape->op,
                           .ranks = shape->ranks,
                           .vectors = shape->vectors,
                           .seed = s->options->seed,
                           .rows = shape->rows,
                           .all_cols = shape->cols,
                           .n_entrants = (uint32_t)s->n * s->shares,
                           .repeats = s->options->iterations};
  snprintf(lay->generator, sizeof lay->generator, "%s", s->options->generator->name);
  for (uint32_t k = 0; k < lay->n_entrants; k++) {
    const struct fold_subject *subject = s->timing[k / s->shares].subject;
    size_t grain = subject->grain ? subject->grain(shape->cols) : 1;
    struct wire_entrant *e = &lay->entrant[k];
    snprintf(e->subject, sizeof e->subject, "%s", subject->name);
    e->share = k % s->shares;
    e->first_col = fold_comm_cut(shape->cols, grain, (int)shape->ranks, (int)rank);
    e->cols = fold_comm_cut(shape->cols, grain, (int)shape->ranks, (int)rank + 1) - e->first_col;
  }
}

static fold_status lay(const struct sitting *s) {
  struct wire_lay *heads = calloc(s->shape->ranks, sizeof *heads);
  if (!heads) return fold_error(FOLD_NO_MEMORY, "not enough memory for %u ranks", s->shape->ranks);
  for (unsigned r = 0; r < s->shape->ranks; r++) fill_lay(s, r, &heads[r]);
  struct fold_question question = {
      .kind = WIRE_LAY, .head = heads, .head_bytes = sizeof *heads, .what = "making its part of the input"};
  fold_status status = fold_world_ask(s->world, 0, s->shape->ranks, &question, NULL);
  free(heads);
  return status;
}

/* The terms of the results that are looked at, as rows x cols: samples of a vector, or the whole of a sum. */
static fold_status make_terms(const struct sitting *s, size_t rows, size_t cols, unsigned char *to) {
  const struct fold_world_shape *shape = s->shape;
  size_t size = fold_dtype_size(shape->dtype);
  struct fold_source source = {s->options->generator, shape->dtype, s->options->seed,
                               shape->vectors ? FOLD_WIRE_VECTOR : shape->cols, 0};
  FOLD_TRY(fold_source_check(&source));
  if (!shape->vectors) {
    fold_generate_parallel(&source, 0, rows * cols, to, 0);
    return fold_ok();
  }
  for (size_t i = 0; i < rows; i++)
    for (size_t r = 0; r < cols; r++)
      fold_generate(&source, r * FOLD_WIRE_VECTOR + fold_wire_sample(shape->rows, (unsigned)i), 1,
                    to + (i * cols + r) * size);
  return fold_ok();
}

static void judge_trial(struct fold_trial *trial, struct fold_world_timing *t) {
  size_t n_claims;
  const struct fold_claim *claims = fold_claims(&n_claims);
  uint64_t promised = fold_claims_of(t->subject, t->shape.op);
  for (size_t k = 0; k < n_claims; k++) {
    struct fold_finding finding;
    if (!(promised >> claims[k].id & 1) || !fold_glob_match(judged_at_size, claims[k].name)) continue;
    fold_judge_claim(&claims[k], trial, &finding);
    count(t, &claims[k], &finding);
  }
}

/* The judges, on the results that the ranks sent of the timed input itself. */
static fold_status judge_at_size(const struct sitting *s, struct fold_world_timing *t, const uint64_t *sample) {
  const struct fold_world_shape *shape = s->shape;
  char name[] = "bench";
  unsigned char results[8 * FOLD_WIRE_SAMPLES], other[8 * FOLD_WIRE_SAMPLES];
  struct fold_case c = {
      .name = name, .fixture = name, .dtype = shape->dtype, .op = shape->op, .rows = 1, .ranks = shape->ranks};
  c.cols = shape->vectors ? shape->ranks : shape->cols;
  if (shape->vectors) c.rows = shape->rows < FOLD_WIRE_SAMPLES ? 0 : FOLD_WIRE_SAMPLES;
  if (c.rows == 0 || (!shape->vectors && (shape->rows != 1 || shape->cols > LONG_SUM))) return fold_ok();
  for (size_t i = 0; i < c.rows; i++) fold_bits_store(shape->dtype, results, i, sample[i]);
  struct fold_rig rig;
  struct fold_truths truths = {0};
  FOLD_TRY(fold_rig_open(&rig, FOLD_HOST, shape->dtype, c.rows * c.cols, c.rows));
  fold_status status = make_terms(s, c.rows, c.cols, fold_rig_input(&rig));
  if (status.code == FOLD_OK) status = fold_truths_open(&truths, &c, fold_rig_input(&rig));
  if (status.code == FOLD_OK) {
    struct fold_trial trial = {.registry = s->registry,
                               .subject = t->subject,
                               .c = &c,
                               .rig = &rig,
                               .truths = &truths,
                               .got = results,
                               .other = other};
    judge_trial(&trial, t);
    fold_truths_close(&truths);
  }
  fold_rig_close(&rig);
  return status;
}

/* What every rank made of the timed input, twice. */
static void judge_ranks(struct fold_world_timing *t, const struct wire_checked *checked) {
  t->hash = checked[0].hash;
  t->checked = true;
  for (unsigned r = 0; r < t->shape.ranks; r++) {
    if (checked[r].hash != checked[0].hash) {
      fold_world_timing_refute(t, "rank_agreement: rank %u has other bits than rank 0 at this size", r);
      return;
    }
    if (checked[r].again != checked[r].hash) {
      fold_world_timing_refute(t, "run_to_run: rank %u has other bits in a second run, or wrote not all of them", r);
      return;
    }
  }
  t->held++;
}

static fold_status check(const struct sitting *s, size_t k) {
  struct fold_world_timing *t = &s->timing[k];
  struct wire_check head = {.entrant = (uint32_t)(k * s->shares)};
  struct wire_checked *checked = calloc(s->shape->ranks, sizeof *checked);
  if (!checked) return fold_error(FOLD_NO_MEMORY, "not enough memory to check");
  struct fold_question question = {.kind = WIRE_CHECK,
                                   .head = &head,
                                   .one_head = true,
                                   .head_bytes = sizeof head,
                                   .answer_bytes = sizeof *checked,
                                   .what = t->subject->name};
  fold_status status = fold_world_ask(s->world, 0, s->shape->ranks, &question, checked);
  if (status.code == FOLD_OK) judge_ranks(t, checked);
  if (status.code == FOLD_OK && s->options->verify) status = judge_at_size(s, t, checked[0].sample);
  free(checked);
  return status;
}

static unsigned count_bits(uint32_t mask) { return (unsigned)__builtin_popcount(mask); }

/* `repeats` runs of each entrant; the slowest rank's times go to times[entrant * stride + at ...]. */
static fold_status race_some(const struct sitting *s, unsigned warm_up, unsigned repeats, double *times, size_t stride,
                             size_t at) {
  unsigned ranks = s->shape->ranks, n = count_bits(s->in);
  struct wire_race head = {.entrants = s->in, .warm_up = warm_up, .repeats = repeats, .round = (uint32_t)at};
  double *seconds = calloc((size_t)ranks * n * repeats + 1, sizeof *seconds);
  if (!seconds) return fold_error(FOLD_NO_MEMORY, "not enough memory for times");
  struct fold_question question = {.kind = WIRE_RACE,
                                   .head = &head,
                                   .one_head = true,
                                   .head_bytes = sizeof head,
                                   .answer_bytes = (size_t)n * repeats * sizeof *seconds,
                                   .what = "timed runs"};
  fold_status status = fold_world_ask(s->world, 0, ranks, &question, seconds);
  for (unsigned k = 0; status.code == FOLD_OK && k < n; k++)
    for (unsigned i = 0; i < repeats; i++) {
      double slowest = 0;
      for (unsigned r = 0; r < ranks; r++) slowest = fmax(slowest, seconds[((size_t)r * n + k) * repeats + i]);
      times[k * stride + at + i] = slowest;
    }
  free(seconds);
  return status;
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static struct fold_span span_of(double *times, size_t n) {
  qsort(times, n, sizeof *times, by_value);
  return (struct fold_span){times[lround(0.5 * (double)(n - 1))], times[lround(0.1 * (double)(n - 1))],
                            times[lround(0.9 * (double)(n - 1))]};
}

/* A few runs first: how many then fit into one question's time limit. */
static fold_status race(struct sitting *s, const volatile int *stop) {
  unsigned n = count_bits(s->in), iterations = s->options->iterations, done = PILOT < iterations ? PILOT : iterations;
  if (n == 0) return fold_ok();
  double *times = calloc((size_t)n * iterations, sizeof *times), round = 0;
  if (!times) return fold_error(FOLD_NO_MEMORY, "not enough memory for times");
  fold_status status = race_some(s, WARM_UP, done, times, iterations, 0);
  for (unsigned k = 0; k < n; k++) round += times[(size_t)k * iterations + done - 1];
  double fit = fmax(1, 0.25 * fold_world_limit(s->world) / fmax(round, 1e-9));
  unsigned most = fit < iterations ? (unsigned)fit : iterations;
  while (status.code == FOLD_OK && done < iterations && !*stop) {
    unsigned some = iterations - done < most ? iterations - done : most;
    status = race_some(s, 1, some, times, iterations, done);
    done += some;
  }
  for (uint32_t k = 0, place = 0; status.code == FOLD_OK && k < s->n * s->shares; k++)
    if (s->in >> k & 1)
      s->timing[k / s->shares].share[k % s->shares] = span_of(&times[(size_t)place++ * iterations], done);
  free(times);
  return status;
}

/* A subject that can't run here is noted and left out; a world that failed ends the bench. */
static fold_status check_all(struct sitting *s) {
  for (size_t k = 0; k < s->n; k++) {
    struct fold_world_timing *t = &s->timing[k];
    if (t->refuted || t->broken) continue;
    fold_status status = check(s, k);
    if (status.code == FOLD_UNSUPPORTED) {
      snprintf(t->note, sizeof t->note, "%.*s", (int)sizeof t->note - 1, status.text);
      continue;
    }
    FOLD_TRY(status);
    if (t->refuted || t->broken) continue;
    s->in |= ((1u << s->shares) - 1) << (k * s->shares);
  }
  return fold_ok();
}

fold_status fold_bench_world(const struct fold_registry *registry, const struct fold_world_options *options,
                             const struct fold_world_shape *shape, struct fold_world_timing *timing, size_t *n,
                             const volatile int *stop) {
  struct sitting s = {.registry = registry, .options = options, .shape = shape, .timing = timing};
  s.shares = shape->vectors ? 1 : FOLD_SHARES;
  *n = 0;
  FOLD_TRY(fold_world_of(shape->engine, &s.world));
  FOLD_TRY(fold_world_need(s.world, shape->ranks));
  enter(&s);
  *n = s.n;
  if (s.n == 0) return fold_ok();
  if (s.n * s.shares > FOLD_WIRE_ENTRANTS)
    return fold_error(FOLD_BAD_INPUT, "at most %u subjects can be timed in turn", FOLD_WIRE_ENTRANTS / s.shares);
  if (options->verify) FOLD_TRY(judge_small(&s, stop));
  if (*stop) return fold_ok();
  FOLD_TRY(lay(&s));
  FOLD_TRY(check_all(&s));
  return *stop ? fold_ok() : race(&s, stop);
}

/* GPUs have a memory each and are asked at once; hosts share theirs and are asked in turn. */
fold_status fold_bench_world_ceiling(enum fold_engine engine, size_t n_bytes, double *bytes_per_second) {
  struct fold_world *world;
  FOLD_TRY(fold_world_of(engine, &world));
  unsigned ranks = fold_world_ranks(world), at_once = engine == FOLD_NCCL ? ranks : 1;
  double *each = calloc(ranks, sizeof *each);
  if (!each) return fold_error(FOLD_NO_MEMORY, "not enough memory for %u ranks", ranks);
  struct wire_ceiling head = {.n_bytes = n_bytes};
  struct fold_question question = {.kind = WIRE_CEILING,
                                   .head = &head,
                                   .one_head = true,
                                   .head_bytes = sizeof head,
                                   .answer_bytes = sizeof *each,
                                   .what = "reading its memory"};
  fold_status status = fold_ok();
  for (unsigned r = 0; r < ranks && status.code == FOLD_OK; r += at_once)
    status = fold_world_ask(world, r, at_once, &question, &each[r]);
  *bytes_per_second = 0;
  for (unsigned r = 0; r < ranks; r++) *bytes_per_second = fmax(*bytes_per_second, each[r]);
  free(each);
  return status;
}
