/* records/record.c: writes records as lines of JSON, by jansson. */
#include "records/record.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/build.h"
#include "base/hash.h"
#include "base/text.h"
#include "guest/guest.h"
#include "records/own_run.h"
#include "records/replay.h"

fold_status fold_records_open(struct fold_records *records, const char *path) {
  *records = (struct fold_records){0};
  FOLD_TRY(fold_output_open(&records->output, path));
  fold_output_is_useful(&records->output);
  records->file = records->output.file;
  return fold_ok();
}

/* A line that is not as in the table is a mistake in foldproof. In its suites, which set the variable, it ends the
 * command. For a user the run's records are worth more, so it is only reported, once. */
static fold_status check_written(const json_t *line) {
  static bool told;
  const fold_status status = fold_schema_check_written(line);
  if (status.code == FOLD_OK || getenv("FOLDPROOF_STRICT_RECORDS")) return status;
  if (!told) fprintf(stderr, "foldproof: %s; the record is written all the same: please report this\n", status.text);
  told = true;
  return fold_ok();
}

/* Each line says by itself which build wrote it; a line of another build keeps that one. */
static fold_status line_text(json_t *line, char **text) {
  if (line && !json_object_get(line, "build")) json_object_set_new(line, "build", json_string(fold_build_commit()));
  const char *build = json_string_value(json_object_get(line, "build"));
  if (build && strcmp(build, fold_build_commit()) == 0) FOLD_TRY(check_written(line));
  *text = line ? json_dumps(line, JSON_COMPACT) : NULL;
  return *text ? fold_ok() : fold_no_memory("for a record");
}

fold_status fold_record_line_text(json_t *line, char **text) {
  *text = NULL;
  const fold_status status = line_text(line, text);
  json_decref(line);
  return status;
}

/* Flushes each line at once, so that even a process that is killed by SIGKILL leaves all lines written by then. */
fold_status fold_records_line(struct fold_records *records, json_t *line) {
  char *text;
  FOLD_TRY(fold_within(fold_record_line_text(line, &text), "%s", records->output.path));
  records->sum += XXH3_64bits(text, strlen(text));
  int error = fprintf(records->file, "%s\n", text) < 0 || fflush(records->file) != 0 ? errno : 0;
  free(text);
  records->lines += !error;
  return error ? fold_output_failed(&records->output, error) : fold_ok();
}

fold_status fold_records_environment_of(struct fold_records *records, json_t *environment) {
  json_t *line = json_pack("{s:i, s:s}", "schema", FOLD_SCHEMA, "type", "environment");
  if (line && environment) json_object_update(line, environment);
  fold_own_run_set_date(line);
  if (line) json_object_set_new(line, "closing_line", json_true());
  json_decref(environment);
  records->announced = true;
  records->lines = 0; /* counting begins with the environment */
  records->sum = 0;
  return fold_records_line(records, line);
}

fold_status fold_records_environment(struct fold_records *records, json_t *environment) {
  fold_own_run_set_command(environment);
  return fold_records_environment_of(records, environment);
}

uint64_t fold_records_sum(uint64_t sum, size_t lines, bool complete) {
  const uint64_t all[] = {sum, lines, complete};
  return XXH3_64bits(all, sizeof all);
}

static fold_status write_end(struct fold_records *records, bool complete) {
  char sum[24];
  fold_record_hash(sum, fold_records_sum(records->sum, records->lines, complete));
  json_t *line = json_pack("{s:i, s:s, s:I, s:b, s:s}", "schema", FOLD_SCHEMA, "type", "end", "records",
                           (json_int_t)records->lines, "complete", (int)complete, "lines_xxh3", sum);
  return fold_records_line(records, line);
}

static fold_status write_skips(struct fold_records *records) {
  for (size_t i = 0; i < records->skips.n; i++)
    FOLD_TRY(fold_records_line(records, fold_skips_line(&records->skips.at[i])));
  return fold_ok();
}

fold_status fold_records_close(struct fold_records *records, enum fold_output_end end) {
  char kept[sizeof records->kept];
  fold_status status = records->file && end != FOLD_OUTPUT_DROP ? write_skips(records) : fold_ok();
  fold_skips_free(&records->skips);
  if (status.code == FOLD_OK && records->file && records->announced && end != FOLD_OUTPUT_DROP)
    status = write_end(records, end == FOLD_OUTPUT_WHOLE);
  if (status.code != FOLD_OK) end = FOLD_OUTPUT_DROP;
  fold_status closed = fold_output_close(&records->output, end, kept);
  *records = (struct fold_records){0};
  memcpy(records->kept, kept, sizeof kept);
  return status.code == FOLD_OK ? closed : status;
}

