/* command_judge.c: foldproof judge: verdicts on records, on any machine, without the subjects.
 *
 * Judged are the claims that results are judged by, as verify judges them; same_bits_as, where the twin's results of the same input are
 * in the records too; and run_to_run, where a record holds two runs of one case. Whatever else a record tells must agree with that: its
 * own verdicts, its input's hash, its results' hash and decimals, and the hash of its lines.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "again.h"
#include "bits.h"
#include "command.h"
#include "environment.h"
#include "hash.h"
#include "recorded.h"
#include "refutation.h"
#include "report_lines.h"
#include "seen.h"
#include "summary.h"
#include "text.h"

enum { JSONL = 0x200, FOLDER, BLESS, DIRTY, QUIET = 'q', MOST_LINES = 10 };

struct judge {
  const char *folder, *jsonl, *program, *path;
  const char **paths;
  size_t n_paths;
  bool quiet;
  struct fold_golden_options keeping;
  struct fold_selection selected; /* for the goldens: all that is in the records */
  struct fold_golden_run golden;
  struct fold_again again;
  struct fold_seen_list seen;
  struct fold_table table;
  struct fold_summary summary;
  struct fold_records records;
  bool tables_open;
  /* What became of the results that were judged last. */
  struct fold_seen *last;
  uint64_t told;
  size_t contradictions, altered, incomplete, foreign, without_results;
};

