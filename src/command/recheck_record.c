/* command/recheck_record.c: checks what a record tells of its subject, its case and itself: it must agree with what this program knows, with
 * the record's other fields, and with other records of the same results. Differences are printed; records are judged by what they tell.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "command/recheck.h"
#include "compare/recorded.h"
#include "records/read.h"
#include "run/judged_claims.h"

static bool has(const json_t *record, const char *key) { return json_object_get(record, key) != NULL; }

/* Other types of records hold no results to judge. */
static const char *wrong_type(const json_t *record) {
  const bool judged = has(record, "results") || has(record, "results_xxh3") || has(record, "claim");
  return judged && !fold_recorded_is_judged(record) ? "results or a claim, and neither a run nor a judgement" : NULL;
}

static void check_promised(struct fold_judge *j, const json_t *record, size_t line) {
  const struct fold_claim *claim = fold_recorded_claim(record);
  const struct fold_problem *problem = fold_problem_find(fold_record_text(record, "op"));
  struct fold_subject noted;
  size_t index;
  if (!claim || !problem || fold_again_noted(&j->again, record, &noted, &index).code != FOLD_OK) return;
  const struct fold_subject *own = fold_registry_find(j->again.own, noted.name, noted.engine);
  const uint64_t users = has(record, "twin") ? FOLD_CLAIM(FOLD_SAME_BITS_AS) : 0; /* of --same-bits-as */
  const uint64_t claims = fold_claims_of(own ? own : &noted, problem->op) | users;
  const bool said = json_is_true(json_object_get(record, "promised")), is = claims & FOLD_CLAIM(claim->id);
  if (said == is || (!own && (said || fold_may_inform(claim->id)))) return;
  fold_judge_say(&j->contradictions, j, line, record, "CONTRADICTS", "it says that %s is %s, and %s %s", claim->name,
                 said ? "claimed" : "not claimed", own ? "the subject here" : "another record of that subject",
                 is ? "claims it" : "does not");
}

void fold_judge_check_told(struct fold_judge *j, const json_t *record, size_t line) {
  char other[160];
  const char *wrong = wrong_type(record);
  const bool judged = fold_recorded_is_judged(record);
  if (judged && !wrong) wrong = fold_record_wrong(record);
  if (judged && !wrong && has(record, "results") && !has(record, "values"))
    wrong = "its results differ from its values";
  if (wrong) fold_judge_say(&j->contradictions, j, line, record, "CONTRADICTS", "%s", wrong);
  if (!judged || wrong) return;
  if (fold_again_differs(&j->again, record, other))
    fold_judge_say(&j->contradictions, j, line, record, "CONTRADICTS", "it declares %s", other);
  if (fold_again_misnamed(&j->again, record, other))
    fold_judge_say(&j->contradictions, j, line, record, "CONTRADICTS", "%s", other);
  check_promised(j, record, line);
}

/* A hash of everything besides the results by which they are judged. */
uint64_t fold_judge_told(const json_t *record) {
  static const char *const keys[] = {"dtype", "result_dtype", "op",    "rows",    "cols",        "generator",
                                     "seed",  "condition",    "order", "method",  "ranks",       "accumulator",
                                     "twin",  "peer",         "guest", "any_gpu", "results_npy", "factor_dtype"};
  uint64_t hash = 0;
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    const json_t *value = json_object_get(record, keys[i]);
    char *text = value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
    hash = XXH3_64bits_withSeed(text ? text : "", text ? strlen(text) + 1 : 0, hash + i);
    free(text);
  }
  return hash;
}
