/* command/study_worlds.c: foldproof study --worlds: writes the reference study's validation as records. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/study.h"
#include "ranks/world.h"
#include "study/worlds.h"

/* The length of a vector is limited unless the user gives one, because each element has an exact sum of its own. */
enum { MOST_ELEMENTS = 1000000 };

struct validation {
  struct study_command *s;
  const struct fold_registry *registry;
  const char *library;
  size_t done, ran, refuted; /* done: of the current case */
};

/* The fields that both kinds of lines have. */
static json_t *line_of(const struct validation *v, const char *type, const struct fold_subject *subject,
                       const char *generator, enum fold_dtype dtype, size_t n, unsigned ranks) {
  return json_pack("{s:i, s:s, s:s, s:s, s:b, s:s, s:s, s:s, s:s, s:I, s:I, s:i}", "schema", FOLD_SCHEMA, "type", type,
                   "subject", subject->name, "engine", fold_engine_name(subject->engine), "peer", (int)subject->peer,
                   "library", v->library, "generator", generator, "dtype", fold_dtype_name(dtype), "op", "sum", "n",
                   (json_int_t)n, "seed", (json_int_t)v->s->seed, "workers", (int)ranks);
}

static void set_verdict(json_t *line, bool ran, const char *refuted, const char *note) {
  json_object_set_new(line, "verdict", json_string(!ran ? "skipped" : *refuted ? "refuted" : "held"));
  if (*refuted || *note) json_object_set_new(line, "note", json_string(*refuted ? refuted : note));
}

static fold_status record_sum(struct validation *v, const struct fold_worlds_sum *sum) {
  const struct fold_study_point *p = &sum->point;
  enum fold_dtype dtype = p->c.dtype;
  json_t *line = line_of(v, "validation", p->subject, p->c.generator->name, dtype, p->c.n, sum->ranks);
  if (line && p->ran) {
    fold_record_bits(line, "got", dtype, p->got);
    fold_record_bits(line, "nearest", dtype, p->want);
    if (sum->has_one) fold_record_bits(line, "one_rank", dtype, sum->one);
    if (sum->has_must) fold_record_bits(line, "promised", dtype, sum->must);
    json_object_set_new(line, "height", json_integer((json_int_t)p->height));
    fold_study_set_errors(line, p);
    fold_record_number(line, "join_error", sum->join_error);
    fold_record_number(line, "join_bound", sum->join_bound);
  }
  if (line) set_verdict(line, p->ran, sum->refuted, p->note);
  return fold_measuring_take(&v->s->measuring, line);
}

static void show_progress(struct validation *v, const char *generator, enum fold_dtype dtype, unsigned ranks) {
  char what[80];
  snprintf(what, sizeof what, "results; %.30s %s, %u ranks", generator, fold_dtype_name(dtype), ranks);
  fold_progress_show(&v->s->measuring.progress, ++v->done, 2 * FOLD_WORLDS_MOST * v->registry->n, what);
}

static fold_status take_sum(void *context, const struct fold_worlds_sum *sum) {
  struct validation *v = context;
  show_progress(v, sum->point.c.generator->name, sum->point.c.dtype, sum->ranks);
  v->ran += sum->point.ran;
  v->refuted += sum->refuted[0] != '\0';
  return record_sum(v, sum);
}

static fold_status record_vector(struct validation *v, const struct fold_worlds_vector *vector) {
  char hash[24];
  json_t *line = line_of(v, "validation_vector", vector->subject, vector->c.generator->name, vector->c.dtype,
                         vector->c.n, vector->ranks);
  if (line && vector->ran) {
    snprintf(hash, sizeof hash, "0x%016llx", (unsigned long long)vector->hash);
    json_object_set_new(line, "output_xxh3", json_string(hash));
    json_object_set_new(line, "height", json_integer((json_int_t)vector->height));
    json_object_set_new(line, "not_canonical", json_integer((json_int_t)vector->differ));
    json_object_set_new(line, "above_bound", json_integer((json_int_t)vector->errors.exceeded));
    json_object_set_new(line, "unjudged", json_integer((json_int_t)vector->errors.unjudged));
    fold_record_number(line, "distance_relative_worst", vector->apart);
    fold_record_number(line, "error_ulps_worst", vector->errors.ulps);
    fold_record_number(line, "error_relative_worst", vector->errors.relative);
    fold_record_number(line, "bound_relative", vector->errors.bound);
    fold_record_number(line, "error_over_bound_worst", vector->errors.fraction);
  }
  if (line) set_verdict(line, vector->ran, vector->refuted, vector->note);
  return fold_measuring_take(&v->s->measuring, line);
}

static fold_status take_vector(void *context, const struct fold_worlds_vector *vector) {
  struct validation *v = context;
  show_progress(v, vector->c.generator->name, vector->c.dtype, vector->ranks);
  v->ran += vector->ran;
  v->refuted += vector->refuted[0] != '\0';
  return record_vector(v, vector);
}

static bool any_takes(const struct validation *v, const struct fold_worlds_case *c, bool vector) {
  for (size_t i = 0; i < v->registry->n; i++)
    if (fold_worlds_takes(&v->registry->subjects[i], c, vector)) return true;
  return false;
}

static fold_status validate(struct validation *v, const struct fold_worlds_case *c, const volatile int *stop) {
  struct fold_worlds_sink sink = {take_sum, take_vector, v};
  struct fold_worlds_case message = *c;
  v->done = 0;
  if (any_takes(v, c, false)) FOLD_TRY(fold_worlds_sums(v->registry, c, &sink, stop));
  if (!any_takes(v, c, true) || *stop) return fold_ok();
  if (!v->s->named_sizes && message.n > MOST_ELEMENTS) message.n = MOST_ELEMENTS;
  return fold_worlds_vectors(v->registry, &message, &sink, stop);
}

static fold_status validate_all(struct validation *v, const volatile int *stop) {
  struct study_command *s = v->s;
  size_t n_generators;
  const struct fold_generator *all = fold_generators(&n_generators);
  fold_study_sort(s);
  for (size_t k = 0; k < s->n_sizes; k++)
    for (int d = 0; d < FOLD_DTYPES; d++)
      for (size_t g = 0; g < n_generators && !*stop; g++) {
        if (!(s->dtypes >> d & 1) || !fold_glob_match(s->generators, all[g].name)) continue;
        if (!(all[g].dtypes >> d & 1)) continue;
        struct fold_worlds_case c = {(enum fold_engine)s->engine, (enum fold_dtype)d, &all[g], s->seed, s->sizes[k]};
        FOLD_TRY(validate(v, &c, stop));
      }
  return fold_ok();
}

/* Prints also what was finished before a failure. The exit code is 1 if a promise did not hold, also one of a library:
 * a sum in any order has a bound. It is 77 if nothing ran. */
fold_status fold_study_worlds(struct study_command *s, const struct fold_registry *registry, int *exit_code) {
  struct validation v = {.s = s, .registry = registry};
  struct fold_world *world;
  FOLD_TRY(fold_world_of((enum fold_engine)s->engine, &world));
  v.library = fold_world_hello(world, 0)->library;
  fold_status status = fold_measuring_open(&s->measuring, s->jsonl);
  if (status.code == FOLD_OK) status = validate_all(&v, fold_watch_interrupt());
  const fold_status shown = fold_measuring_show(&s->measuring);
  status = fold_measuring_close(&s->measuring, "foldproof study", status.code == FOLD_OK ? shown : status);
  *exit_code = v.refuted ? 1 : v.ran ? 0 : 77;
  return status;
}
