/* report_lines.c: JSON lines, by getline and jansson: memory for one line, however long the file. */
#include "report_lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record.h"

static fold_status check_record(const json_t *record) {
  const json_t *schema = json_object_get(record, "schema");
  if (!json_is_object(record) || !json_is_integer(schema))
    return fold_error(FOLD_BAD_INPUT, "no record: an object with a schema number is wanted");
  if (json_integer_value(schema) == FOLD_SCHEMA) return fold_ok();
  return fold_error(FOLD_BAD_INPUT, "schema %lld: this foldproof reads schema %d",
                    (long long)json_integer_value(schema), FOLD_SCHEMA);
}

static fold_status take_line(const char *text, size_t length, size_t line,
                             fold_status (*take)(void *, json_t *, size_t), void *context) {
  json_error_t error;
  json_t *record = json_loadb(text, length, 0, &error);
  if (record == NULL && length > 1 && text[0] == '\x1f' && text[1] == '\x8b')
    return fold_error(FOLD_BAD_INPUT, "it is compressed: gunzip it first");
  if (record == NULL) return fold_error(FOLD_BAD_INPUT, "not JSON: %.100s", error.text);
  fold_status status = check_record(record);
  if (status.code == FOLD_OK) status = take(context, record, line);
  json_decref(record);
  return status;
}

/* A name that holds a newline would break the promise of one line. */
static void keep_one_line(fold_status *status) {
  for (char *c = status->text; *c; c++)
    if ((unsigned char)*c < ' ' || *c == 0x7f) *c = '?';
}

fold_status fold_lines_read(const char *path, fold_status (*take)(void *context, json_t *record, size_t line),
                            void *context, size_t *lines) {
  char *text = NULL;
  size_t room = 0;
  fold_status status = fold_ok();
  FILE *file = fopen(path, "r");
  *lines = 0;
  errno = file ? 0 : errno;
  for (ssize_t length; file && status.code == FOLD_OK && (length = getline(&text, &room, file)) >= 0;) {
    ++*lines;
    status = fold_within(take_line(text, (size_t)length, *lines, take, context), "%.150s:%zu", path, *lines);
  }
  if (status.code == FOLD_OK && (file == NULL || ferror(file) || !feof(file)))
    status = fold_error(FOLD_BAD_INPUT, "%s: can't be read: %s", path, strerror(errno));
  if (status.code == FOLD_OK && *lines == 0) status = fold_error(FOLD_BAD_INPUT, "%s: no record in it", path);
  free(text);
  if (file) fclose(file);
  keep_one_line(&status);
  return status;
}
