/* claims.c: the claims of claim.def; lists of claims that users write, with presets; and which claims no input could judge. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/did_you_mean.h"
#include "judge/judge.h"
#include "oracles/order.h"

#define BY_RESULTS(judge) .results = fold_judge_##judge
#define BY_RUNS(judge) .runs = fold_judge_##judge
#define ABOUT_ORDER true
#define ABOUT_OTHER false

static const struct fold_claim claims[FOLD_CLAIMS] = {
#define FOLD_CLAIM_ROW(TAG, name, judged, judge, about, turn, refuted_by) \
  {FOLD_##TAG, #name, refuted_by, BY_##judged(judge), .by_order = ABOUT_##about, .when = FOLD_##turn},
#include "model/claim.def"
};

const struct fold_claim *fold_claims(size_t *n) {
  *n = FOLD_CLAIMS;
  return claims;
}

const struct fold_claim *fold_claim_find(const char *name) {
  for (size_t k = 0; k < FOLD_CLAIMS; k++)
    if (strcmp(claims[k].name, name) == 0) return &claims[k];
  return NULL;
}

const struct fold_claim *fold_claims_next(uint64_t left) {
  const struct fold_claim *next = NULL;
  for (size_t k = 0; k < FOLD_CLAIMS; k++)
    if (left & FOLD_CLAIM(k) && (next == NULL || claims[k].when < next->when)) next = &claims[k];
  return next;
}

/* Max and min never round: whatever the order, the result is the exact one. So every subject promises that. */
uint64_t fold_claims_of(const struct fold_subject *subject, enum fold_op op) {
  uint64_t promised = subject->claims;
  if (op == FOLD_MAX || op == FOLD_MIN) {
    promised &= ~FOLD_CLAIM(FOLD_BOUNDED);
    promised |= FOLD_CLAIM(FOLD_CORRECTLY_ROUNDED) | FOLD_CLAIM(FOLD_PERMUTATION_INVARIANT);
  }
  return promised;
}

uint64_t fold_claims_by_order(void) {
  uint64_t mask = 0;
  for (size_t k = 0; k < FOLD_CLAIMS; k++)
    if (claims[k].by_order) mask |= FOLD_CLAIM(k);
  return mask;
}

/* An unknown function of rows has no value and no order that could be compared with another. */
#define OF_ROWS                                                                                                  \
  (FOLD_TIDY | FOLD_CLAIM(FOLD_SAME_BITS_AS) | FOLD_CLAIM(FOLD_RUN_TO_RUN) | FOLD_CLAIM(FOLD_FRESH_PROCESS) |    \
   FOLD_CLAIM(FOLD_LAUNCH_INVARIANT) | FOLD_CLAIM(FOLD_ALIGNMENT_INVARIANT) | FOLD_CLAIM(FOLD_BATCH_INVARIANT) | \
   FOLD_CLAIM(FOLD_LENGTH_INVARIANT) | FOLD_CLAIM(FOLD_STRIDE_INVARIANT))
#define OF_RANKS \
  (FOLD_CLAIM(FOLD_MESSAGE_INVARIANT) | FOLD_CLAIM(FOLD_WORLD_INVARIANT) | FOLD_CLAIM(FOLD_RANK_AGREEMENT))
#define OF_BOUND (FOLD_OF_ERROR & ~FOLD_CLAIM(FOLD_ULPS))
#define UNROUNDED (1u << FOLD_ROWS_MAX | 1u << FOLD_ROWS_MIN)

