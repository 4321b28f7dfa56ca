/* command/bench.c: foldproof bench: verify, then time, on a GPU, the host or over ranks; and the records for GPU and
 * host. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/did_you_mean.h"
#include "command/bench.h"
#include "records/read.h"

enum { MOST_CEILING = 34, LEAST_CEILING = 30 }; /* log2 of bytes */

static fold_status take_timing(struct bench_command *b, const struct fold_timing *t, const char *peer,
                               const struct fold_ceiling *ceiling) {
  const struct fold_problem *problem = t->shape.problem;
  bool host = fold_engine_is_here(b->options.engine);
  json_t *line = json_pack(
      "{s:i, s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:s, s:I, s:i, s:s, s:b}", "schema", FOLD_SCHEMA, "type", "timing",
      "subject", t->subject->name, "engine", fold_engine_name(b->options.engine), "dtype",
      fold_dtype_name(t->shape.dtype), "op", problem->name, "rows", (json_int_t)fold_results(problem, &t->shape.shape),
      "cols", (json_int_t)t->shape.cols, "generator", b->generator, "seed", (json_int_t)b->options.seed, "iterations",
      (int)b->options.iterations, "verdict", fold_judged_verdict(&t->judged), "implausible", (int)t->implausible);
  fold_record_number(line, "median_seconds", t->median);
  fold_record_number(line, "p10_seconds", t->p10);
  fold_record_number(line, "p90_seconds", t->p90);
  if (line && !fold_results_are_rows(problem)) json_object_set_new(line, "shape", fold_record_shape(&t->shape.shape));
  fold_record_number(line, "bytes_per_second", t->bytes_per_second);
  if (problem->factors > 1) fold_record_number(line, "flop_per_second", fold_bench_flop(t) / t->median);
  fold_record_number(line, "ceiling_bytes_per_second", host ? t->ceiling : ceiling->rate);
  if (!host) fold_record_number(line, "ceiling_most_bytes_per_second", ceiling->most);
  if (line && !host) json_object_set_new(line, "calls", json_integer((json_int_t)t->calls));
  fold_record_number(line, "of_ceiling", t->of_ceiling);
  fold_record_number(line, "to_peer", t->to_peer);
  if (line) json_object_set_new(line, "peer", json_string(peer));
  if (line && host) json_object_set_new(line, "threads", json_integer((json_int_t)b->options.threads));
  if (line && t->why) json_object_set_new(line, "why", json_string(t->why));
  if (line && t->judged.note[0]) json_object_set_new(line, "note", json_string(t->judged.note));
  return fold_bench_take(b, line);
}

fold_status fold_bench_take(struct bench_command *b, json_t *record) {
  struct bench_outcome *o = &b->outcome;
  const char *verdict = fold_record_text(record, FOLD_KEY(verdict));
  o->timed += json_object_get(record, FOLD_KEY(median_seconds)) != NULL;
  o->implausible += json_is_true(json_object_get(record, FOLD_KEY(implausible)));
  o->noisy += json_is_true(json_object_get(record, FOLD_KEY(noisy)));
  o->refuted += strcmp(verdict, fold_verdict_name(FOLD_REFUTED)) == 0;
  o->broken += strcmp(verdict, fold_verdict_name(FOLD_BROKEN)) == 0;
  return fold_measuring_take(&b->measuring, record);
}

void fold_bench_begin_shape(struct bench_command *b, const char *what) {
  fold_progress_show(&b->measuring.progress, b->done, b->shapes, what);
}

static fold_status bench_shape(struct bench_command *b, const struct fold_registry *registry,
                               const struct fold_bench_shape *shape, const struct fold_ceiling *ceiling,
                               struct fold_timing *timing) {
  size_t n;
  char what[120];
  const struct fold_bench_contenders *usual = fold_bench_contenders(b, shape->problem);
  struct fold_bench_options options = b->options;
  if (!options.subjects) options.subjects = usual->subjects;
  if (!options.peer) options.peer = usual->peer;
  bool host = fold_engine_is_here(b->options.engine);
  char threads[40] = "";
  if (host) snprintf(threads, sizeof threads, ", %u thread%s", b->options.threads, b->options.threads == 1 ? "" : "s");
  snprintf(what, sizeof what, "%s %s, %zu x %zu%s", fold_dtype_name(shape->dtype), shape->problem->name,
           fold_results(shape->problem, &shape->shape), shape->cols, threads);
  fold_bench_begin_shape(b, what);
  fold_status status = fold_bench_shape(registry, &options, shape, ceiling, timing, &n, fold_watch_interrupt());
  b->done++;
  for (size_t k = 0; k < n && status.code == FOLD_OK; k++) status = take_timing(b, &timing[k], options.peer, ceiling);
  FOLD_TRY(status);
  if (!(b->what & FOLD_BENCH_PRODUCTS)) FOLD_TRY(fold_measuring_show(&b->measuring));
  if (n == 0) printf("no selected subject takes %s %s\n", fold_dtype_name(shape->dtype), shape->problem->name);
  return fold_ok();
}

static struct fold_bench_shape shape_of(const struct fold_bench_job *job, enum fold_dtype dtype) {
  return (struct fold_bench_shape){.dtype = dtype, .problem = job->problem, .shape = job->shape};
}

/* How many bytes the read for the ceiling takes: as many as the largest input has, because 4 GiB stream 1% faster than
 * 1 GiB. */
