/* command/compare_claim.c: judges gpu_to_gpu and run_to_run from two records: the same bits on another model of GPU, or in
 * another job on the same model.
 *
 * A record says which subject promises what. A subject whose order is replayed on the host, or whose result is the exact one, promises its
 * bits for every GPU. So does a peer whose documentation says so (`any_gpu` in the registry). Results that no subject promises are counted
 * beside the table, for information. A case that only one record has is not compared.
 */
#include "command/compare_claim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/text.h"
#include "compare/compare.h"
#include "records/read.h"
#include "records/record.h"
#include "records/schema.h"

struct result {
  XXH128_hash_t key; /* a hash of subject, engine, case and input */
  char hash[20], first[20];
  json_t *record; /* the subject and input, for the record of a verdict */
};

/* A subject promises the claim for one operation. */
struct promise {
  char subject[64], engine[16], op[8];
};

struct side {
  const char *path;
  json_t *environment; /* the first environment of the record */
  struct result *results;
  size_t n, room;
};

struct counts {
  char subject[80]; /* "NAME on ENGINE" */
  bool promised;
  size_t held, refuted;
};

struct judging {
  const char *claim;
  const struct fold_registry *registry;
  bool incomplete; /* one of the records lacks a part of its run */
  struct side side[2], *reading;
  struct promise *promises;
  struct counts *counts;
  size_t n_promises, room_promises, n_counts, room_counts, shown;
};

bool fold_compare_knows_claim(const char *claim) {
  return strcmp(claim, "gpu_to_gpu") == 0 || strcmp(claim, "run_to_run") == 0;
}

/* --- which subjects promise the claim */

static bool implies(const char *claim, const char *promised) {
  if (strcmp(claim, promised) == 0) return true;
  if (strcmp(claim, "gpu_to_gpu") != 0) return false;
  return strcmp(promised, "replays") == 0 || strcmp(promised, "correctly_rounded") == 0;
}

static bool has_promise(const struct judging *j, const json_t *record) {
  for (size_t i = 0; i < j->n_promises; i++)
    if (strcmp(j->promises[i].subject, fold_record_text(record, "subject")) == 0 &&
        strcmp(j->promises[i].engine, fold_record_text(record, "engine")) == 0 &&
        strcmp(j->promises[i].op, fold_record_text(record, "op")) == 0)
      return true;
  return false;
}

static fold_status note_promise(struct judging *j, const json_t *record) {
  if (!json_is_true(json_object_get(record, "promised")) || !implies(j->claim, fold_record_text(record, "claim")))
    return fold_ok();
  if (has_promise(j, record)) return fold_ok();
  struct promise *p = fold_list_grow(&j->promises, &j->n_promises, &j->room_promises, sizeof *p);
  if (p == NULL) return fold_no_memory("for the records");
  snprintf(p->subject, sizeof p->subject, "%s", fold_record_text(record, "subject"));
  snprintf(p->engine, sizeof p->engine, "%s", fold_record_text(record, "engine"));
  snprintf(p->op, sizeof p->op, "%s", fold_record_text(record, "op"));
  return fold_ok();
}

bool fold_compare_promises(const struct fold_subject *subject, uint64_t claims) {
  if (fold_engine_is_host(subject->engine)) return false;
  return subject->any_gpu || claims & (FOLD_CLAIM(FOLD_REPLAYS) | FOLD_CLAIM(FOLD_CORRECTLY_ROUNDED));
}

/* Also by the registry: a record of a run that was not judged names no claims. */
static bool is_promised(const struct judging *j, const json_t *record) {
  if (has_promise(j, record)) return true;
  if (strcmp(j->claim, "gpu_to_gpu") == 0 && json_is_true(json_object_get(record, "any_gpu"))) return true;
  int engine = fold_engine_parse(fold_record_text(record, "engine"));
  const struct fold_problem *problem = fold_problem_find(fold_record_text(record, "op"));
  for (size_t i = 0; i < j->registry->n && problem; i++) {
    const struct fold_subject *s = &j->registry->subjects[i];
    if ((int)s->engine != engine || strcmp(s->name, fold_record_text(record, "subject")) != 0) continue;
    uint64_t claims = fold_claims_of(s, problem->op);
    if (strcmp(j->claim, "run_to_run") == 0) return claims & FOLD_CLAIM(FOLD_RUN_TO_RUN);
    return fold_compare_promises(s, claims);
  }
  return false;
}

