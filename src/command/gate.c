/* command/gate.c: foldproof gate: pass or fail for one reduction that nobody trusts, in seconds: random cases, timed cases, then fixtures. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "bench/too_fast.h"
#include "command/hunt_find.h"
#include "hunt/judged.h"
#include "hunt/keep.h"
#include "records/refutation.h"
#include "records/replay.h"
#include "run/supervise.h"

enum { TIME = 't', SEED = 0x500, FOUND };
static const double USUAL_SECONDS = 10;
/* When random cases, fixtures and new processes end, as parts of the time; and how long timed cases, making a find small and one call take; what a
 * part has at least. The rest is for starting and ending processes. */
static const double OF_HUNT = 0.3, OF_FIXTURES = 0.52, OF_FRESH = 0.7, OF_TIMED = 0.2, OF_SHRINKING = 0.3,
                    OF_CALL = 0.3, LEAST = 0.1;

struct gate {
  struct fold_selection_options options;
  struct fold_hunt hunt;
  struct fold_progress progress;
  const char *program, *folder; /* folder: of fixtures, unless the command finds it by itself */
  double seconds, began;
  size_t subject;
  size_t held, skipped;          /* verdicts: in all; on random cases */
  size_t drawn, timed, fixtures; /* cases on which some were given */
  bool left_out;                 /* some fixtures, since their time was over */
  const struct fold_case *last;  /* of the fixtures that are counted */
  fold_status unexplained;
  char why[400]; /* it fails; "": not yet */
};

