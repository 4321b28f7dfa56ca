/* command/verify.c: foldproof verify: judges, prints the table, writes records. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/wrap.h"
#include "command/command.h"
#include "records/record.h"
#include "records/replay.h"
#include "records/smallest.h"
#include "records/summary.h"
#include "records/table.h"
#include "run/supervise.h"

enum { JSONL = 0x200, STRICT, IN_PROCESS, QUIET = 'q', VERBOSE = 'v', MOST_BLOCKS = 10 };

struct verify {
  struct fold_selection_options options;
  const char *jsonl, *program;
  const char *folder; /* of fixtures, unless the command finds it by itself: then NULL */
  bool strict, in_process, quiet, verbose;
  bool apart; /* stderr does not lead to the same place as stdout */
  struct fold_table table;
  struct fold_summary summary;
  struct fold_smallest smallest;
  struct fold_records records;
  fold_status unwritten;   /* why records can no longer be written */
  fold_status unexplained; /* a process ended for a reason that no verdict covers */
  bool judged;             /* a requested claim held */
  struct fold_progress progress;
};

static const struct argp_option options[] = {
    {"jsonl", JSONL, "FILE", 0, "write a record of each verdict, as JSON lines", 2},
    {"strict", STRICT, NULL, 0,
     "count known defects of third-party libraries as refuted, and fail on a claim about order that held only on "
     "order-insensitive inputs",
     2},
    {"quiet", QUIET, NULL, 0, "print only the last line, and what is wrong; refutations go to standard error", 2},
    {"verbose", VERBOSE, NULL, 0,
     "print the table of each subject's claims, every refuted claim, all reasons of skips, and what took longest", 2},
    {"in-process", IN_PROCESS, NULL, 0, FOLD_IN_PROCESS_HELP, 2},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state) {
  struct verify *v = state->input;
  switch (key) {
    case ARGP_KEY_INIT:
      state->child_inputs[0] = state->child_inputs[1] = state->child_inputs[2] = &v->options;
      return 0;
    case JSONL: v->jsonl = arg; return 0;
    case STRICT: v->strict = true; return 0;
    case IN_PROCESS: v->in_process = true; return 0;
    case QUIET: v->quiet = true; return 0;
    case ARGP_KEY_ARG:
      fold_option_add_subject(state, &v->options.selection.subjects, &v->options.subjects, arg);
      return 0;
    case VERBOSE: v->verbose = true; return 0;
    default: return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp_child children[] = {{&fold_selection_argp, 0, NULL, 0},
                                             {&fold_claims_argp, 0, NULL, 0},
                                             {&fold_judging_argp, 0, NULL, 0},
                                             {&fold_world_argp, 0, NULL, 0},
                                             {0}};
static const struct argp argp = {
    .options = options,
    .parser = parse,
    .children = children,
    .args_doc = "[SUBJECT...]",
    .doc =
        "Run reductions on test inputs, try to refute each of their claims, and print the counts.\n"
        "\n"
        "Examples:\n"
        "  foldproof verify 'host/*' --fixtures 'normal/f32/sum/1x33/*'\n"
        "  foldproof verify --npy x.npy --claims bounded,reproducible\n"
        "  foldproof verify --guest ./my_sum.so --jsonl mine.jsonl\v"
        "\"Held\" covers only the cases tried here, in this environment. On an order-insensitive input eight orders of "
        "additions give the same bits: it seldom shows that the order has changed. Such cases are counted separately.\n"
        "\n"
        "Exit codes: 0 all held, 1 refuted, 2 wrong usage, 77 nothing was judged, 99 something is broken. The man page "
        "(man foldproof) and docs/claims.md say how known defects and --strict change them."};

/* Whether it is printed one by one: not a known defect, which has a line below; and of a run that failed one claim. */
static bool deserves_block(const struct verify *v, const struct fold_judgement *j) {
  if (!j->promised || (j->known && !v->strict)) return false;
  return j->finding.verdict == FOLD_REFUTED || (j->finding.verdict == FOLD_BROKEN && !j->beside);
}

/* Reports at once that records can't be written. Judging goes on, because its table is worth more than the records of
 * it. */
static void keep_unwritten(struct verify *v, fold_status status) {
  if (status.code == FOLD_OK || v->unwritten.code != FOLD_OK) return;
  v->unwritten = status;
  fold_progress_clear(&v->progress);
  fold_print_error("foldproof verify", status);
}

/* Prints what is refuted to stdout, and to stderr unless both lead to the same terminal, pipe or file, so that readers
 * of either see it, once. */
static void print_refuted(const struct verify *v) {
  if (!v->quiet) fold_smallest_print(&v->smallest, v->verbose, MOST_BLOCKS, stdout);
  if (v->quiet || v->apart) fold_smallest_print(&v->smallest, v->verbose, MOST_BLOCKS, stderr);
}

/* Whether no other engine has a subject of that name. */
static bool is_on_one_engine(const struct fold_registry *registry, const struct fold_subject *subject) {
  size_t n = 0;
  for (size_t i = 0; i < registry->n; i++) n += strcmp(registry->subjects[i].name, subject->name) == 0;
  return n == 1;
}

static bool leads_elsewhere(void) {
  struct stat out, err;
  return fstat(STDOUT_FILENO, &out) == 0 && fstat(STDERR_FILENO, &err) == 0 &&
         (out.st_dev != err.st_dev || out.st_ino != err.st_ino);
}

static fold_status take(void *context, const struct fold_judgement *judged) {
  struct verify *v = context;
  struct fold_judgement j = *judged;
  struct fold_asked asked;
  if (j.finding.verdict == FOLD_REFUTED || j.finding.verdict == FOLD_BROKEN) {
    fold_asked_for(&asked, &j, &v->options.selection, v->strict);
    asked.one_engine = is_on_one_engine(v->table.registry, j.subject);
    j.asked = &asked;
  }
  const bool counted = j.promised || v->options.selection.probe;
  if (counted) fold_table_add(&v->table, &j);
  v->judged |= j.promised && j.finding.verdict == FOLD_HELD && fold_judgement_is_asked(&v->options.selection, &j);
  FOLD_TRY(fold_summary_add(&v->summary, &j, counted));
  if (deserves_block(v, &j)) {
    FOLD_TRY(fold_smallest_add(&v->smallest, &j, v->program, v->folder));
    v->progress.refuted += j.finding.verdict == FOLD_REFUTED;
  }
  if (v->strict) j.known = false; /* for readers of the record, too */
  if (v->records.file && v->unwritten.code == FOLD_OK) keep_unwritten(v, fold_records_judgement(&v->records, &j));
  return fold_ok();
}

static fold_status take_explanation(void *context, const struct fold_judgement *of,
                                    const struct fold_order_change *change) {
  struct verify *v = context;
  FOLD_TRY(fold_smallest_explain(&v->smallest, of, change));
  if (v->records.file && v->unwritten.code == FOLD_OK)
    keep_unwritten(v, fold_records_line(&v->records, fold_record_explanation(of, change)));
  return fold_ok();
}

static void show_progress(void *context, size_t done, size_t cases, const char *case_name) {
  fold_progress_show(&((struct verify *)context)->progress, done, cases, case_name);
}

/* GPUs that are required must be there, even if the user selects no engine. */
static fold_status check_required(void) {
  if (!getenv("FOLDPROOF_REQUIRE_GPUS")) return fold_ok();
  for (int e = 0; e < FOLD_ENGINES; e++) {
    if (fold_engine_is_host((enum fold_engine)e) || fold_engine_has_ranks((enum fold_engine)e)) continue;
    fold_status ready = fold_engine_ready((enum fold_engine)e);
    if (ready.code == FOLD_ENVIRONMENT) return ready;
  }
  return fold_ok();
}

/* Fails before anything is judged if an engine is required but missing, or selected in a build that has no subject for
 * it. */
static fold_status check_engine(const struct fold_job *job) {
  const struct fold_selection *selection = job->selection;
  if (selection->engine < 0) return check_required();
  enum fold_engine engine = (enum fold_engine)selection->engine;
  fold_status status = fold_engine_ready(engine);
  if (status.code == FOLD_ENVIRONMENT || status.code == FOLD_BAD_INPUT) return status;
  for (size_t i = 0; i < job->registry->n; i++)
    if (job->registry->subjects[i].engine == engine) return fold_ok();
  return status.code != FOLD_OK
             ? status
             : fold_error(FOLD_UNSUPPORTED, "this build has no subject on %s", fold_engine_rows[engine].title);
}

/* On a GPU the products of libraries are tried at each size of k besides, unless the user chooses a set. */
static void choose_set(struct fold_selection_options *o) {
  if (o->selection.engine == FOLD_CUDA && !fold_option_given(o, "set")) o->selection.set = "products";
}

static fold_status begin(void *context, const char *environment) {
  struct verify *v = context;
  FOLD_TRY(fold_records_open(&v->records, v->jsonl));
  v->records.gathers = true;
  keep_unwritten(v, fold_tell_environment(&v->records, environment, &v->options.selection));
  return fold_ok();
}

static fold_status judge_all(struct verify *v, const struct fold_registry *registry, const volatile int *stop) {
  const struct fold_sink sink = {
      .judgement = take, .progress = show_progress, .explanation = take_explanation, .context = v};
  const struct fold_job job = {.registry = registry,
                               .selection = &v->options.selection,
                               .judge = true,
                               .fresh_for = fold_fresh_wanted(&v->options.selection, registry),
                               .in_process = v->in_process,
                               .ready = check_engine,
                               .begin = v->jsonl ? begin : NULL,
                               .sink = &sink,
                               .stop = stop};
  fold_progress_show(&v->progress, 0, 0, "starting");
  fold_status status = fold_supervise(&job, &v->unexplained);
  fold_progress_clear(&v->progress);
  /* what was finished before an interruption is kept; a failure leaves no partial file */
  fold_status written = status.code == FOLD_OK ? v->unwritten : status;
  fold_status closed = fold_close_records("foldproof verify", &v->records, written);
  if (status.code == FOLD_OK) keep_unwritten(v, closed);
  return status;
}

/* 0 only if a requested claim held and nothing new was refuted; known refutations alone give 77. */
static int exit_code_of(const struct verify *v) {
  size_t total[FOLD_VERDICTS], known;
  fold_table_total(&v->table, v->strict, total, &known);
  if (total[FOLD_REFUTED]) return 1;
  if (total[FOLD_BROKEN]) return 99;
  if (v->unexplained.code != FOLD_OK) return fold_exit_code(v->unexplained.code);
  if (v->unwritten.code != FOLD_OK) return fold_exit_code(v->unwritten.code);
  if (v->strict && fold_table_untold(&v->table)) return 1;
  return v->judged || fold_table_probed(&v->table) ? 0 : 77;
}

/* If a guest claims nothing, few claims are judged. Prints the claims that were not tried, and how to try them; claims
 * that cannot be judged on it are left out. */
static void put_untried(const struct verify *v, FILE *out) {
  const struct fold_selection *s = &v->options.selection;
  const struct fold_registry *registry = v->table.registry;
  size_t n, said = 0;
  uint64_t asked = 0, named, preset;
  const struct fold_claim *claims = fold_claims(&n);
  if (s->n_guests == 0 || s->claims || fold_claims_parse("reproducible", &named, &preset).code != FOLD_OK) return;
  for (size_t i = 0; i < registry->n; i++)
    if (fold_selects_subject(s, &registry->subjects[i]) && registry->subjects[i].guest)
      asked |= registry->subjects[i].claims | fold_guest_unseen(&registry->subjects[i]) |
               fold_summary_unclaimed(&v->summary, i) |
               (registry->subjects[i].unknown ? FOLD_CLAIM(FOLD_PADDING_INVARIANT) : 0);
  preset &= ~(asked | FOLD_CLAIM(FOLD_STRIDE_INVARIANT) | FOLD_CLAIM(FOLD_MESSAGE_INVARIANT) |
              FOLD_CLAIM(FOLD_WORLD_INVARIANT) | FOLD_CLAIM(FOLD_RANK_AGREEMENT));
  for (size_t k = 0; k < n; k++)
    if (preset & FOLD_CLAIM(k))
      fprintf(out, "%s%s", said++ ? ", " : "not tried, because not claimed: ", claims[k].name);
  if (said) fputs(" (to try them: --claims reproducible)", out);
}

static void print_untried(const struct verify *v) {
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  if (out == NULL) return;
  put_untried(v, out);
  if (fclose(out) == 0 && size) fold_put_wrapped(stdout, 0, 2, "%s", text);
  free(text);
}

/* The colour of the last line says what the exit code does. */
static const char *colour_of(int code) { return code == 0 ? FOLD_GREEN : code == 1 ? FOLD_RED : FOLD_YELLOW; }

static void print_outcome(struct verify *v) {
  const bool colour = fold_has_colour(stdout);
  print_refuted(v);
  const bool table = v->verbose || (v->options.selection.probe && !v->quiet);
  if (table) fold_table_print(&v->table, v->strict, colour, stdout);
  if (!v->quiet) fold_summary_print(&v->summary, &v->table, v->strict, v->verbose, stdout);
  if (!v->quiet) print_untried(v);
  fold_table_close_line(&v->table, v->strict, "", colour ? colour_of(exit_code_of(v)) : "", stdout);
}

static size_t total_held(const struct verify *v) {
  size_t total[FOLD_VERDICTS], known;
  fold_table_total(&v->table, v->strict, total, &known);
  return total[FOLD_HELD];
}

/* Prints the outcome, or why there is none. */
static int conclude(struct verify *v, const char *command, bool interrupted) {
  if (fold_table_is_empty(&v->table) && !interrupted) {
    fprintf(stderr, "%s: nothing was judged: the selected subjects, cases and claims have nothing in common:\n",
            command);
    fold_verify_none(v->table.registry, &v->options.selection);
    if (v->unwritten.code != FOLD_OK) return fold_exit_code(v->unwritten.code);
    return fold_verify_none_is_guests(v->table.registry, &v->options.selection) ? 77 : 2;
  }
  print_outcome(v);
  fold_print_error(command, v->unexplained);
  const int code = exit_code_of(v);
  if (!interrupted && code == 77 && total_held(v))
    fold_print_error(command, fold_nothing_judged(&v->options.selection, v->table.registry));
  if (!interrupted) return code;
  fflush(stdout); /* before anything else is written to the same file */
  fprintf(stderr, "%s: interrupted: the verdicts above are of the cases that were finished\n", command);
  return 99;
}

int fold_command_verify(int argc, char **argv, const struct fold_registry *registry) {
  struct verify v = {.program = program_invocation_name, .apart = leads_elsewhere(), .unexplained = fold_ok()};
  fold_selection_defaults(&v.options);
  const char *found = v.options.selection.folder;
  fold_parse(&argp, argc, argv, &v);
  const bool usual = !getenv("FOLDPROOF_FIXTURES") || getenv("FOLDPROOF_IN_PACKAGE");
  if (v.options.selection.folder != found || !usual) v.folder = v.options.selection.folder;
  choose_set(&v.options);
  const volatile int *stop = fold_watch_interrupt();
  fold_progress_open(&v.progress);
  fold_status status = fold_selection_open(&v.options, registry);
  registry = &v.options.registry;
  if (status.code == FOLD_OK) status = fold_table_open(&v.table, registry);
  if (status.code == FOLD_OK) status = fold_summary_open(&v.summary, registry);
  if (status.code == FOLD_OK) status = fold_smallest_open(&v.smallest, registry);
  if (status.code == FOLD_OK) status = judge_all(&v, registry, stop);
  int exit_code = fold_print_error(argv[0], status);
  if (status.code == FOLD_OK)
    exit_code = conclude(&v, argv[0], *stop != 0);
  else if (v.table.registry && !fold_table_is_empty(&v.table))
    print_outcome(&v);
  fold_summary_close(&v.summary);
  fold_smallest_close(&v.smallest);
  fold_table_close(&v.table);
  fold_selection_close(&v.options);
  return exit_code;
}
