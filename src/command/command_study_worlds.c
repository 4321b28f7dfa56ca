/* command_study_worlds.c: foldproof study --worlds: the report's validation, as tables and records. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bits.h"
#include "command_study.h"
#include "sheet.h"
#include "sheet_text.h"
#include "study_worlds.h"
#include "world.h"

/* Of a vector whose length was not asked for: each of its elements has an exact sum of its own. */
enum { MOST_ELEMENTS = 1000000 };

/* What came of one subject, over all tables. */
struct tally {
  size_t worlds, like_one, of_one, as_must,
      of_must;                                 /* sums: how many, with the bits of one rank, with those promised */
  size_t vectors, canonical, elements, differ; /* all-reduces, and those with no element but the canonical order's */
  double fraction;                             /* the worst error / bound */
  size_t refuted;
};

/* Worlds come one by one, and are printed subject by subject: results wait until their table is complete. */
struct validation {
  struct study_command *s;
  const struct fold_registry *registry;
  struct tally *tally;
  const char *library;
  struct fold_worlds_sum *sums; /* room for FOLD_WORLDS_MOST a subject */
  struct fold_worlds_vector *vectors;
  size_t n_sums, n_vectors;
};

static struct tally *tally_of(struct validation *v, const struct fold_subject *subject) {
  return &v->tally[subject - v->registry->subjects];
}

static void keep_worst(double *worst, double value) {
  if (!(value <= *worst) && !isnan(value)) *worst = value;
}

/* What both kinds of lines have. */
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

static fold_status write_sum(struct validation *v, const struct fold_worlds_sum *sum) {
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
  size_t each = FOLD_WORLDS_MOST * v->registry->n;
  snprintf(what, sizeof what, "results; %.30s %s, %u ranks", generator, fold_dtype_name(dtype), ranks);
  fold_progress_show(&v->s->measuring.progress, v->n_sums + v->n_vectors, 2 * each, what);
}

static fold_status take_sum(void *context, const struct fold_worlds_sum *sum) {
  struct validation *v = context;
  const struct fold_study_point *p = &sum->point;
  struct tally *t = tally_of(v, p->subject);
  v->sums[v->n_sums++] = *sum;
  show_progress(v, p->c.generator->name, p->c.dtype, sum->ranks);
  t->worlds += p->ran;
  t->refuted += sum->refuted[0] != '\0';
  if (p->ran && sum->has_one && sum->ranks > 1) {
    t->of_one++;
    t->like_one += fold_bits_same(p->c.dtype, p->got, sum->one);
  }
  if (p->ran && sum->has_must) {
    t->of_must++;
    t->as_must += fold_bits_same(p->c.dtype, p->got, sum->must);
  }
  if (p->ran) keep_worst(&t->fraction, p->error == 0 ? 0 : p->error / p->bound);
  return write_sum(v, sum);
}

static fold_status write_vector(struct validation *v, const struct fold_worlds_vector *vector) {
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
  struct tally *t = tally_of(v, vector->subject);
  v->vectors[v->n_vectors++] = *vector;
  show_progress(v, vector->c.generator->name, vector->c.dtype, vector->ranks);
  t->refuted += vector->refuted[0] != '\0';
  t->vectors += vector->ran;
  t->canonical += vector->ran && vector->differ == 0;
  t->elements += vector->ran ? vector->c.n : 0;
  t->differ += vector->differ;
  if (vector->ran) keep_worst(&t->fraction, vector->errors.fraction);
  return write_vector(v, vector);
}

static bool any_takes(const struct validation *v, const struct fold_worlds_case *c, bool vector) {
  for (size_t i = 0; i < v->registry->n; i++)
    if (fold_worlds_takes(&v->registry->subjects[i], c, vector)) return true;
  return false;
}

static fold_status print_sums(struct validation *v, const struct fold_worlds_case *c) {
  struct fold_sheet sheet;
  fold_worlds_open_sums(&sheet, c, v->library);
  for (size_t i = 0; i < v->registry->n; i++)
    for (size_t k = 0; k < v->n_sums; k++)
      if (v->sums[k].point.subject == &v->registry->subjects[i]) fold_worlds_add_sum(&sheet, &v->sums[k]);
  return fold_study_put(v->s, &sheet);
}

