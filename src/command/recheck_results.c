/* command/recheck_results.c: judges a record's results as verify does, and takes from the record what cannot be judged
 * again. */
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "command/recheck.h"
#include "compare/recorded.h"
#include "records/read.h"
#include "report/text.h"
#include "run/known_defects.h"

struct judging {
  struct fold_judge *j;
  const json_t *record;
  struct fold_judgement judgement;
  struct fold_asked asked; /* how the record's run was requested */
  char version[64];
  size_t line;
  fold_status status;
};

/* The version of the library behind the record's subject. */
static void find_version(const struct fold_judge *j, const json_t *record, char text[64]) {
  struct fold_subject noted;
  size_t index;
  text[0] = '\0';
  if (fold_again_noted(&j->again, record, &noted, &index).code == FOLD_OK)
    fold_recorded_version(j->environment, &noted, text);
}

uint64_t fold_judge_against(const struct fold_judge *j, const json_t *record) {
  char version[64] = "";
  if (json_object_get(record, "known")) find_version(j, record, version);
  return fold_recorded_against(record, version);
}

/* Whether the rows that refute a peer's promise are a defect that is known for the recorded version. If the record says
 * that the claim is refuted, and not that this is known, it is believed. */
static void look_up(struct judging *g) {
  struct fold_judgement *told = &g->judgement;
  struct fold_trial trial = {
      .subject = told->subject, .c = told->c, .truths = &g->j->again.remade.truths, .got = told->got};
  const bool denied = g->j->last && g->j->last->against & FOLD_CLAIM(told->claim->id);
  told->known = false;
  told->fact = told->claim->results && told->got && !denied ? fold_known(&trial, told->claim, &told->finding) : NULL;
  told->version = g->version;
  if (told->fact) told->known = fold_known_in(told->fact, g->version);
}

static void tell(struct judging *g, const struct fold_claim *claim, const struct fold_finding *finding) {
  struct fold_judge *j = g->j;
  struct fold_judgement *told = &g->judgement;
  const uint64_t bit = FOLD_CLAIM(claim->id);
  if (j->last && finding->verdict == FOLD_SKIPPED && j->last->against & bit) return; /* its own verdict follows */
  told->asked = &g->asked;
  told->claim = claim;
  told->promised = true;
  told->finding = *finding;
  if (j->last && claim->by_order && finding->verdict == FOLD_HELD) told->finding.telling = j->last->telling;
  look_up(g);
  j->told |= bit;
  if (j->last && finding->verdict == FOLD_HELD) j->last->held |= bit;
  if (j->last && finding->verdict == FOLD_REFUTED) j->last->refuted |= bit;
  fold_table_add(&j->table, told);
  if (g->status.code == FOLD_OK) g->status = fold_summary_add(&j->summary, told, true);
  if (finding->verdict == FOLD_REFUTED && !told->known && g->status.code == FOLD_OK)
    g->status = fold_smallest_add(&j->smallest, told, j->program, j->folder);
  if (j->records.file && g->status.code == FOLD_OK) g->status = fold_records_judgement(&j->records, told);
}

static void take_finding(void *context, const struct fold_claim *claim, const struct fold_finding *finding) {
  struct judging *g = context;
  tell(g, claim, finding);
  if (g->status.code == FOLD_OK) g->status = fold_judge_keep_figures(g->j, claim, finding);
}

static void judge_twin(struct judging *g) {
  struct fold_judge *j = g->j;
  size_t n;
  const struct fold_claim *claim = &fold_claims(&n)[FOLD_SAME_BITS_AS];
  const char *name = fold_record_text(g->record, "twin");
  struct fold_finding finding = fold_finding_open(fold_case_results(g->judgement.c));
  if (!(fold_claims_of(g->judgement.subject, g->judgement.c->problem->op) & FOLD_CLAIM(FOLD_SAME_BITS_AS))) return;
  json_t *twin = json_copy((json_t *)(uintptr_t)g->record);
  json_object_set_new(twin, "subject", json_string(name));
  struct fold_seen *other = *name && twin ? fold_seen_find(&j->seen, fold_record_key(twin, true)) : NULL;
  json_decref(twin);
  if (other == NULL) {
    fold_find_skipped(&finding, "the results of its reference are not in the records");
  } else {
    char what[120];
    snprintf(what, sizeof what, "different bits than %.60s", name);
    while (fold_seen_has_next(&j->seen, other) && strcmp(other->hash, j->last->hash) == 0) other++;
    if (fold_find_same_hash(&finding, strtoull(j->last->hash, NULL, 16), strtoull(other->hash, NULL, 16), what))
      fold_find_held(&finding);
  }
  tell(g, claim, &finding);
}