/* --- reading */

static bool on_gpu(const json_t *record) {
  int engine = fold_engine_parse(fold_record_text(record, "engine"));
  return engine >= 0 && !fold_engine_is_host((enum fold_engine)engine);
}

static fold_status take(void *context, json_t *record, size_t line) {
  static const char *const kept[] = {"schema",     "subject", "engine",       "peer",      "case",        "dtype",
                                     "op",         "rows",    "cols",         "generator", "seed",        "condition",
                                     "input_xxh3", "results", "results_xxh3", "any_gpu",   "result_dtype"};
  struct judging *j = context;
  struct side *side = j->reading;
  const char *type = fold_record_text(record, "type");
  (void)line;
  if (strcmp(type, "environment") == 0 && !side->environment) side->environment = json_incref(record);
  if (strcmp(type, "judgement") == 0) FOLD_TRY(note_promise(j, record));
  if (!fold_record_text(record, "results_xxh3")[0] || !on_gpu(record)) return fold_ok();
  FOLD_TRY(fold_record_check_results(record));
  XXH128_hash_t key = fold_record_key(record, true);
  const struct result *last = side->n ? &side->results[side->n - 1] : NULL;
  /* The claims of one case follow each other. */
  if (last && XXH128_isEqual(last->key, key) && strcmp(last->hash, fold_record_text(record, "results_xxh3")) == 0)
    return fold_ok();
  struct result *r = fold_list_grow(&side->results, &side->n, &side->room, sizeof *r);
  json_t *copy = r ? json_object() : NULL;
  if (copy == NULL) return fold_no_memory("for the records");
  for (size_t k = 0; k < sizeof kept / sizeof *kept; k++)
    if (json_object_get(record, kept[k])) json_object_set(copy, kept[k], json_object_get(record, kept[k]));
  const char *first = json_string_value(json_array_get(json_object_get(record, "results"), 0));
  r->key = key;
  r->record = copy;
  snprintf(r->hash, sizeof r->hash, "%s", fold_record_text(record, "results_xxh3"));
  snprintf(r->first, sizeof r->first, "%s", first ? first : "no row");
  return fold_ok();
}

static const char *gpu_of(const struct side *side) {
  return fold_record_text(json_array_get(json_object_get(side->environment, "gpus"), 0), "name");
}

static fold_status check_gpus(const struct judging *j) {
  const char *a = gpu_of(&j->side[0]), *b = gpu_of(&j->side[1]);
  bool same = strcmp(a, b) == 0, two = strcmp(j->claim, "gpu_to_gpu") == 0;
  for (int k = 0; k < 2; k++)
    if (!*gpu_of(&j->side[k]))
      return fold_error(FOLD_BAD_INPUT,
                        "%.150s: its environment has no GPU, and %s is judged only of GPUs: compare runs on hosts "
                        "without --claim",
                        j->side[k].path, j->claim);
  if (two && same) return fold_error(FOLD_UNSUPPORTED, "both records are of %s: gpu_to_gpu needs two models of GPU", a);
  if (!two && !same)
    return fold_error(FOLD_UNSUPPORTED, "run_to_run needs one model of GPU, these are %s and %s: see gpu_to_gpu", a, b);
  return fold_ok();
}

/* Prints what differs between values that both have. */
static void print_changes(const json_t *a, const json_t *b) {
  const char *key;
  json_t *changes = fold_compare_environments(a, b), *pair;
  json_object_foreach(changes, key, pair) {
    const char *before = json_string_value(json_array_get(pair, 0)), *now = json_string_value(json_array_get(pair, 1));
    if (before && *before && now && *now) fold_print_line("  %s: %s, then %s", key, before, now);
  }
  json_decref(changes);
}

/* --- judging */

static int by_key(const void *a, const void *b) {
  const struct result *l = a, *r = b;
  return XXH128_cmp(&l->key, &r->key);
}

