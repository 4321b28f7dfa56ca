/* command/hunt.c: foldproof hunt: looks for random inputs that refute a claim, and makes them small. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/text.h"
#include "base/wrap.h"
#include "command/command.h"
#include "hunt/hunt.h"
#include "hunt/ledger.h"
#include "records/refutation.h"
#include "records/replay.h"
#include "run/supervise.h"

enum { TIME = 't', CASES = 'n', SEED = 0x400, JOBS, FIRST, LEDGER, FOUND, MOST_LEFT_OUT = 4096 };
static const double USUAL_SECONDS = 60, SHRINK_SECONDS = 10;

struct hunt {
  struct fold_selection_options options;
  struct fold_hunt hunt;
  struct fold_ledger ledger;
  const char *ledger_path, *program;
  uint64_t *expected;
  const char **left_out;
  size_t n_left_out, found, passes;
  bool limited; /* by time or by cases, as the user says */
  double began, seconds;
  struct fold_progress progress;
};

static const struct argp_option options[] = {
    {"time", TIME, "TIME", 0, "hunt so long: 60, 60s, 5m or 2h (default: 60s)", 2},
    {"cases", CASES, "N", 0, "hunt with so many cases, and without a limit of time unless --time gives one", 2},
    {"seed", SEED, "S", 0, "draw from this seed, of 64 bits: the same seed gives the same cases (default: a new one)",
     2},
    {"first", FIRST, NULL, 0, "end with the first find", 2},
    {"jobs", JOBS, "N", 0, "processes that hunt, from 1 to 8 (default: one for each core)", 2},
    {"found", FOUND, "DIR", 0, "folder for the fixtures of what is found (default: foldproof-found)", 2},
    {"ledger", LEDGER, "FILE", 0,
     "keep what is found in this file too, as JSON lines. What it has from earlier hunts is run first and expected to "
     "fail; it is reported if it holds. Inputs that ended a process are not run again",
     2},
    {0},
};

/* "90", "90s", "5m" or "2h". */
static double parse_time(struct argp_state *state, const char *text) {
  static const char units[] = "smh";
  static const double seconds[] = {1, 60, 3600};
  char number[24];
  const size_t n = strlen(text);
  const char *unit = n ? strchr(units, text[n - 1]) : NULL;
  snprintf(number, sizeof number, "%.*s", (int)(unit ? n - 1 : n), text);
  if (n >= sizeof number || !*number)
    argp_failure(state, 2, 0, "--time %s: a number of seconds, or as 60s, 5m, 2h", text);
  return (double)fold_option_number(state, "--time", number, 1, 1000000) * (unit ? seconds[unit - units] : 1);
}

static uint64_t parse_seed(struct argp_state *state, const char *text) {
  char *end;
  const bool hex = strncmp(text, "0x", 2) == 0;
  errno = 0;
  const uint64_t seed = strtoull(text, &end, hex ? 16 : 10);
  if (*text < '0' || *text > '9' || *end || errno) argp_failure(state, 2, 0, "--seed %s: a number of up to 64 bits", text);
  return seed;
}

static error_t parse(int key, char *arg, struct argp_state *state) {
  struct hunt *h = state->input;
  switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = state->child_inputs[1] = &h->options; return 0;
    case ARGP_KEY_ARG:
      fold_option_add_subject(state, &h->options.selection.subjects, &h->options.subjects, arg);
      return 0;
    case TIME: h->hunt.seconds = parse_time(state, arg); return 0;
    case CASES: h->hunt.cases = fold_option_number(state, "--cases", arg, 1, UINT64_MAX / 2); return 0;
    case SEED: h->hunt.seed = parse_seed(state, arg); return 0;
    case JOBS: h->hunt.processes = (unsigned)fold_option_number(state, "--jobs", arg, 1, FOLD_HUNT_LANES); return 0;
    case FIRST: h->hunt.first = true; return 0;
    case LEDGER: h->ledger_path = arg; return 0;
    case FOUND: h->hunt.folder = arg; return 0;
    case ARGP_KEY_END:
      if (h->hunt.cases == 0 && h->hunt.seconds == 0) h->hunt.seconds = USUAL_SECONDS;
      return 0;
    default: return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp_child children[] = {
    {&fold_selection_argp, 0, NULL, 0}, {&fold_claims_argp, 0, NULL, 0}, {&fold_timeout_argp, 0, NULL, 0}, {0}};
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
        "Exit codes: 0 nothing was found, 1 a claim was refuted, or a known failure held, 2 wrong usage, 77 nothing "
        "was judged, 99 "
        "something is broken, or the hunt was interrupted."};

/* ---- one find ---- */

/* A sink's context: the refutation of one claim of one subject, as text. */
struct evidence {
  const struct hunt *h;
  const struct fold_find *find;
  struct fold_refutation text;
  bool kept;
};

