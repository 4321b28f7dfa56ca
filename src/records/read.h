/* records/read.h: reads a file of records, one at a time, for reports and comparisons. */
#ifndef FOLD_RECORDS_READ_H
#define FOLD_RECORDS_READ_H

#include <jansson.h>
#include <stdbool.h>
#include <xxhash.h>

#include "base/fold.h"

enum { FOLD_LINES_TEXT = 120 };
struct fold_lines {
  size_t lines;   /* how many lines were read, of all files of a folder */
  size_t records; /* how many records there are, without closing lines (record.h) */
  /* Why records are missing: the run was interrupted, or the file was cut; else "". */
  char incomplete[FOLD_LINES_TEXT];
  /* Says that lines were altered; else "", also if there is no closing line to check them by. */
  char altered[FOLD_LINES_TEXT];
};

/* Calls `take` with each record of this schema and its line number, which counts from 1 in each file. `path` is a file, a file that gzip
 * made, or a folder of such files. A last line that was cut is dropped.
 * A failure of `take`, FOLD_BAD_INPUT for a line that is no record, and that for a file without records are one line of text that begins
 * with the file and the line number. The caller may change the record, and keep it by a reference of its own. */
fold_status fold_lines_read(const char *path, fold_status (*take)(void *context, json_t *record, size_t line),
                            void *context, struct fold_lines *lines);

/* Reads the same path once more, but only the lines that `wants` chooses: to read a line takes much less time than to make a record
 * of it. `number` is what fold_lines.lines was before that line. The records were checked before. */
fold_status fold_lines_pick(const char *path, bool (*wants)(void *context, size_t number),
                            fold_status (*take)(void *context, json_t *record, size_t line), void *context);

/* The text of that key in a record; "" if there is none. */
const char *fold_record_text(const json_t *record, const char *key);
/* The number of that key in a record; NaN if there is none. */
double fold_record_double(const json_t *record, const char *key);

/* The dtype of a record's results: "result_dtype", or else that of its terms. -1 if it is unknown. */
int fold_record_result_dtype(const json_t *record);
/* Reads the bits of a result in hexadecimal; false if the dtype has no such result. */
bool fold_record_read_bits(const char *text, enum fold_dtype dtype, uint64_t *bits);
/* FOLD_BAD_INPUT, with subject and case, if the results do not have the recorded hash. */
fold_status fold_record_check_results(const json_t *record);

/* The field in which a judgement or a run contradicts itself, and why; NULL if there is none. */
const char *fold_record_wrong(const json_t *record);
/* FOLD_BAD_INPUT, with subject and case, if the record contradicts itself or its results do not have their hash. Used for each record that
 * a closing line guards; records without a closing line may be anybody's. */
fold_status fold_record_check(const json_t *record);

/* A hash of subject, engine, case and kept_for; with_input adds the input's. */
XXH128_hash_t fold_record_key(const json_t *record, bool with_input);

#endif
