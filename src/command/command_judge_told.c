/* command_judge_told.c: what a record tells of its subject, its case and itself must be what this program knows, what its other words say,
 * and what the records of the same results tell. What is not is named: records are judged by what they tell.
 */
#include <stdlib.h>
#include <string.h>

#include "command_judge.h"
#include "hash.h"
#include "recorded.h"
#include "report_lines.h"

static bool has(const json_t *record, const char *key) { return json_object_get(record, key) != NULL; }

/* Of what else a foldproof records no result is judged. */
static const char *wrong_type(const json_t *record) {
  const bool judged = has(record, "results") || has(record, "results_xxh3") || has(record, "claim");
  return judged && !fold_recorded_is_judged(record) ? "results or a claim, and neither a run nor a judgement" : NULL;
}

static const char *wrong_outcome(const json_t *record) {
  const char *verdict = fold_record_text(record, "verdict");
  const bool hash = fold_record_text(record, "results_xxh3")[0];
  const bool run = fold_recorded_is_run(record);
  bool known = run && !*verdict;
  for (int v = 0; v < FOLD_VERDICTS; v++) {
    const bool of_run = v == FOLD_SKIPPED || v == FOLD_BROKEN;
    known |= (!run || of_run) && strcmp(verdict, fold_verdict_name((enum fold_verdict)v)) == 0;
  }
  if (!known) return "no such verdict";
  if (!hash && (has(record, "results") || has(record, "values") || has(record, "results_npy")))
    return "results without their hash";
  if (json_array_size(json_object_get(record, "results")) != json_array_size(json_object_get(record, "values")))
    return "other results than values";
  if (hash && has(record, "cases")) return "results of more than one case";
  if (*fold_record_text(record, "known") && (strcmp(verdict, "refuted") != 0 || !has(record, "peer")))
    return "known, and no refutation of a peer";
  const json_int_t row = json_integer_value(json_object_get(record, "row"));
  if (row < 0 || (row > 0 && row >= json_integer_value(json_object_get(record, "rows"))))
    return "a row that it has not";
  if (has(record, "got") != has(record, "want")) return "one of got and want";
  if (!*fold_record_text(record, "subject")) return "no subject";
  if (!hash && run && !*verdict) return "a run with neither results nor a verdict";
  if (!run && fold_recorded_claim(record) == NULL) return "no such claim";
  return NULL;
}

/* The text behind `part`; NULL: it does not begin so. */
static const char *behind(const char *text, const char *part) {
  const size_t n = strlen(part);
  return strncmp(text, part, n) == 0 ? text + n : NULL;
}

/* A case's name says its shape (expand.c): "FIXTURE/DTYPE/PROBLEM/ROWSxCOLS", then the ranks and the seed, where it has them. */
static const char *wrong_name(const json_t *record) {
  char shape[160], more[80] = "";
  int n = 0;
  const char *name = fold_record_text(record, "case"), *found = NULL;
  const json_t *ranks = json_object_get(record, "ranks");
  snprintf(shape, sizeof shape, "/%.40s/%.40s/%lldx%lld", fold_record_text(record, "dtype"),
           fold_record_text(record, "op"), (long long)json_integer_value(json_object_get(record, "rows")),
           (long long)json_integer_value(json_object_get(record, "cols")));
  if (ranks) n = snprintf(more, sizeof more, "/ranks%lld", (long long)json_integer_value(ranks));
  if (has(record, "generator"))
    snprintf(more + n, sizeof more - (size_t)n, "/seed%lld",
             (long long)json_integer_value(json_object_get(record, "seed")));
  for (const char *at = name; (at = strstr(at, shape)); at++) found = at;
  const char *rest = found ? behind(found, shape) : NULL;
  if (rest && !ranks && fold_again_is_old(record) && behind(rest, "/ranks")) {
    rest = behind(rest, "/ranks");
    rest += strspn(rest, "0123456789");
  }
  const char *end = rest ? behind(rest, more) : NULL;
  const bool whole = end && (*end == '\0' || behind(end, "/cond"));
  return whole ? NULL : "its name is not that of a case of this dtype, op, shape, ranks and seed";
}

static const char *wrong_ranks(const json_t *record) {
  const int engine = fold_engine_parse(fold_record_text(record, "engine"));
  const bool over = engine >= 0 && fold_engine_has_ranks((enum fold_engine)engine);
  return (has(record, "ranks") || has(record, "ranks_differ")) && !over ? "ranks, on an engine that has none" : NULL;
}

static void check_promised(struct fold_judge *j, const json_t *record, size_t line) {
  const struct fold_claim *claim = fold_recorded_claim(record);
  const struct fold_problem *problem = fold_problem_find(fold_record_text(record, "op"));
  struct fold_subject noted;
  size_t index;
  if (!claim || !problem || fold_again_noted(&j->again, record, &noted, &index).code != FOLD_OK) return;
  const struct fold_subject *own = fold_registry_find(j->again.own, noted.name, noted.engine);
  const uint64_t claims = fold_claims_of(own ? own : &noted, problem->op);
  const bool said = json_is_true(json_object_get(record, "promised")), is = claims & FOLD_CLAIM(claim->id);
  if (said == is || (said && !own)) return;
  fold_judge_say(&j->contradictions, j, line, record, "CONTRADICTS", "it says that %s is %s, and %s %s", claim->name,
                 said ? "promised" : "not promised", own ? "the subject here" : "another record of that subject",
                 is ? "promises it" : "does not");
}

void fold_judge_check_told(struct fold_judge *j, const json_t *record, size_t line) {
  char other[160];
  const char *wrong = wrong_type(record);
  const bool judged = fold_recorded_is_judged(record);
  const bool gathered = has(record, "cases"); /* of many cases, which were skipped */
  if (judged && !wrong) wrong = wrong_outcome(record);
  if (judged && !wrong && !gathered) wrong = wrong_ranks(record);
  if (judged && !wrong && !gathered) wrong = wrong_name(record);
  if (wrong) fold_judge_say(&j->contradictions, j, line, record, "CONTRADICTS", "%s", wrong);
  if (!judged || wrong) return;
  if (fold_again_differs(&j->again, record, other))
    fold_judge_say(&j->contradictions, j, line, record, "CONTRADICTS", "it declares %s", other);
  check_promised(j, record, line);
}

/* All that results are judged by, beside them. */
uint64_t fold_judge_told(const json_t *record) {
  static const char *const keys[] = {"dtype", "result_dtype", "op",    "rows",    "cols",       "generator",
                                     "seed",  "condition",    "order", "method",  "ranks",      "accumulator",
                                     "twin",  "peer",         "guest", "any_gpu", "results_npy"};
  uint64_t hash = 0;
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    const json_t *value = json_object_get(record, keys[i]);
    char *text = value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
    hash = XXH3_64bits_withSeed(text ? text : "", text ? strlen(text) + 1 : 0, hash + i);
    free(text);
  }
  return hash;
}
