/* command_rerun.c: foldproof rerun: runs again on this machine what records say was run, and compares the results.
 *
 * For each engine in the records it runs their subjects on their cases (record), with the guests that they name. Then it compares the two
 * files as compare does. Results of runs that the records lack are ignored; what could not be run again is counted, and is no agreement.
 */
#include <dirent.h>
#include <errno.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "command_words.h"
#include "compare.h"
#include "job.h"
#include "recorded.h"
#include "replay.h"
#include "report_source.h"
#include "text.h"

enum { FOLDER = 0x200, MOST_LINES = 10, MOST_CASES = 300 };

struct rerun {
  const char *path, *folder, *program;
  const struct fold_registry *registry;
  char *scratch;
  struct fold_words subjects[FOLD_ENGINES], cases[FOLD_ENGINES], fixtures[FOLD_ENGINES];
  struct fold_words arrays[FOLD_ENGINES][FOLD_PROBLEMS], objects; /* objects: guests that lie beside the records */
  json_t *guests, *asked; /* asked: the ranks and the variables in the first environment of the records */
  size_t runs;
  struct fold_again again; /* knows the fixtures, if their folder can be read */
  size_t misnamed;         /* records whose case is not that of its name */
  bool callables;          /* the records have subjects that no command can load */
  bool knows_fixtures;
  bool incomplete, altered; /* the records are so */
};

static const struct argp_option options[] = {{"fixture-folder", FOLDER, "DIR", 0, "the folder of the *.ini files", 0},
                                             {0}};

