/* command/select.c: the options that choose what is judged, and how: --subjects, --claims, --fixtures and the like. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/list.h"
#include "base/output.h"
#include "command/command.h"
#include "command/compare_claim.h"

enum {
  SUBJECTS = 's',
  CLAIMS = 'c',
  FIXTURES = 'f',
  ENGINE = 0x100,
  FOLDER,
  SET,
  NPY,
  PROBLEM,
  REPEATS,
  PROBE,
  AROUND,
  SWEEP,
  ORDER_TIME,
  TWIN,
  ACCURATE_AS,
  ULPS,
  GUEST,
  EXEC,
  FINITE,
  SECONDS
};

static const struct argp_option options[] = {
    {"subjects", SUBJECTS, "GLOBS", 0, "use only these subjects (comma-separated globs); also without --subjects", 1},
    {"engine", ENGINE, "ENGINE", 0, "use only subjects of this engine: host, cuda, mpi, nccl or opencl", 1},
    {"guest", GUEST, "FILE", 0,
     "use the subjects of this shared object (foldproof_guest.h; repeatable) and no others, unless SUBJECT or "
     "--subjects "
     "choose among all",
     1},
    {"exec", EXEC, "COMMAND", 0,
     "use this program (repeatable): it answers lines of JSON. If COMMAND contains {in} and {out}, it is started "
     "once for each run",
     1},
    {"same-bits-as", TWIN, "NAME", 0,
     "all other guests (without guests: all other subjects) claim the bits of this subject (or ENGINE:NAME; claim "
     "same_bits_as). If two guests have one name, the second one's gets @2: --guest old.so --guest new.so "
     "--same-bits-as mine/sum",
     1},
    {"finite", FINITE, NULL, 0, "guests take no NaN and no infinity: they get none", 1},
    {"seconds", SECONDS, "N", 0,
     "begin with the shortest cases, and after N seconds skip what is left, with that reason (default: no limit)", 1},
    {"accurate-as", ACCURATE_AS, "ORDER", 0,
     "all guests also claim errors within the bound of this order (foldproof list orders), even if they add in a "
     "different one (claim accurate_as)",
     1},
    {"ulps", ULPS, "N", 0,
     "all guests also claim errors of at most N ulps of the exact result, on any terms (claim ulps)", 1},
    {"fixtures", FIXTURES, "GLOBS", 0,
     "use only cases that match, by the name of the case, its fixture or its file (or DIR/x.ini)", 1},
    {"set", SET, "SET", 0,
     "the set of fixtures: default, large, guests (and larger batches: for --guest, --exec), products (of each size: "
     "for "
     "--engine cuda) or all",
     1},
    {"fixture-folder", FOLDER, "DIR", 0, "the folder of the *.ini files", 1},
    {"npy", NPY, "FILE,...", 0,
     "use arrays instead of fixtures (repeatable): one file, whose columns are spread over ranks if there are any, or "
     "one "
     "for each input: A.npy,B.npy",
     1},
    {"sweep", SWEEP, "AXIS=A:B:STEP,...", 0,
     "use sums of whole numbers of each size from A to B (in steps of 1 without STEP) instead of fixtures, of which "
     "bounded takes the exact result alone: k=8:20000:8 (repeatable; axes k, m, n, batch; layout=nt)",
     1},
    {"problem", PROBLEM, "PROBLEM", 0,
     "of --npy, or of --exec with {in}: PROBLEMS (sum). One file may have all inputs' rows", 1},
    {0},
};
static const struct argp_option claims_options[] = {
    {"claims", CLAIMS, "GLOBS", 0,
     "judge only these claims: names, globs or presets. A guest need not make them; --claims promises "
     "judges every claim that can be judged",
     1},
    {0},
};
enum { AROUND_SIZE = 3 }; /* so many sizes below and above a size of --around */
enum { GOLDEN = 0x180, LIBRARY, BLESS };
static const struct argp_option golden_options[] = {
    {"golden", GOLDEN, "FILE", 0,
     "compare results with those kept in this file (--bless). Results kept for another environment are reported as "
     "stale",
     3},
    {"bless", BLESS, NULL, 0,
     "with --golden: keep the results there and show what changes. The oracle must certify each result, and a run in "
     "new processes must repeat it; otherwise nothing is written",
     3},
    {"library", LIBRARY, "TEXT", 0,
     "the library that guests use, such as 'numpy 2.3.1'; goldens of another library are stale", 3},
    {0},
};

