/* command/hunt.c: foldproof hunt: looks for random inputs that refute a claim, and makes them small. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/wrap.h"
#include "command/hunt_find.h"
#include "command/hunt_worst.h"
#include "hunt/ledger_cases.h"

enum { TIME = 't', CASES = 'n', SEED = 0x400, TERMS, JOBS, FIRST, LEDGER, FOUND, WORST };
static const double USUAL_SECONDS = 60;

struct hunt {
  struct fold_selection_options options;
  struct fold_hunt hunt;
  struct fold_ledger ledger;
  const char *ledger_path, *program;
  struct fold_known known;
  size_t found, passes;
  bool worst;
  enum fold_worst_by worst_by;
  double began, seconds;
  struct fold_progress progress;
};

static const struct argp_option options[] = {
    {"time", TIME, "TIME", 0, "hunt so long: 60, 60s, 5m or 2h (default: 60s)", 2},
    {"cases", CASES, "N", 0, "hunt with so many cases, and without a limit of time unless --time gives one", 2},
    {"terms", TERMS, "N", 0, "draw cases of at most so many terms (default: of up to a million, most of them short)",
     2},
    {"seed", SEED, "S", 0, "draw from this seed, of 64 bits: the same seed gives the same cases (default: a new one)",
     2},
    {"worst", WORST, "MEASURE", OPTION_ARG_OPTIONAL,
     "look for the input on which the error of each selected subject is greatest, instead of one that refutes a "
     "claim: bound, over its bound, or ulps, in ulps of the exact result (default: bound)",
     2},
    {"first", FIRST, NULL, 0, "end with the first find", 2},
    {"jobs", JOBS, "N", 0, "processes that hunt, from 1 to 8 (default: one for each core, two on a GPU)", 2},
    {"found", FOUND, "DIR", 0, "folder for the fixtures of what is found (default: foldproof-found)", 2},
    {"ledger", LEDGER, "FILE", 0,
     "keep what is found in this file too, as JSON lines. What it has from earlier hunts is run first and expected to "
     "fail; it is reported if it holds. Inputs that ended a process are not run again",
     2},
    {0},
};

/* Refuses options that choose or limit cases. */
static void check_drawn(const struct hunt *h, struct argp_state *state) {
  for (const char *const *name = fold_case_options; *name; name++)
    if (fold_option_given(&h->options, *name))
      argp_failure(state, 2, 0, "--%s has no effect: a hunt draws its cases", *name);
}

static enum fold_worst_by worst_by(struct argp_state *state, const char *measure) {
  if (measure == NULL || strcmp(measure, "bound") == 0) return FOLD_BY_BOUND;
  if (strcmp(measure, "ulps") != 0) argp_failure(state, 2, 0, "--worst=%s: bound or ulps", measure);
  return FOLD_BY_ULPS;
}

static error_t parse(int key, char *arg, struct argp_state *state) {
  struct hunt *h = state->input;
  switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = state->child_inputs[1] = &h->options; return 0;
    case ARGP_KEY_ARG:
      fold_option_add_subject(state, &h->options.selection.subjects, &h->options.subjects, arg);
      return 0;
    case TIME: h->hunt.seconds = fold_option_time(state, arg); return 0;
    case CASES: h->hunt.cases = fold_option_number(state, "--cases", arg, 1, UINT64_MAX / 2); return 0;
    case TERMS: h->hunt.terms = fold_option_number(state, "--terms", arg, 1, SIZE_MAX / 2); return 0;
    case SEED: h->hunt.seed = fold_option_seed(state, arg); return 0;
    case JOBS: h->hunt.processes = (unsigned)fold_option_number(state, "--jobs", arg, 1, FOLD_HUNT_LANES); return 0;
    case WORST:
      h->worst = true;
      h->worst_by = worst_by(state, arg);
      return 0;
    case FIRST: h->hunt.first = true; return 0;
    case LEDGER: h->ledger_path = arg; return 0;
    case FOUND: h->hunt.folder = arg; return 0;
    case ARGP_KEY_END:
      check_drawn(h, state);
      if (h->worst && (h->ledger_path || h->hunt.first))
        argp_failure(state, 2, 0,
                     "--worst keeps the greatest error of each subject: it takes no --ledger and no --first");
      if (h->hunt.cases == 0 && h->hunt.seconds == 0) h->hunt.seconds = USUAL_SECONDS;
      return 0;
    default: return ARGP_ERR_UNKNOWN;
  }
}