/* Of several cases the file is named, which runs them all. */
static fold_status keep_text(struct evidence *e, const struct fold_judgement *judged) {
  struct fold_judgement j = *judged;
  struct fold_case file = *j.c;
  struct fold_asked asked;
  file.name = file.file;
  if (e->find->cases > 1) j.c = &file;
  fold_asked_for(&asked, &j, &e->h->options.selection, false);
  j.asked = &asked;
  e->kept = true;
  return fold_refutation_keep(&e->text, &j, e->h->program, e->h->hunt.folder);
}

static fold_status take(void *context, const struct fold_judgement *j) {
  struct evidence *e = context;
  const enum fold_verdict want = e->find->broken ? FOLD_BROKEN : FOLD_REFUTED;
  if (e->kept || j->finding.verdict != want || j->claim == NULL) return fold_ok();
  return j->subject_index == e->find->subject && j->claim->id == e->find->claim ? keep_text(e, j) : fold_ok();
}

/* Judges the fixture once more, for its numbers. */
static fold_status judge_again(const struct hunt *h, const struct fold_cases *cases, struct evidence *e) {
  size_t n_claims;
  struct fold_selection selection = h->options.selection;
  const struct fold_sink sink = {.judgement = take, .context = e};
  const struct fold_job job = {.registry = h->hunt.registry,
                               .selection = &selection,
                               .cases = cases,
                               .judge = true,
                               .sink = &sink,
                               .stop = h->hunt.stop};
  const struct fold_subject *subject = &h->hunt.registry->subjects[e->find->subject];
  fold_status unexplained;
  selection.subjects = subject->name;
  selection.engine = (int)subject->engine;
  selection.claims = fold_claims(&n_claims)[e->find->claim].name;
  return fold_supervise(&job, &unexplained);
}

/* The same; what cannot be repeated is shown as it was seen. */
static fold_status gather(const struct hunt *h, const struct fold_cases *cases, struct evidence *e) {
  size_t n_claims;
  FOLD_TRY(judge_again(h, cases, e));
  if (e->kept || cases->n == 0) return fold_ok();
  const struct fold_judgement seen = {.subject = &h->hunt.registry->subjects[e->find->subject],
                                      .subject_index = e->find->subject,
                                      .c = &cases->at[cases->n - 1],
                                      .claim = &fold_claims(&n_claims)[e->find->claim],
                                      .promised = true,
                                      .finding = e->find->finding};
  return keep_text(e, &seen);
}

static void print_smallness(const struct fold_find *find) {
  char terms[60] = "all terms are 0 or 1";
  if (find->other_terms == 1) snprintf(terms, sizeof terms, "1 term is neither 0 nor 1");
  if (find->other_terms > 1) snprintf(terms, sizeof terms, "%zu terms are neither 0 nor 1", find->other_terms);
  fold_put_wrapped(stdout, 2, 4, "made small from %s in %zu runs: %s", find->from, find->tries, terms);
}

static void print_find(const struct fold_find *find, const struct fold_refutation *text) {
  fputs(text->head, stdout);
  fputs(text->rest, stdout);
  if (find->threshold[0]) fold_put_wrapped(stdout, 2, 4, "%s", find->threshold);
  if (find->seen < find->looked)
    fold_put_wrapped(stdout, 2, 4, "seen in %u of %u new processes", find->seen, find->looked);
  if (find->cases > 1)
    fold_put_wrapped(stdout, 2, 4, "alone it holds: %zu case%s must run before it in the same process", find->cases - 1,
                     find->cases == 2 ? "" : "s");
  print_smallness(find);
  fold_put_wrapped(stdout, 2, 4, "fixture: %s", find->path);
  fputs(text->replay, stdout);
  fflush(stdout);
}

static fold_status found(void *context, const struct fold_find *find) {
  struct hunt *h = context;
  struct fold_cases cases = {0};
  struct evidence e = {.h = h, .find = find};
  h->found++;
  h->progress.refuted = h->found;
  fold_progress_clear(&h->progress);
  fold_status status = fold_ledger_add(&h->ledger, h->hunt.registry, find, h->hunt.seed);
  if (status.code == FOLD_OK) status = fold_cases_load_file(find->path, &cases);
  if (status.code == FOLD_OK) status = gather(h, &cases, &e);
  if (status.code == FOLD_OK && e.kept) print_find(find, &e.text);
  fold_refutation_free(&e.text);
  fold_cases_free(&cases);
  return status;
}