static error_t parse_golden(int key, char *arg, struct argp_state *state) {
  struct fold_golden_options *o = state->input;
  switch (key) {
    case GOLDEN: o->path = arg; return 0;
    case BLESS: o->bless = true; return 0;
    case LIBRARY: o->library = arg; return 0;
    case ARGP_KEY_END:
      if (o->bless && !o->path) argp_failure(state, 2, 0, "--bless needs --golden FILE");
      return 0;
    default: return ARGP_ERR_UNKNOWN;
  }
}
const struct argp fold_golden_argp = {.options = golden_options, .parser = parse_golden};

static const struct argp_option judging_options[] = {
    {"repeats", REPEATS, "N", 0, "repeats of run_to_run (3)", 1},
    {"around", AROUND, "N,...", 0,
     "batch_invariant of guests: also try batches of each number of rows, of one less and of one more (default: only "
     "near powers of two). k=4096 (or m, n, batch): also judge sums of that size, and of up to 3 less and more",
     1},
    {"order-time", ORDER_TIME, "SECONDS", 0, "time limit for finding out how a refuted claim's order changed (10)", 1},
    {"probe", PROBE, NULL, 0, "also try claims that a subject does not make; they do not count", 1},
    {0},
};

bool fold_option_given(const struct fold_selection_options *o, const char *name) {
  for (size_t i = 0; i < o->n_given; i++)
    if (strcmp(o->given[i], name) == 0) return true;
  return false;
}

static void note_given(struct fold_selection_options *o, int key) {
  const struct argp_option *const tables[] = {options, claims_options, judging_options};
  for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
    for (const struct argp_option *option = tables[t]; option->name; option++)
      if (option->key == key && !fold_option_given(o, option->name)) o->given[o->n_given++] = option->name;
}

bool fold_selection_has_one_run(const struct fold_selection_options *o) {
  for (size_t i = 0; i < o->selection.n_guests; i++)
    if (o->guests[i].door == &fold_door_program && fold_command_is_one_run(o->guests[i].what)) return true;
  return false;
}

/* Refuses options that have no effect: they are probably a mistake. */
static void check_idle(const struct fold_selection_options *o, struct argp_state *state) {
  if (fold_option_given(o, "problem") && o->selection.n_npy == 0 && !fold_selection_has_one_run(o))
    argp_failure(state, 2, 0, "--problem needs --npy, or --exec with {in} and {out}");
  if (o->selection.finite && o->selection.n_guests == 0) argp_failure(state, 2, 0, "--finite needs --guest or --exec");
  if ((o->selection.accurate_as || o->selection.ulps_text) && o->selection.n_guests == 0)
    argp_failure(state, 2, 0, "--accurate-as and --ulps need --guest or --exec");
  if (o->selection.around.n > 0 && o->selection.n_guests == 0)
    argp_failure(state, 2, 0, "--around with a number of rows is for batches of guests: it needs --guest or --exec");
  if (o->selection.sweep.text && o->selection.n_npy > 0)
    argp_failure(state, 2, 0, "--npy is judged instead of sizes: --sweep and --around AXIS=N choose nothing");
  if (o->selection.fixtures && o->selection.n_npy > 0)
    argp_failure(state, 2, 0, "--npy is judged instead of fixtures: --fixtures chooses nothing");
}

static void add_guest(struct fold_selection_options *o, const struct fold_door *door, char *what,
                      struct argp_state *state) {
  struct fold_selection *s = &o->selection;
  if (s->n_guests == FOLD_GUESTS_MOST) argp_failure(state, 2, 0, "at most %d guests", FOLD_GUESTS_MOST);
  o->guests[s->n_guests++] = (struct fold_guest){.door = door, .what = what};
  s->guests = o->guests;
}