static struct counts *counts_of(struct judging *j, const json_t *record, bool promised) {
  char name[80];
  snprintf(name, sizeof name, "%.58s on %.15s", fold_record_text(record, "subject"),
           fold_record_text(record, "engine"));
  for (size_t i = 0; i < j->n_counts; i++)
    if (j->counts[i].promised == promised && strcmp(j->counts[i].subject, name) == 0) return &j->counts[i];
  struct counts *c = fold_list_grow(&j->counts, &j->n_counts, &j->room_counts, sizeof *c);
  if (c == NULL) return NULL;
  snprintf(c->subject, sizeof c->subject, "%s", name);
  c->promised = promised;
  return c;
}

/* Writes the record of a verdict: the second record's result, with the verdict. */
static fold_status write_verdict(const struct judging *j, struct fold_records *records, const struct result *b,
                                 const struct result *a, bool promised, bool same) {
  if (!records->file) return fold_ok();
  json_t *line = json_copy(b->record);
  char reason[200];
  snprintf(reason, sizeof reason, "%s on %s, %s on %s", b->first, gpu_of(&j->side[1]), a->first, gpu_of(&j->side[0]));
  json_object_set_new(line, "type", json_string("judgement"));
  json_object_set_new(line, "claim", json_string(j->claim));
  json_object_set_new(line, "promised", json_boolean(promised));
  json_object_set_new(line, "verdict", json_string(same ? "held" : "refuted"));
  if (!same) json_object_set_new(line, "reason", json_string(reason));
  if (!same && json_object_get(line, "peer")) json_object_set_new(line, "known", json_false());
  return fold_records_line(records, line);
}

enum { SHOWN = 10 };

static void show_refuted(struct judging *j, const struct result *a, const struct result *b) {
  if (j->shown++ >= SHOWN) return;
  fold_print_line("REFUTED: %s on %s violates %s: %s: %s on %s, %s on %s%s", fold_record_text(b->record, "subject"),
                  fold_record_text(b->record, "engine"), j->claim, fold_record_text(b->record, "case"), a->first,
                  gpu_of(&j->side[0]), b->first, gpu_of(&j->side[1]),
                  strcmp(a->first, b->first) == 0 ? " (in the first row, which agrees: a later row differs)" : "");
}

/* For one key, compares all results of one record with all of the other. A record that disagrees with itself agrees
 * with no record. */
static fold_status judge_key(struct judging *j, struct fold_records *records, const struct result *a, size_t n_a,
                             const struct result *b, size_t n_b) {
  const struct result *other = NULL;
  for (size_t i = 0; i < n_a + n_b && !other; i++) {
    const struct result *r = i < n_a ? &a[i] : &b[i - n_a];
    if (strcmp(r->hash, a->hash) != 0) other = r;
  }
  bool promised = is_promised(j, b->record);
  struct counts *c = counts_of(j, b->record, promised);
  if (c == NULL) return fold_no_memory("for the records");
  ++*(other ? &c->refuted : &c->held);
  if (other && promised) show_refuted(j, a, other);
  return write_verdict(j, records, b, a, promised, !other);
}

static size_t run_of(const struct side *side, size_t at) {
  size_t n = 1;
  while (at + n < side->n && XXH128_isEqual(side->results[at].key, side->results[at + n].key)) n++;
  return n;
}

/* Both sides are sorted by key; `only` counts the results that one of them has alone. */
static fold_status judge_all(struct judging *j, struct fold_records *records, size_t only[2]) {
  struct side *a = &j->side[0], *b = &j->side[1];
  for (int k = 0; k < 2; k++)
    if (j->side[k].n) qsort(j->side[k].results, j->side[k].n, sizeof *j->side[k].results, by_key);
  size_t at[2] = {0, 0};
  while (at[0] < a->n || at[1] < b->n) {
    int d = at[0] == a->n ? 1 : at[1] == b->n ? -1 : XXH128_cmp(&a->results[at[0]].key, &b->results[at[1]].key);
    size_t n_a = d <= 0 ? run_of(a, at[0]) : 0, n_b = d >= 0 ? run_of(b, at[1]) : 0;
    if (d == 0)
      FOLD_TRY(judge_key(j, records, &a->results[at[0]], n_a, &b->results[at[1]], n_b));
    else
      only[d > 0]++;
    at[0] += n_a;
    at[1] += n_b;
  }
  return fold_ok();
}

