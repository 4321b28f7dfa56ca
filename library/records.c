/* records.c: foldproof_records: records in a file, with the run's environment before them and a closing line after. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "foldproof.h"
#include "library/answer.h"
#include "records/record.h"
#include "run/environment.h"

struct foldproof_records {
  struct fold_records in;
};

static fold_status parse(const char *json, json_t **object) {
  json_error_t error;
  if (json == NULL) return fold_error(FOLD_BAD_INPUT, "the record is a null pointer");
  *object = json_loads(json, 0, &error);
  if (*object == NULL) return fold_error(FOLD_BAD_INPUT, "no JSON: %s", error.text);
  if (json_is_object(*object)) return fold_ok();
  json_decref(*object);
  return fold_error(FOLD_BAD_INPUT, "no object of JSON: %.60s", json);
}

static fold_status here(json_t **environment) {
  *environment = fold_environment();
  return *environment ? fold_ok() : fold_no_memory("for the environment");
}

static fold_status tell_environment(char *text, size_t size, size_t *needed) {
  json_t *environment;
  FOLD_TRY(here(&environment));
  char *line = json_dumps(environment, JSON_COMPACT);
  json_decref(environment);
  if (line == NULL) return fold_no_memory("for the environment");
  const size_t bytes = strlen(line) + 1;
  const bool fits = text && bytes <= size;
  if (fits) memcpy(text, line, bytes);
  if (needed) *needed = bytes;
  free(line);
  return fits ? fold_ok() : fold_error(FOLD_BAD_INPUT, "the environment has %zu bytes", bytes);
}

int foldproof_environment(char *text, size_t size, size_t *needed) {
  return fold_answer(tell_environment(text, size, needed));
}

static fold_status begin(const char *path, const char *environment, struct fold_records *records) {
  json_t *first;
  FOLD_TRY(environment ? parse(environment, &first) : here(&first));
  fold_status status = fold_records_open(records, path);
  if (status.code != FOLD_OK)
    json_decref(first);
  else if ((status = fold_records_environment(records, first)).code != FOLD_OK)
    fold_records_close(records, FOLD_OUTPUT_DROP);
  return status;
}

int foldproof_records_open(const char *path, const char *environment, struct foldproof_records **records) {
  if (path == NULL || records == NULL) return fold_answer(fold_error(FOLD_BAD_INPUT, "a null pointer"));
  struct foldproof_records *opened = calloc(1, sizeof *opened);
  if (opened == NULL) return fold_answer(fold_no_memory("for records"));
  const int code = fold_answer(begin(path, environment, &opened->in));
  if (code == 0)
    *records = opened;
  else
    free(opened);
  return code;
}

static fold_status add(struct fold_records *records, const char *json) {
  json_t *line;
  FOLD_TRY(parse(json, &line));
  return fold_records_line(records, line);
}

int foldproof_records_add(struct foldproof_records *records, const char *json) {
  return fold_answer(records ? add(&records->in, json) : fold_error(FOLD_BAD_INPUT, "no records are open"));
}

int foldproof_records_close(struct foldproof_records *records, int complete) {
  if (records == NULL) return 0;
  const int code = fold_answer(fold_records_close(&records->in, complete ? FOLD_OUTPUT_WHOLE : FOLD_OUTPUT_PART));
  free(records);
  return code;
}