/* Adds sizes to those that are swept: o->sweep has the text. */
static void add_sweep(struct fold_selection_options *o, const char *what, struct argp_state *state) {
  char *text = NULL;
  if (asprintf(&text, "%s%s%s", o->sweep ? o->sweep : "", o->sweep ? "," : "", what) < 0)
    argp_failure(state, 99, 0, "not enough memory for --sweep");
  free(o->sweep);
  o->selection.sweep.text = o->sweep = text;
}

/* "k=4096": sums of 4,093 to 4,099 terms. */
static void add_around(struct fold_selection_options *o, const char *item, struct argp_state *state) {
  const char *value = strchr(item, '=') + 1;
  if (fold_axis_find(item, (size_t)(value - item - 1)) == FOLD_AXES || *value == '\0')
    argp_failure(state, 2, 0, "--around %s: AXIS=N of axis batch, m, n or k, or a number of rows", item);
  const uint64_t at = fold_option_number(state, "--around", value, 1, UINT32_MAX);
  char text[80];
  snprintf(text, sizeof text, "%.*s%llu:%llu", (int)(value - item < 10 ? value - item : 10), item,
           (unsigned long long)(at > AROUND_SIZE ? at - AROUND_SIZE : 1), (unsigned long long)at + AROUND_SIZE);
  add_sweep(o, text, state);
}

/* Numbers of rows, and sizes along an axis. */
static void take_around(struct fold_selection_options *o, const char *arg, struct argp_state *state) {
  struct fold_around *around = &o->selection.around;
  char *list = strdup(arg), *rest = NULL; /* it will be changed */
  if (list == NULL) argp_failure(state, 99, 0, "not enough memory for --around");
  o->selection.around_text = o->selection.sweep.near = arg;
  around->n = 0;
  for (char *item = strtok_r(list, ",", &rest); item; item = strtok_r(NULL, ",", &rest)) {
    if (strchr(item, '='))
      add_around(o, item, state);
    else if (around->n == sizeof around->at / sizeof *around->at)
      argp_failure(state, 2, 0, "--around: at most %zu numbers", around->n);
    else
      around->at[around->n++] = fold_option_number(state, "--around", item, 1, UINT32_MAX);
  }
  free(list);
}

static double parse_ulps(const char *text, struct argp_state *state) {
  char *end;
  const double ulps = strtod(text, &end);
  if (end == text || *end || !(ulps > 0) || isinf(ulps)) argp_failure(state, 2, 0, "--ulps %s: a number above 0", text);
  return ulps;
}

static void check_set(struct argp_state *state, const char *arg) {
  for (const char *const *name = fold_set_names; *name; name++)
    if (strcmp(arg, *name) == 0) return;
  fold_option_refuse(state, "--set", arg, fold_set_names);
}

/* One file, or a list of them (fold_cases_add_npy): no output replaces them. */
static void spare_arrays(const char *text) {
  char *list = strdup(text);
  fold_output_spare(text);
  for (char *at = list, *end; at; at = end) {
    end = strstr(at, ".npy,");
    if (end) end[4] = '\0', end += 5;
    fold_output_spare(at);
  }
  free(list);
}

/* --fixtures PATH/NAME.ini: all fixtures of that file, such as one that a hunt has written. */
static void take_file(struct fold_selection_options *o) {
  static const char end[] = ".ini";
  static char folder[PATH_MAX], name[NAME_MAX + 1];
  const char *path = o->selection.fixtures, *slash = path ? strrchr(path, '/') : NULL, *file = slash ? slash + 1 : path;
  const size_t n = path ? strlen(file) : 0;
  if (n < sizeof end || strcmp(file + n - strlen(end), end) != 0 || access(path, R_OK) != 0) return;
  if (fold_option_given(o, "fixture-folder")) return;
  snprintf(folder, sizeof folder, "%.*s", slash && slash > path ? (int)(slash - path) : 1, slash ? path : ".");
  snprintf(name, sizeof name, "%.*s", (int)(n - strlen(end)), file);
  o->selection.folder = folder;
  o->selection.fixtures = name;
  if (fold_option_given(o, "set")) return;
  o->selection.set = "all";
  o->given[o->n_given++] = "set";
}