/* Judges run_to_run from two runs of one subject on one input. */
static void judge_repeats(struct judging *g) {
  struct fold_judge *j = g->j;
  size_t n;
  const struct fold_claim *claim = &fold_claims(&n)[FOLD_RUN_TO_RUN];
  struct fold_finding finding = fold_finding_open(fold_case_results(g->judgement.c));
  const struct fold_seen *first = fold_seen_find(&j->seen, j->last->key);
  if (!(fold_claims_of(g->judgement.subject, g->judgement.c->problem->op) & FOLD_CLAIM(FOLD_RUN_TO_RUN))) return;
  if (!fold_seen_has_next(&j->seen, first)) return; /* there is one result: the records do not tell of how many runs */
  const struct fold_seen *other = first == j->last ? first + 1 : first;
  fold_find_same_hash(&finding, strtoull(j->last->hash, NULL, 16), strtoull(other->hash, NULL, 16),
                      "the records hold two results of this input");
  tell(g, claim, &finding);
}

/* Skips the claims that only runs can judge: for these the record has only a former verdict. */
static void skip_claims(struct judging *g, uint64_t told) {
  size_t n;
  const struct fold_claim *claims = fold_claims(&n);
  const uint64_t promised = fold_claims_of(g->judgement.subject, g->judgement.c->problem->op) & ~told;
  for (size_t k = 0; k < n; k++) {
    struct fold_finding finding = fold_finding_open(fold_case_results(g->judgement.c));
    if (!(promised & FOLD_CLAIM(k))) continue;
    fold_find_skipped(&finding, "only a run can judge this");
    tell(g, &claims[k], &finding);
  }
}

static void fail_all(struct judging *g, fold_status why) {
  size_t n;
  const struct fold_claim *claims = fold_claims(&n);
  for (size_t k = 0; k < n; k++) {
    struct fold_finding finding = fold_finding_open(fold_case_results(g->judgement.c));
    if (!claims[k].results || !(fold_claims_of(g->judgement.subject, g->judgement.c->problem->op) & FOLD_CLAIM(k)))
      continue;
    fold_find_failed(&finding, why);
    tell(g, &claims[k], &finding);
  }
}

/* If the hash of a replay is not the recorded one, the bits of the first rows are enough to refute the replay. */
static bool refute_part(struct judging *g, const struct fold_subject *subject) {
  const struct fold_evidence e = {.subject = subject, .truths = &g->j->again.remade.truths};
  const enum fold_dtype dtype = fold_evidence_result_dtype(&e);
  const json_t *results = json_object_get(g->record, "results");
  const size_t held = json_array_size(results);
  const void *replayed;
  size_t n;
  if (!subject->order || !(subject->claims & FOLD_CLAIM(FOLD_REPLAYS))) return false;
  if (fold_evidence_replay(&e, &replayed).code != FOLD_OK) return false;
  uint64_t *got = calloc(held + 1, sizeof *got);
  struct fold_finding finding = fold_finding_open(fold_case_results(g->judgement.c));
  bool read = got != NULL;
  for (size_t i = 0; i < held && read; i++) {
    uint64_t bits;
    read = fold_record_read_bits(json_string_value(json_array_get(results, i)), dtype, &bits);
    if (read) fold_bits_store(dtype, got, i, bits);
  }
  if (read && fold_find_same(&finding, dtype, got, replayed, held, "different bits than its order's replay"))
    fold_find_refuted(&finding,
                      "another hash of all %zu results than its order's replay, in a row behind the first %zu",
                      fold_case_results(g->judgement.c), held);
  free(got);
  if (read) tell(g, &fold_claims(&n)[FOLD_REPLAYS], &finding);
  return read;
}

static bool has(const json_t *record, const char *key) { return json_object_get(record, key) != NULL; }

/* A record that says that its run did something else besides is not compared with a golden. */
static fold_status hold_against_golden(struct judging *g) {
  struct fold_traces traces = {.unwritten = has(g->record, "unwritten"),
                               .out_of_bounds = has(g->record, "out_of_bounds"),
                               .ranks_differ = has(g->record, "ranks_differ")};
  struct fold_judgement run = g->judgement;
  snprintf(traces.left, sizeof traces.left, "%s", fold_record_text(g->record, "left"));
  run.claim = NULL;
  run.traces = &traces;
  return fold_golden_take(&g->j->golden, &run);
}

