/* report_scan.h: finds the fields of a record in its text, without parsing it into a tree: for files with millions of records.
 *
 * Only what a writer of compact JSON writes is scanned: plain ASCII, no escapes, no blanks. Everything else is left to jansson,
 * so that nothing is accepted here that jansson would refuse.
 */
#ifndef FOLD_REPORT_SCAN_H
#define FOLD_REPORT_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* A value as it stands in the text, for strings without the quotes. */
struct fold_slice {
  const char *at; /* NULL: there is no such key */
  size_t n;
};

/* The keys that a comparison needs, and those that every judgement or run must have, which report_lines.c checks. */
#define FOLD_SCAN_KEYS(KEY)                                                                                         \
  KEY(schema)                                                                                                       \
  KEY(type)                                                                                                         \
  KEY(build)                                                                                                        \
  KEY(subject)                                                                                                      \
  KEY(engine)                                                                                                       \
  KEY(claim)                                                                                                        \
  KEY(promised) KEY(case) KEY(dtype) KEY(result_dtype) KEY(op) KEY(rows) KEY(cols) KEY(order) KEY(method)           \
      KEY(accumulator) KEY(input_xxh3) KEY(results) KEY(results_xxh3) KEY(verdict) KEY(unwritten) KEY(ranks_differ) \
          KEY(out_of_bounds) KEY(wrote_input) KEY(left)
enum fold_scan_key {
#define KEY(name) FOLD_KEY_##name,
  FOLD_SCAN_KEYS(KEY)
#undef KEY
      FOLD_SCANNED
};

struct fold_scanned {
  struct fold_slice value[FOLD_SCANNED];
  unsigned has, strings; /* masks of the keys that were found, and of those that are strings */
  const char *line;      /* the whole text, as in the file */
  size_t length;
};

static inline bool fold_scanned_says(const struct fold_scanned *scanned, enum fold_scan_key key, const char *text) {
  const struct fold_slice *value = &scanned->value[key];
  return value->at && value->n == strlen(text) && memcmp(value->at, text, value->n) == 0;
}

static inline bool fold_scanned_has_text(const struct fold_scanned *scanned, enum fold_scan_key key) {
  return (scanned->strings >> key & 1) && scanned->value[key].n > 0;
}

/* False if jansson must read it. The byte after the text must not be part of JSON. */
bool fold_scan(const char *text, size_t n, struct fold_scanned *scanned);

#endif