static error_t parse(int key, char *arg, struct argp_state *state) {
  struct fold_selection_options *o = state->input;
  struct fold_selection *s = &o->selection;
  note_given(o, key);
  switch (key) {
    case SUBJECTS: s->subjects = arg; return 0;
    case CLAIMS: s->claims = arg; return 0;
    case FIXTURES: s->fixtures = arg; return 0;
    case FOLDER: s->folder = arg; return 0;
    case PROBE: s->probe = true; return 0;
    case GUEST: add_guest(o, &fold_door_object, arg, state); return 0;
    case EXEC: add_guest(o, &fold_door_program, arg, state); return 0;
    case TWIN: s->twin = arg; return 0;
    case FINITE: s->finite = true; return 0;
    case SECONDS:
      s->seconds_text = arg;
      s->seconds = (double)fold_option_number(state, "--seconds", arg, 1, 1000000);
      return 0;
    case ACCURATE_AS: s->accurate_as = arg; return 0;
    case ULPS:
      o->ulps = parse_ulps(arg, state);
      s->ulps_text = arg;
      return 0;
    case PROBLEM: s->npy_problem = fold_option_problem(state, arg); return 0;
    case AROUND: take_around(o, arg, state); return 0;
    case SWEEP:
      s->sweep.alone = true;
      add_sweep(o, arg, state);
      return 0;
    case ORDER_TIME: fold_option_set_number(state, "--order-time", arg, 86400, "FOLDPROOF_ORDER_TIME"); return 0;
    case REPEATS: s->repeats = (unsigned)fold_option_number(state, "--repeats", arg, 1, FOLD_REPEATS_MOST); return 0;
    case SET:
      check_set(state, arg);
      s->set = arg;
      return 0;
    case ENGINE: s->engine = fold_option_engine(state, "--engine", arg); return 0;
    case NPY:
      if (s->n_npy == sizeof o->npy / sizeof *o->npy) argp_failure(state, 2, 0, "--npy: at most 64 files");
      o->npy[s->n_npy++] = arg;
      spare_arrays(arg);
      s->npy = o->npy;
      return 0;
    case ARGP_KEY_END:
      take_file(o);
      check_idle(o, state);
      return 0;
    default: return ARGP_ERR_UNKNOWN;
  }
}

const struct argp fold_selection_argp = {.options = options, .parser = parse, .help_filter = fold_help_problems};

const char *const fold_case_options[] = {"npy", "fixtures", "set", "sweep", "seconds", "fixture-folder", NULL};

const struct argp *fold_drawn_argp(void) {
  static struct argp_option drawn[sizeof options / sizeof *options];
  static const struct argp argp = {.options = drawn, .parser = parse, .help_filter = fold_help_problems};
  memcpy(drawn, options, sizeof options);
  for (struct argp_option *option = drawn; option->name; option++)
    for (const char *const *name = fold_case_options; *name; name++)
      if (strcmp(option->name, *name) == 0) option->flags |= OPTION_HIDDEN;
  return &argp;
}

const struct argp fold_claims_argp = {.options = claims_options, .parser = parse};
const struct argp fold_judging_argp = {.options = judging_options, .parser = parse};

/* The folder of fixtures: $FOLDPROOF_FIXTURES; else the one that was installed with the command; else the one in the
 * source tree. */