static void judge_results(struct judging *g, const struct fold_subject *subject) {
  struct fold_judge *j = g->j;
  void *results = NULL;
  fold_status status = fold_again_results(&j->again, g->record, j->path, subject, &results);
  g->judgement.got = status.code == FOLD_OK ? results : NULL;
  if (status.code == FOLD_OK) {
    const struct fold_evidence e = {
        .subject = subject, .truths = &j->again.remade.truths, .ranks = g->judgement.c->ranks, .results = results};
    g->status = fold_truths_telling(e.truths, subject, &j->last->telling);
    fold_judge_evidence(&e, NULL, take_finding, g);
    if (j->keeping.path && g->status.code == FOLD_OK) g->status = hold_against_golden(g);
  } else if (status.code == FOLD_BAD_INPUT) {
    fold_judge_say(&j->contradictions, j, g->line, g->record, "CONTRADICTS", "%s", status.text);
  } else if (status.code != FOLD_UNSUPPORTED || !refute_part(g, subject)) {
    fail_all(g, status);
  }
  judge_twin(g);
  judge_repeats(g);
  skip_claims(g, j->told);
  free(results);
}

/* Reads how the run was requested, for the replay line. */
static void ask(struct judging *g, json_t *record) {
  fold_recorded_ask(record, g->j->environment);
  g->asked = fold_asked_recorded(record);
}

fold_status fold_judge_take_results(struct fold_judge *j, json_t *record, size_t line) {
  struct fold_subject subject;
  struct judging g = {.j = j, .record = record, .line = line, .status = fold_ok()};
  ask(&g, record);
  find_version(j, record, g.version);
  fold_status status = fold_again_subject(&j->again, record, &subject, &g.judgement.subject_index);
  if (status.code == FOLD_OK) status = fold_again_input(&j->again, record);
  if (status.code == FOLD_BAD_INPUT)
    fold_judge_say(&j->contradictions, j, line, record, "CONTRADICTS", "%s", status.text);
  if (status.code == FOLD_UNSUPPORTED) fold_judge_say(&j->foreign, j, line, record, "SKIPPED", "%s", status.text);
  if (status.code == FOLD_BAD_INPUT || status.code == FOLD_UNSUPPORTED) return fold_ok();
  FOLD_TRY(status);
  g.judgement.subject = &subject;
  g.judgement.c = j->again.remade.c;
  g.judgement.input_hash = j->again.remade.hash;
  judge_results(&g, &subject);
  return g.status;
}

fold_status fold_judge_take_recorded(struct fold_judge *j, json_t *record, size_t line, bool again) {
  struct fold_case c;
  struct fold_subject subject;
  struct judging g = {.j = j, .record = record, .line = line, .status = fold_ok()};
  size_t n;
  const struct fold_claim *claims = fold_claims(&n);
  const bool ran = fold_recorded_is_run(record);
  const uint64_t said = ran ? fold_recorded_traces(record) : again ? 0 : fold_judge_against(j, record);
  uint64_t against = said;
  if (!ran && j->last) { /* a verdict on that may be missing: each record tells what its run did */
    const uint64_t known = j->last->against | j->last->said_held | j->last->traced;
    const uint64_t did = fold_recorded_traces(record) & ~known;
    j->last->traced |= did;
    against |= did;
  }
  if (ran && strcmp(fold_record_text(record, "verdict"), "broken") == 0) against |= FOLD_CLAIM(FOLD_WRITES_OUTPUT);
  if (!against) return fold_ok();
  ask(&g, record);
  find_version(j, record, g.version);
  FOLD_TRY(fold_again_noted(&j->again, record, &subject, &g.judgement.subject_index));
  FOLD_TRY(fold_again_case(record, &c));
  const struct fold_subject *own = fold_registry_find(j->again.own, subject.name, subject.engine);
  if (!ran) against &= fold_claims_of(own ? own : &subject, c.problem->op) | said;
  g.judgement.subject = &subject;
  g.judgement.c = &c;
  for (size_t k = 0; k < n; k++) {
    const struct fold_finding finding = fold_recorded_finding(record, &claims[k]);
    if (against & FOLD_CLAIM(k)) tell(&g, &claims[k], &finding);
  }
  free(c.name);
  return g.status;
}
