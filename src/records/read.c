/* records/read.c: reads JSON lines with jansson. It needs memory for one line only, however long the file is.
 *
 * A file holds the records of one run, or of several in sequence. If a run's environment announces a closing line, that line must
 * be there and its count must be right (record.h). Runs of schema 1 may lack it. Lines that a user cut out of a
 * file have no environment.
 */
#include "records/read.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/line.h"
#include "base/list.h"
#include "records/plain.h"
#include "records/record.h"
#include "records/source.h"

/* What a judgement or a run is about, and its line. */
struct noted {
  XXH128_hash_t key;
  size_t line;
};

/* The file that is being read. Of the current run: how many records came so far, and whether a closing line must follow. */
struct reading {
  fold_status (*take)(void *context, json_t *record, size_t line);
  bool (*wants)(void *context, size_t number); /* NULL: all lines are read and checked */
  void *context;
  struct fold_lines *lines;
  size_t line, in_run;
  uint64_t sum;           /* over the hashes of this run's lines */
  bool open;              /* the run's environment, of schema 1, announced no closing line */
  bool announced, hashed; /* the environment announced a closing line; its schema's closing lines have a hash */
  struct noted *noted;    /* the judgements and runs of this run, if it announces a closing line */
  size_t n_noted, room;
};

/* Keeps the first reason. */
static void __attribute__((format(printf, 2, 3))) tell(char text[FOLD_LINES_TEXT], const char *format, ...) {
  va_list args;
  va_start(args, format);
  if (!text[0]) vsnprintf(text, FOLD_LINES_TEXT, format, args);
  va_end(args);
}

/* Called before another run's first record and at the end of the file. */
static void end_run(struct reading *r, size_t last) {
  if (r->announced) tell(r->lines->incomplete, "cut off after line %zu: the closing line is missing", last);
  r->announced = r->hashed = r->open = false;
  r->in_run = r->n_noted = 0;
  r->sum = 0;
}

/* Within a run, a claim has one verdict on a case, and a case one set of results. A second one means that a record of
 * another subject, or one more of the same, was put in. */
static fold_status note(struct reading *r, const json_t *record) {
  const char *claim = fold_record_text(record, "claim"), *hash = fold_record_text(record, "results_xxh3");
  XXH128_hash_t key = fold_record_key(record, true);
  if (json_object_get(record, "cases") || !*fold_record_text(record, "case")) return fold_ok();
  struct noted *noted = fold_list_grow(&r->noted, &r->n_noted, &r->room, sizeof *noted);
  if (noted == NULL) return fold_no_memory("for the records");
  key = XXH3_128bits_withSeed(claim, strlen(claim) + 1, key.low64 ^ key.high64);
  key = XXH3_128bits_withSeed(hash, strlen(hash) + 1, key.low64 ^ key.high64);
  *noted = (struct noted){key, r->line};
  return fold_ok();
}

static int by_key(const void *a, const void *b) {
  const struct noted *l = a, *m = b;
  const int d = XXH128_cmp(&l->key, &m->key);
  return d ? d : (l->line > m->line) - (l->line < m->line);
}

static fold_status find_repeated(struct reading *r) {
  if (r->n_noted) qsort(r->noted, r->n_noted, sizeof *r->noted, by_key);
  for (size_t i = 1; i < r->n_noted; i++)
    if (XXH128_isEqual(r->noted[i - 1].key, r->noted[i].key))
      return fold_error(FOLD_BAD_INPUT,
                        "of the records that end here, line %zu says what line %zu says: subject, case, claim",
                        r->noted[i].line, r->noted[i - 1].line);
  return fold_ok();
}

static fold_status take_end(struct reading *r, const json_t *record) {
  FOLD_TRY(find_repeated(r));
  const json_t *records = json_object_get(record, "records"), *complete = json_object_get(record, "complete");
  if (json_integer_value(records) != (json_int_t)r->in_run)
    tell(r->lines->incomplete, "the closing line in line %zu counts %lld records, there are %zu", r->line,
         (long long)json_integer_value(records), r->in_run);
  char sum[24];
  fold_record_hash(sum, fold_records_sum(r->sum, r->in_run, json_is_true(complete)));
  const json_t *said = json_object_get(record, "lines_xxh3");
  if (!said && r->hashed)
    tell(r->lines->altered, "the closing line in line %zu has no hash of its %zu records", r->line, r->in_run);
  if (said && strcmp(fold_record_text(record, "lines_xxh3"), sum) != 0)
    tell(r->lines->altered, "of the %zu records that end in line %zu some were changed", r->in_run, r->line);
  if (!json_is_true(complete)) tell(r->lines->incomplete, "the run was interrupted after %zu records", r->in_run);
  r->announced = false;
  end_run(r, r->line);
  return fold_ok();
}

static bool is_judged(const json_t *record) {
  const char *type = fold_record_text(record, "type");
  return strcmp(type, "judgement") == 0 || strcmp(type, "run") == 0;
}

