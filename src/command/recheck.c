/* command/recheck.c: foldproof recheck: verdicts on records, on any machine, without the subjects.
 *
 * It judges the claims that can be judged from results, as verify does; same_bits_as, if the records also have the twin's results on the same
 * input; and run_to_run, if a record holds two runs of one case. Everything else that a record tells must agree with that: its
 * own verdicts, its input's hash, its results' hash and decimals, and the hash of its lines.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/text.h"
#include "base/wrap.h"
#include "command/recheck.h"
#include "compare/recorded.h"
#include "records/read.h"
#include "run/environment.h"

enum { JSONL = 0x200, FOLDER, QUIET = 'q', VERBOSE = 'v' };

static const struct argp_option options[] = {
    {"fixture-folder", FOLDER, "DIR", 0, "the folder of the *.ini files, for cases that no generator makes", 0},
    {"jsonl", JSONL, "FILE", 0, "write a record of each verdict, as JSON lines", 0},
    {"quiet", QUIET, NULL, 0, "print only the last lines, and what is refuted, contradicts or differs", 0},
    {"verbose", VERBOSE, NULL, 0, "print the table of each subject's claims, and every refuted claim", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state) {
  struct fold_judge *j = state->input;
  switch (key) {
    case FOLDER: j->folder = arg; return 0;
    case JSONL: j->jsonl = arg; return 0;
    case QUIET: j->quiet = true; return 0;
    case VERBOSE: j->verbose = true; return 0;
    case ARGP_KEY_INIT: state->child_inputs[0] = &j->keeping; return 0;
    case ARGP_KEY_END:
      if (j->keeping.path && j->n_paths > 1) argp_failure(state, 2, 0, "--golden takes one file of records");
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
        "Judge recorded results by the exact results, the bounds, the replays of their orders and the results of their "
        "references. Each input is made again and must have the recorded hash. The subjects and their engine need not "
        "be here.\n"
        "\n"
        "Examples:\n"
        "  foldproof recheck run.jsonl\n"
        "  foldproof recheck run.jsonl old.jsonl --quiet\n"
        "  foldproof recheck run.jsonl --jsonl verdicts.jsonl\v"
        "Some claims can be judged only by running the subject. Of these, a recorded refutation, overwritten memory or "
        "crash counts; the rest is skipped. A defect that is known of the recorded version of a library does not "
        "count, as with verify. Exit codes: 0 every claim that could be judged held; 1 a claim is refuted, or a record "
        "contradicts its results, its input or its closing line; 2 bad input, such as results that contradict their "
        "hash; 77 nothing held; 99 the records are incomplete."};

/* --- the first pass: which subjects are in the records, with which results */

static bool has_results(const json_t *record) {
  return fold_recorded_is_judged(record) && fold_record_text(record, "results_xxh3")[0];
}

/* `environment` is borrowed. */
static void take_environment(struct fold_judge *j, json_t *environment) {
  json_decref(j->environment);
  j->environment = json_incref(environment);
}

static fold_status note(void *context, json_t *record, size_t line) {
  struct fold_judge *j = context;
  (void)line;
  if (strcmp(fold_record_text(record, "type"), "environment") == 0) take_environment(j, record);
  if (!fold_recorded_is_judged(record)) return fold_ok();
  FOLD_TRY(fold_again_note(&j->again, record));
  if (!has_results(record)) return fold_ok();
  struct fold_seen seen = {.key = fold_record_key(record, true), .against = fold_judge_against(j, record)};
  const struct fold_claim *claim = fold_recorded_claim(record);
  if (claim && strcmp(fold_record_text(record, "verdict"), "held") == 0) seen.said_held = FOLD_CLAIM(claim->id);
  snprintf(seen.hash, sizeof seen.hash, "%s", fold_record_text(record, "results_xxh3"));
  return fold_seen_add(&j->seen, &seen);
}

/* --- the second pass: judge each result once */

/* `environment` is borrowed. */
static fold_status begin_goldens(struct fold_judge *j, const json_t *environment) {
  char *text = environment ? json_dumps(environment, JSON_COMPACT) : NULL;
  fold_status status = text ? fold_golden_begin(&j->golden, text) : fold_no_memory("for the environment");
  free(text);
  return status;
}

static fold_status take_results(struct fold_judge *j, json_t *record, size_t line) {
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
    seen->told = fold_judge_told(record);
    FOLD_TRY(fold_judge_take_results(j, record, line));
  }
  if (seen->told != fold_judge_told(record))
    fold_judge_say(&j->contradictions, j, line, record, "CONTRADICTS",
                   "it names a different case or subject than the first record of the same results");
  const int dtype = fold_record_result_dtype(record);
  if (dtype >= 0) fold_judge_check_values(j, record, (enum fold_dtype)dtype, line);
  return fold_ok();
}

static fold_status note_golden(struct fold_judge *j, const json_t *record) {
  struct fold_subject subject;
  size_t index;
  FOLD_TRY(fold_again_noted(&j->again, record, &subject, &index));
  return fold_golden_note(&j->golden, &subject, record);
}

