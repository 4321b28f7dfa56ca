/* records/check.c: finds judgements and runs that contradict themselves, when records are read, even if their file is closed correctly.
 *
 * A file that was altered and closed again has the right count and hash. But what a record says twice must still agree: its results
 * and their hash, its case's name and its shape, its verdict and the evidence. If it does not, the record is refused.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "fixtures/key_pattern.h"
#include "judge/evidence.h"
#include "records/read.h"
#include "records/record.h"

static bool has(const json_t *record, const char *key) { return json_object_get(record, key) != NULL; }

static long long number(const json_t *record, const char *key) {
  return (long long)json_integer_value(json_object_get(record, key));
}

/* The first of these that is wrong, for people: "its verdict"; NULL if all are right. */
static const char *find_wrong_outcome(const json_t *record, bool run) {
  const char *verdict = fold_record_text(record, "verdict");
  const bool hash = fold_record_text(record, "results_xxh3")[0];
  const bool decided = strcmp(verdict, "held") == 0 || strcmp(verdict, "refuted") == 0;
  const bool is_old = number(record, "schema") < 2;
  if (strcmp(verdict, "not judged") == 0) return "verdict: only timings have 'not judged'";
  if (run && decided) return "verdict: nothing is judged in a run";
  if (run && !*verdict && !hash && !is_old) return "results_xxh3: a run with neither results nor a verdict";
  if (!hash && (has(record, "results") || has(record, "values") || has(record, "results_npy")))
    return "results_xxh3: results without their hash";
  if (!hash && decided && !is_old) return "results_xxh3: a verdict on no results";
  if (has(record, "values") &&
      json_array_size(json_object_get(record, "results")) != json_array_size(json_object_get(record, "values")))
    return "values: its results differ from its values";
  if (hash && has(record, "cases")) return "cases: results of more than one case";
  if (*fold_record_text(record, "known") && (strcmp(verdict, "refuted") != 0 || !has(record, "peer")))
    return "known: known, and no refutation of a peer";
  const long long row = number(record, "row");
  if (row < 0 || (row > 0 && row >= number(record, "rows"))) return "row: a row that it has not";
  if (has(record, "got") != has(record, "want")) return "got, want: one of got and want";
  return *fold_record_text(record, "subject") ? NULL : "subject: no subject";
}

/* The text after `part`; NULL if it does not begin with that. */
static const char *behind(const char *text, const char *part) {
  const size_t n = strlen(part);
  return strncmp(text, part, n) == 0 ? text + n : NULL;
}

/* Whether the rest of a case's name is empty or the condition number. Records of schema 1 may lack it. */
static bool has_its_condition(const json_t *record, const char *rest) {
  char text[40];
  if (!has(record, "condition")) return *rest == '\0' || (number(record, "schema") < 2 && behind(rest, "/cond"));
  fold_condition_name(fold_record_double(record, "condition"), text);
  const char *said = behind(rest, "/cond");
  return said && strcmp(said, text) == 0;
}

/* "ROWSxCOLS", or "MxNxK" of products of matrices, with "Bx" in front if there are several. A scan has rows, too. */
static void name_shape(const json_t *record, char text[100]) {
  const json_t *shape = json_object_get(record, "shape");
  long long at[4] = {0};
  for (size_t i = 0; i < 4; i++) at[i] = json_integer_value(json_array_get(shape, i));
  const struct fold_problem *problem = fold_problem_find(fold_record_text(record, "op"));
  if (shape && problem && !fold_has_axis(problem, problem->inputs, FOLD_N))
    snprintf(text, 100, "%lldx%lld", at[1], at[3]);
  else if (shape == NULL)
    snprintf(text, 100, "%lldx%lld", number(record, "rows"), number(record, "cols"));
  else if (at[0] == 1)
    snprintf(text, 100, "%lldx%lldx%lld", at[1], at[2], at[3]);
  else
    snprintf(text, 100, "%lldx%lldx%lldx%lld", at[0], at[1], at[2], at[3]);
}