static const char *find_folder(void) {
  static char installed[4200];
  const char *named = getenv("FOLDPROOF_FIXTURES");
  if (named) return named;
  char self[4096];
  ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
  if (n > 0) {
    self[n] = '\0';
    char *slash = strrchr(self, '/');
    if (slash) *slash = '\0';
    snprintf(installed, sizeof installed, "%s/../share/foldproof/fixtures", self);
    if (access(installed, R_OK) == 0) return installed;
  }
  return FOLD_SOURCE_FIXTURES;
}

void fold_selection_defaults(struct fold_selection_options *o) {
  *o = (struct fold_selection_options){.selection = {.engine = -1,
                                                     .folder = find_folder(),
                                                     .set = "default",
                                                     .repeats = FOLD_REPEATS,
                                                     .npy_problem = fold_problem(FOLD_ROWS_SUM)}};
}

/* The first of the comma-separated globs that matches nothing, according to `matches`; NULL if each matches
 * something. */
static char *find_idle_glob(const char *globs, const struct fold_selection *selection,
                            const struct fold_registry *registry,
                            bool (*matches)(const char *, const struct fold_selection *,
                                            const struct fold_registry *)) {
  char *copy = globs ? strdup(globs) : NULL, *rest = NULL, *idle = NULL;
  for (char *glob = copy ? strtok_r(copy, ",", &rest) : NULL; glob && !idle; glob = strtok_r(NULL, ",", &rest))
    if (!matches(glob, selection, registry)) idle = strdup(glob);
  free(copy);
  return idle;
}

static bool matches_subject(const char *glob, const struct fold_selection *selection,
                            const struct fold_registry *registry) {
  struct fold_selection one = {.subjects = glob, .engine = selection->engine};
  for (size_t i = 0; i < registry->n; i++)
    if (fold_selects_subject(&one, &registry->subjects[i])) return true;
  return false;
}

static bool matches_claim(const char *glob, const struct fold_selection *selection,
                          const struct fold_registry *registry) {
  (void)selection, (void)registry;
  size_t n;
  const struct fold_claim *claims = fold_claims(&n);
  for (size_t i = 0; i < n; i++)
    if (fold_glob_match(glob, claims[i].name)) return true;
  return false;
}

static const char *near_subject(const char *word, const struct fold_selection *selection,
                                const struct fold_registry *registry, char text[160]) {
  struct fold_did_you_mean guess;
  const struct fold_selection all = {.engine = selection->engine};
  fold_did_you_mean_open(&guess, word);
  for (size_t i = 0; i < registry->n; i++)
    if (fold_selects_subject(&all, &registry->subjects[i])) fold_did_you_mean_try(&guess, registry->subjects[i].name);
  return fold_did_you_mean_text(&guess, text);
}

fold_status fold_selection_check(const struct fold_selection *selection, const struct fold_registry *registry) {
  char meant[160];
  fold_status status = fold_ok();
  char *idle = find_idle_glob(selection->subjects, selection, registry, matches_subject);
  if (idle)
    status = fold_error(FOLD_BAD_INPUT, "no subject%s%s matches '%.60s': see foldproof list subjects%s",
                        selection->engine >= 0 ? " on " : "",
                        selection->engine >= 0 ? fold_engine_name((enum fold_engine)selection->engine) : "", idle,
                        near_subject(idle, selection, registry, meant));
  free(idle);
  if (status.code != FOLD_OK) return status;
  idle = find_idle_glob(selection->claims, selection, registry, matches_claim);
  if (idle && fold_compare_knows_claim(idle))
    status = fold_error(FOLD_BAD_INPUT, "%s is judged from two records: foldproof compare --claim %s", idle, idle);
  else if (idle)
    status = fold_error(FOLD_BAD_INPUT, "no claim matches '%.60s': see foldproof list claims%s", idle,
                        fold_claims_near(idle, meant));
  free(idle);
  return status;
}

/* A guest that is loaded and left out would look as if it had been judged. */
static fold_status check_guests(const struct fold_selection *selection, const struct fold_registry *registry) {
  if (selection->n_guests == 0) return fold_ok();
  for (size_t i = 0; i < registry->n; i++)
    if (registry->subjects[i].guest && fold_selects_subject(selection, &registry->subjects[i])) return fold_ok();
  return fold_error(FOLD_BAD_INPUT, "no guest is selected: none of their subjects, the first is %.60s, matches '%.60s'",
                    registry->n ? registry->subjects[0].name : "", selection->subjects ? selection->subjects : "");
}

