/* command/rerun.c: foldproof rerun: runs again on this machine what records say was run, and compares the results.
 *
 * For each engine in the records it runs their subjects on their cases (record). Then it compares the two files as compare does. Results of
 * runs that the records lack are ignored; what could not be run again is counted, and is no agreement. Code that the records name is run
 * only if the user gives it or trusts them (command/rerun_trust.h).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/scratch.h"
#include "base/text.h"
#include "command/command.h"
#include "command/rerun_trust.h"
#include "command/words.h"
#include "compare/compare.h"
#include "compare/recorded.h"
#include "report/source.h"
#include "run/job.h"

enum { FOLDER = 0x200, GUEST, EXEC, TRUST, MOST_LINES = 10, MOST_CASES = 300 };

struct rerun {
  const char *path, *folder, *program;
  const struct fold_registry *registry;
  char *scratch;
  struct fold_words subjects[FOLD_ENGINES], cases[FOLD_ENGINES], fixtures[FOLD_ENGINES];
  struct fold_words arrays[FOLD_ENGINES][FOLD_PROBLEMS];
  json_t *guests, *asked; /* in the first environment of the records that has them */
  struct fold_rerun_named named;
  size_t runs;
  struct fold_again again; /* knows the fixtures, if their folder can be read */
  size_t misnamed;         /* records whose case is not that of its name */
  bool callables;          /* the records have subjects that no command can load */
  bool knows_fixtures;
  bool incomplete, altered; /* the records are so */
};