/* Makes a value of text from outside. Text that is not UTF-8 is mended, since JSON would refuse it, and the field would
 * be missing. */
static json_t *text_value(const char *text) {
  json_t *value = json_string(text);
  char *copy = value ? NULL : strdup(text);
  if (copy) fold_text_one_line(copy);
  if (copy) value = json_string(copy);
  free(copy);
  return value;
}

static json_t *hex(uint64_t bits, int digits) {
  char text[24];
  snprintf(text, sizeof text, "0x%0*llx", digits, (unsigned long long)bits);
  return json_string(text);
}

static json_t *bits_of(enum fold_dtype dtype, uint64_t bits) { return hex(bits, fold_format_of(dtype).bits / 4); }

void fold_record_hash(char text[24], uint64_t hash) { snprintf(text, 24, "0x%016llx", (unsigned long long)hash); }

void fold_record_bits(json_t *object, const char *key, enum fold_dtype dtype, uint64_t bits) {
  json_object_set_new(object, key, bits_of(dtype, bits));
}

void fold_record_number(json_t *object, const char *key, double value) {
  if (isfinite(value)) json_object_set_new(object, key, json_real(value));
}

json_t *fold_record_shape(const struct fold_shape *shape) {
  return json_pack("[I,I,I,I]", (json_int_t)shape->b, (json_int_t)shape->m, (json_int_t)shape->n, (json_int_t)shape->k);
}

static void set_input(json_t *line, const struct fold_judgement *j) {
  const struct fold_case *c = j->c;
  json_object_set_new(line, "case", text_value(c->name));
  json_object_set_new(line, "dtype", json_string(fold_dtype_name(c->dtype)));
  const enum fold_dtype result = fold_subject_result(j->subject, c->dtype);
  if (result != c->dtype) json_object_set_new(line, "result_dtype", json_string(fold_dtype_name(result)));
  json_object_set_new(line, "op", json_string(c->problem->name));
  if (j->subject->unknown) json_object_set_new(line, "problem", json_string("rows"));
  json_object_set_new(line, "rows", json_integer((json_int_t)fold_case_results(c)));
  json_object_set_new(line, "cols", json_integer((json_int_t)c->cols));
  if (!fold_results_are_rows(c->problem)) json_object_set_new(line, "shape", fold_record_shape(&c->shape));
  char layout[40];
  if (c->layout.given) json_object_set_new(line, "layout", json_string(fold_case_layout_name(c, layout)));
  if (c->source.generator) {
    json_object_set_new(line, "generator", json_string(c->source.generator->name));
    json_object_set_new(line, "seed", json_integer((json_int_t)c->source.seed));
    if (c->source.generator->takes_condition) fold_record_number(line, "condition", c->source.condition);
  }
  json_object_set_new(line, "input_xxh3", hex(j->input_hash, 16));
}

/* Sets what a judge must know of a subject that is not at hand: on another machine, or a guest's. */
static void set_declared(json_t *line, const struct fold_judgement *j) {
  const struct fold_subject *s = j->subject;
  const enum fold_dtype accumulator = fold_subject_accumulator(s, j->c->dtype);
  if (s->order) json_object_set_new(line, "order", text_value(s->order));
  const enum fold_method method = fold_subject_method(s, j->c->dtype);
  if (method != FOLD_PLAIN) json_object_set_new(line, "method", json_string(fold_method_names[method]));
  if (accumulator != fold_accumulator_of(j->c->dtype))
    json_object_set_new(line, "accumulator", json_string(fold_dtype_name(accumulator)));
  if (s->factor != FOLD_FACTORS_KEPT)
    json_object_set_new(line, "factor_dtype", json_string(fold_factor_dtype_names[s->factor]));
  if (s->twin) json_object_set_new(line, "twin", text_value(s->twin));
  if (s->accurate_as) json_object_set_new(line, "accurate_as", text_value(s->accurate_as));
  if (s->most_ulps > 0) fold_record_number(line, "most_ulps", s->most_ulps);
  if (j->c->ranks) json_object_set_new(line, "ranks", json_integer(j->c->ranks));
}