/* Checks a record of a run that a closing line guards. */
static fold_status check_guarded(struct reading *r, const json_t *record) {
  const bool is_old = json_integer_value(json_object_get(record, "schema")) < 2;
  if (!is_judged(record) || (is_old && !r->hashed)) return fold_ok();
  if (is_old) return fold_error(FOLD_BAD_INPUT, "schema 1, and its run has schema 2");
  FOLD_TRY(fold_record_check(record));
  return note(r, record);
}

static fold_status begin_run(struct reading *r, const json_t *environment) {
  const bool is_new = json_integer_value(json_object_get(environment, "schema")) > 1;
  end_run(r, r->line - 1);
  r->announced = json_is_true(json_object_get(environment, "closing_line"));
  r->hashed = r->announced && is_new;
  r->open = !r->announced;
  return r->open && is_new ? fold_error(FOLD_BAD_INPUT, "its closing_line is false, and schema 2 has one in each run")
                           : fold_ok();
}

/* Else a file of schema 2 could be cut whose first line says that it is older. */
static fold_status check_open(const json_t *record) {
  if (!is_judged(record) || json_integer_value(json_object_get(record, "schema")) < 2) return fold_ok();
  return fold_error(FOLD_BAD_INPUT, "schema 2, and its run has schema 1, without a closing line");
}

static fold_status take_record(struct reading *r, json_t *record, uint64_t hash) {
  const char *type = json_string_value(json_object_get(record, "type"));
  FOLD_TRY(fold_schema_check(record));
  if (r->wants) return r->take(r->context, record, r->line);
  if (r->announced) FOLD_TRY(check_guarded(r, record));
  if (r->open) FOLD_TRY(check_open(record));
  if (type && strcmp(type, "end") == 0) return take_end(r, record);
  if (type && strcmp(type, "environment") == 0) FOLD_TRY(begin_run(r, record));
  r->in_run++;
  r->sum += hash;
  r->lines->records++;
  return r->take(r->context, record, r->line);
}

/* Only the last line may lack a line end. If it is not JSON either, it was cut. */
static fold_status take_line(struct reading *r, const char *text, size_t length) {
  json_error_t error;
  FOLD_TRY(fold_line_check(text, length));
  json_t *record = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
  if (record == NULL && r->lines->records > 0 && text[length - 1] != '\n') {
    tell(r->lines->incomplete, "line %zu is cut off, and left out", r->line);
    return fold_ok();
  }
  if (record == NULL) return fold_error(FOLD_BAD_INPUT, "not JSON: %.100s", error.text);
  if (!fold_json_is_plain(text, length)) FOLD_TRY(fold_json_make_plain(&record));
  const fold_status status = take_record(r, record, XXH3_64bits(text, text[length - 1] == '\n' ? length - 1 : length));
  json_decref(record);
  return status;
}

static fold_status read_lines(struct reading *r, const char *path, struct fold_source_file *source) {
  for (;;) {
    const char *text;
    size_t length;
    FOLD_TRY(fold_within(fold_source_line(source, &text, &length), "%.150s:%zu", path, r->line + 1));
    if (length == 0) break;
    r->line++;
    const size_t number = r->lines->lines++;
    if (r->wants && !r->wants(r->context, number)) continue;
    fold_status status = take_line(r, text, length);
    if (status.code != FOLD_OK) return fold_within(status, "%.150s:%zu", path, r->line);
  }
  end_run(r, r->line);
  return fold_ok();
}

static fold_status read_file(struct reading *r, const char *path) {
  struct fold_source_file source;
  const size_t before = r->lines->records;
  r->line = 0;
  FOLD_TRY(fold_source_open(&source, path));
  fold_status status = read_lines(r, path, &source);
  const fold_status closed = fold_source_close(&source, path, status.code == FOLD_OK);
  if (status.code == FOLD_OK) status = closed;
  if (status.code != FOLD_OK || r->wants || r->lines->records > before) return status;
  return fold_error(FOLD_BAD_INPUT, "%.150s: no record in it", path);
}

static fold_status read_path(struct reading *r, const char *path) {
  char **names;
  *r->lines = (struct fold_lines){0};
  fold_status status = fold_source_folder(path, &names);
  if (status.code == FOLD_OK && names == NULL) return read_file(r, path);
  for (size_t i = 0; names && names[i]; i++) {
    if (status.code == FOLD_OK) status = read_file(r, names[i]);
    free(names[i]);
  }
  free(names);
  return status;
}

fold_status fold_lines_read(const char *path, fold_status (*take)(void *context, json_t *record, size_t line),
                            void *context, struct fold_lines *lines) {
  struct reading r = {.take = take, .context = context, .lines = lines};
  fold_status status = read_path(&r, path);
  free(r.noted);
  return status;
}

fold_status fold_lines_pick(const char *path, bool (*wants)(void *context, size_t number),
                            fold_status (*take)(void *context, json_t *record, size_t line), void *context) {
  struct fold_lines lines;
  struct reading r = {.take = take, .wants = wants, .context = context, .lines = &lines};
  return read_path(&r, path);
}
