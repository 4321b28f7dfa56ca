/* compare/distance.c: how far apart two results are, and which is nearer to the exact one. */
#include "base/bits.h"
#include "compare/compare.h"
#include "oracles/nearer.h"

/* The first row whose bits differ, among the rows that both records hold. */
static bool find_row(json_t *const record[2], enum fold_dtype dtype, size_t *row, uint64_t bits[2]) {
  const json_t *results[2] = {json_object_get(record[0], "results"), json_object_get(record[1], "results")};
  for (*row = 0;; ++*row) {
    for (int k = 0; k < 2; k++)
      if (!fold_record_read_bits(json_string_value(json_array_get(results[k], *row)), dtype, &bits[k])) return false;
    if (!fold_bits_same(dtype, bits[0], bits[1])) return true;
  }
}

fold_status fold_compare_distance(json_t *const record[2], struct fold_again *again, const char *const names[2],
                                  json_t *told) {
  const int dtype = fold_record_result_dtype(record[1]);
  const struct fold_truth *truth;
  struct fold_nearer nearer;
  uint64_t bits[2];
  size_t row;
  char text[200];
  if (dtype < 0 || fold_record_result_dtype(record[0]) != dtype) return fold_ok();
  if (!find_row(record, (enum fold_dtype)dtype, &row, bits)) return fold_ok();
  json_object_set_new(told, "row", json_integer((json_int_t)row));
  if (json_object_get(record[1], "problem")) return fold_ok(); /* hashes of rows: nothing is near to another */
  fold_status status = again ? fold_again_input(again, record[1]) : fold_error(FOLD_UNSUPPORTED, "not asked for");
  if (status.code == FOLD_OK && row >= fold_case_results(again->remade.c)) return fold_ok();
  if (status.code == FOLD_OK) status = fold_truths_row(&again->remade.truths, row, &truth);
  if (status.code == FOLD_NO_MEMORY) return status;
  if (status.code != FOLD_OK) return fold_ok();
  fold_nearer_ask(&nearer, truth, (enum fold_dtype)dtype, bits[0], bits[1]);
  if (nearer.apart || nearer.zeros) json_object_set_new(told, "patterns_apart", json_integer((json_int_t)nearer.apart));
  json_object_set_new(told, "nearer", json_integer(nearer.nearer));
  json_object_set_new(told, "distance", json_string(fold_nearer_print(&nearer, names[0], names[1], text)));
  return fold_ok();
}
