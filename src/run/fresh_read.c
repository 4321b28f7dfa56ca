/* fresh_read.c: reads the records of new processes: the hashes of their results, and what else their runs did, are looked up by
 * subject, engine and case.
 */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run/fresh.h"

struct recorded {
  struct fold_fresh calls;
  json_t *runs;     /* "subject|engine|case" -> its records */
  json_t *launches; /* the same of processes for launch_invariant */
  bool backwards;   /* the process whose records are being read went backwards, */
  bool of_threads;  /* was for launch_invariant, */
  unsigned threads; /* and had so many threads by its variables; */
  bool of_guests;   /* the first results of its runs are kept, too */
  char note[80];    /* a remark on all runs; "": none */
};

/* NULL where memory is short. The length is not limited, for a guest's name may have any. */
static char *key_of(const char *subject, const char *engine, const char *case_name) {
  char *key = NULL;
  return asprintf(&key, "%s|%s|%s", subject, engine, case_name) < 0 ? NULL : key;
}

static const json_t *records_of(const json_t *all, const struct fold_subject *subject, const char *case_name) {
  char *key = key_of(subject->name, fold_engine_name(subject->engine), case_name);
  const json_t *records = json_object_get(all, key);
  free(key);
  return records;
}

static uint64_t bits_at(const json_t *object, const char *key) {
  const char *text = json_string_value(json_object_get(object, key));
  return text ? strtoull(text, NULL, 16) : 0;
}

static struct fold_traces traces_of(const json_t *record) {
  const json_t *unwritten = json_object_get(record, "unwritten"), *stray = json_object_get(record, "out_of_bounds");
  const json_t *split = json_object_get(record, "ranks_differ");
  int of = fold_argument_parse(json_string_value(json_object_get(stray, "of")));
  int by = fold_access_parse(json_string_value(json_object_get(stray, "by")));
  const char *left = json_string_value(json_object_get(record, "left"));
  struct fold_traces traces = {
      .unwritten = unwritten,
      .unwritten_at = (size_t)json_integer_value(json_object_get(unwritten, "row")),
      .out_of_bounds = stray,
      .bounds_at = (ptrdiff_t)json_integer_value(json_object_get(stray, "byte")),
      .bounds_of = of < 0 ? FOLD_OUTPUT : (enum fold_argument)of,
      .bounds_by = by < 0 ? FOLD_WRITTEN : (enum fold_access)by,
      .ranks_differ = split,
      .rank = (unsigned)json_integer_value(json_object_get(split, "rank")),
      .differ_at = (size_t)json_integer_value(json_object_get(split, "row")),
      .bits = bits_at(split, "rank_0"),
      .other_bits = bits_at(split, "got"),
  };
  if (left) snprintf(traces.left, sizeof traces.left, "%s", left);
  return traces;
}

static bool is_trace(const struct fold_traces *t) {
  return t->unwritten || t->out_of_bounds || t->left[0] || t->ranks_differ;
}

static bool find_result(const struct fold_fresh *fresh, const struct fold_subject *subject, const char *case_name,
                        uint64_t *result_hash, struct fold_traces *traces, const char **why) {
  const struct recorded *recorded = (const struct recorded *)fresh;
  const uint64_t ours = *result_hash;
  const json_t *records = records_of(recorded->runs, subject, case_name);
  size_t i;
  json_t *record;
  *traces = (struct fold_traces){0};
  *why = NULL;
  json_array_foreach(records, i, record) {
    *why = json_string_value(json_object_get(record, "reason"));
    if (json_object_get(record, "results_xxh3") == NULL) return false;
    *result_hash = bits_at(record, "results_xxh3");
    if (!is_trace(traces)) *traces = traces_of(record);
    *why = json_is_true(json_object_get(record, "backwards")) ? "in reverse, each case after a different input" : NULL;
    if (*result_hash != ours) return true;
  }
  *why = recorded->note[0] ? recorded->note : NULL;
  return json_array_size(records) > 0;
}

static bool launch_result(const struct fold_fresh *fresh, const struct fold_subject *subject, const char *case_name,
                          size_t k, unsigned *threads, uint64_t *result_hash) {
  const struct recorded *recorded = (const struct recorded *)fresh;
  const json_t *record = json_array_get(records_of(recorded->launches, subject, case_name), k);
  if (json_object_get(record, "results_xxh3") == NULL) return false;
  *threads = (unsigned)json_integer_value(json_object_get(record, "threads"));
  *result_hash = bits_at(record, "results_xxh3");
  return true;
}

static const json_t *results_of(const json_t *records, uint64_t hash) {
  size_t i;
  json_t *record;
  json_array_foreach(records, i, record) if (bits_at(record, "results_xxh3") == hash) {
    return json_object_get(record, "results");
  }
  return NULL;
}

