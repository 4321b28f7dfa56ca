/* report_lines.h: reads a file of records, one at a time, for reports and comparisons. */
#ifndef FOLD_REPORT_LINES_H
#define FOLD_REPORT_LINES_H

#include <jansson.h>
#include <stdbool.h>
#include <xxhash.h>

#include "fold.h"
#include "report_scan.h"

enum { FOLD_LINES_TEXT = 120 };
struct fold_lines {
  size_t records; /* how many there are, closing lines (record.h) left out */
  /* Why records are missing: the run was interrupted, or the file was cut; else "". */
  char incomplete[FOLD_LINES_TEXT];
  /* Says that lines were altered; else "", also if there is no closing line to check them by. */
  char altered[FOLD_LINES_TEXT];
};

/* Calls `take` with each record of this schema and its line number, counting from 1 in each file: of a file, one that gzip made, or all
 * such of a folder. A last line that was cut is dropped.
 * A failure, `take`'s or FOLD_BAD_INPUT for what is no record, is one line that begins with file and line number; so
 * a file without a record is. The record is the caller's to change, and to keep by a reference of its own. */
fold_status fold_lines_read(const char *path, fold_status (*take)(void *context, json_t *record, size_t line),
                            void *context, struct fold_lines *lines);

/* The same of records whose fields are scanned (report_scan.h), without a tree of each: ten times as fast. */
typedef fold_status fold_take_scanned(void *context, const struct fold_scanned *record, size_t line);
fold_status fold_lines_scan(const char *path, fold_take_scanned *take, void *context, struct fold_lines *lines);

/* A record's text of that key; "" where it has none. */
const char *fold_record_text(const json_t *record, const char *key);
/* A record's number of that key; NaN where it has none. */
double fold_record_double(const json_t *record, const char *key);

/* The dtype of a record's results: "result_dtype", or else that of its terms. -1: unknown. */
int fold_record_result_dtype(const json_t *record);
/* Reads the bits of a result in hexadecimal; false if the dtype has no such result. */
bool fold_record_read_bits(const char *text, enum fold_dtype dtype, uint64_t *bits);
/* FOLD_BAD_INPUT, with subject and case, if the results do not have the recorded hash. */
fold_status fold_record_check_results(const json_t *record);
/* The same of one that was scanned; it is parsed only where its results are not as foldproof writes them. */
fold_status fold_scanned_check_results(const struct fold_scanned *record);

/* What a judgement or a run says that contradicts itself: the field and why; NULL: nothing. */
const char *fold_record_wrong(const json_t *record);
/* FOLD_BAD_INPUT, with subject and case, where that is so or where results are not those of their hash. Asked of each record that a closing
 * line guards, but for what a scan of fields is right in spite of: others may be anybody's. */
fold_status fold_record_check(const json_t *record);

/* The same for records of one subject, engine and case, and of one input where that is asked for. */
XXH128_hash_t fold_record_key(const json_t *record, bool with_input);

#endif