static size_t ceiling_bytes(const struct bench_command *b) {
  size_t largest = 0, least = (size_t)1 << LEAST_CEILING, most = (size_t)1 << MOST_CEILING;
  for (int d = 0; d < FOLD_DTYPES; d++)
    for (size_t k = 0; k < b->n_jobs && (b->dtypes >> d & 1); k++) {
      const struct fold_bench_shape shape = shape_of(&b->jobs[k], (enum fold_dtype)d);
      size_t nbytes = fold_bench_slot_bytes(&shape);
      if (nbytes > largest) largest = nbytes;
    }
  return largest < least ? least : largest > most ? most : largest / 16 * 16;
}

/* Measures the GPU's ceiling once; the host's is measured with each shape. */
static fold_status measure_ceiling(const struct bench_command *b, struct fold_ceiling *ceiling) {
  const char *read_shape = "";
  size_t nbytes = ceiling_bytes(b);
  *ceiling = (struct fold_ceiling){.rate = NAN, .most = NAN};
  if (fold_engine_is_here(b->options.engine)) return fold_ok();
  FOLD_TRY(fold_bench_ceiling(nbytes, b->options.iterations, ceiling, &read_shape));
  printf("ceiling: a plain read of %.2f GB, %s: %.1f GB/s, the faster ones %.1f\n", 1e-9 * (double)nbytes, read_shape,
         1e-9 * ceiling->rate, 1e-9 * ceiling->most);
  return fold_ok();
}

/* All shapes of one dtype. Tables are shown after each shape, or of products after the last one. */
static fold_status bench_dtype(struct bench_command *b, const struct fold_registry *registry, enum fold_dtype dtype,
                               const struct fold_ceiling *ceiling, struct fold_timing *timing) {
  fold_status status = fold_ok();
  for (size_t k = 0; k < b->n_jobs * b->n_threads && status.code == FOLD_OK && !*fold_watch_interrupt(); k++) {
    const struct fold_bench_shape shape = shape_of(&b->jobs[k / b->n_threads], dtype);
    b->options.threads = (unsigned)b->threads[k % b->n_threads];
    status = bench_shape(b, registry, &shape, ceiling, timing);
  }
  const fold_status shown = fold_measuring_show(&b->measuring);
  return status.code == FOLD_OK ? shown : status;
}

static fold_status bench_all(struct bench_command *b, const struct fold_registry *registry) {
  struct fold_ceiling ceiling;
  FOLD_TRY(measure_ceiling(b, &ceiling));
  b->shapes = (size_t)__builtin_popcount(b->dtypes) * b->n_jobs * b->n_threads;
  struct fold_timing *timing = calloc(registry->n + 1, sizeof *timing);
  if (timing == NULL) return fold_no_memory("for timings");
  fold_status status = fold_ok();
  for (int d = 0; d < FOLD_DTYPES && status.code == FOLD_OK; d++)
    if (b->dtypes >> d & 1) status = bench_dtype(b, registry, (enum fold_dtype)d, &ceiling, timing);
  free(timing);
  return status;
}

/* Whether the peer that the user named is a subject; if not, all ratios would be empty. */
static fold_status check_peer(const struct bench_command *b, const struct fold_registry *registry) {
  struct fold_did_you_mean guess;
  char meant[160];
  fold_did_you_mean_open(&guess, b->options.peer);
  for (size_t i = 0; i < registry->n; i++) {
    const struct fold_subject *s = &registry->subjects[i];
    if (s->engine != b->engine) continue;
    if (strcmp(s->name, b->options.peer) == 0) return fold_ok();
    fold_did_you_mean_try(&guess, s->name);
  }
  return fold_error(FOLD_BAD_INPUT, "--peer %.60s: no subject on %s has that name: see foldproof list subjects%s",
                    b->options.peer, fold_engine_name(b->engine), fold_did_you_mean_text(&guess, meant));
}

/* Whether the globs match subjects, and --peer is one of them. */
static fold_status check_subjects(const struct bench_command *b, const struct fold_registry *registry) {
  const struct fold_selection all = {.subjects = b->options.subjects, .engine = (int)b->engine};
  FOLD_TRY(fold_selection_check(&all, registry));
  return b->peer_named ? check_peer(b, registry) : fold_ok();
}

static int bench(struct bench_command *b, char **argv, const struct fold_registry *registry) {
  fold_end_in_time();
  const bool collective = fold_engine_has_ranks(b->engine);
  const struct bench_outcome *outcome = &b->outcome;
  fold_status status = fold_bench_ready(b->engine);
  if (status.code == FOLD_OK) status = check_subjects(b, registry);
  if (status.code == FOLD_OK) status = fold_measuring_open(&b->measuring, b->jsonl);
  if (status.code == FOLD_OK) status = collective ? fold_bench_collectives(b, registry) : bench_all(b, registry);
  status = fold_measuring_close(&b->measuring, argv[0], status);
  if (status.code == FOLD_UNSUPPORTED)
    fprintf(stderr, "%s: skipped%s\n", argv[0], collective ? "" : "; --engine host times subjects on the host");
  if (status.code != FOLD_OK) return fold_print_error(argv[0], status);
  if (outcome->noisy) printf("\n%zu of %zu timings are too noisy to judge\n", outcome->noisy, outcome->timed);
  if (outcome->refuted || outcome->implausible) return 1;
  /* noise refutes nothing: if no timing could be judged, the bench was skipped */
  return outcome->broken || *fold_watch_interrupt() ? 99 : outcome->timed > outcome->noisy ? 0 : 77;
}

int fold_command_bench(int argc, char **argv, const struct fold_registry *registry) {
  struct bench_command b;
  fold_bench_parse(&b, argc, argv);
  const int exit_code = bench(&b, argv, registry);
  free(b.subjects);
  return exit_code;
}