static struct argp_child children[] = {
    {NULL, 0, NULL, 0}, {&fold_claims_argp, 0, NULL, 0}, {&fold_timeout_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    .options = options,
    .parser = parse,
    .children = children,
    .args_doc = "[SUBJECT...]",
    .doc =
        "Draw random cases, judge reductions on them by their claims, and make each case that refutes one small.\n"
        "\n"
        "Examples:\n"
        "  foldproof hunt --guest ./my_sum.so --time 5s\n"
        "  foldproof hunt host/pairwise --cases 1000 --seed 7\n"
        "  foldproof hunt 'host/*' --time 5s --first\v"
        "What is found is written as a fixture, with the line that repeats it. Sizes, dtypes, data, layouts and the "
        "order of the "
        "cases follow from the seed alone.\n"
        "\n"
        "Exit codes: 0 nothing was found, 1 a claim was refuted, a run failed, or a known failure held, 2 wrong usage, "
        "77 nothing "
        "was judged, 99 "
        "something is broken, or the hunt was interrupted."};

static fold_status found(void *context, const struct fold_find *find) {
  struct hunt *h = context;
  h->found++;
  h->progress.refuted = h->found;
  fold_progress_clear(&h->progress);
  FOLD_TRY(fold_ledger_add(&h->ledger, h->hunt.registry, find, h->hunt.seed));
  return fold_find_print(&h->hunt, find, h->program);
}

static void show(void *context, const struct fold_hunted *hunted, double seconds) {
  struct hunt *h = context;
  char what[80];
  snprintf(what, sizeof what, "%llu cases", (unsigned long long)hunted->cases);
  const bool by_time = h->hunt.seconds > 0;
  fold_progress_show(&h->progress, by_time ? (size_t)seconds : (size_t)hunted->cases,
                     by_time ? (size_t)h->hunt.seconds : (size_t)h->hunt.cases, what);
}

static void tell(void *context, const struct fold_ledger_line *line, bool holds) {
  struct hunt *h = context;
  if (!holds) {
    fprintf(stderr, "%s: %s: no such file: this line of the ledger is left out\n", h->program, line->fixture);
    return;
  }
  h->passes++;
  fold_put_wrapped(stdout, 0, 2,
                   "HOLDS: %s on %s, %s: a known failure of %s no longer fails: keep its fixture as a test, and remove "
                   "its line from the ledger",
                   line->subject, line->engine, line->fixture, line->claim);
  fflush(stdout); /* before processes begin as copies of this one */
}

/* ---- all of it ---- */

static void print_names(const char *(*name)(int), const uint64_t *n, int most, const char *end) {
  char number[32];
  size_t told = 0;
  for (int i = 0; i < most; i++)
    if (n[i]) printf("%s%s %s", told++ ? ", " : "", name(i), fold_text_grouped((double)n[i], number));
  fputs(end, stdout);
}

static const char *problem_name(int id) { return fold_problem((enum fold_problem_id)id)->name; }
static const char *dtype_name(int dtype) { return fold_dtype_name((enum fold_dtype)dtype); }

/* How many cases have terms in each range. */
static void print_terms(const struct fold_hunted *n) {
  static const size_t ends[] = {4, 8, 12, 16, sizeof n->by_terms / sizeof *n->by_terms};
  size_t at = 0;
  for (size_t r = 0; r < sizeof ends / sizeof *ends; r++) {
    uint64_t cases = 0;
    char number[32];
    while (at < ends[r]) cases += n->by_terms[at++];
    const char *count = fold_text_grouped((double)cases, number);
    if (r + 1 < sizeof ends / sizeof *ends)
      printf("%s%s of below %zu", r ? ", " : "", count, (size_t)1 << ends[r]);
    else
      printf(", %s of more\n", count);
  }
}

static void print_counts(const struct fold_hunted *n) {
  fputs("drawn: ", stdout);
  print_names(problem_name, n->by_problem, FOLD_PROBLEMS, "\n  dtypes: ");
  print_names(dtype_name, n->by_dtype, FOLD_DTYPES, "\n  terms: ");
  print_terms(n);
}

static int conclude(const struct hunt *h, const struct fold_hunted *n, bool interrupted) {
  const uint64_t held = n->verdicts[FOLD_HELD], refuted = n->verdicts[FOLD_REFUTED], broken = n->verdicts[FOLD_BROKEN];
  char cases[32], trials[32], speed[32];
  print_counts(n);
  if (!isnan(n->closest))
    fold_put_wrapped(stdout, 0, 2, "nearest to its bound of what held: %.3g of it (%s)", n->closest, n->closest_case);
  fold_put_wrapped(stdout, 0, 2, "%s cases, %s runs of a subject on one, in %.1f s (%s a second), seed 0x%llx",
                   fold_text_grouped((double)n->cases, cases), fold_text_grouped((double)n->trials, trials), h->seconds,
                   fold_text_grouped(floor((double)n->trials / (h->seconds > 0 ? h->seconds : 1)), speed),
                   (unsigned long long)h->hunt.seed);
  if (n->hung)
    printf("%llu subject%s hung, and %s not run after that\n", (unsigned long long)n->hung, n->hung > 1 ? "s" : "",
           n->hung > 1 ? "were" : "was");
  if (n->expected)
    fold_put_wrapped(stdout, 0, 2,
                     "%llu of the refuted verdicts were expected by the ledger, and not looked at further: another "
                     "error of the same subject and claim may be among them",
                     (unsigned long long)n->expected);
  printf("%zu found: %llu held, %llu refuted, %llu broken, %llu skipped\n", h->found, (unsigned long long)held,
         (unsigned long long)refuted, (unsigned long long)broken, (unsigned long long)n->verdicts[FOLD_SKIPPED]);
  if (interrupted) {
    fflush(stdout);
    fprintf(stderr, "foldproof hunt: interrupted: what was found is kept\n");
    return 99;
  }
  if (h->found || h->passes) return 1;
  return held + n->expected > 0 ? 0 : 77;
}

/* `status`: of what came before, which prints why there is no hunt. */
static int run(struct hunt *h, const char *command, fold_status status) {
  struct fold_hunted hunted = {.closest = (double)NAN};
  const struct fold_hunt_sink sink = {found, show, h};
  h->began = fold_now();
  if (status.code == FOLD_OK) status = fold_hunt_run(&h->hunt, &sink, &hunted);
  h->seconds = fold_now() - h->began;
  fold_progress_clear(&h->progress);
  const int failed = fold_print_error(command, status);
  if (!hunted.cases && status.code != FOLD_OK) return failed;
  const int concluded = conclude(h, &hunted, *h->hunt.stop != 0);
  return failed ? failed : concluded;
}

int fold_command_hunt(int argc, char **argv, const struct fold_registry *registry) {
  struct hunt h = {.program = program_invocation_name};
  fold_selection_defaults(&h.options);
  h.hunt =
      (struct fold_hunt){.selection = &h.options.selection, .seed = fold_find_new_seed(), .folder = "foldproof-found"};
  children[0].argp = fold_drawn_argp();
  fold_parse(&argp, argc, argv, &h);
  h.hunt.stop = fold_watch_interrupt();
  fold_progress_open(&h.progress);
  fold_status status = fold_selection_open(&h.options, registry);
  h.hunt.registry = &h.options.registry;
  if (h.hunt.processes == 0) h.hunt.processes = fold_find_processes(&h.hunt);
  if (status.code == FOLD_OK) status = fold_ledger_read(h.ledger_path, &h.ledger);
  if (status.code == FOLD_OK) status = fold_known_run(&h.hunt, &h.ledger, tell, &h, &h.known);
  const int code =
      status.code == FOLD_OK && h.worst ? fold_hunt_worst(&h.hunt, h.worst_by, argv[0]) : run(&h, argv[0], status);
  fold_ledger_close(&h.ledger);
  fold_known_close(&h.known);
  fold_selection_close(&h.options);
  return code;
}