static fold_status print_vectors(struct validation *v, const struct fold_worlds_case *c) {
  struct fold_sheet sheet;
  fold_worlds_open_vectors(&sheet, c);
  for (size_t i = 0; i < v->registry->n; i++)
    for (size_t k = 0; k < v->n_vectors; k++)
      if (v->vectors[k].subject == &v->registry->subjects[i]) fold_worlds_add_vector(&sheet, &v->vectors[k]);
  return fold_study_put(v->s, &sheet);
}

/* What was finished before a failure is printed too. */
static fold_status validate(struct validation *v, const struct fold_worlds_case *c, const volatile int *stop) {
  struct fold_worlds_sink sink = {take_sum, take_vector, v};
  struct fold_worlds_case message = *c;
  fold_status status = fold_ok();
  v->n_sums = v->n_vectors = 0;
  if (any_takes(v, c, false)) {
    status = fold_worlds_sums(v->registry, c, &sink, stop);
    fold_status put = print_sums(v, c);
    if (status.code == FOLD_OK) status = put;
  }
  if (!any_takes(v, c, true) || *stop || status.code != FOLD_OK) return status;
  if (!v->s->named_sizes && message.n > MOST_ELEMENTS) message.n = MOST_ELEMENTS;
  status = fold_worlds_vectors(v->registry, &message, &sink, stop);
  fold_status put = print_vectors(v, &message);
  return status.code == FOLD_OK ? put : status;
}

static fold_status validate_all(struct validation *v, const volatile int *stop) {
  struct study_command *s = v->s;
  size_t n_generators;
  const struct fold_generator *all = fold_generators(&n_generators);
  fold_study_sort(s);
  printf(
      "Sums over worlds. S: sum |x|; ulps, error/S, bound/S: of the distance from the exact sum; one rank's, promised: "
      "the same\n"
      "bits as in a world of one, and as the subject promises (its order's replay, or the exact sum rounded once), or "
      "how\n"
      "many numbers off; over ranks: what joining the ranks' own sums added, over its bound by R - 1 roundings.\n");
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

static void print_tally(const struct fold_subject *subject, const struct tally *t) {
  char number[16], all[32], differ[32];
  if (t->worlds + t->vectors + t->refuted == 0) return;
  printf("%s:", subject->name);
  if (t->worlds) printf(" %zu sums", t->worlds);
  if (t->of_one) printf(", %zu of %zu with one rank's bits", t->like_one, t->of_one);
  if (t->of_must) printf(", %zu of %zu as promised", t->as_must, t->of_must);
  if (t->vectors)
    printf(" %zu all-reduces, %s of %s elements not in the canonical order", t->vectors,
           fold_text_grouped((double)t->differ, differ), fold_text_grouped((double)t->elements, all));
  printf("; error/bound at most %s%s\n", fold_text_number(t->fraction, number), t->refuted ? ": REFUTED" : "");
}

/* 1 where a promise did not hold, a library's too: a sum in any order has its bound; 77 where nothing ran. */
static int summarise(const struct validation *v) {
  size_t ran = 0, refuted = 0;
  printf("\n");
  for (size_t i = 0; i < v->registry->n; i++) {
    print_tally(&v->registry->subjects[i], &v->tally[i]);
    ran += v->tally[i].worlds + v->tally[i].vectors;
    refuted += v->tally[i].refuted;
  }
  return refuted ? 1 : ran ? 0 : 77;
}

fold_status fold_study_worlds(struct study_command *s, const struct fold_registry *registry, int *exit_code) {
  struct validation v = {.s = s, .registry = registry};
  struct fold_world *world;
  FOLD_TRY(fold_world_of((enum fold_engine)s->engine, &world));
  v.library = fold_world_hello(world, 0)->library;
  v.tally = calloc(registry->n + 1, sizeof *v.tally);
  v.sums = calloc(FOLD_WORLDS_MOST * registry->n + 1, sizeof *v.sums);
  v.vectors = calloc(FOLD_WORLDS_MOST * registry->n + 1, sizeof *v.vectors);
  fold_status status =
      v.tally && v.sums && v.vectors ? fold_ok() : fold_error(FOLD_NO_MEMORY, "not enough memory for the subjects");
  if (status.code == FOLD_OK) status = fold_measuring_open(&s->measuring, s->jsonl);
  if (status.code == FOLD_OK) status = validate_all(&v, fold_watch_interrupt());
  status = fold_measuring_close(&s->measuring, "foldproof study", status);
  if (status.code == FOLD_OK) *exit_code = summarise(&v);
  free(v.tally);
  free(v.sums);
  free(v.vectors);
  return status;
}
