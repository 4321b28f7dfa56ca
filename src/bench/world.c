/* bench/world.c: the harness's side of the timing loop: asks ranks to make inputs, check results and time runs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/list.h"
#include "bench/bench.h"
#include "bench/world_race.h"

enum { WARM_UP = 3, PILOT = 3 };

static void enter(struct fold_world_race *s) {
  const struct fold_world_shape *shape = s->shape;
  for (size_t i = 0; i < s->registry->n; i++) {
    const struct fold_subject *subject = &s->registry->subjects[i];
    if (subject->engine != shape->engine || subject->vector != shape->vectors) continue;
    if (!fold_glob_match(s->options->subjects, subject->name)) continue;
    if (!(subject->dtypes >> shape->dtype & 1) || !(subject->problems >> shape->op & 1)) continue;
    if (fold_subject_result(subject, shape->dtype) != shape->dtype) continue; /* results are compared in that dtype */
    struct fold_world_timing *t = &s->timing[s->n++];
    *t = (struct fold_world_timing){.subject = subject, .shape = *shape};
    for (int k = 0; k < FOLD_SHARES; k++) t->share[k] = (struct fold_span){NAN, NAN, NAN};
  }
}

/* Describes rank r's part of the columns. */
static void fill_lay(const struct fold_world_race *s, const struct fold_generator *generator, unsigned repeats,
                     unsigned rank, struct fold_wire_lay *lay) {
  const struct fold_world_shape *shape = s->shape;
  *lay = (struct fold_wire_lay){.dtype = shape->dtype,
                                .op = shape->op,
                                .ranks = shape->ranks,
                                .vectors = shape->vectors,
                                .seed = s->options->seed,
                                .rows = shape->rows,
                                .all_cols = shape->cols,
                                .n_entrants = (uint32_t)s->n * s->shares,
                                .repeats = repeats};
  snprintf(lay->generator, sizeof lay->generator, "%s", generator->name);
  for (uint32_t k = 0; k < lay->n_entrants; k++) {
    const struct fold_subject *subject = s->timing[k / s->shares].subject;
    size_t grain = subject->grain ? subject->grain(shape->cols) : 1;
    struct fold_wire_entrant *e = &lay->entrant[k];
    snprintf(e->subject, sizeof e->subject, "%s", subject->name);
    e->share = k % s->shares;
    e->first_col = fold_comm_cut(shape->cols, grain, (int)shape->ranks, (int)rank);
    e->cols = fold_comm_cut(shape->cols, grain, (int)shape->ranks, (int)rank + 1) - e->first_col;
  }
}

/* Lays an input. With no repeats it can be checked, but not raced. */
static fold_status lay(const struct fold_world_race *s, const struct fold_generator *generator, unsigned repeats) {
  struct fold_wire_lay *heads = calloc(s->shape->ranks, sizeof *heads);
  if (!heads) return fold_no_memory("for %u ranks", s->shape->ranks);
  for (unsigned r = 0; r < s->shape->ranks; r++) fill_lay(s, generator, repeats, r, &heads[r]);
  struct fold_question question = {
      .kind = WIRE_LAY, .head = heads, .head_bytes = sizeof *heads, .what = "making its part of the input"};
  fold_status status = fold_world_ask(s->world, 0, s->shape->ranks, &question, NULL);
  free(heads);
  return status;
}

static unsigned count_bits(uint32_t mask) { return (unsigned)__builtin_popcount(mask); }

/* Runs each entrant `repeats` times; the times of the slowest rank go to times[entrant * stride + at ...]. */
static fold_status race_some(const struct fold_world_race *s, unsigned warm_up, unsigned repeats, double *times,
                             size_t stride, size_t at) {
  unsigned ranks = s->shape->ranks, n = count_bits(s->in);
  struct fold_wire_race head = {.entrants = s->in, .warm_up = warm_up, .repeats = repeats, .round = (uint32_t)at};
  double *seconds = calloc((size_t)ranks * n * repeats + 1, sizeof *seconds);
  if (!seconds) return fold_no_memory("for times");
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
      for (unsigned r = 0; r < ranks; r++) {
        double own = seconds[((size_t)r * n + k) * repeats + i];
        if (!(own <= slowest)) slowest = own; /* a NaN stays, and is refused later */
        if (isnan(slowest)) break;
      }
      times[k * stride + at + i] = slowest;
    }
  free(seconds);
  return status;
}

static struct fold_span span_of(double *times, size_t n) {
  fold_list_rise(times, n);
  return (struct fold_span){fold_bench_quantile(times, n, 0.5), fold_bench_quantile(times, n, 0.1),
                            fold_bench_quantile(times, n, 0.9)};
}

/* The figures of one subject. fold_world_pair compares times round by round, so it must come before span_of, which sorts them. */
static void conclude(const struct fold_world_race *s, size_t k, double *times, size_t stride, unsigned done) {
  struct fold_world_timing *t = &s->timing[k];
  t->rounds = done;
  for (unsigned share = 1; share < s->shares; share++)
    t->below[share] = fold_world_pair(times, times + share * stride, done);
  for (unsigned share = 0; share < s->shares; share++) t->share[share] = span_of(times + share * stride, done);
}

