/* compare/results.c: the results of a record: those that it holds, or, where it holds only their hash, computed results that have this hash. */
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "compare/again.h"
#include "fixtures/npy.h"
#include "records/read.h"
#include "records/record.h"

static bool has_hash(const json_t *record, enum fold_dtype dtype, const void *results, size_t rows) {
  char text[24];
  fold_record_hash(text, fold_results_hash(dtype, results, rows));
  return strcmp(text, fold_record_text(record, "results_xxh3")) == 0;
}

static fold_status read_held(const json_t *record, enum fold_dtype dtype, void *results, size_t rows, size_t *held) {
  const json_t *list = json_object_get(record, "results");
  uint64_t bits;
  for (*held = 0; *held < json_array_size(list) && *held < rows; ++*held) {
    if (!fold_record_read_bits(json_string_value(json_array_get(list, *held)), dtype, &bits))
      return fold_error(FOLD_BAD_INPUT, "no result of %s", fold_dtype_name(dtype));
    fold_bits_store(dtype, results, *held, bits);
  }
  return fold_ok();
}

/* Whether a file of that name is in the folder of the records, or in one below. */
static bool is_below(const char *name) {
  for (const char *part = name; *part; part += strspn(part, "/")) {
    const size_t n = strcspn(part, "/");
    if (n == 0 || (n == 2 && strncmp(part, "..", n) == 0)) return false;
    part += n;
  }
  return *name != '\0';
}

/* Reads "results_npy": a file beside the records. A record from a stranger may not have others looked for. */
static fold_status read_npy(const json_t *record, const char *path, enum fold_dtype dtype, void *results, size_t rows) {
  const char *slash = strrchr(path, '/'), *file = fold_record_text(record, "results_npy");
  char *name = NULL;
  struct fold_npy npy;
  if (!is_below(file))
    return fold_error(FOLD_BAD_INPUT, "results_npy is '%.60s': it must be next to the records, or in a folder below",
                      file);
  if (asprintf(&name, "%.*s%s", slash ? (int)(slash - path) + 1 : 0, path, file) < 0)
    return fold_no_memory("for a name");
  fold_status status = fold_npy_open(name, &npy);
  if (status.code == FOLD_OK && (npy.dtype != dtype || npy.rows * npy.cols != rows))
    status = fold_error(FOLD_BAD_INPUT, "%.100s: not %zu results of %s", name, rows, fold_dtype_name(dtype));
  if (status.code == FOLD_OK) status = fold_npy_read(name, &npy, results);
  free(name);
  return status;
}

/* Fills in the replay of the subject's order, or the exact results. */
static fold_status fill_in(struct fold_again *a, const struct fold_subject *subject, void *results, size_t rows) {
  struct fold_subject as_host = *subject;
  const enum fold_dtype dtype = fold_subject_result(subject, a->remade.c->dtype);
  const struct fold_evidence e = {.subject = &as_host, .truths = &a->remade.truths};
  const void *replayed;
  as_host.engine = FOLD_HOST;
  if (subject->order) {
    FOLD_TRY(fold_evidence_replay(&e, &replayed));
    memcpy(results, replayed, rows * fold_dtype_size(dtype));
    return fold_ok();
  }
  for (size_t row = 0; row < rows; row++) {
    const struct fold_truth *truth;
    FOLD_TRY(fold_truths_row(&a->remade.truths, row, &truth));
    fold_bits_store(dtype, results, row, truth->rounded[dtype]);
  }
  return fold_ok();
}

/* Checks results that were filled in and have the record's hash against the bits that the record holds; these must
 * agree. */
static fold_status check_held(const json_t *record, enum fold_dtype dtype, const void *results, size_t held) {
  for (size_t i = 0; i < held && json_object_get(record, "results_npy") == NULL; i++) {
    const char *text = json_string_value(json_array_get(json_object_get(record, "results"), i));
    uint64_t bits;
    if (fold_record_read_bits(text, dtype, &bits) && fold_bits_same(dtype, bits, fold_bits_load(dtype, results, i)))
      continue;
    return fold_error(FOLD_BAD_INPUT, "result %zu is %.30s: it does not belong to the recorded hash", i,
                      text ? text : "");
  }
  return fold_ok();
}

fold_status fold_again_results(struct fold_again *a, const json_t *record, const char *path,
                               const struct fold_subject *subject, void **results) {
  const struct fold_case *c = a->remade.c;
  const enum fold_dtype dtype = fold_subject_result(subject, c->dtype);
  size_t held;
  *results = calloc(fold_case_results(c) + 1, 8);
  if (*results == NULL) return fold_no_memory("for %zu results", fold_case_results(c));
  if (json_object_get(record, "results_npy")) {
    FOLD_TRY(read_npy(record, path, dtype, *results, fold_case_results(c)));
    held = fold_case_results(c);
  } else {
    FOLD_TRY(read_held(record, dtype, *results, fold_case_results(c), &held));
  }
  if (held < fold_case_results(c)) FOLD_TRY(fill_in(a, subject, *results, fold_case_results(c)));
  if (has_hash(record, dtype, *results, fold_case_results(c))) return check_held(record, dtype, *results, held);
  if (held == fold_case_results(c)) return fold_error(FOLD_BAD_INPUT, "its results do not have the recorded hash");
  return fold_error(FOLD_UNSUPPORTED, "it holds %zu of %zu results (record --full holds all)", held,
                    fold_case_results(c));
}
