/* report/results.c: checks a record's results against the recorded hash.
 *
 * A record holds the first rows' bits and a hash of all rows' (record.c). Comparisons use the hash and print the bits. If the two
 * contradict each other, the record was altered or damaged and is no evidence.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "judge/evidence.h"
#include "records/record.h"
#include "report/lines.h"

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