/* A few runs first tell how many fit into one question's time limit. */
static fold_status race(struct fold_world_race *s, const volatile int *stop) {
  unsigned n = count_bits(s->in), iterations = s->options->iterations, done = PILOT < iterations ? PILOT : iterations;
  if (n == 0) return fold_ok();
  double *times = calloc((size_t)n * iterations, sizeof *times), round = 0;
  if (!times) return fold_no_memory("for times");
  fold_status status = race_some(s, WARM_UP, done, times, iterations, 0);
  for (unsigned k = 0; k < n; k++) round += times[(size_t)k * iterations + done - 1];
  double fit = fmax(1, 0.25 * fold_world_limit(s->world) / fmax(round, 1e-9));
  unsigned most = fit < iterations ? (unsigned)fit : iterations;
  while (status.code == FOLD_OK && done < iterations && !*stop) {
    unsigned some = iterations - done < most ? iterations - done : most;
    status = race_some(s, 1, some, times, iterations, done);
    done += some;
  }
  double *own = times;
  for (size_t k = 0; status.code == FOLD_OK && k < s->n; k++) {
    if (!(s->in >> k * s->shares & 1)) continue; /* either all shares of a subject run, or none */
    conclude(s, k, own, iterations, done);
    own += (size_t)s->shares * iterations;
  }
  free(times);
  return status;
}

typedef fold_status check_one(const struct fold_world_race *s, size_t k, const volatile int *stop);

/* A subject that can't run here is left out with a note; a failed world ends the bench. */
static fold_status check_all(struct fold_world_race *s, check_one *check, const volatile int *stop) {
  s->in = 0;
  for (size_t k = 0; k < s->n && !*stop; k++) {
    struct fold_world_timing *t = &s->timing[k];
    if (!fold_judged_may_run(&t->judged)) continue;
    fold_status status = check(s, k, stop);
    if (status.code == FOLD_UNSUPPORTED) {
      snprintf(t->judged.note, sizeof t->judged.note, "%.*s", (int)sizeof t->judged.note - 1, status.text);
      continue;
    }
    FOLD_TRY(status);
    if (!fold_judged_may_run(&t->judged)) continue;
    s->in |= ((1u << s->shares) - 1) << (k * s->shares);
  }
  return fold_ok();
}

fold_status fold_bench_world(const struct fold_registry *registry, const struct fold_world_options *options,
                             const struct fold_world_shape *shape, struct fold_world_timing *timing, size_t *n,
                             const volatile int *stop) {
  struct fold_world_race s = {.registry = registry, .options = options, .shape = shape, .timing = timing};
  s.shares = shape->vectors ? 1 : FOLD_SHARES;
  *n = 0;
  if (!shape->vectors && shape->rows != 1) return fold_error(FOLD_BAD_INPUT, "sums are timed one at a time");
  FOLD_TRY(fold_world_of(shape->engine, &s.world));
  FOLD_TRY(fold_world_need(s.world, shape->ranks));
  enter(&s);
  *n = s.n;
  if (s.n == 0) return fold_ok();
  if (s.n * s.shares > FOLD_WIRE_ENTRANTS)
    return fold_error(FOLD_BAD_INPUT, "at most %u subjects can be timed together", FOLD_WIRE_ENTRANTS / s.shares);
  if (options->verify) FOLD_TRY(fold_world_race_judge_small(&s, stop));
  const struct fold_generator *integers = fold_world_race_integers(&s);
  if (integers && !*stop) {
    FOLD_TRY(lay(&s, integers, 0));
    FOLD_TRY(check_all(&s, fold_world_race_check_integers, stop));
  }
  FOLD_TRY(fold_world_race_make_sums(&s, stop));
  if (*stop) return fold_ok();
  FOLD_TRY(lay(&s, options->generator, options->iterations));
  FOLD_TRY(check_all(&s, fold_world_race_check, stop));
  return *stop ? fold_ok() : race(&s, stop);
}

/* Each GPU has its own memory, so that all are asked at once. Ranks of a host share its memory and are asked in
 * turn. */
fold_status fold_bench_world_ceiling(enum fold_engine engine, size_t n_bytes, struct fold_ceiling *ceiling) {
  struct fold_world *world;
  FOLD_TRY(fold_world_of(engine, &world));
  unsigned ranks = fold_world_ranks(world), at_once = fold_engine_is_host(engine) ? 1 : ranks;
  struct fold_ceiling *each = calloc(ranks, sizeof *each);
  if (!each) return fold_no_memory("for %u ranks", ranks);
  struct fold_wire_ceiling head = {.n_bytes = n_bytes};
  struct fold_question question = {.kind = WIRE_CEILING,
                                   .head = &head,
                                   .one_head = true,
                                   .head_bytes = sizeof head,
                                   .answer_bytes = sizeof *each,
                                   .what = "reading its memory"};
  fold_status status = fold_ok();
  for (unsigned r = 0; r < ranks && status.code == FOLD_OK; r += at_once)
    status = fold_world_ask(world, r, at_once, &question, &each[r]);
  *ceiling = each[0];
  for (unsigned r = 1; r < ranks; r++) {
    ceiling->rate = fmax(ceiling->rate, each[r].rate);
    ceiling->most = fmax(ceiling->most, each[r].most);
  }
  free(each);
  return status;
}
