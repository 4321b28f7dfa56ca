/* record.h: writes results and verdicts as JSON lines. They are made once, and can be judged, compared and drawn
 * anywhere.
 *
 * schema.def says what each line holds; docs/records.md is made from it. The first line is the "environment"; then come
 * judgements, runs, timings and errors; the last line is "end". Results are written as hexadecimal bits, with a decimal
 * beside them for people.
 *
 * "end" says how many "records" come before it, and whether the run was "complete" or was interrupted. Its "lines_xxh3"
 * is a hash of the sum of the lines' hashes, so lines may be reordered, but not changed. The environment's
 * "closing_line" announces "end": if "end" is missing then, the file was cut. Older records announce none, and are read
 * as they are. The file appears under its own name when it is closed (output.h).
 */
#ifndef FOLD_RECORD_H
#define FOLD_RECORD_H

#include <jansson.h>
#include <stdio.h>

#include "base/output.h"
#include "records/schema.h"
#include "records/skips.h"

/* A record holds the bits of so many rows, unless all are asked for. Its hash covers all rows. */
#define FOLD_RECORD_RESULTS 16

struct fold_records {
  FILE *file; /* the output's; NULL: no records are written */
  struct fold_output output;
  size_t lines;
  uint64_t sum; /* of the lines' hashes */
  bool gathers; /* subjects that could not run get one record for all their cases (skips.h), at the end */
  struct fold_skips skips;
  bool announced; /* the environment has announced a closing line */
  char kept[256]; /* once closed: where an incomplete file was put, if not under the user's name */
};
/* Opens `path` for writing. FOLD_BAD_INPUT names a path that can't be written; a full disk, then or later, is
 * FOLD_ENVIRONMENT. */
fold_status fold_records_open(struct fold_records *records, const char *path);
/* One line for the environment of this process's run; takes over `environment`. */
fold_status fold_records_environment(struct fold_records *records, json_t *environment);
/* The same for a run that was made earlier, perhaps on another machine. */
fold_status fold_records_environment_of(struct fold_records *records, json_t *environment);
/* Writes one line for each judgement. With `gathers` set, cases that could not run are counted in one line, which is
 * written when the file is closed. */
fold_status fold_records_judgement(struct fold_records *records, const struct fold_judgement *judgement);
/* Sets a decimal number, except NaN and infinity, which JSON lacks: for these the bits beside it are enough. */
void fold_record_number(json_t *object, const char *key, double value);
/* A field "shape": the extents b, m, n and k. */
json_t *fold_record_shape(const struct fold_shape *shape);
/* The hash in the closing line, for so many lines, whose hashes have that sum. */
uint64_t fold_records_sum(uint64_t sum, size_t lines, bool complete);
/* A hash's text. */
void fold_record_hash(char text[24], uint64_t hash);
/* A result's bits, in hexadecimal. */
void fold_record_bits(json_t *object, const char *key, enum fold_dtype dtype, uint64_t bits);
/* What a finding measured, beside its verdict and reason; its results are of that dtype. */
void fold_record_figures(json_t *object, const struct fold_finding *finding, enum fold_dtype dtype);
/* A judgement as an object; NULL where memory is short. */
json_t *fold_record_of(const struct fold_judgement *judgement);
/* The explanation of a refutation, which it names. */
json_t *fold_record_explanation(const struct fold_judgement *of, const struct fold_order_change *change);
/* Makes a line's text, which the caller frees, and releases `line`. FOLD_ENVIRONMENT if the line breaks the schema. */
fold_status fold_record_line_text(json_t *line, char **text);
/* Writes and releases `line`; NULL (memory was short) is FOLD_NO_MEMORY. */
fold_status fold_records_line(struct fold_records *records, json_t *line);
/* Ends the file, marked as complete or not, and puts it into its place (output.h). */
fold_status fold_records_close(struct fold_records *records, enum fold_output_end end);

#endif