static void show(void *context, const struct fold_hunted *hunted, double seconds) {
  struct hunt *h = context;
  char what[80];
  snprintf(what, sizeof what, "%llu cases", (unsigned long long)hunted->cases);
  const bool by_time = h->hunt.seconds > 0;
  fold_progress_show(&h->progress, by_time ? (size_t)seconds : (size_t)hunted->cases,
                     by_time ? (size_t)h->hunt.seconds : (size_t)h->hunt.cases, what);
}

/* ---- the ledger's lines ---- */

static size_t subject_of(const struct fold_registry *registry, const struct fold_ledger_line *line) {
  for (size_t i = 0; i < registry->n; i++)
    if (strcmp(registry->subjects[i].name, line->subject) == 0 &&
        strcmp(fold_engine_name(registry->subjects[i].engine), line->engine) == 0)
      return i;
  return registry->n;
}

/* A known failure is expected to fail again. One that ended its process is not run. */
static fold_status run_known(struct hunt *h, const struct fold_ledger_line *line) {
  const size_t subject = subject_of(h->hunt.registry, line);
  const struct fold_claim *claim = fold_claim_find(line->claim);
  if (subject == h->hunt.registry->n || !claim ||
      !fold_selects_subject(&h->options.selection, &h->hunt.registry->subjects[subject]))
    return fold_ok();
  h->expected[subject] |= FOLD_CLAIM(claim->id);
  if (line->broken) {
    if (h->n_left_out < MOST_LEFT_OUT) h->left_out[h->n_left_out++] = line->of_case;
    return fold_ok();
  }
  const struct fold_find find = {.subject = subject, .claim = claim->id};
  struct evidence e = {.h = h, .find = &find};
  struct fold_cases cases = {0};
  fold_status status = fold_cases_load_file(line->fixture, &cases);
  if (status.code == FOLD_OK) status = judge_again(h, &cases, &e);
  const bool holds = status.code == FOLD_OK && !e.kept;
  fold_refutation_free(&e.text);
  fold_cases_free(&cases);
  if (holds) {
    h->passes++;
    fold_put_wrapped(stdout, 0, 2, "HOLDS: %s on %s, %s: a known failure of %s no longer fails", line->subject,
                     line->engine, line->fixture, line->claim);
    fflush(stdout); /* before processes begin as copies of this one */
  }
  return status;
}

static fold_status run_all_known(struct hunt *h) {
  h->expected = calloc(h->hunt.registry->n + 1, sizeof *h->expected);
  h->left_out = calloc(MOST_LEFT_OUT + 1, sizeof *h->left_out);
  if (!h->expected || !h->left_out) return fold_no_memory("for the ledger");
  h->hunt.expected = h->expected;
  h->hunt.left_out = h->left_out;
  for (size_t i = 0; i < fold_ledger_length(&h->ledger) && !*h->hunt.stop; i++) {
    const struct fold_ledger_line line = fold_ledger_at(&h->ledger, i);
    FOLD_TRY(run_known(h, &line));
  }
  return fold_ok();
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

static unsigned default_processes(void) {
  const long n = sysconf(_SC_NPROCESSORS_ONLN);
  return n < 1 ? 1 : n > FOLD_HUNT_LANES ? FOLD_HUNT_LANES : (unsigned)n;
}

int fold_command_hunt(int argc, char **argv, const struct fold_registry *registry) {
  struct hunt h = {.program = program_invocation_name};
  struct fold_hunted hunted = {.closest = (double)NAN};
  fold_selection_defaults(&h.options);
  h.hunt = (struct fold_hunt){.selection = &h.options.selection,
                              .folder = "foldproof-found",
                              .processes = default_processes(),
                              .shrink_seconds = SHRINK_SECONDS};
  if (getrandom(&h.hunt.seed, sizeof h.hunt.seed, 0) < 0) h.hunt.seed = (uint64_t)(fold_now() * 1e9);
  fold_parse(&argp, argc, argv, &h);
  h.hunt.stop = fold_watch_interrupt();
  fold_progress_open(&h.progress);
  fold_status status = fold_selection_open(&h.options, registry);
  h.hunt.registry = &h.options.registry;
  if (status.code == FOLD_OK) status = fold_ledger_read(h.ledger_path, &h.ledger);
  if (status.code == FOLD_OK) status = run_all_known(&h);
  const struct fold_hunt_sink sink = {found, show, &h};
  h.began = fold_now();
  if (status.code == FOLD_OK) status = fold_hunt_run(&h.hunt, &sink, &hunted);
  h.seconds = fold_now() - h.began;
  fold_progress_clear(&h.progress);
  int code = fold_print_error(argv[0], status);
  if (hunted.cases || status.code == FOLD_OK) {
    const int concluded = conclude(&h, &hunted, *h.hunt.stop != 0);
    if (code == 0) code = concluded;
  }
  fold_ledger_close(&h.ledger);
  free(h.expected);
  free(h.left_out);
  fold_selection_close(&h.options);
  return code;
}