static error_t parse(int key, char *arg, struct argp_state *state) {
  struct rerun *r = state->input;
  switch (key) {
    case FOLDER: r->folder = arg; return 0;
    case ARGP_KEY_ARG:
      if (r->path) argp_failure(state, 2, 0, "one file or folder of records, no more");
      r->path = arg;
      return 0;
    case ARGP_KEY_NO_ARGS: argp_failure(state, 2, 0, "name a file of records: see record and verify --jsonl"); return 0;
    default: return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp_child children[] = {{&fold_timeout_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    .options = options,
    .parser = parse,
    .children = children,
    .args_doc = "RUN.jsonl",
    .doc =
        "Run the recorded subjects and cases again on this machine, and compare.\vThe records name guests by paths "
        "from the folder in which they were recorded; a shared object may lie beside the records instead. Exit codes: "
        "0 all runs gave the same results; 1 a result or an "
        "input differs, or the records were altered; 77 nothing could be run again; 99 some of it could not, or the "
        "records are incomplete."};

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
  r->callables |= !r->guests && json_is_true(json_object_get(record, "guest"));
  FOLD_TRY(fold_words_add(&r->subjects[engine], subject, strlen(subject)));
  if (strncmp(name, "npy:", 4) == 0) return add_array(r, engine, name, fold_record_text(record, "op"));
  if (r->cases[engine].n <= MOST_CASES) FOLD_TRY(fold_words_add(&r->cases[engine], name, strlen(name)));
  return fold_words_add(&r->fixtures[engine], name, strcspn(name, "/"));
}

/* Whether `record` would accept the name. The names of a guest are known only once it is loaded. */
static bool is_here(const struct rerun *r, int engine, const char *name) {
  return r->guests != NULL || fold_registry_find(r->registry, name, (enum fold_engine)engine);
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

/* The path of a shared object; if it is not at its path from here, it may lie beside the records. */
static const char *find_object(struct rerun *r, const char *what) {
  const char *name = strrchr(r->path, '/');
  char *beside = NULL;
  if (*what == '/' || access(what, F_OK) == 0) return what;
  if (asprintf(&beside, "%.*s%s", name ? (int)(name + 1 - r->path) : 0, r->path, what) < 0) return what;
  if (access(beside, F_OK) == 0 && fold_words_add(&r->objects, beside, strlen(beside)).code == FOLD_OK)
    for (size_t i = 0; i < r->objects.n; i++)
      if (strcmp(r->objects.at[i], beside) == 0) what = r->objects.at[i];
  free(beside);
  return what;
}

static void add_guests(struct rerun *r, struct fold_options *o) {
  for (size_t i = 0; i < json_array_size(r->guests); i++) {
    const json_t *guest = json_array_get(r->guests, i);
    const char *option = json_string_value(json_array_get(guest, 0)),
               *what = json_string_value(json_array_get(guest, 1));
    const bool program = option && strcmp(option, "--exec") == 0;
    if (what) fold_options_add(o, program ? "--exec" : "--guest", program ? what : find_object(r, what));
  }
}

/* Adds options for as many ranks, started in the same way; the host has none. The time limit is the recorded one,
 * unless the user sets one now. */
static void add_world(struct fold_options *o, const json_t *asked, int engine) {
  static const char *const names[][2] = {{"ranks", "--ranks"}, {"launch", "--launch"}};
  const char *limit = fold_record_text(asked, "timeout");
  if (*limit && !getenv("FOLDPROOF_TIMEOUT")) fold_options_add(o, "--timeout", limit);
  for (size_t i = 0; i < sizeof names / sizeof *names && fold_engine_has_ranks((enum fold_engine)engine); i++) {
    const char *value = json_string_value(json_object_get(asked, names[i][0]));
    if (value && *value) fold_options_add(o, names[i][1], value);
  }
}

/* Sets the recorded number of threads and settings of libraries over ranks; what the user sets now has priority. */
static void set_variables(const json_t *asked) {
  const char *name;
  json_t *value;
  json_object_foreach(json_object_get(asked, "variables"), name, value) {
    if (!json_is_string(value) || !fold_replay_repeats(name) || getenv(name)) continue;
    setenv(name, json_string_value(value), 1);
    /* OpenMP read it when this process began, and processes that it forks inherit the value */
    if (strcmp(name, "OMP_NUM_THREADS") == 0 && atoi(json_string_value(value)) > 0)
      omp_set_num_threads(atoi(json_string_value(value)));
  }
}

/* Calls `record` once, which writes another file to the scratch folder. */
static fold_status run(struct rerun *r, int engine, const struct fold_words *arrays, const char *op) {
  struct fold_options o = {0};
  char *file = NULL, *subjects = fold_words_join(&r->subjects[engine]);
  const bool few = r->cases[engine].n <= MOST_CASES;
  char *cases = fold_words_join(few ? &r->cases[engine] : &r->fixtures[engine]);
  fold_status status =
      subjects && cases && asprintf(&file, "%s/%zu.jsonl", r->scratch, r->runs++) >= 0 ? fold_ok() : no_memory();
  add_guests(r, &o);
  add_world(&o, r->asked, engine);
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

static fold_status run_all(struct rerun *r) {
  struct fold_lines lines;
  bool any = false;
  FOLD_TRY(fold_lines_read(r->path, note, r, &lines));
  r->incomplete = lines.incomplete[0];
  r->altered = lines.altered[0];
  set_variables(r->asked);
  for (int e = 0; e < FOLD_ENGINES; e++) {
    any |= r->subjects[e].n > 0;
    leave_out_strangers(r, e);
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

static void remove_scratch(const char *scratch) {
  DIR *folder = opendir(scratch);
  for (struct dirent *entry; folder && (entry = readdir(folder));)
    if (entry->d_name[0] != '.') unlinkat(dirfd(folder), entry->d_name, 0);
  if (folder) closedir(folder);
  rmdir(scratch);
}

int fold_command_rerun(int argc, char **argv, const struct fold_registry *registry) {
  struct fold_selection_options usual;
  char scratch[4200];
  const char *temporary = getenv("TMPDIR");
  snprintf(scratch, sizeof scratch, "%.4000s/foldproof-rerun-XXXXXX", temporary && *temporary ? temporary : "/tmp");
  fold_selection_defaults(&usual);
  struct rerun r = {.folder = usual.selection.folder, .program = "foldproof", .registry = registry, .scratch = scratch};
  int exit_code = 0;
  fold_parse(&argp, argc, argv, &r);
  fold_status status = mkdtemp(scratch) ? fold_ok()
                                        : fold_error(FOLD_ENVIRONMENT, "%.150s: no folder can be made there: %s",
                                                     scratch, strerror(errno));
  if (status.code == FOLD_OK) {
    r.knows_fixtures = fold_again_open(&r.again, registry, r.folder).code == FOLD_OK;
    status = run_all(&r);
    if (status.code == FOLD_OK) status = compare(&r, &exit_code);
    remove_scratch(scratch);
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
  fold_words_free(&r.objects);
  if (r.knows_fixtures) fold_again_close(&r.again);
  json_decref(r.guests);
  json_decref(r.asked);
  return exit_code;
}
