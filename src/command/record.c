/* command/record.c: foldproof record: runs subjects and writes their results without judging them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "command/command.h"
#include "records/record.h"
#include "records/refutation.h"
#include "records/replay.h"
#include "run/supervise.h"

enum { JSONL = 0x200, IN_PROCESS, FRESH, BACKWARDS, FULL, MOST_LINES = 10 };

struct record {
  struct fold_selection_options options;
  const char *jsonl;
  char *fixtures, *subjects; /* the names of the goldens' cases and subjects */
  bool in_process, each, full;
  struct fold_golden_options keeping;
  struct fold_selection golden_selection;
  struct fold_golden golden;
  char memory[40]; /* the path of records that are only compared with goldens */
  struct fold_records records;
  struct fold_progress progress;
  size_t runs, skipped, broken;
};

static const struct argp_option options[] = {
    {"jsonl", JSONL, "FILE", 0, "where the records go (standard output; with --golden: nowhere)", 2},
    {"in-process", IN_PROCESS, NULL, 0, FOLD_IN_PROCESS_HELP, 2},
    {"full", FULL, NULL, 0, "record the bits of all rows, not only the first 16 (for foldproof recheck)", 2},
    {"fresh", FRESH, "promised|probed|threads", OPTION_HIDDEN,
     "only what fresh_process (threads: launch_invariant) is judged by, with a line for each case that was skipped "
     "(fresh.c looks each up)",
     2},
    {"backwards", BACKWARDS, NULL, OPTION_HIDDEN, "the last case first, and of each the last subject", 2},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state) {
  struct record *r = state->input;
  switch (key) {
    case ARGP_KEY_INIT:
      state->child_inputs[0] = &r->options;
      state->child_inputs[2] = &r->keeping;
      return 0;
    case FULL: r->full = true; return 0;
    case BACKWARDS: r->options.selection.backwards = true; return 0;
    case ARGP_KEY_END:
      if (r->keeping.path && r->jsonl && (strcmp(r->jsonl, "-") == 0 || strncmp(r->jsonl, "/dev/", 5) == 0))
        argp_failure(state, 2, 0, "--golden compares the records of --jsonl: name a file");
      return 0;
    case JSONL: r->jsonl = arg; return 0;
    case ARGP_KEY_ARG:
      fold_option_add_subject(state, &r->options.selection.subjects, &r->options.subjects, arg);
      return 0;
    case IN_PROCESS: r->in_process = true; return 0;
    case FRESH:
      r->each = true;
      r->options.selection.fresh = true;
      fold_folder_has_other_name = strcmp(arg, "threads") != 0;
      r->options.selection.claims = strcmp(arg, "threads") == 0 ? "launch_invariant" : "fresh_process";
      r->options.selection.probe = strcmp(arg, "promised") != 0;
      return 0;
    default: return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp_child children[] = {
    {&fold_selection_argp, 0, NULL, 0}, {&fold_world_argp, 0, NULL, 0}, {&fold_golden_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    .options = options,
    .parser = parse,
    .children = children,
    .args_doc = "[SUBJECT...]",
    .doc =
        "Run each subject once on each case, judge nothing, and write the result bits as JSON lines.\n"
        "\n"
        "Examples:\n"
        "  foldproof record 'host/*' -f 'normal/f32/sum/1x33/*' --jsonl run.jsonl\n"
        "  foldproof record --guest ./my_sum.so --golden kept.jsonl --bless\n"
        "  foldproof record --guest ./my_sum.so --golden kept.jsonl\v"
        "With --golden FILE the results are compared with those kept there, on the cases kept there unless --fixtures "
        "chooses other ones. Exit codes then: 0 all compared results agree; 1 a result differs or is missing; 77 all "
        "are stale: they were kept for another environment; 2 nothing is kept for this selection."};

/* Not among records or results, which others read. */
static void tell_broken(struct record *r, const struct fold_judgement *j) {
  if (r->broken++ >= MOST_LINES || r->each) return; /* who started this process tells it */
  fold_progress_clear(&r->progress);
  fflush(stdout);
  struct fold_asked asked = {0};
  struct fold_judgement told = *j;
  fold_asked_world(&asked, j->subject->engine, &r->options.selection);
  told.asked = &asked;
  fold_print_refuted(&told, program_invocation_name, r->options.selection.folder, stderr);
}

static fold_status take(void *context, const struct fold_judgement *judged) {
  struct record *r = context;
  struct fold_judgement run = *judged;
  const struct fold_judgement *j = &run;
  run.full = r->full || r->keeping.path;
  if (j->got)
    r->runs++;
  else if (j->finding.verdict == FOLD_SKIPPED)
    r->skipped++;
  else
    tell_broken(r, j);
  if (r->keeping.path) FOLD_TRY(fold_golden_take(&r->golden, j));
  return r->records.file ? fold_records_judgement(&r->records, j) : fold_ok();
}

static void show_progress(void *context, size_t done, size_t cases, const char *case_name) {
  fold_progress_show(&((struct record *)context)->progress, done, cases, case_name);
}

static fold_status begin(void *context, const char *environment) {
  struct record *r = context;
  if (r->keeping.path) FOLD_TRY(fold_golden_begin(&r->golden, environment));
  if (!r->jsonl) return fold_ok();
  FOLD_TRY(fold_records_open(&r->records, r->jsonl));
  r->records.gathers = true;
  return fold_tell_environment(&r->records, environment, &r->options.selection);
}

/* Opens the goldens. Unless the user chooses subjects or cases, those of the goldens are run, and each is due. */
static fold_status open_goldens(struct record *r) {
  struct fold_selection *s = &r->options.selection;
  if (r->jsonl == NULL && r->keeping.path == NULL) r->jsonl = "/dev/stdout";
  r->golden_selection = *s;
  if (r->keeping.path == NULL) return fold_ok();
  if (r->jsonl == NULL && !r->keeping.bless) {
    const int memory = memfd_create("foldproof-record", MFD_CLOEXEC);
    if (memory < 0) return fold_no_memory("for the records");
    snprintf(r->memory, sizeof r->memory, "/proc/self/fd/%d", memory);
    r->jsonl = r->memory;
  }
  FOLD_TRY(fold_golden_open(&r->golden, &r->keeping, &r->options.registry, &r->golden_selection));
  r->subjects = fold_golden_names(&r->golden, "subject");
  r->fixtures = fold_golden_names(&r->golden, "case");
  if (!r->subjects || !r->fixtures) return fold_no_memory("for the goldens");
  if (!s->subjects && s->n_guests == 0 && *r->subjects) s->subjects = r->subjects;
  if (s->fixtures || s->n_npy > 0 || fold_option_given(&r->options, "set") || !*r->fixtures) return fold_ok();
  s->fixtures = r->fixtures;
  s->set = r->golden_selection.set = "all";
  return fold_ok();
}

static void close_record(struct record *r) {
  if (r->keeping.path) fold_golden_close(&r->golden);
  free(r->fixtures);
  free(r->subjects);
  fold_selection_close(&r->options);
}

static int exit_code_of(const struct record *r) {
  if (*fold_watch_interrupt()) return 99;
  if (r->broken) return 99;
  if (r->keeping.path) return fold_golden_exit_code(&r->golden);
  return r->runs ? 0 : r->skipped ? 77 : 2;
}

static fold_status take_again(void *context, const struct fold_judgement *judged) {
  return fold_golden_again(&((struct record *)context)->golden, judged);
}

/* Runs everything that is to be kept again, in another process. If the fixtures allow run_to_run and fresh_process, it
 * also runs several times in one process, and in a process with another environment. */
static fold_status run_again(struct record *r, const struct fold_job *job) {
  struct fold_sink sink = *job->sink;
  struct fold_selection repeated = *job->selection;
  struct fold_job again = *job;
  fold_status unexplained = fold_ok();
  sink.judgement = take_again;
  again.sink = &sink;
  again.begin = NULL;
  if (!r->keeping.bless || r->golden.refused || *job->stop) return fold_ok();
  FOLD_TRY(fold_supervise(&again, &unexplained));
  FOLD_TRY(unexplained);
  repeated.claims = "run_to_run,fresh_process";
  repeated.probe = true;
  again.selection = &repeated;
  again.judge = true;
  again.fresh_for = FOLD_CLAIM(FOLD_FRESH_PROCESS);
  if (*job->stop) return fold_ok();
  FOLD_TRY(fold_supervise(&again, &unexplained));
  return unexplained;
}

int fold_command_record(int argc, char **argv, const struct fold_registry *registry) {
  struct record r = {0};
  fold_selection_defaults(&r.options);
  fold_parse(&argp, argc, argv, &r);
  const volatile int *stop = fold_watch_interrupt();
  const struct fold_sink sink = {.judgement = take, .progress = show_progress, .context = &r};
  fold_status status = fold_selection_open(&r.options, registry), unexplained = fold_ok();
  if (status.code == FOLD_OK) status = open_goldens(&r);
  const struct fold_job job = {.registry = &r.options.registry,
                               .selection = &r.options.selection,
                               .in_process = r.in_process,
                               .begin = r.each ? NULL : begin,
                               .sink = &sink,
                               .stop = stop};
  fold_progress_open(&r.progress);
  /* The process that started this one knows its environment. */
  if (status.code == FOLD_OK && r.each && r.jsonl) status = fold_records_open(&r.records, r.jsonl);
  if (status.code == FOLD_OK) status = fold_supervise(&job, &unexplained);
  if (status.code == FOLD_OK && unexplained.code == FOLD_OK) status = run_again(&r, &job);
  fold_progress_clear(&r.progress);
  fold_status closed = fold_close_records(argv[0], &r.records, status);
  if (status.code == FOLD_OK) status = closed;
  if (status.code == FOLD_OK) status = unexplained;
  if (status.code == FOLD_OK && r.keeping.path && !*stop) status = fold_golden_end(&r.golden, r.jsonl);
  if (r.broken > MOST_LINES && !r.each) fprintf(stderr, "%d of %zu broken shown\n", MOST_LINES, r.broken);
  const int exit_code = status.code == FOLD_OK ? exit_code_of(&r) : fold_print_error(argv[0], status);
  close_record(&r);
  return exit_code;
}