static fold_status take(void *context, json_t *record, size_t line) {
  struct fold_judge *j = context;
  bool before;
  FOLD_TRY(fold_repeated_add(&j->repeated, record, &before));
  const char *type = fold_record_text(record, "type");
  if (strcmp(type, "environment") == 0) take_environment(j, record);
  if (strcmp(type, "environment") == 0 && j->keeping.path) FOLD_TRY(begin_goldens(j, record));
  if (strcmp(type, "environment") == 0 && j->jsonl && !j->records.file) {
    FOLD_TRY(fold_records_open(&j->records, j->jsonl));
    return fold_records_environment_of(&j->records, json_incref(record));
  }
  fold_judge_check_told(j, record, line);
  if (!fold_recorded_is_judged(record)) return fold_ok();
  if (j->keeping.path) FOLD_TRY(note_golden(j, record));
  j->last = NULL;
  if (has_results(record))
    FOLD_TRY(take_results(j, record, line));
  else
    j->without_results += !before;
  fold_judge_check_traces(j, record, line);
  fold_judge_check_figures(j, record, line);
  const bool again = fold_judge_check_verdict(j, record, line);
  return before ? fold_ok() : fold_judge_take_recorded(j, record, line, again);
}

static fold_status read_all(struct fold_judge *j, fold_status (*each)(void *, json_t *, size_t), bool tells) {
  for (size_t i = 0; i < j->n_paths; i++) {
    struct fold_lines lines;
    j->path = j->paths[i];
    take_environment(j, NULL);
    j->repeated.environment = 0;
    FOLD_TRY(fold_lines_read(j->path, each, j, &lines));
    if (tells && lines.incomplete[0]) fold_print_line("INCOMPLETE: %s: %s", j->path, lines.incomplete), j->incomplete++;
    if (tells && lines.altered[0]) fold_print_line("ALTERED: %s: %s", j->path, lines.altered), j->altered++;
  }
  return fold_ok();
}

/* Records that tell no environment, such as those of a caller in Python, belong to this machine. */
static fold_status open_goldens(struct fold_judge *j) {
  const struct fold_registry *subjects = &j->again.subjects;
  json_t *here = fold_environment();
  j->selected = (struct fold_selection){.engine = -1, .folder = j->folder};
  for (size_t i = 0; i < subjects->n; i++) j->selected.n_guests += subjects->subjects[i].guest != NULL;
  if (j->selected.n_guests < subjects->n) j->selected.n_guests = 0;
  fold_status status = fold_golden_open(&j->golden, &j->keeping, subjects, &j->selected);
  j->golden.recorded = true;
  if (status.code == FOLD_OK) status = begin_goldens(j, here);
  json_decref(here);
  return status;
}

static fold_status judge_files(struct fold_judge *j) {
  FOLD_TRY(read_all(j, note, false));
  fold_seen_sort(&j->seen);
  FOLD_TRY(fold_table_open(&j->table, &j->again.subjects));
  FOLD_TRY(fold_summary_open(&j->summary, &j->again.subjects));
  FOLD_TRY(fold_smallest_open(&j->smallest, &j->again.subjects));
  j->tables_open = true;
  if (j->keeping.path) FOLD_TRY(open_goldens(j));
  FOLD_TRY(read_all(j, take, true));
  return j->keeping.path ? fold_golden_end(&j->golden, j->paths[0]) : fold_ok();
}

static int conclude(struct fold_judge *j) {
  size_t total[FOLD_VERDICTS], known;
  char goldens[160], repeated[120];
  fold_table_total(&j->table, false, total, &known);
  fold_smallest_print(&j->smallest, j->verbose, FOLD_JUDGE_LINES, stdout);
  if (j->verbose) fold_table_print(&j->table, false, fold_has_colour(stdout), stdout);
  if (!j->quiet) fold_summary_print(&j->summary, &j->table, false, j->verbose, stdout);
  if (j->contradictions > FOLD_JUDGE_LINES)
    printf("%d of %zu contradictions shown\n", FOLD_JUDGE_LINES, j->contradictions);
  if (j->foreign > FOLD_JUDGE_LINES) printf("%d of %zu skipped shown\n", FOLD_JUDGE_LINES, j->foreign);
  if (j->without_results) printf("%zu records have no results\n", j->without_results);
  if (*fold_repeated_text(&j->repeated, repeated)) printf("%s\n", repeated);
  printf("%zu results judged, %zu could not be made again, %zu contradictions%s", j->seen.n - j->foreign, j->foreign,
         j->contradictions, known || fold_table_untold(&j->table) ? "\n" : "; ");
  fold_golden_beside(&j->golden, goldens);
  fold_table_close_line(&j->table, false, goldens, "", stdout);
  if (total[FOLD_REFUTED] || j->contradictions || j->altered) return 1;
  if (total[FOLD_BROKEN] || j->incomplete) return 99;
  if (j->keeping.path) return fold_golden_exit_code(&j->golden);
  return total[FOLD_HELD] ? 0 : 77;
}

int fold_command_recheck(int argc, char **argv, const struct fold_registry *registry) {
  struct fold_selection_options usual;
  fold_selection_defaults(&usual);
  struct fold_judge j = {.folder = usual.selection.folder, .program = program_invocation_name};
  fold_parse(&argp, argc, argv, &j);
  fold_status status = fold_again_open(&j.again, registry, j.folder);
  if (status.code == FOLD_OK) status = judge_files(&j);
  fold_status closed = fold_close_records(argv[0], &j.records, status);
  if (status.code == FOLD_OK) status = closed;
  const int exit_code = status.code == FOLD_OK ? conclude(&j) : fold_print_error(argv[0], status);
  if (j.tables_open) {
    fold_summary_close(&j.summary);
    fold_smallest_close(&j.smallest);
    fold_table_close(&j.table);
  }
  if (j.golden.options) fold_golden_close(&j.golden);
  fold_again_close(&j.again);
  json_decref(j.environment);
  free(j.seen.at);
  free(j.figures);
  fold_repeated_free(&j.repeated);
  return exit_code;
}