static size_t first_results(const struct fold_fresh *fresh, const struct fold_subject *subject, const char *case_name,
                            uint64_t hash, uint64_t bits[FOLD_FRESH_ROWS]) {
  const struct recorded *recorded = (const struct recorded *)fresh;
  const json_t *results = results_of(records_of(recorded->runs, subject, case_name), hash);
  if (results == NULL) results = results_of(records_of(recorded->launches, subject, case_name), hash);
  size_t n = 0;
  for (; n < json_array_size(results) && n < FOLD_FRESH_ROWS; n++)
    bits[n] = strtoull(json_string_value(json_array_get(results, n)), NULL, 16);
  return n;
}

void fold_fresh_free(struct fold_fresh *fresh) {
  struct recorded *recorded = (struct recorded *)fresh;
  if (recorded) json_decref(recorded->runs);
  if (recorded) json_decref(recorded->launches);
  free(recorded);
}

/* Adds a run to those of other processes with the same key. */
static bool add_run(json_t *all, const char *key, json_t *run) {
  json_t *runs = json_object_get(all, key);
  if (runs == NULL && json_object_set_new(all, key, runs = json_array()) != 0) runs = NULL;
  return json_array_append_new(runs, run) == 0;
}

/* The line before a process's records says what it was. */
static void begin_process(struct recorded *recorded, const json_t *line) {
  recorded->backwards = json_is_true(json_object_get(line, "backwards"));
  recorded->of_threads = json_is_true(json_object_get(line, "of_threads"));
  recorded->threads = (unsigned)json_integer_value(json_object_get(line, "threads"));
  recorded->of_guests = json_is_true(json_object_get(line, "of_guests"));
}

/* Keeps only the fields that the judge asks for. */
static fold_status keep_run(struct recorded *recorded, json_t *line) {
  const char *subject = NULL, *engine = NULL, *name = NULL;
  double seconds;
  if (json_unpack(line, "{s:F}", "slow", &seconds) == 0)
    snprintf(recorded->note, sizeof recorded->note, "in 1 new process, not in several: it took %.0f s", seconds);
  if (json_object_get(line, "backwards")) begin_process(recorded, line);
  if (json_unpack(line, "{s:s, s:s, s:s}", "subject", &subject, "engine", &engine, "case", &name) != 0)
    return fold_ok();
  static const char *const kept[] = {"results_xxh3", "unwritten", "out_of_bounds", "left", "ranks_differ", "reason"};
  json_t *run = json_pack("{s:b, s:i}", "backwards", recorded->backwards, "threads", (int)recorded->threads);
  bool failed = run == NULL;
  for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
    json_t *value = json_object_get(line, kept[i]);
    failed = failed || (value && json_object_set(run, kept[i], value) != 0);
  }
  json_t *results = recorded->of_guests ? json_object_get(line, "results") : NULL;
  failed = failed || (results && json_object_set(run, "results", results) != 0);
  char *key = key_of(subject, engine, name);
  failed = !add_run(recorded->of_threads ? recorded->launches : recorded->runs, key, run) || failed;
  free(key);
  return failed ? fold_no_memory("for a new process's results") : fold_ok();
}

/* A line that can't be read counts as a run that was not recorded; the other lines are used. */
static fold_status read_records(FILE *file, struct recorded *recorded) {
  char *text = NULL;
  size_t room = 0;
  fold_status status = fold_ok();
  for (ssize_t n; status.code == FOLD_OK && (n = getline(&text, &room, file)) >= 0;) {
    json_t *line = json_loadb(text, (size_t)n, 0, NULL);
    if (line) status = keep_run(recorded, line);
    json_decref(line);
  }
  free(text);
  return status;
}

static fold_status read_file(int records, struct recorded *recorded) {
  int fd = dup(records);
  FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
  if (file == NULL) {
    if (fd >= 0) close(fd);
    return fold_error(FOLD_ENVIRONMENT, "a new process's records cannot be read: %s", strerror(errno));
  }
  rewind(file);
  fold_status status = read_records(file, recorded);
  fclose(file);
  return status;
}

fold_status fold_fresh_read(int records, struct fold_fresh **fresh) {
  struct recorded *recorded = calloc(1, sizeof *recorded);
  if (recorded)
    *recorded = (struct recorded){
        {find_result, launch_result, first_results}, .runs = json_object(), .launches = json_object()};
  *fresh = recorded ? &recorded->calls : NULL;
  fold_status status = fold_ok();
  if (!recorded || !recorded->runs || !recorded->launches) status = fold_no_memory("for a new process's results");
  if (status.code == FOLD_OK) status = read_file(records, recorded);
  if (status.code != FOLD_OK) {
    fold_fresh_free(*fresh);
    *fresh = NULL;
  }
  return status;
}