static const struct argp_option options[] = {
    {"fixture-folder", FOLDER, "DIR", 0, "the folder of the *.ini files, for cases that no generator makes", 0},
    {"jsonl", JSONL, "FILE", 0, "write a record of each verdict, as JSON lines", 0},
    {"quiet", QUIET, NULL, 0, "print no summary", 0},
    {"bless", BLESS, NULL, 0, "with --golden: keep the results there (see record --bless)", 3},
    {"dirty", DIRTY, NULL, 0,
     "with --bless: allow a source with changes or files that are not committed, or of no known commit", 3},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state) {
  struct judge *j = state->input;
  switch (key) {
    case FOLDER: j->folder = arg; return 0;
    case JSONL: j->jsonl = arg; return 0;
    case QUIET: j->quiet = true; return 0;
    case BLESS: j->keeping.bless = true; return 0;
    case DIRTY: j->keeping.dirty = true; return 0;
    case ARGP_KEY_INIT: state->child_inputs[0] = &j->keeping; return 0;
    case ARGP_KEY_END:
      if (j->keeping.bless && !j->keeping.folder) argp_failure(state, 2, 0, "--bless needs --golden DIR");
      return 0;
    case ARGP_KEY_ARGS:
      j->paths = (const char **)(state->argv + state->next);
      j->n_paths = (size_t)(state->argc - state->next);
      return 0;
    case ARGP_KEY_NO_ARGS: argp_failure(state, 2, 0, "name a file of records: see verify --jsonl and record"); return 0;
    default: return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp_child children[] = {{&fold_golden_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    .options = options,
    .parser = parse,
    .children = children,
    .args_doc = "RUN.jsonl...",
    .doc =
        "Judge recorded results by the exact results, the bounds, the replays of their orders and their twins' "
        "results. Each input is made again and must have the recorded hash. The subjects and their engine need not be "
        "here.\vSome claims can be judged only by running the subject. Of these, a recorded refutation, overwritten "
        "memory or crash counts; the rest is skipped. Exit codes: 0 every claim that could be judged held; 1 a claim "
        "is refuted, or a record contradicts its results, its input or its closing line; 2 bad input, such as results "
        "that contradict their hash; 77 nothing could be judged; 99 the records are incomplete."};

/* --- first, who is in the records, and with which results */

static bool has_results(const json_t *record) {
  const char *type = fold_record_text(record, "type");
  return (strcmp(type, "run") == 0 || strcmp(type, "judgement") == 0) && fold_record_text(record, "results_xxh3")[0];
}

static fold_status note(void *context, json_t *record, size_t line) {
  struct judge *j = context;
  const char *type = fold_record_text(record, "type");
  (void)line;
  if (strcmp(type, "run") != 0 && strcmp(type, "judgement") != 0) return fold_ok();
  FOLD_TRY(fold_again_note(&j->again, record));
  if (!has_results(record)) return fold_ok();
  struct fold_seen seen = {.key = fold_record_key(record, true), .against = fold_recorded_against(record)};
  snprintf(seen.hash, sizeof seen.hash, "%s", fold_record_text(record, "results_xxh3"));
  return fold_seen_add(&j->seen, &seen);
}

/* --- then, each result once */

static void say(size_t *count, const struct judge *j, size_t line, const json_t *record, const char *kind,
                const char *format, ...) __attribute__((format(printf, 6, 7)));
static void say(size_t *count, const struct judge *j, size_t line, const json_t *record, const char *kind,
                const char *format, ...) {
  char text[600];
  va_list args;
  if ((*count)++ >= MOST_LINES) return;
  int n = snprintf(text, sizeof text, "%s: %.100s:%zu: %.60s on %.10s: %.100s: ", kind, j->path, line,
                   fold_record_text(record, "subject"), fold_record_text(record, "engine"),
                   fold_record_text(record, "case"));
  va_start(args, format);
  vsnprintf(text + n, sizeof text - (size_t)n, format, args);
  va_end(args);
  fold_text_one_line(text);
  puts(text);
}

struct judging {
  struct judge *j;
  const json_t *record;
  struct fold_judgement judgement;
  size_t line;
  fold_status status;
};

static void tell(struct judging *g, const struct fold_claim *claim, const struct fold_finding *finding) {
  struct judge *j = g->j;
  struct fold_judgement *told = &g->judgement;
  const uint64_t bit = FOLD_CLAIM(claim->id);
  if (j->last && finding->verdict == FOLD_SKIPPED && j->last->against & bit) return; /* the record's word follows */
  told->claim = claim;
  told->promised = true;
  told->finding = *finding;
  j->told |= bit;
  if (j->last && finding->verdict == FOLD_HELD) j->last->held |= bit;
  if (j->last && finding->verdict == FOLD_REFUTED) j->last->refuted |= bit;
  fold_table_add(&j->table, told);
  if (g->status.code == FOLD_OK) g->status = fold_summary_add(&j->summary, told);
  if (finding->verdict == FOLD_REFUTED) {
    struct fold_cell *cell = &j->table.promised[told->subject_index * FOLD_CLAIMS + claim->id];
    if (cell->shown++ < MOST_LINES) fold_print_refuted(told, j->program, j->folder, stdout);
  }
  if (j->records.file && g->status.code == FOLD_OK) g->status = fold_records_judgement(&j->records, told);
}

static void take_finding(void *context, const struct fold_claim *claim, const struct fold_finding *finding) {
  tell(context, claim, finding);
}

static void judge_twin(struct judging *g) {
  struct judge *j = g->j;
  size_t n;
  const struct fold_claim *claim = &fold_claims(&n)[FOLD_SAME_BITS_AS];
  const char *name = fold_record_text(g->record, "twin");
  struct fold_finding finding = fold_finding_open(g->judgement.c->rows);
  if (!(fold_claims_of(g->judgement.subject, g->judgement.c->op) & FOLD_CLAIM(FOLD_SAME_BITS_AS))) return;
  json_t *twin = json_copy((json_t *)(uintptr_t)g->record);
  json_object_set_new(twin, "subject", json_string(name));
  struct fold_seen *other = *name && twin ? fold_seen_find(&j->seen, fold_record_key(twin, true)) : NULL;
  json_decref(twin);
  if (other == NULL) {
    fold_find_skipped(&finding, "its twin's results are not in the records");
  } else {
    char what[120];
    snprintf(what, sizeof what, "other bits than %.60s", name);
    while (fold_seen_has_next(&j->seen, other) && strcmp(other->hash, j->last->hash) == 0) other++;
    if (fold_find_same_hash(&finding, strtoull(j->last->hash, NULL, 16), strtoull(other->hash, NULL, 16), what))
      fold_find_held(&finding);
  }
  tell(g, claim, &finding);
}

/* Two runs of one subject on one input are in the records. */
static void judge_repeats(struct judging *g) {
  struct judge *j = g->j;
  size_t n;
  const struct fold_claim *claim = &fold_claims(&n)[FOLD_RUN_TO_RUN];
  struct fold_finding finding = fold_finding_open(g->judgement.c->rows);
  const struct fold_seen *first = fold_seen_find(&j->seen, j->last->key);
  if (!(fold_claims_of(g->judgement.subject, g->judgement.c->op) & FOLD_CLAIM(FOLD_RUN_TO_RUN))) return;
  if (!fold_seen_has_next(&j->seen, first)) return; /* one result, of one run or of several: nothing says how many */
  const struct fold_seen *other = first == j->last ? first + 1 : first;
  fold_find_same_hash(&finding, strtoull(j->last->hash, NULL, 16), strtoull(other->hash, NULL, 16),
                      "the records hold two results of this input");
  tell(g, claim, &finding);
}

/* Decimals are beside the bits for people: they must say the same. */
static void check_values(struct judge *j, const json_t *record, enum fold_dtype dtype, size_t line) {
  const json_t *values = json_object_get(record, "values"), *results = json_object_get(record, "results");
  const int row = (int)json_integer_value(json_object_get(record, "row"));
  const char *claim = fold_record_text(record, "claim"), *got = fold_record_text(record, "got");
  for (size_t i = 0; i < json_array_size(values); i++) {
    const char *bits = json_string_value(json_array_get(results, i)),
               *said = json_string_value(json_array_get(values, i));
    uint64_t pattern;
    char text[40];
    if (!fold_record_read_bits(bits, dtype, &pattern)) continue;
    snprintf(text, sizeof text, "%.*g", fold_bits_digits(dtype), fold_bits_to_double(dtype, pattern));
    if (said == NULL || (strcmp(said, text) != 0 && fold_bits_class(dtype, pattern) != FOLD_NAN)) {
      say(&j->contradictions, j, line, record, "CONTRADICTS", "result %zu is %s, which is %s, and not %.40s", i, bits,
          text, said ? said : "nothing");
      return;
    }
  }
  size_t n;
  const struct fold_claim *claims = fold_claims(&n);
  for (size_t k = 0; k < n && *got; k++) {
    const char *there = json_string_value(json_array_get(results, (size_t)row));
    if (!claims[k].results || strcmp(claims[k].name, claim) != 0 || there == NULL || strcmp(there, got) == 0) continue;
    say(&j->contradictions, j, line, record, "CONTRADICTS", "row %d got %s, and result %d is %s", row, got, row, there);
  }
}

/* A verdict that the record tells, of a claim that was judged again: whether it was. */
static bool check_verdict(struct judge *j, const json_t *record, size_t line) {
  const struct fold_claim *claim = fold_recorded_claim(record);
  const char *said = fold_record_text(record, "verdict");
  const uint64_t bit = claim ? FOLD_CLAIM(claim->id) : 0;
  if (!j->last || !((j->last->held | j->last->refuted) & bit)) return false;
  const char *now = fold_verdict_name(j->last->refuted & bit ? FOLD_REFUTED : FOLD_HELD);
  if (strcmp(said, now) != 0 && claim->id != FOLD_RUN_TO_RUN)
    say(&j->contradictions, j, line, record, "CONTRADICTS", "it says that %s is %.20s, and that is %s", claim->name,
        said, now);
  return true;
}

/* A run that did what its record's verdict denies. */
static void check_traces(struct judge *j, const json_t *record, size_t line) {
  const struct fold_claim *claim = fold_recorded_claim(record);
  if (!claim || !(fold_recorded_traces(record) & FOLD_CLAIM(claim->id))) return;
  if (strcmp(fold_record_text(record, "verdict"), "held") == 0)
    say(&j->contradictions, j, line, record, "CONTRADICTS", "it says that %s held, and what its run did refutes that",
        claim->name);
}

/* Of claims that need runs, a record has but a former judge's word. */
static void skip_claims(struct judging *g, uint64_t told) {
  size_t n;
  const struct fold_claim *claims = fold_claims(&n);
  const uint64_t promised = fold_claims_of(g->judgement.subject, g->judgement.c->op) & ~told;
  for (size_t k = 0; k < n; k++) {
    struct fold_finding finding = fold_finding_open(g->judgement.c->rows);
    if (!(promised & FOLD_CLAIM(k))) continue;
    fold_find_skipped(&finding, "a record can't tell: it is judged by runs");
    tell(g, &claims[k], &finding);
  }
}

static void fail_all(struct judging *g, fold_status why) {
  size_t n;
  const struct fold_claim *claims = fold_claims(&n);
  for (size_t k = 0; k < n; k++) {
    struct fold_finding finding = fold_finding_open(g->judgement.c->rows);
    if (!claims[k].results || !(fold_claims_of(g->judgement.subject, g->judgement.c->op) & FOLD_CLAIM(k))) continue;
    fold_find_failed(&finding, why);
    tell(g, &claims[k], &finding);
  }
}

/* Bits of the first rows are enough to refute a replay whose hash is another. */
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
  struct fold_finding finding = fold_finding_open(g->judgement.c->rows);
  bool read = got != NULL;
  for (size_t i = 0; i < held && read; i++) {
    uint64_t bits;
    read = fold_record_read_bits(json_string_value(json_array_get(results, i)), dtype, &bits);
    if (read) fold_bits_store(dtype, got, i, bits);
  }
  if (read && fold_find_same(&finding, dtype, got, replayed, held, "other bits than its order's replay"))
    fold_find_refuted(&finding,
                      "another hash of all %zu results than its order's replay, in a row behind the first %zu",
                      g->judgement.c->rows, held);
  free(got);
  if (read) tell(g, &fold_claims(&n)[FOLD_REPLAYS], &finding);
  return read;
}

static bool has(const json_t *record, const char *key) { return json_object_get(record, key) != NULL; }

/* What else the run did stands in the record too: such a result is not kept. */
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
  struct judge *j = g->j;
  void *results = NULL;
  fold_status status = fold_again_results(&j->again, g->record, j->path, subject, &results);
  g->judgement.got = status.code == FOLD_OK ? results : NULL;
  if (status.code == FOLD_OK) {
    const struct fold_evidence e = {
        .subject = subject, .truths = &j->again.remade.truths, .ranks = g->judgement.c->ranks, .results = results};
    fold_judge_evidence(&e, NULL, take_finding, g);
    if (j->keeping.folder && g->status.code == FOLD_OK) g->status = hold_against_golden(g);
  } else if (status.code == FOLD_BAD_INPUT) {
    say(&j->contradictions, j, g->line, g->record, "CONTRADICTS", "%s", status.text);
  } else if (status.code != FOLD_UNSUPPORTED || !refute_part(g, subject)) {
    fail_all(g, status);
  }
  judge_twin(g);
  judge_repeats(g);
  skip_claims(g, j->told);
  free(results);
}

static fold_status judge_record(struct judge *j, const json_t *record, size_t line) {
  struct fold_subject subject;
  struct judging g = {.j = j, .record = record, .line = line, .status = fold_ok()};
  fold_status status = fold_again_subject(&j->again, record, &subject, &g.judgement.subject_index);
  if (status.code == FOLD_OK) status = fold_again_input(&j->again, record);
  if (status.code == FOLD_BAD_INPUT) say(&j->contradictions, j, line, record, "CONTRADICTS", "%s", status.text);
  if (status.code == FOLD_UNSUPPORTED) say(&j->foreign, j, line, record, "SKIPPED", "%s", status.text);
  if (status.code == FOLD_BAD_INPUT || status.code == FOLD_UNSUPPORTED) return fold_ok();
  FOLD_TRY(status);
  g.judgement.subject = &subject;
  g.judgement.c = j->again.remade.c;
  g.judgement.input_hash = j->again.remade.hash;
  judge_results(&g, &subject);
  return g.status;
}

/* Takes no reference. */
static fold_status take_environment(struct judge *j, const json_t *environment) {
  char *text = environment ? json_dumps(environment, JSON_COMPACT) : NULL;
  fold_status status =
      text ? fold_golden_begin(&j->golden, text) : fold_error(FOLD_NO_MEMORY, "not enough memory for the environment");
  free(text);
  return status;
}

/* What a record says against its subject, of claims that were not judged again. */
static fold_status tell_recorded(struct judge *j, const json_t *record, size_t line) {
  struct fold_case c;
  struct fold_subject subject;
  struct judging g = {.j = j, .record = record, .line = line, .status = fold_ok()};
  size_t n;
  const struct fold_claim *claims = fold_claims(&n);
  const bool ran = strcmp(fold_record_text(record, "type"), "run") == 0;
  uint64_t against = ran ? fold_recorded_traces(record) : fold_recorded_against(record);
  if (ran && strcmp(fold_record_text(record, "verdict"), "broken") == 0) against |= FOLD_CLAIM(FOLD_WRITES_OUTPUT);
  if (!against) return fold_ok();
  FOLD_TRY(fold_again_noted(&j->again, record, &subject, &g.judgement.subject_index));
  FOLD_TRY(fold_again_case(record, &c));
  g.judgement.subject = &subject;
  g.judgement.c = &c;
  for (size_t k = 0; k < n; k++) {
    const struct fold_finding finding = fold_recorded_finding(record, &claims[k]);
    if (against & FOLD_CLAIM(k)) tell(&g, &claims[k], &finding);
  }
  free(c.name);
  return g.status;
}

static fold_status take_results(struct judge *j, const json_t *record, size_t line) {
  FOLD_TRY(fold_record_check_results(record));
  struct fold_seen *seen = fold_seen_find(&j->seen, fold_record_key(record, true));
  while (seen && strcmp(seen->hash, fold_record_text(record, "results_xxh3")) != 0 &&
         fold_seen_has_next(&j->seen, seen))
    seen++;
  if (seen == NULL) return fold_error(FOLD_BAD_INPUT, "the file changed while it was read");
  j->last = seen;
  j->told = 0;
  if (!seen->judged) {
    seen->judged = true;
    FOLD_TRY(judge_record(j, record, line));
  }
  const int dtype = fold_record_result_dtype(record);
  if (dtype >= 0) check_values(j, record, (enum fold_dtype)dtype, line);
  return fold_ok();
}

static fold_status take(void *context, json_t *record, size_t line) {
  struct judge *j = context;
  const char *type = fold_record_text(record, "type");
  if (strcmp(type, "environment") == 0 && j->keeping.folder) FOLD_TRY(take_environment(j, record));
  if (strcmp(type, "environment") == 0 && j->jsonl && !j->records.file) {
    FOLD_TRY(fold_records_open(&j->records, j->jsonl));
    return fold_records_environment_of(&j->records, json_incref(record));
  }
  if (strcmp(type, "run") != 0 && strcmp(type, "judgement") != 0) return fold_ok();
  j->last = NULL;
  if (has_results(record))
    FOLD_TRY(take_results(j, record, line));
  else
    j->without_results++;
  check_traces(j, record, line);
  return check_verdict(j, record, line) ? fold_ok() : tell_recorded(j, record, line);
}

static fold_status read_all(struct judge *j, fold_status (*each)(void *, json_t *, size_t), bool tells) {
  for (size_t i = 0; i < j->n_paths; i++) {
    struct fold_lines lines;
    j->path = j->paths[i];
    FOLD_TRY(fold_lines_read(j->path, each, j, &lines));
    if (tells && lines.incomplete[0]) printf("INCOMPLETE: %s: %s\n", j->path, lines.incomplete), j->incomplete++;
    if (tells && lines.altered[0]) printf("ALTERED: %s: %s\n", j->path, lines.altered), j->altered++;
  }
  return fold_ok();
}

/* Records that tell no environment, as those of a caller in Python, are of this machine. */
static fold_status open_goldens(struct judge *j) {
  const struct fold_registry *subjects = &j->again.subjects;
  json_t *here = fold_environment();
  j->selected = (struct fold_selection){.engine = -1, .folder = j->folder};
  for (size_t i = 0; i < subjects->n; i++) j->selected.n_guests += subjects->subjects[i].guest != NULL;
  if (j->selected.n_guests < subjects->n) j->selected.n_guests = 0;
  fold_status status = fold_golden_open(&j->golden, &j->keeping, subjects, &j->selected, j->program);
  if (status.code == FOLD_OK) status = take_environment(j, here);
  json_decref(here);
  return status;
}

static fold_status judge_files(struct judge *j) {
  FOLD_TRY(read_all(j, note, false));
  fold_seen_sort(&j->seen);
  FOLD_TRY(fold_table_open(&j->table, &j->again.subjects));
  FOLD_TRY(fold_summary_open(&j->summary, &j->again.subjects));
  j->tables_open = true;
  if (j->keeping.folder) FOLD_TRY(open_goldens(j));
  FOLD_TRY(read_all(j, take, true));
  return j->keeping.folder ? fold_golden_end(&j->golden) : fold_ok();
}

static int conclude(struct judge *j) {
  size_t total[FOLD_VERDICTS], known;
  char goldens[120];
  fold_table_total(&j->table, false, total, &known);
  if (!j->quiet) fold_summary_print(&j->summary, &j->table, false, stdout);
  if (j->contradictions > MOST_LINES) printf("%d of %zu contradictions shown\n", MOST_LINES, j->contradictions);
  if (j->foreign > MOST_LINES) printf("%d of %zu skipped shown\n", MOST_LINES, j->foreign);
  if (j->without_results) printf("%zu records have no results\n", j->without_results);
  printf("%zu results judged, %zu could not be made again, %zu contradictions; ", j->seen.n - j->foreign, j->foreign,
         j->contradictions);
  fold_golden_beside(&j->golden, goldens);
  fold_table_close_line(&j->table, false, goldens, stdout);
  if (total[FOLD_REFUTED] || j->contradictions || j->altered) return 1;
  if (total[FOLD_BROKEN] || j->incomplete) return 99;
  if (j->keeping.folder) return fold_golden_exit_code(&j->golden);
  return total[FOLD_HELD] ? 0 : 77;
}

int fold_command_judge(int argc, char **argv, const struct fold_registry *registry) {
  struct fold_selection_options usual;
  fold_selection_defaults(&usual);
  struct judge j = {.folder = usual.selection.folder, .program = program_invocation_name};
  fold_parse(&argp, argc, argv, &j);
  fold_status status = fold_again_open(&j.again, registry, j.folder);
  if (status.code == FOLD_OK) status = judge_files(&j);
  fold_status closed = fold_close_records(argv[0], &j.records, status);
  if (status.code == FOLD_OK) status = closed;
  const int exit_code = status.code == FOLD_OK ? conclude(&j) : fold_print_error(argv[0], status);
  if (j.tables_open) {
    fold_summary_close(&j.summary);
    fold_table_close(&j.table);
  }
  if (j.golden.options) fold_golden_close(&j.golden);
  fold_again_close(&j.again);
  free(j.seen.at);
  return exit_code;
}