/* What is behind the pattern of a generated keyed sum's keys, "/hot" of "/hot/seed1"; the text itself of other records. */
static const char *behind_keys(const json_t *record, const char *text) {
  const struct fold_problem *problem = fold_problem_find(fold_record_text(record, "op"));
  if (!problem || problem->reach != FOLD_BY_KEY || !has(record, "generator") || *text != '/') return text;
  const size_t n = strcspn(text + 1, "/");
  for (int k = 0; k < FOLD_KEY_PATTERNS; k++) {
    const char *name = fold_key_pattern_names[k];
    if (strlen(name) == n && strncmp(text + 1, name, n) == 0) return text + 1 + n;
  }
  return text;
}

/* Whether a case's name agrees with its shape (expand.c): "FIXTURE/DTYPE/PROBLEM/SHAPE", then the keys, the ranks, the seed
 * and the condition, if there are any. */
static bool has_its_name(const json_t *record) {
  char shape[200], sizes[100], more[80] = "";
  int n = 0;
  const char *name = fold_record_text(record, "case"), *found = NULL;
  const bool ranks = has(record, "ranks"), is_old = number(record, "schema") < 2;
  name_shape(record, sizes);
  snprintf(shape, sizeof shape, "/%.40s/%.40s/%s", fold_record_text(record, "dtype"), fold_record_text(record, "op"),
           sizes);
  if (has(record, "layout")) n = snprintf(more, sizeof more, "/%.30s", fold_record_text(record, "layout"));
  if (ranks) n = snprintf(more, sizeof more, "/ranks%lld", number(record, "ranks"));
  if (has(record, "generator"))
    snprintf(more + n, sizeof more - (size_t)n, "/seed%llu", (unsigned long long)number(record, "seed"));
  for (const char *at = name; (at = strstr(at, shape)); at++) found = at;
  const char *rest = found ? behind(found, shape) : NULL;
  if (rest && !ranks && is_old && behind(rest, "/ranks")) {
    rest = behind(rest, "/ranks");
    rest += strspn(rest, "0123456789");
  }
  const char *end = rest ? behind(behind_keys(record, rest), more) : NULL;
  return end && has_its_condition(record, end);
}

static bool has_ranks_of_its_engine(const json_t *record) {
  const int engine = fold_engine_parse(fold_record_text(record, "engine"));
  const bool over = engine >= 0 && fold_engine_has_ranks((enum fold_engine)engine);
  return over || !(has(record, "ranks") || has(record, "ranks_differ"));
}

const char *fold_record_wrong(const json_t *record) {
  const bool run = strcmp(fold_record_text(record, "type"), "run") == 0;
  const bool gathered = has(record, "cases"); /* the record is for many cases, which were skipped */
  if (!run && strcmp(fold_record_text(record, "type"), "judgement") != 0) return NULL;
  const char *wrong = find_wrong_outcome(record, run);
  if (wrong || gathered) return wrong;
  if (!has_ranks_of_its_engine(record)) return "ranks: ranks, on an engine that has none";
  return has_its_name(record)
             ? NULL
             : "case: its name is not that of a case of this dtype, op, shape, ranks, seed and condition";
}

/* A record holds the first rows' bits and a hash of all rows' (record.c). Comparisons use the hash and print the bits. If the two
 * contradict each other, the record was altered or damaged and is no evidence. */
static fold_status check_results(const json_t *record, const json_t *results) {
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
  fold_status status = got ? fold_ok() : fold_no_memory("for a record's results");
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
  return fold_within(check_results(record, results), "%.60s on %.10s: %.100s", fold_record_text(record, "subject"),
                     fold_record_text(record, "engine"), fold_record_text(record, "case"));
}

fold_status fold_record_check(const json_t *record) {
  const char *wrong = fold_record_wrong(record);
  if (wrong)
    return fold_error(FOLD_BAD_INPUT, "%.60s on %.10s: %.80s: %s", fold_record_text(record, "subject"),
                      fold_record_text(record, "engine"), fold_record_text(record, "case"), wrong);
  return fold_record_check_results(record);
}
