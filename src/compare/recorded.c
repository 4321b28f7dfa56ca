/* recorded.c: see recorded.h. */
#include "compare/recorded.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ranks/setting.h"
#include "records/read.h"
#include "report/text.h"
#include "run/known_defects.h"

/* Keys for what a run did (record.h). "Unwritten results" is not among them: from one run alone these can't be
 * distinguished from results that happen to equal the poison. */
static const struct {
  const char *key, *what;
  enum fold_claim_id claim;
} traces[] = {{"out_of_bounds", "memory beyond an argument was touched", FOLD_STAYS_IN_BOUNDS},
              {"left", "it left its process changed", FOLD_LEAVES_NO_TRACE},
              {"wrote_input", "it wrote to its input", FOLD_KEEPS_INPUT},
              {"ranks_differ", "a rank has different bits than rank 0", FOLD_RANK_AGREEMENT}};

bool fold_recorded_is_run(const json_t *record) { return strcmp(fold_record_text(record, "type"), "run") == 0; }

bool fold_recorded_is_judged(const json_t *record) {
  return fold_recorded_is_run(record) || strcmp(fold_record_text(record, "type"), "judgement") == 0;
}

/* The variables that set this engine or any subject (numbers of threads), without those of another engine's library. */
static json_t *variables_for(int engine, json_t *all) {
  json_t *kept = json_object(), *value;
  const char *name;
  json_object_foreach(all, name, value) {
    bool of_any = false, of_this = false;
    for (int e = 0; e < FOLD_ENGINES; e++) {
      if (!fold_world_has_variable((enum fold_engine)e, name)) continue;
      of_any = true;
      of_this |= e == engine;
    }
    if (of_this || !of_any) json_object_set(kept, name, value);
  }
  return kept;
}

void fold_recorded_ask(json_t *record, const json_t *environment) {
  static const char *const of_ranks[] = {"ranks", "launch"};
  const int engine = fold_engine_parse(fold_record_text(record, "engine"));
  json_t *asked = json_copy(json_object_get(environment, "asked"));
  if (asked == NULL || json_object_get(record, "asked")) {
    json_decref(asked);
    return;
  }
  for (size_t i = 0; i < sizeof of_ranks / sizeof *of_ranks; i++)
    if (engine < 0 || !fold_engine_has_ranks((enum fold_engine)engine)) json_object_del(asked, of_ranks[i]);
  if (json_object_get(asked, "variables"))
    json_object_set_new(asked, "variables", variables_for(engine, json_object_get(asked, "variables")));
  json_object_set_new(record, "asked", asked);
}

char *fold_recorded_array(const char *case_name) {
  const size_t head = strlen("npy:");
  if (strncmp(case_name, "npy:", head) != 0) return NULL;
  char *told = strndup(case_name + head, fold_text_array(case_name, NULL) - head);
  char *path = told ? fold_text_unescape(told) : NULL;
  free(told);
  return path;
}

const struct fold_claim *fold_recorded_claim(const json_t *record) {
  if (strcmp(fold_record_text(record, "type"), "judgement") != 0) return NULL;
  return fold_claim_find(fold_record_text(record, "claim"));
}

/* Whether the record calls it a known defect of a library, and this program too knows it for that subject, claim,
 * operation and version. */
static bool is_known(const json_t *record, const struct fold_claim *claim, const char *version) {
  const struct fold_problem *problem = fold_problem_find(fold_record_text(record, "op"));
  size_t n;
  const struct fold_fact *facts = fold_facts(&n);
  if (!json_is_string(json_object_get(record, "known")) || !json_is_true(json_object_get(record, "peer"))) return false;
  for (size_t i = 0; i < n && problem; i++)
    if (strcmp(facts[i].subject, fold_record_text(record, "subject")) == 0 && facts[i].claims & FOLD_CLAIM(claim->id) &&
        facts[i].ops >> problem->op & 1 && fold_known_in(&facts[i], version))
      return true;
  return false;
}

static void put_version(char text[64], const char *before, const json_t *environment, const char *key) {
  const char *version = fold_record_text(environment, key);
  snprintf(text, 64, "%s%.50s", *version ? before : "", version);
}

void fold_recorded_version(const json_t *environment, const struct fold_subject *subject, char text[64]) {
  text[0] = '\0';
  if (!subject->peer) return;
  if (environment == NULL)
    fold_peer_version(subject, text);
  else if (subject->engine == FOLD_NCCL)
    put_version(text, "", environment, "nccl");
  else if (subject->engine == FOLD_MPI)
    put_version(text, "", environment, "mpi");
  else if (strncmp(subject->name, "cublas/", 7) != 0)
    put_version(text, "CCCL ", environment, "cccl");
}

uint64_t fold_recorded_against(const json_t *record, const char *version) {
  const struct fold_claim *claim = fold_recorded_claim(record);
  const char *verdict = fold_record_text(record, "verdict");
  if (!claim || !json_is_true(json_object_get(record, "promised"))) return 0;
  if (is_known(record, claim, version)) return 0;
  return strcmp(verdict, "refuted") == 0 || strcmp(verdict, "broken") == 0 ? FOLD_CLAIM(claim->id) : 0;
}

uint64_t fold_recorded_traces(const json_t *record) {
  uint64_t refuted = 0;
  for (size_t i = 0; i < sizeof traces / sizeof *traces; i++)
    if (json_object_get(record, traces[i].key)) refuted |= FOLD_CLAIM(traces[i].claim);
  return refuted;
}

static const char *trace_of(const struct fold_claim *claim) {
  for (size_t i = 0; i < sizeof traces / sizeof *traces; i++)
    if (traces[i].claim == claim->id) return traces[i].what;
  return "its run failed";
}

struct fold_finding fold_recorded_finding(const json_t *record, const struct fold_claim *claim) {
  const json_t *rows = json_object_get(record, "rows");
  struct fold_finding finding = fold_finding_open(json_is_integer(rows) ? (size_t)json_integer_value(rows) : 0);
  const char *reason = fold_record_text(record, "reason");
  if (!*reason) reason = trace_of(claim);
  if (strcmp(fold_record_text(record, "verdict"), "broken") == 0)
    fold_find_failed(&finding, fold_error(FOLD_ENVIRONMENT, "%.150s (so its record says)", reason));
  else
    fold_find_refuted(&finding, "%.150s (so its record says)", reason);
  finding.moved = json_is_true(json_object_get(record, "moved"));
  return finding;
}
