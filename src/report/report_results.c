/* report_results.c: checks a record's results against the recorded hash.
 *
 * A record holds the first rows' bits and a hash of all rows' (record.c). Comparisons use the hash and print the bits. If the two
 * contradict each other, the record was altered or damaged and is no evidence.
 */
#include <stdlib.h>
#include <string.h>

#include "bits.h"
#include "evidence.h"
#include "record.h"
#include "report_lines.h"

static fold_status check(const json_t *record, const json_t *results) {
  const json_t *rows = json_object_get(record, "rows");
  const int dtype = fold_record_result_dtype(record);
  const size_t n = json_array_size(results);
  uint64_t bits;
  if (dtype < 0 || !json_is_integer(rows) || json_integer_value(rows) < 0)
    return fold_error(FOLD_BAD_INPUT, "results need the keys dtype and rows");
  const size_t all = (size_t)json_integer_value(rows), held = all < FOLD_RECORD_RESULTS ? all : FOLD_RECORD_RESULTS;
  if (!json_is_array(results) || (n != held && n != all))
    return fold_error(FOLD_BAD_INPUT, "it holds %zu results, and should hold %zu of %zu rows", n, held, all);
  void *got = malloc(n * 8 + 8);
  fold_status status = got ? fold_ok() : fold_error(FOLD_NO_MEMORY, "not enough memory for a record's results");
  for (size_t r = 0; r < n && status.code == FOLD_OK; r++) {
    const char *text = json_string_value(json_array_get(results, r));
    if (fold_record_read_bits(text, (enum fold_dtype)dtype, &bits))
      fold_bits_store((enum fold_dtype)dtype, got, r, bits);
    else
      status = fold_error(FOLD_BAD_INPUT, "'%.30s' is no result of %s", text ? text : "",
                          fold_dtype_name((enum fold_dtype)dtype));
  }
  char want[24];
  if (status.code == FOLD_OK) fold_record_hash(want, fold_results_hash((enum fold_dtype)dtype, got, n));
  free(got);
  /* The hash is of all rows: it says nothing if only the first rows are recorded. */
  if (status.code != FOLD_OK || all > n || strcmp(fold_record_text(record, "results_xxh3"), want) == 0) return status;
  return fold_error(FOLD_BAD_INPUT, "results_xxh3 is %.20s, but its results have %s",
                    fold_record_text(record, "results_xxh3"), want);
}

fold_status fold_record_check_results(const json_t *record) {
  const json_t *results = json_object_get(record, "results");
  if (results == NULL || !fold_record_text(record, "results_xxh3")[0]) return fold_ok();
  return fold_within(check(record, results), "%.60s on %.10s: %.100s", fold_record_text(record, "subject"),
                     fold_record_text(record, "engine"), fold_record_text(record, "case"));
}

/* --- whether results have the recorded hash */

static int read_dtype(const struct fold_scanned *r) {
  const enum fold_scan_key key = r->value[FOLD_KEY_result_dtype].at ? FOLD_KEY_result_dtype : FOLD_KEY_dtype;
  char name[16] = "";
  if (!fold_scanned_has_text(r, key) || r->value[key].n >= sizeof name) return -1;
  memcpy(name, r->value[key].at, r->value[key].n);
  return fold_dtype_parse(name);
}

/* Reads 0x3f800000, in lower case as record.c writes it. */
static bool read_digits(const char *at, int digits, uint64_t *bits) {
  if (memcmp(at, "0x", 2) != 0) return false;
  *bits = 0;
  for (int i = 0; i < digits; i++) {
    const char c = at[2 + i];
    const unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                           : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                                                  : 16;
    if (digit > 15) return false;
    *bits = *bits << 4 | digit;
  }
  return true;
}

/* The length of such a text in quotes; 0 if it is not written so. */
static size_t read_bits(const char *at, const char *end, int digits, uint64_t *bits) {
  const bool quoted = end - at >= digits + 4 && at[0] == '"' && at[digits + 3] == '"';
  return quoted && read_digits(at + 1, digits, bits) ? (size_t)digits + 4 : 0;
}

/* False if the hash is another one, or if only the thorough reader can tell. */
static bool has_its_hash(const struct fold_scanned *r) {
  const struct fold_slice *list = &r->value[FOLD_KEY_results], *rows = &r->value[FOLD_KEY_rows];
  const int dtype = read_dtype(r);
  uint64_t bits, got[FOLD_RECORD_RESULTS];
  size_t n = 0, all = 0;
  if (!list->at) return true; /* there is only a hash */
  if (dtype < 0 || !rows->at || rows->n > 9 || r->strings >> FOLD_KEY_rows & 1 || list->n < 2) return false;
  for (size_t i = 0; i < rows->n; i++) {
    if (rows->at[i] < '0' || rows->at[i] > '9') return false;
    all = 10 * all + (size_t)(rows->at[i] - '0');
  }
  const int digits = fold_format_of((enum fold_dtype)dtype).bits / 4;
  for (const char *at = list->at + 1, *end = list->at + list->n - 1; at < end; n++) {
    const size_t length = n < FOLD_RECORD_RESULTS ? read_bits(at, end, digits, &bits) : 0;
    if (length == 0) return false;
    fold_bits_store((enum fold_dtype)dtype, got, n, bits);
    at += length + (at + length < end && at[length] == ',');
  }
  if (n != (all < FOLD_RECORD_RESULTS ? all : FOLD_RECORD_RESULTS)) return false;
  if (all > n) return true; /* the hash is for rows that are not recorded */
  const struct fold_slice *hash = &r->value[FOLD_KEY_results_xxh3];
  return hash->n == 18 && read_digits(hash->at, 16, &bits) && bits == fold_results_hash((enum fold_dtype)dtype, got, n);
}

fold_status fold_scanned_check_results(const struct fold_scanned *r) {
  if (has_its_hash(r)) return fold_ok();
  json_t *record = json_loadb(r->line, r->length, 0, NULL);
  fold_status status = record ? fold_record_check_results(record)
                              : fold_error(FOLD_NO_MEMORY, "not enough memory for a record's results");
  json_decref(record);
  return status;
}