/* A registry in which each selected subject but the reference itself claims the reference's bits. */
static fold_status claim_bits(const struct fold_selection *s, struct fold_registry *all) {
  size_t set = 0;
  struct fold_subject *subjects = (struct fold_subject *)(uintptr_t)all->subjects;
  for (size_t i = 0; i < all->n; i++) {
    if (!fold_selects_subject(s, &subjects[i]) || !fold_registry_set_twin(all, &subjects[i], s->twin)) continue;
    subjects[i].named |= FOLD_CLAIM(FOLD_SAME_BITS_AS);
    set++;
  }
  if (set == 0) return fold_error(FOLD_BAD_INPUT, "--same-bits-as %.80s: no other subject is selected", s->twin);
  fold_status status = fold_registry_check(all);
  if (status.code == FOLD_ENVIRONMENT) status.code = FOLD_BAD_INPUT; /* compiled subjects were checked before */
  return status;
}

static fold_status copy_registry(struct fold_selection_options *o) {
  const size_t nbytes = o->registry.n * sizeof *o->registry.subjects;
  o->copied = malloc(nbytes + 1);
  if (!o->copied) return fold_no_memory("for %zu subjects", o->registry.n);
  memcpy(o->copied, o->registry.subjects, nbytes);
  o->registry.subjects = o->copied;
  return fold_ok();
}

fold_status fold_selection_open(struct fold_selection_options *o, const struct fold_registry *own) {
  struct fold_selection *s = &o->selection;
  if (s->claims &&
      asprintf(&o->claims, "%s%s%s", s->claims, s->accurate_as ? ",accurate_as" : "", s->ulps_text ? ",ulps" : "") < 0)
    return fold_no_memory("for a list of claims");
  const char *claims = o->claims;
  if (claims && (s->claims = o->expanded = fold_claims_expand(claims)) == NULL)
    return fold_no_memory("for a list of claims");
  o->registry = *own;
  /* A new process runs each case once, and is waited for: it gets a part of the time. */
  if (s->seconds > 0) s->end = fold_now() + s->seconds / (s->fresh ? 4 : 1);
  for (size_t i = 0; i < s->n_guests; i++) {
    o->guests[i].finite = s->finite;
    o->guests[i].problem = s->npy_problem->name;
  }
  if (s->n_guests > 0 && !fold_option_given(o, "set")) s->set = "guests";
  FOLD_TRY(fold_selection_check(&(struct fold_selection){.claims = s->claims, .engine = -1}, own));
  if (s->twin && s->claims && !fold_glob_match(s->claims, "same_bits_as"))
    return fold_error(FOLD_BAD_INPUT, "--same-bits-as needs --claims same_bits_as, too");
  if (s->n_guests > 0) {
    const struct fold_wants wants = {claims, claims ? NULL : o->also, s->twin, s->accurate_as, o->ulps};
    FOLD_TRY(fold_guests_load(s->guests, s->n_guests, &wants, own, &o->registry));
    o->loaded = true;
    if (s->backwards)
      fold_list_reverse((void *)(uintptr_t)o->registry.subjects, o->registry.n, sizeof(struct fold_subject));
  }
  FOLD_TRY(fold_selection_check(s, &o->registry));
  if (s->twin && s->n_guests == 0) {
    FOLD_TRY(copy_registry(o));
    FOLD_TRY(claim_bits(s, &o->registry));
  }
  fold_select_swept(s, &o->registry);
  return check_guests(s, &o->registry);
}

void fold_selection_close(struct fold_selection_options *o) {
  if (o->loaded) fold_guests_unload(&o->registry);
  free(o->copied);
  free(o->expanded);
  free(o->subjects);
  free(o->claims);
  free(o->sweep);
}
