/* record.h: what was seen, as JSON lines: made once, judged, compared and drawn anywhere.
 *
 * schema.def says what each line holds; docs/records.md is made of it. "environment" comes once, first, then judgements, runs, timings and
 * errors, last "end". Results travel as hexadecimal bits; beside them a decimal for people.
 *
 * "end" says how many "records" stand before it and whether the run was "complete", which one that was interrupted is not; and
 * "lines_xxh3" is a hash of the sum of their hashes: lines may be put into another sequence, but none changed.
 * The environment's "closing_line" announces it: where it is missing then, the file was cut. Older records announce none,
 * and are read as they are. The file appears under its own name when it is closed (output.h).
 */
#ifndef FOLD_RECORD_H
#define FOLD_RECORD_H

#include <jansson.h>
#include <stdio.h>

#include "output.h"
#include "schema.h"
#include "skips.h"

/* Rows whose bits a record holds, unless all are asked for; the hash covers all. */
#define FOLD_RECORD_RESULTS 16

struct fold_records {
  FILE *file; /* the output's; NULL: no records are written */
  struct fold_output output;
  size_t lines;
  uint64_t sum; /* of the lines' hashes */
  bool gathers; /* what could not run is told once for all that it covers (skips.h), at the end */
  struct fold_skips skips;
  bool announced; /* that a closing line follows */
  char kept[256]; /* once closed: the name of a part, where that is another than the user's */
};
/* Opens `path` for writing; FOLD_BAD_INPUT names it when that can't be. Where the disk is full, then or later, that is
 * FOLD_ENVIRONMENT. */
fold_status fold_records_open(struct fold_records *records, const char *path);
/* One line for the environment of this process's run; takes over `environment`. */
fold_status fold_records_environment(struct fold_records *records, json_t *environment);
/* The same of a run that was made before, perhaps elsewhere. */
fold_status fold_records_environment_of(struct fold_records *records, json_t *environment);
/* One line for each judgement; where `gathers` is set, for what could not run one of "cases" cases, when the file is closed. */
fold_status fold_records_judgement(struct fold_records *records, const struct fold_judgement *judgement);
/* JSON has no NaN or infinity: such a decimal is left out of the object, the bits beside it say it. */
void fold_record_number(json_t *object, const char *key, double value);
/* What the closing line says of so many lines, whose hashes have that sum. */
uint64_t fold_records_sum(uint64_t sum, size_t lines, bool complete);
/* A hash's text. */
void fold_record_hash(char text[24], uint64_t hash);
/* A result's bits, in hexadecimal. */
void fold_record_bits(json_t *object, const char *key, enum fold_dtype dtype, uint64_t bits);
/* What a finding measured, beside its verdict and reason; its results are of that dtype. */
void fold_record_figures(json_t *object, const struct fold_finding *finding, enum fold_dtype dtype);
/* A judgement as an object; NULL where memory is short. */
json_t *fold_record_of(const struct fold_judgement *judgement);
/* A line's text, which the caller frees, and releases `line`. FOLD_ENVIRONMENT where it is not as the schema has it. */
fold_status fold_record_line_text(json_t *line, char **text);
/* Writes and releases `line`; NULL (memory was short) is FOLD_NO_MEMORY. */
fold_status fold_records_line(struct fold_records *records, json_t *line);
/* Ends the file, as complete or not, and puts it into its place (output.h). */
fold_status fold_records_close(struct fold_records *records, enum fold_output_end end);

#endif