static void set_results(json_t *line, const struct fold_judgement *j) {
  if (j->got == NULL) return;
  enum fold_dtype dtype = fold_subject_result(j->subject, j->c->dtype);
  size_t n = fold_case_results(j->c) < FOLD_RECORD_RESULTS || j->full ? fold_case_results(j->c) : FOLD_RECORD_RESULTS;
  json_t *results = json_array(), *values = json_array();
  for (size_t r = 0; r < n; r++) {
    uint64_t bits = fold_bits_load(dtype, j->got, r);
    char text[40];
    fold_bits_decimal(dtype, bits, text);
    json_array_append_new(results, bits_of(dtype, bits));
    json_array_append_new(values, json_string(text));
  }
  json_object_set_new(line, "results", results);
  json_object_set_new(line, "values", values);
  char text[24];
  fold_record_hash(text, fold_results_hash(dtype, j->got, fold_case_results(j->c)));
  json_object_set_new(line, "results_xxh3", json_string(text));
}

/* The numbers of a mask's bits. */
static json_t *numbers_of(uint64_t mask) {
  json_t *numbers = json_array();
  for (unsigned n = 0; n < 64; n++)
    if (mask >> n & 1) json_array_append_new(numbers, json_integer(n));
  return numbers;
}

void fold_record_figures(json_t *line, const struct fold_finding *f, enum fold_dtype dtype) {
  if (f->compared) {
    json_object_set_new(line, "row", json_integer((json_int_t)f->row));
    fold_record_bits(line, "got", dtype, f->got);
    fold_record_bits(line, "want", dtype, f->want);
  }
  if (f->moved) json_object_set_new(line, "moved", json_true());
  if (f->lost_tail) json_object_set_new(line, "lost_tail", json_true());
  if (f->threads) json_object_set_new(line, "threads_tried", numbers_of(f->threads));
  if (f->sampled > 0) json_object_set_new(line, "results_judged", json_integer((json_int_t)f->sampled));
  if (f->unjudged > 0) {
    json_object_set_new(line, "rows_judged", json_integer((json_int_t)f->comparisons));
    json_object_set_new(line, "rows_without_bound", json_integer((json_int_t)f->unjudged));
  }
  if (f->telling != FOLD_TELLING_UNKNOWN)
    json_object_set_new(line, "telling", json_boolean(f->telling == FOLD_TELLING));
  fold_record_number(line, "ulps", f->ulps);
  fold_record_number(line, "backward_error", f->backward);
  fold_record_number(line, "bound_fraction", f->fraction);
  if (f->verdict == FOLD_HELD && f->off > 0) fold_record_number(line, "well_conditioned_ulps", f->off);
}

static void set_finding(json_t *line, const struct fold_judgement *j) {
  const struct fold_finding *f = &j->finding;
  const bool only_ran = j->claim == NULL && j->got; /* a run that was not judged */
  if (!only_ran) json_object_set_new(line, "verdict", json_string(fold_verdict_name(f->verdict)));
  char reason[sizeof f->reason + sizeof f->sides + 2];
  snprintf(reason, sizeof reason, "%s%s%s", f->reason, f->sides[0] ? "; " : "", f->sides);
  if (reason[0]) json_object_set_new(line, "reason", text_value(reason));
  fold_record_figures(line, f, fold_subject_result(j->subject, j->c->dtype));
}

static void set_sides(json_t *line, const struct fold_order_change *change) {
  if (!change->side[0].kind[0] || !change->side[1].kind[0]) return;
  json_t *sides = json_array();
  for (int k = 0; k < 2; k++) {
    const struct fold_order_change_side *s = &change->side[k];
    json_t *side = json_pack("{s:s, s:s, s:s}", "at", s->at, "kind", s->kind, "order", s->order);
    if (s->fingerprint) json_object_set_new(side, "fingerprint", hex(s->fingerprint, 16));
    if (s->fingerprint) json_object_set_new(side, "height", json_integer((json_int_t)s->height));
    json_array_append_new(sides, side);
  }
  json_object_set_new(line, "order_terms", json_integer((json_int_t)change->terms));
  json_object_set_new(line, "order_sides", sides);
}

/* Sets what the run did besides computing: a key for each deed. */
static void set_traces(json_t *line, const struct fold_judgement *j) {
  const struct fold_traces *t = j->traces;
  const enum fold_dtype dtype = fold_subject_result(j->subject, j->c->dtype);
  if (j->got == NULL || t == NULL) return;
  if (t->unwritten) json_object_set_new(line, "unwritten", json_pack("{s:I}", "row", (json_int_t)t->unwritten_at));
  if (t->out_of_bounds)
    json_object_set_new(line, "out_of_bounds",
                        json_pack("{s:I, s:s, s:s}", "byte", (json_int_t)t->bounds_at, "of",
                                  fold_argument_name(t->bounds_of), "by", fold_access_name(t->bounds_by)));
  if (t->wrote_input) json_object_set_new(line, "wrote_input", json_pack("{s:I}", "byte", (json_int_t)t->input_at));
  if (t->left[0]) json_object_set_new(line, "left", json_string(t->left));
  if (t->ranks_differ)
    json_object_set_new(line, "ranks_differ",
                        json_pack("{s:i, s:I, s:o, s:o}", "rank", (int)t->rank, "row", (json_int_t)t->differ_at, "got",
                                  bits_of(dtype, t->other_bits), "rank_0", bits_of(dtype, t->bits)));
}