static const struct argp_option options[] = {
    {"time", TIME, "TIME", 0, "decide in so long: 10, 10s or 1m (default: 10s)", 2},
    {"seed", SEED, "S", 0, "draw from this seed, of 64 bits (default: a new one, printed with the outcome)", 2},
    {"found", FOUND, "DIR", 0, "folder for the fixture of what is found (default: foldproof-found)", 2},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state) {
  struct gate *g = state->input;
  switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = state->child_inputs[1] = &g->options; return 0;
    case ARGP_KEY_ARG:
      fold_option_add_subject(state, &g->options.selection.subjects, &g->options.subjects, arg);
      return 0;
    case TIME: g->seconds = fold_option_time(state, arg); return 0;
    case SEED: g->hunt.seed = fold_option_seed(state, arg); return 0;
    case FOUND: g->hunt.folder = arg; return 0;
    default: return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp_child children[] = {
    {&fold_selection_argp, 0, NULL, 0}, {&fold_claims_argp, 0, NULL, 0}, {&fold_timeout_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    .options = options,
    .parser = parse,
    .children = children,
    .args_doc = "[SUBJECT]",
    .doc =
        "Pass or fail for one reduction that nobody trusts, in seconds. It fails with the first claim that is refuted, "
        "on random cases, on large ones that are timed, or on fixtures.\n"
        "\n"
        "Examples:\n"
        "  foldproof gate --guest ./my_sum.so --time 4s\n"
        "  foldproof gate --guest ./my_sum.so --claims bounded --time 4s\n"
        "  foldproof gate host/pairwise --time 4s --seed 7\v"
        "Judged are what a guest claims, its memory, that its bits repeat, and that no call is faster than its input "
        "can be read. --claims replaces what it claims. The last line is PASS or FAIL.\n"
        "\n"
        "Exit codes: 0 pass, 1 fail, 2 wrong usage, 77 nothing was judged, 99 something is broken."};

/* ---- the subject ---- */

/* One is judged: an outcome of several would hide which of them failed. */
static fold_status choose(struct gate *g) {
  const struct fold_registry *registry = &g->options.registry;
  char names[200] = "";
  size_t n = 0;
  for (size_t i = 0; i < registry->n; i++) {
    if (!fold_selects_subject(&g->options.selection, &registry->subjects[i])) continue;
    const size_t used = strlen(names);
    snprintf(names + used, sizeof names - used, "%s%s", n ? ", " : "", registry->subjects[i].name);
    if (n++ == 0) g->subject = i;
  }
  if (n == 1) return fold_ok();
  return fold_error(FOLD_BAD_INPUT, "%zu subjects are selected, and one is judged: name one of %s%s", n, names,
                    strlen(names) + 1 == sizeof names ? "..." : "");
}

static const struct fold_subject *subject_of(const struct gate *g) { return &g->options.registry.subjects[g->subject]; }

/* Nothing else ran in a process that ended, so that it is to blame, were it by what it left behind. */
static bool is_open(const struct gate *g) { return !g->why[0] && g->unexplained.code == FOLD_OK && !*g->hunt.stop; }

static double left_of(const struct gate *g, double part) {
  return fmax(LEAST * g->seconds, g->began + part * g->seconds - fold_now());
}

/* ---- it fails ---- */

static void fail(struct gate *g, const char *verb, enum fold_claim_id claim, const char *where) {
  size_t n;
  if (!g->why[0]) snprintf(g->why, sizeof g->why, "%s %s: %s", verb, fold_claims(&n)[claim].name, where);
}
static const char *verb_of(bool broken) { return broken ? "breaks, judged by" : "violates"; }

static fold_status found(void *context, const struct fold_find *find) {
  struct gate *g = context;
  fold_progress_clear(&g->progress);
  FOLD_TRY(fold_find_print(&g->hunt, find, g->program));
  fail(g, verb_of(find->broken), find->claim, find->from);
  return fold_ok();
}

static bool is_against(const struct fold_judgement *j) {
  return j->claim && j->promised && !j->known &&
         (j->finding.verdict == FOLD_REFUTED || j->finding.verdict == FOLD_BROKEN);
}

/* A sink's way to end a job. */
static fold_status decided(void) { return fold_error(FOLD_FAILED, "it is decided"); }

static fold_status supervise(struct gate *g, const struct fold_job *job) {
  fold_status unexplained = fold_ok();
  const fold_status status = fold_supervise(job, &unexplained);
  if (g->why[0]) return fold_ok();
  if (g->unexplained.code == FOLD_OK) g->unexplained = unexplained;
  return status;
}

/* ---- random cases ---- */

static void show_hunt(void *context, const struct fold_hunted *hunted, double seconds) {
  struct gate *g = context;
  (void)hunted, (void)seconds;
  fold_progress_show(&g->progress, (size_t)(fold_now() - g->began), (size_t)g->seconds, "random cases");
}

static fold_status run_hunt(struct gate *g) {
  struct fold_hunted hunted;
  const struct fold_hunt_sink sink = {found, show_hunt, g};
  g->hunt.seconds = left_of(g, OF_HUNT);
  g->hunt.shrink_seconds = OF_SHRINKING * g->seconds;
  const fold_status status = fold_hunt_run(&g->hunt, &sink, &hunted);
  if (fold_is_unexplained(&status))
    g->unexplained = status;
  else
    FOLD_TRY(status);
  g->held += hunted.verdicts[FOLD_HELD];
  g->skipped = hunted.verdicts[FOLD_SKIPPED];
  g->drawn = hunted.cases;
  return fold_ok();
}

/* ---- timed cases ---- */

struct timing {
  struct gate *g;
  const struct fold_cases *cases;
  double *seconds;
};

/* The case as it is, in a fixture of its own. */
static fold_status keep_timed(struct gate *g, const struct fold_judgement *j) {
  struct fold_case c = *j->c;
  struct fold_find find;
  const struct fold_found as_drawn = {.subject = j->subject_index,
                                      .claim = j->claim->id,
                                      .broken = j->finding.verdict == FOLD_BROKEN,
                                      .cases = {&c, 1, 1},
                                      .origin = c,
                                      .whole = true,
                                      .finding = j->finding,
                                      .seen = 1,
                                      .looked = 1};
  FOLD_TRY(fold_hunt_keep(&g->hunt, &as_drawn, c.name, &find));
  return found(g, &find);
}

static fold_status take_timed(void *context, const struct fold_judgement *j) {
  struct timing *t = context;
  if (j->traces) t->seconds[j->c - t->cases->at] = j->traces->seconds;
  t->g->held += j->claim && j->promised && j->finding.verdict == FOLD_HELD;
  if (!is_against(j)) return fold_ok();
  FOLD_TRY(keep_timed(t->g, j));
  return decided();
}

static fold_status run_calls(struct gate *g, const struct fold_cases *cases, double limit, double *seconds) {
  struct timing timing = {g, cases, seconds};
  const struct fold_sink sink = {.judgement = take_timed, .context = &timing};
  struct fold_selection selection = g->options.selection;
  const struct fold_job job = {.registry = g->hunt.registry,
                               .selection = &selection,
                               .cases = cases,
                               .judge = true,
                               .sink = &sink,
                               .stop = g->hunt.stop};
  selection.seconds = limit;
  selection.end = fold_now() + limit;
  return supervise(g, &job);
}

/* Whether there are fewer calls than show two repeats, though the quickest one says that there was time for more: the machine stood
 * still. */
static bool were_held_up(const struct fold_cases *cases, const double *seconds, double limit) {
  enum { FEWEST = 5 };
  double shortest = INFINITY;
  size_t n = 0;
  for (size_t i = 0; i < cases->n; i++) {
    if (seconds[i] > 0) shortest = fmin(shortest, seconds[i]);
    n += seconds[i] > 0;
  }
  return n < FEWEST && n < cases->n && (n == 0 || shortest * FEWEST < limit);
}

static fold_status judge_timed(struct gate *g, const struct fold_cases *cases, double *seconds, char why[300]) {
  enum { TRIES = 2, LONGER = 2 };
  double limit = OF_TIMED * g->seconds;
  for (int k = 0; k < TRIES && (k == 0 || were_held_up(cases, seconds, limit)) && !g->why[0] && !*g->hunt.stop; k++) {
    if (k > 0) limit *= LONGER;
    FOLD_TRY(run_calls(g, cases, limit, seconds));
  }
  return fold_too_fast_judge(subject_of(g), cases, seconds, &g->timed, why);
}

static fold_status time_calls(struct gate *g, uint64_t seed, char why[300]) {
  struct fold_cases cases = {0};
  fold_status status = fold_too_fast_cases(subject_of(g), seed, &cases);
  double *seconds = calloc(cases.n + 1, sizeof *seconds);
  if (status.code == FOLD_OK && !seconds) status = fold_no_memory("for %zu times", cases.n);
  if (status.code == FOLD_OK && cases.n > 0) status = judge_timed(g, &cases, seconds, why);
  free(seconds);
  fold_cases_free(&cases);
  return status;
}

/* On a busy machine an honest call may take several times as long as another one. So a suspicion must be the same on other inputs. */
static fold_status run_timed(struct gate *g) {
  enum { LOOKS = 3 };
  char why[300] = "";
  for (uint64_t k = 0; k < LOOKS; k++) {
    FOLD_TRY(time_calls(g, g->hunt.seed + (k << 32), why));
    if (!why[0] || g->why[0]) return fold_ok();
  }
  snprintf(g->why, sizeof g->why, "%s", why);
  return fold_ok();
}

/* ---- fixtures ---- */

static fold_status print_refuted(const struct gate *g, const struct fold_judgement *judged) {
  struct fold_judgement j = *judged;
  struct fold_asked asked;
  fold_asked_for(&asked, &j, &g->options.selection, false);
  j.asked = &asked;
  fold_print_refuted(&j, g->program, g->folder, stdout);
  fflush(stdout);
  return fold_ok();
}

static fold_status take_fixture(void *context, const struct fold_judgement *j) {
  struct gate *g = context;
  const bool held = j->claim && j->promised && j->finding.verdict == FOLD_HELD;
  g->held += held;
  g->fixtures += held && g->last != j->c;
  if (held) g->last = j->c;
  g->left_out |= fold_is_left_out(j->finding.reason);
  if (!is_against(j)) return fold_ok();
  fold_progress_clear(&g->progress);
  FOLD_TRY(print_refuted(g, j));
  fail(g, verb_of(j->finding.verdict == FOLD_BROKEN), j->claim->id, j->c->name);
  return decided();
}

static void show_fixtures(void *context, size_t done, size_t cases, const char *case_name) {
  struct gate *g = context;
  (void)done, (void)cases;
  fold_progress_show(&g->progress, (size_t)(fold_now() - g->began), (size_t)g->seconds, case_name);
}

/* One fixture of each kind comes first. */
static fold_status judge_fixtures(struct gate *g, const char *claims, uint64_t fresh, double seconds,
                                  double of_process) {
  struct fold_selection selection = g->options.selection;
  char text[24];
  const struct fold_sink sink = {.judgement = take_fixture, .progress = show_fixtures, .context = g};
  const struct fold_job job = {.registry = g->hunt.registry,
                               .selection = &selection,
                               .judge = true,
                               .fresh_for = fresh,
                               .sink = &sink,
                               .stop = g->hunt.stop};
  snprintf(text, sizeof text, "%.0f", fmax(1, floor(of_process)));
  selection.claims = claims;
  selection.in_turn = true;
  selection.untrusted = !fresh;
  selection.seconds = seconds;
  selection.end = fold_now() + seconds;
  selection.seconds_text = text;
  return supervise(g, &job);
}

/* A busy machine may have only started a process when the time is over: then once more, for longer. */
static fold_status run_fixtures(struct gate *g) {
  enum { FEWEST = 8, TIMES = 4 };
  const size_t held = g->held;
  double seconds = left_of(g, OF_FIXTURES);
  for (int k = 0; k == 0 || (k < TIMES && g->left_out && g->fixtures < FEWEST && is_open(g)); k++) {
    g->held = held;
    g->fixtures = 0;
    g->left_out = false;
    FOLD_TRY(judge_fixtures(g, g->options.selection.claims, 0, seconds, 0));
    seconds *= TIMES;
  }
  return fold_ok();
}

/* Several processes are asked one after another. */
static fold_status run_fresh(struct gate *g) {
  enum { PROCESSES = 4 };
  size_t n;
  char claims[80] = "";
  const uint64_t fresh = fold_fresh_wanted(&g->options.selection, g->hunt.registry);
  for (size_t k = 0; k < FOLD_CLAIMS; k++)
    if (fresh & FOLD_CLAIM(k))
      snprintf(claims + strlen(claims), sizeof claims - strlen(claims), "%s%s", claims[0] ? "," : "",
               fold_claims(&n)[k].name);
  const double left = left_of(g, OF_FRESH);
  return fresh ? judge_fixtures(g, claims, fresh, left, left / PROCESSES) : fold_ok();
}

/* ---- all of it ---- */

static fold_status run_all(struct gate *g) {
  static fold_status (*const steps[])(struct gate * g) = {run_hunt, run_timed, run_fixtures, run_fresh};
  fold_status status = fold_ok();
  for (size_t i = 0; i < sizeof steps / sizeof *steps && status.code == FOLD_OK && is_open(g); i++)
    status = steps[i](g);
  fold_progress_clear(&g->progress);
  if (!g->why[0] && g->unexplained.code != FOLD_OK && !*g->hunt.stop) {
    const char *first = strstr(g->unexplained.text, "first in ");
    snprintf(g->why, sizeof g->why, "processes that it ran in ended, %.300s", first ? first : g->unexplained.text);
  }
  return g->why[0] ? fold_ok() : status;
}

static int conclude(const struct gate *g, const char *command) {
  const struct fold_subject *s = subject_of(g);
  const unsigned long long seed = g->hunt.seed;
  if (*g->hunt.stop && !g->why[0]) return fold_print_error(command, fold_error(FOLD_ENVIRONMENT, "interrupted"));
  if (g->why[0]) {
    fold_print_line("FAIL: %s: %s (seed 0x%llx)", s->name, g->why, seed);
    return 1;
  }
  if (g->held == 0)
    return fold_print_error(command,
                            fold_error(FOLD_UNSUPPORTED, "nothing was judged of %s (seed 0x%llx)", s->name, seed));
  char skipped[80] = "";
  if (g->skipped)
    snprintf(skipped, sizeof skipped, "; of random cases %zu verdict%s skipped", g->skipped,
             g->skipped == 1 ? " was" : "s were");
  fold_print_line(
      "PASS: %s: %zu verdicts held on %zu random cases, %zu timed calls and %zu fixtures, in %.1f s%s (seed 0x%llx)",
      s->name, g->held, g->drawn, g->timed, g->fixtures, fold_now() - g->began, skipped, seed);
  return 0;
}

/* A call that hangs must end before the time is over, unless the user says how long one may take. */
static void limit_calls(const struct gate *g) {
  char text[24];
  snprintf(text, sizeof text, "%.0f", fmax(2, floor(OF_CALL * g->seconds)));
  setenv("FOLDPROOF_TIMEOUT", text, 0);
}

static fold_status open_gate(struct gate *g, const struct fold_registry *own) {
  g->options.also = "run_to_run,fresh_process";
  FOLD_TRY(fold_selection_open(&g->options, own));
  g->hunt.registry = &g->options.registry;
  FOLD_TRY(choose(g));
  g->hunt.processes = fold_find_processes(&g->hunt);
  limit_calls(g);
  return fold_ok();
}

int fold_command_gate(int argc, char **argv, const struct fold_registry *registry) {
  struct gate g = {
      .program = program_invocation_name, .seconds = USUAL_SECONDS, .began = fold_now(), .unexplained = fold_ok()};
  fold_selection_defaults(&g.options);
  const char *usual = g.options.selection.folder;
  g.hunt = (struct fold_hunt){
      .selection = &g.options.selection, .seed = fold_find_new_seed(), .folder = "foldproof-found", .first = true};
  fold_parse(&argp, argc, argv, &g);
  if (g.options.selection.folder != usual) g.folder = g.options.selection.folder;
  g.hunt.stop = fold_watch_interrupt();
  fold_progress_open(&g.progress);
  fold_status status = open_gate(&g, registry);
  if (status.code == FOLD_OK) status = run_all(&g);
  int code = fold_print_error(argv[0], status);
  if (status.code == FOLD_OK) code = conclude(&g, argv[0]);
  fold_selection_close(&g.options);
  return code;
}