static const struct argp_option options[] = {
    {"fixture-folder", FOLDER, "DIR", 0, "the folder of the *.ini files", 0},
    {"guest", GUEST, "FILE", 0, "use the subjects of this shared object (repeatable), and none that the records name",
     0},
    {"exec", EXEC, "COMMAND", 0, "use this program (repeatable), and none that the records name", 0},
    {"trust", TRUST, NULL, 0,
     "run what the records name: commands, shared objects, the launcher of ranks, settings of libraries", 0},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state) {
  struct rerun *r = state->input;
  switch (key) {
    case FOLDER: r->folder = arg; return 0;
    case GUEST: fold_options_add(&r->named.given, "--guest", arg); return 0;
    case EXEC: fold_options_add(&r->named.given, "--exec", arg); return 0;
    case TRUST: r->named.trust = true; return 0;
    case ARGP_KEY_ARG:
      if (r->path) argp_failure(state, 2, 0, "one file or folder of records, no more");
      r->path = arg;
      return 0;
    case ARGP_KEY_NO_ARGS: argp_failure(state, 2, 0, "name a file of records: see record and verify --jsonl"); return 0;
    default: return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .children = fold_world_child,
    .args_doc = "RUN.jsonl",
    .doc =
        "Run the recorded subjects and cases again on this machine, and compare.\n"
        "\n"
        "Examples:\n"
        "  foldproof rerun run.jsonl\n"
        "  foldproof rerun mine.jsonl --guest ./my_sum.so\n"
        "  foldproof rerun mine.jsonl --trust\v"
        "Records are data, and may come from anybody. If they name commands, shared objects, a launcher or settings of "
        "libraries, these are printed, nothing is run, and the exit code is 2. Read them; then give the guests by "
        "--guest or --exec, the launcher by --launch and the settings in the environment, or say --trust. Exit codes: "
        "0 all runs gave the same results; 1 a result or an input differs, or the records were altered; 2 bad input, "
        "or records that name code that you have neither given nor trusted; 77 nothing could be run again; 99 some of "
        "it could not, or the records are incomplete."};

static fold_status no_memory(void) { return fold_error(FOLD_NO_MEMORY, "not enough memory for what is to be run"); }

static fold_status add_array(struct rerun *r, int engine, const char *name, const char *op) {
  const struct fold_problem *problem = fold_problem_find(op);
  char *path = problem ? fold_recorded_array(name) : NULL;
  fold_status status = path ? fold_words_add(&r->arrays[engine][problem->id], path, strlen(path)) : fold_ok();
  free(path);
  return status;
}

static fold_status note(void *context, json_t *record, size_t line) {
  struct rerun *r = context;
  const char *type = fold_record_text(record, "type"), *name = fold_record_text(record, "case");
  const char *wrong = fold_record_wrong(record);
  char other[160];
  const json_t *asked = json_object_get(record, "asked"), *guests = json_object_get(asked, "guests");
  if (wrong || (r->knows_fixtures && fold_recorded_is_judged(record) && fold_again_misnamed(&r->again, record, other)))
    if (r->misnamed++ < MOST_LINES)
      fold_print_line("CONTRADICTS: %s:%zu: %.60s on %.10s: %.100s: %s", r->path, line,
                      fold_record_text(record, "subject"), fold_record_text(record, "engine"), name,
                      wrong ? wrong : other);
  if (strcmp(type, "environment") == 0 && json_is_array(guests) && !r->guests)
    r->guests = json_incref((json_t *)(uintptr_t)guests);
  if (strcmp(type, "environment") == 0 && !r->asked) r->asked = json_incref((json_t *)(uintptr_t)asked);
  if (!fold_recorded_is_judged(record) || !fold_record_text(record, "results_xxh3")[0]) return fold_ok();
  const int engine = fold_engine_parse(fold_record_text(record, "engine"));
  if (engine < 0 || !*name) return fold_error(FOLD_BAD_INPUT, "results need the keys subject, engine and case");
  const char *subject = fold_record_text(record, "subject");
  r->callables |= !r->guests && r->named.given.n == 0 && json_is_true(json_object_get(record, "guest"));
  FOLD_TRY(fold_words_add(&r->subjects[engine], subject, strlen(subject)));
  if (strncmp(name, "npy:", 4) == 0) return add_array(r, engine, name, fold_record_text(record, "op"));
  if (r->cases[engine].n <= MOST_CASES) FOLD_TRY(fold_words_add(&r->cases[engine], name, strlen(name)));
  return fold_words_add(&r->fixtures[engine], name, strcspn(name, "/"));
}

/* Whether `record` would accept the name. The names of a guest are known only once it is loaded. */
static bool is_here(const struct rerun *r, int engine, const char *name) {
  return r->guests != NULL || r->named.given.n > 0 || fold_registry_find(r->registry, name, (enum fold_engine)engine);
}

static void leave_out_strangers(struct rerun *r, int engine) {
  struct fold_words *w = &r->subjects[engine];
  size_t n = 0;
  for (size_t i = 0; i < w->n; i++)
    if (is_here(r, engine, w->at[i]))
      w->at[n++] = w->at[i];
    else
      free(w->at[i]);
  w->n = n;
}

/* Adds options for as many ranks, started in the same way; the host has none. What the user sets now has priority over
 * the recorded number of ranks, launcher and time limit. */
static void add_world(const struct rerun *r, struct fold_options *o, int engine) {
  const char *limit = fold_record_text(r->asked, "timeout"), *ranks = fold_record_text(r->asked, "ranks"),
             *launch = fold_rerun_launch(&r->named);
  if (*limit && !getenv("FOLDPROOF_TIMEOUT")) fold_options_add(o, "--timeout", limit);
  if (!fold_engine_has_ranks((enum fold_engine)engine)) return;
  if (*ranks && !getenv("FOLDPROOF_RANKS")) fold_options_add(o, "--ranks", ranks);
  if (launch) fold_options_add(o, "--launch", launch);
}

/* Calls `record` once, which writes another file to the scratch folder. */
static fold_status run(struct rerun *r, int engine, const struct fold_words *arrays, const char *op) {
  struct fold_options o = {0};
  char *file = NULL, *subjects = fold_words_join(&r->subjects[engine]);
  const bool few = r->cases[engine].n <= MOST_CASES;
  char *cases = fold_words_join(few ? &r->cases[engine] : &r->fixtures[engine]);
  fold_status status =
      subjects && cases && asprintf(&file, "%s/%zu.jsonl", r->scratch, r->runs++) >= 0 ? fold_ok() : no_memory();
  fold_rerun_add_guests(&r->named, &o);
  add_world(r, &o, engine);
  fold_options_add(&o, "--jsonl", file);
  fold_options_add_job(&o, &(struct fold_job){.subjects = subjects,
                                              .engine = fold_engine_name((enum fold_engine)engine),
                                              .npy = arrays ? (const char *const *)arrays->at : NULL,
                                              .n_npy = arrays ? arrays->n : 0,
                                              .op = arrays ? op : NULL,
                                              .folder = arrays ? NULL : r->folder,
                                              .set = arrays ? NULL : "all",
                                              .fixtures = arrays ? NULL : cases});
  const char **argv = status.code == FOLD_OK && !o.failed ? fold_options_argv(&o, r->program, "record") : NULL;
  if (status.code == FOLD_OK && argv == NULL) status = no_memory();
  if (argv) {
    int argc = 0;
    while (argv[argc]) argc++;
    /* "PROGRAM record --name value ...": a command is called without the first word, and its own failures begin with
     * its name. */
    argv[1] = "foldproof rerun";
    fold_command_record(argc - 1, (char **)(uintptr_t)(argv + 1), r->registry);
  }
  free(argv);
  fold_options_free(&o);
  free(file);
  free(subjects);
  free(cases);
  return status;
}

/* Shows what the records name, before anything is run. */
static fold_status check_trust(struct rerun *r) {
  char *text = NULL;
  size_t size;
  r->named.guests = r->guests;
  r->named.asked = r->asked;
  for (int e = 0; e < FOLD_ENGINES; e++)
    r->named.ranks |= r->subjects[e].n > 0 && fold_engine_has_ranks((enum fold_engine)e);
  FILE *out = open_memstream(&text, &size);
  const size_t shown = out ? fold_rerun_show(&r->named, out) : 0;
  const bool whole = out && fclose(out) == 0 && !r->named.given.failed;
  if (whole && shown) fold_print_line("%s names what runs with your rights:", r->path), fputs(text, stdout);
  free(text);
  if (!whole) return no_memory();
  if (shown == 0 || r->named.trust) return fold_ok();
  return fold_error(FOLD_BAD_INPUT,
                    "nothing was run: give what you trust of these by --guest, --exec, --launch or in the environment; "
                    "or all of it by --trust");
}

static fold_status run_all(struct rerun *r) {
  struct fold_lines lines;
  bool any = false;
  FOLD_TRY(fold_lines_read(r->path, note, r, &lines));
  r->incomplete = lines.incomplete[0];
  r->altered = lines.altered[0];
  for (int e = 0; e < FOLD_ENGINES; e++) {
    any |= r->subjects[e].n > 0;
    leave_out_strangers(r, e);
  }
  FOLD_TRY(check_trust(r));
  fold_rerun_set_variables(&r->named);
  for (int e = 0; e < FOLD_ENGINES; e++) {
    if (r->subjects[e].n == 0) continue;
    if (r->cases[e].n) FOLD_TRY(run(r, e, NULL, NULL));
    for (int p = 0; p < FOLD_PROBLEMS; p++)
      if (r->arrays[e][p].n) FOLD_TRY(run(r, e, &r->arrays[e][p], fold_problem((enum fold_problem_id)p)->name));
  }
  if (any && r->runs == 0)
    printf("nothing could be run again: no subject of the records is here%s\n",
           r->callables ? "; Python callables are run again from Python (foldproof.verify)" : "");
  return any ? fold_ok() : fold_error(FOLD_BAD_INPUT, "%.150s: no results are in it", r->path);
}

/* `record` ends early at a signal: what it has not run is not missing here. From here on a signal ends the command at
 * once, and the guard removes the folder. */
static fold_status check_stopped(void) {
  if (*fold_watch_interrupt()) return fold_error(FOLD_ENVIRONMENT, "interrupted: nothing was compared");
  fold_leave_interrupt();
  return fold_ok();
}

static bool ran_nothing(const struct rerun *r) {
  char **names = NULL;
  const bool none = fold_source_folder(r->scratch, &names).code != FOLD_OK;
  for (size_t i = 0; names && names[i]; i++) free(names[i]);
  free(names);
  return none;
}

static fold_status compare(struct rerun *r, int *exit_code) {
  struct fold_comparison two = {.side = {{.path = r->path, .name = r->path}, {.path = r->scratch, .name = "here"}}};
  json_t *told = NULL;
  *exit_code = 77;
  if (ran_nothing(r)) return fold_ok();
  fold_status status = fold_compare(&two);
  if (status.code == FOLD_OK) {
    /* Every subject runs on every case; results that were not recorded are ignored. */
    two.n[FOLD_ONLY_SECOND] = 0;
    for (size_t i = two.n_changed; i-- > 0;)
      if (two.changed[i].what == FOLD_ONLY_SECOND)
        memmove(&two.changed[i], &two.changed[i + 1], (--two.n_changed - i) * sizeof *two.changed);
    status = fold_compare_explain(&two, r->knows_fixtures ? &r->again : NULL, MOST_LINES, &told);
    if (status.code == FOLD_OK) fold_compare_text(told, stdout);
    const size_t compared = two.agree + two.n[FOLD_CHANGED_RESULTS] + two.n[FOLD_CHANGED_INPUT];
    *exit_code = two.n[FOLD_CHANGED_RESULTS] || two.n[FOLD_CHANGED_INPUT] ? 1
                 : compared == 0                                          ? 77
                 : two.n[FOLD_ONLY_FIRST] || two.broken                   ? 99
                                                                          : 0;
  }
  json_decref(told);
  fold_comparison_free(&two);
  return status;
}

int fold_command_rerun(int argc, char **argv, const struct fold_registry *registry) {
  struct fold_selection_options usual;
  char scratch[4200];
  const char *temporary = getenv("TMPDIR");
  fold_selection_defaults(&usual);
  struct rerun r = {.folder = usual.selection.folder, .program = "foldproof", .registry = registry, .scratch = scratch};
  int exit_code = 0;
  fold_parse(&argp, argc, argv, &r);
  fold_status status =
      fold_scratch_make(temporary && *temporary ? temporary : "/tmp", "foldproof-rerun", sizeof scratch, scratch);
  if (status.code == FOLD_OK) {
    fold_scratch_guard(scratch);
    r.knows_fixtures = fold_again_open(&r.again, registry, r.folder).code == FOLD_OK;
    status = run_all(&r);
    if (status.code == FOLD_OK) status = check_stopped();
    if (status.code == FOLD_OK) status = compare(&r, &exit_code);
    fold_scratch_remove(scratch);
  }
  if (exit_code == 0 && r.incomplete) exit_code = 99;
  if (r.altered || r.misnamed) exit_code = 1;
  if (status.code != FOLD_OK) exit_code = fold_print_error(argv[0], status);
  for (int e = 0; e < FOLD_ENGINES; e++) {
    fold_words_free(&r.subjects[e]);
    fold_words_free(&r.cases[e]);
    fold_words_free(&r.fixtures[e]);
    for (int p = 0; p < FOLD_PROBLEMS; p++) fold_words_free(&r.arrays[e][p]);
  }
  fold_options_free(&r.named.given);
  if (r.knows_fixtures) fold_again_close(&r.again);
  json_decref(r.guests);
  json_decref(r.asked);
  return exit_code;
}