/* For a peer's refutation, sets the fact that explains it, or that it is new. */
static void set_known(json_t *line, const struct fold_judgement *j) {
  if (!j->subject->peer || !j->promised || j->finding.verdict != FOLD_REFUTED) return;
  json_object_set_new(line, "known", j->known ? json_string(j->fact->what) : json_false());
}

/* Sets what a replay must repeat. */
static void set_asked(json_t *line, const struct fold_judgement *j) {
  const struct fold_asked *asked = j->asked;
  if (asked == NULL) return;
  json_t *object = json_object();
  if (asked->repeats) json_object_set_new(object, "repeats", json_integer(asked->repeats));
  if (asked->strict) json_object_set_new(object, "strict", json_true());
  if (asked->finite) json_object_set_new(object, "finite", json_true());
  if (asked->ranks && *asked->ranks) json_object_set_new(object, "ranks", text_value(asked->ranks));
  if (asked->launch && *asked->launch) json_object_set_new(object, "launch", text_value(asked->launch));
  if (asked->timeout && *asked->timeout) json_object_set_new(object, "timeout", text_value(asked->timeout));
  if (asked->twin && *asked->twin) json_object_set_new(object, "same_bits_as", text_value(asked->twin));
  if (asked->accurate_as && *asked->accurate_as)
    json_object_set_new(object, "accurate_as", text_value(asked->accurate_as));
  if (asked->ulps && *asked->ulps) json_object_set_new(object, "ulps", text_value(asked->ulps));
  if (asked->sweep && *asked->sweep) json_object_set_new(object, "sweep", text_value(asked->sweep));
  if (asked->around && *asked->around) json_object_set_new(object, "around", text_value(asked->around));
  if (asked->variables) json_object_set(object, "variables", (json_t *)(uintptr_t)asked->variables);
  if (asked->guests) json_object_set(object, "guests", (json_t *)(uintptr_t)asked->guests);
  if (json_object_size(object) > 0)
    json_object_set_new(line, "asked", object);
  else
    json_decref(object);
}

json_t *fold_record_of(const struct fold_judgement *j) {
  json_t *line = json_pack("{s:i, s:s, s:s, s:s}", "schema", FOLD_SCHEMA, "type", j->claim ? "judgement" : "run",
                           "subject", j->subject->name, "engine", fold_engine_name(j->subject->engine));
  if (line) {
    if (j->subject->peer) json_object_set_new(line, "peer", json_true());
    if (j->subject->guest) json_object_set_new(line, "guest", json_true());
    if (j->subject->any_gpu) json_object_set_new(line, "any_gpu", json_true());
    if (j->claim) {
      json_object_set_new(line, "claim", json_string(j->claim->name));
      json_object_set_new(line, "promised", json_boolean(j->promised));
    }
    set_input(line, j);
    set_declared(line, j);
    set_finding(line, j);
    set_known(line, j);
    set_asked(line, j);
    set_results(line, j);
    set_traces(line, j);
  }
  return line;
}

json_t *fold_record_explanation(const struct fold_judgement *of, const struct fold_order_change *change) {
  json_t *line =
      json_pack("{s:i, s:s, s:s, s:s, s:s}", "schema", FOLD_SCHEMA, "type", "explanation", "subject", of->subject->name,
                "engine", fold_engine_name(of->subject->engine), "claim", of->claim->name);
  if (line == NULL) return NULL;
  json_object_set_new(line, "case", text_value(of->c->name));
  json_object_set_new(line, "order_change", text_value(change->text));
  set_sides(line, change);
  return line;
}

fold_status fold_records_judgement(struct fold_records *records, const struct fold_judgement *j) {
  const bool gathered = records->gathers && fold_skips_take(j);
  bool counted = false;
  if (gathered) FOLD_TRY(fold_skips_count(&records->skips, j, &counted));
  if (counted) return fold_ok();
  json_t *line = fold_record_of(j);
  if (gathered) return fold_skips_add(&records->skips, j, line);
  return fold_records_line(records, line);
}