const char *fold_claim_unjudged(const struct fold_subject *s, enum fold_claim_id id) {
  const struct fold_order *order = s->order ? fold_order_find(s->order) : NULL;
  const uint64_t claim = FOLD_CLAIM(id);
  if (s->why_skipped && s->why_skipped[id]) return s->why_skipped[id];
  if (s->unknown && claim & ~(uint64_t)OF_ROWS) return "it is a function of rows, whose value and order are not known";
  if (claim & OF_RANKS && !fold_engine_has_ranks(s->engine)) return "it has no ranks";
  if (claim & OF_BOUND && s->problems && !(s->problems & ~UNROUNDED))
    return "max and min round nothing: correctly_rounded is judged instead";
  if (id == FOLD_ACCURATE_AS && s->accurate_as == NULL) return "it names no order to be as accurate as";
  if (id == FOLD_ULPS && !(s->most_ulps > 0)) return "it names no number of ulps";
  if (id == FOLD_SAME_BITS_AS && s->twin == NULL) return "it names no reference";
  if ((id == FOLD_REPLAYS || id == FOLD_TREE) && s->order == NULL) return "it declares no order";
  if (order == NULL) return NULL; /* the judge says that there is no such order */
  if (id == FOLD_REPLAYS && !fold_method_has_replay(order, s->method)) return "its method has no replay in its order";
  if (id == FOLD_TREE && !fold_order_has_tree(order, s->method))
    return "its order is no tree of plain additions that all terms share";
  return NULL;
}

static const struct {
  const char *name, *list;
} presets[] = {
    {"promises", "*"},
    {"deterministic", "run_to_run,fresh_process"},
    {"batch-invariant", "batch_invariant,run_to_run"},
    {"reproducible",
     "run_to_run,fresh_process,launch_invariant,alignment_invariant,batch_invariant,length_invariant,padding_invariant,"
     "stride_invariant,message_invariant,world_invariant,rank_agreement"},
    {"accurate", "bounded,compensated,faithful,correctly_rounded"},
};
enum { PRESETS = sizeof presets / sizeof *presets };

const char *fold_claims_preset(size_t k, const char **list) {
  if (k >= PRESETS) return NULL;
  *list = presets[k].list;
  return presets[k].name;
}

static const char *find_preset(const char *word) {
  for (size_t k = 0; k < PRESETS; k++)
    if (strcmp(word, presets[k].name) == 0) return presets[k].list;
  return NULL;
}

static uint64_t matching(const char *globs) {
  uint64_t mask = 0;
  for (size_t i = 0; i < FOLD_CLAIMS; i++)
    if (fold_glob_match(globs, claims[i].name)) mask |= FOLD_CLAIM(i);
  return mask;
}

const char *fold_claims_near(const char *word, char text[160]) {
  struct fold_did_you_mean guess;
  fold_did_you_mean_open(&guess, word);
  for (size_t i = 0; i < FOLD_CLAIMS; i++) fold_did_you_mean_try(&guess, claims[i].name);
  for (size_t k = 0; k < PRESETS; k++) fold_did_you_mean_try(&guess, presets[k].name);
  return fold_did_you_mean_text(&guess, text);
}

fold_status fold_claims_parse(const char *list, uint64_t *named, uint64_t *preset) {
  fold_status status = fold_ok();
  char meant[160], *copy = strdup(list ? list : ""), *rest = NULL;
  *named = *preset = 0;
  if (copy == NULL) return fold_no_memory("for a list of claims");
  for (char *word = strtok_r(copy, ", ", &rest); word && status.code == FOLD_OK; word = strtok_r(NULL, ", ", &rest)) {
    const char *stands_for = find_preset(word);
    const uint64_t mask = matching(stands_for ? stands_for : word);
    *(stands_for || strpbrk(word, "*?[") ? preset : named) |= mask;
    if (mask == 0)
      status = fold_error(FOLD_BAD_INPUT, "no claim matches '%.60s': see foldproof list claims%s", word,
                          fold_claims_near(word, meant));
  }
  free(copy);
  return status;
}

char *fold_claims_expand(const char *list) {
  char *text = NULL, *copy = strdup(list), *rest = NULL;
  size_t size = 0;
  FILE *out = copy ? open_memstream(&text, &size) : NULL;
  for (char *word = out ? strtok_r(copy, ",", &rest) : NULL; word; word = strtok_r(NULL, ",", &rest)) {
    const char *stands_for = find_preset(word);
    fprintf(out, "%s%s", ftell(out) > 0 ? "," : "", stands_for ? stands_for : word);
  }
  free(copy);
  if (out == NULL || fclose(out) != 0) return NULL;
  return text;
}