static int by_name(const void *a, const void *b) {
  const struct counts *l = a, *r = b;
  return l->promised != r->promised ? r->promised - l->promised : strcmp(l->subject, r->subject);
}

static void print_counts(struct judging *j, const size_t only[2], size_t total[2]) {
  bool told = false;
  if (j->n_counts) qsort(j->counts, j->n_counts, sizeof *j->counts, by_name);
  if (j->shown > SHOWN) printf("%d of %zu refutations shown\n", SHOWN, j->shown);
  fold_print_line("%s: %s (%s) against %s (%s)", j->claim, gpu_of(&j->side[0]), j->side[0].path, gpu_of(&j->side[1]),
                  j->side[1].path);
  print_changes(j->side[0].environment, j->side[1].environment);
  printf("%-40s %8s %8s\n", "subject", "held", "refuted");
  for (size_t i = 0; i < j->n_counts; i++) {
    const struct counts *c = &j->counts[i];
    if (!c->promised && !told) printf("not claimed, and not counted:\n");
    told |= !c->promised;
    fold_print_line("%-40s %8zu %8zu", c->subject, c->held, c->refuted);
    if (c->promised) total[0] += c->held, total[1] += c->refuted;
  }
  fold_print_line("%zu held, %zu refuted; %zu only in %s, %zu only in %s", total[0], total[1], only[0], j->side[0].path,
                  only[1], j->side[1].path);
}

/* The verdicts follow the second environment, whose closing line ends them; the first environment announces none. */
static fold_status write_environments(const struct judging *j, struct fold_records *records) {
  json_t *first = json_copy(j->side[0].environment);
  json_object_del(first, "closing_line");
  FOLD_TRY(fold_records_line(records, first));
  return fold_records_environment_of(records, json_incref(j->side[1].environment));
}

static fold_status judge_files(struct judging *j, struct fold_records *records, size_t total[2]) {
  struct fold_lines lines;
  size_t only[2] = {0, 0};
  for (int k = 0; k < 2; k++) {
    j->reading = &j->side[k];
    FOLD_TRY(fold_lines_read(j->side[k].path, take, j, &lines));
    if (lines.incomplete[0]) fold_print_line("INCOMPLETE: %s: %s", j->side[k].path, lines.incomplete);
    j->incomplete |= lines.incomplete[0] != '\0';
  }
  FOLD_TRY(check_gpus(j));
  if (records->file) FOLD_TRY(write_environments(j, records));
  FOLD_TRY(judge_all(j, records, only));
  print_counts(j, only, total);
  return fold_ok();
}

static void close_judging(struct judging *j) {
  for (int k = 0; k < 2; k++) {
    for (size_t i = 0; i < j->side[k].n; i++) json_decref(j->side[k].results[i].record);
    json_decref(j->side[k].environment);
    free(j->side[k].results);
  }
  free(j->promises);
  free(j->counts);
}

int fold_compare_claim(const char *program, const char *claim, const char *const path[2], const char *jsonl, bool part,
                       const struct fold_registry *registry) {
  struct judging j = {.claim = claim, .registry = registry, .side = {{.path = path[0]}, {.path = path[1]}}};
  struct fold_records records = {0};
  size_t total[2] = {0, 0};
  fold_status status = jsonl ? fold_records_open(&records, jsonl) : fold_ok();
  if (status.code == FOLD_OK) status = judge_files(&j, &records, total);
  fold_status closed = fold_close_records(program, &records, status);
  if (status.code == FOLD_OK) status = closed;
  close_judging(&j);
  if (status.code == FOLD_UNSUPPORTED) fprintf(stderr, "%s: skipped\n", program);
  if (status.code != FOLD_OK) return fold_print_error(program, status);
  if (total[1]) return 1;
  if (j.incomplete && !part) return 99;
  return total[0] ? 0 : 77;
}
