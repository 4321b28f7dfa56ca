/* command_record.c: foldproof record: run subjects and write their results, judging nothing. */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "record.h"
#include "supervise.h"

enum { JSONL = 0x200, IN_PROCESS, FRESH };

struct record {
  struct fold_selection_options options;
  const char *jsonl;
  bool in_process, each;
  struct fold_records records;
  struct fold_progress progress;
  size_t runs, skipped, broken;
};

static const struct argp_option options[] = {
    {"jsonl", JSONL, "FILE", 0, "where the records go (standard output)", 2},
    {"in-process", IN_PROCESS, NULL, 0, FOLD_IN_PROCESS_HELP, 2},
    {"fresh", FRESH, "promised|probed", OPTION_HIDDEN,
     "only what fresh_process is judged by, with a line for each case that was skipped (fresh.c looks each up)", 2},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state) {
  struct record *r = state->input;
  switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &r->options; return 0;
    case JSONL: r->jsonl = arg; return 0;
    case IN_PROCESS: r->in_process = true; return 0;
    case FRESH:
      r->each = true;
      r->options.selection.claims = "fresh_process";
      r->options.selection.probe = strcmp(arg, "probed") == 0;
      return 0;
    default: return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp_child children[] = {{&fold_selection_argp, 0, NULL, 0}, {&fold_world_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {.options = options,
                                 .parser = parse,
                                 .children = children,
                                 .doc = "Run each subject once on each case and write the result bits as JSON lines."};

static fold_status take(void *context, const struct fold_judgement *j) {
  struct record *r = context;
  if (j->got)
    r->runs++;
  else if (j->finding.verdict == FOLD_SKIPPED)
    r->skipped++;
  else
    r->broken++;
  return fold_records_judgement(&r->records, j);
}

static void show_progress(void *context, size_t done, size_t cases, const char *case_name) {
  fold_progress_show(&((struct record *)context)->progress, done, cases, case_name);
}

static fold_status begin(void *context, const char *environment) {
  struct record *r = context;
  FOLD_TRY(fold_records_open(&r->records, r->jsonl));
  r->records.gathers = !r->each;
  return fold_records_environment_told(&r->records, environment);
}

int fold_command_record(int argc, char **argv, const struct fold_registry *registry) {
  struct record r = {.jsonl = "/dev/stdout"};
  fold_selection_defaults(&r.options);
  fold_parse(&argp, argc, argv, &r);
  const struct fold_sink sink = {.judgement = take, .progress = show_progress, .context = &r};
  fold_status status = fold_selection_open(&r.options, registry), riddle = fold_ok();
  const struct fold_job job = {.registry = &r.options.registry,
                               .selection = &r.options.selection,
                               .in_process = r.in_process,
                               .begin = begin,
                               .sink = &sink,
                               .stop = fold_watch_interrupt()};
  fold_progress_open(&r.progress);
  if (status.code == FOLD_OK) status = fold_supervise(&job, &riddle);
  fold_progress_clear(&r.progress);
  fold_status closed = fold_close_records(argv[0], &r.records, status);
  if (status.code == FOLD_OK) status = closed;
  fold_selection_close(&r.options);
  if (status.code != FOLD_OK) return fold_report(argv[0], status);
  if (riddle.code != FOLD_OK) return fold_report(argv[0], riddle);
  if (*fold_watch_interrupt()) return 99;
  return r.broken ? 99 : r.runs ? 0 : r.skipped ? 77 : 2;
}
