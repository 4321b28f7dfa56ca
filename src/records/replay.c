/* replay.c: see replay.h. */
#include "records/replay.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ranks/setting.h"

/* Made once, because guests are the same for a whole command. */
static json_t *guests_of(const struct fold_selection *selection) {
  static json_t *guests;
  if (selection->n_guests == 0 || selection->guests == NULL) return NULL;
  if (guests) return guests;
  guests = json_array();
  for (size_t i = 0; i < selection->n_guests; i++)
    json_array_append_new(guests, json_pack("[s,s]", selection->guests[i].door->option, selection->guests[i].what));
  return guests;
}

/* The variables that OpenMP and libraries take their number of threads from. */
static const char *const of_threads[] = {"OMP_NUM_THREADS",      "OMP_THREAD_LIMIT", "OMP_DYNAMIC",
                                         "OMP_SCHEDULE",         "MKL_NUM_THREADS",  "MKL_DYNAMIC",
                                         "OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS", "GOTO_NUM_THREADS"};
enum { OF_THREADS = sizeof of_threads / sizeof *of_threads };

static void add_variable(json_t **variables, const char *name, const char *value) {
  if (*variables == NULL) *variables = json_object();
  json_object_set_new(*variables, name, json_string(value));
}

/* The variables for threads, and those of an engine with ranks; NULL where none is set. Made once for each engine. */
static json_t *variables_of(enum fold_engine engine) {
  static json_t *made[FOLD_ENGINES];
  const char **of_world = made[engine] ? NULL : fold_world_variables(engine);
  for (size_t i = 0; of_world && i < OF_THREADS; i++)
    if (getenv(of_threads[i])) add_variable(&made[engine], of_threads[i], getenv(of_threads[i]));
  for (size_t i = 0; of_world && of_world[i]; i++) {
    char *name = strndup(of_world[i], strcspn(of_world[i], "="));
    if (name) add_variable(&made[engine], name, of_world[i] + strlen(name) + 1);
    free(name);
  }
  free(of_world);
  return made[engine];
}

void fold_asked_world(struct fold_asked *asked, enum fold_engine engine, const struct fold_selection *selection) {
  *asked = (struct fold_asked){
      .guests = guests_of(selection), .variables = variables_of(engine), .timeout = getenv("FOLDPROOF_TIMEOUT")};
  if (!fold_engine_has_ranks(engine)) return;
  asked->ranks = getenv("FOLDPROOF_RANKS");
  asked->launch = getenv("FOLDPROOF_LAUNCH");
}

void fold_asked_for(struct fold_asked *asked, const struct fold_judgement *j, const struct fold_selection *selection,
                    bool strict) {
  fold_asked_world(asked, j->subject->engine, selection);
  asked->strict = strict && j->known;
  asked->finite = selection->finite;
  asked->usual_set =
      j->c->set == FOLD_SET_DEFAULT || (j->c->set == FOLD_SET_GUESTS && json_array_size(asked->guests) > 0);
  if (j->claim->id == FOLD_RUN_TO_RUN && selection->repeats != FOLD_REPEATS) asked->repeats = selection->repeats;
  if (j->claim->id == FOLD_SAME_BITS_AS) asked->twin = selection->twin;
  if (j->claim->id == FOLD_ACCURATE_AS) asked->accurate_as = selection->accurate_as;
  if (j->claim->id == FOLD_ULPS) asked->ulps = selection->ulps_text;
  if (strncmp(j->c->name, "sweep/", 6) == 0) asked->sweep = selection->sweep.text;
  if (j->claim->id == FOLD_BATCH_INVARIANT) asked->around = selection->around_text;
}

json_t *fold_asked_of(const struct fold_selection *selection) {
  static const char *const names[][2] = {
      {"ranks", "FOLDPROOF_RANKS"}, {"launch", "FOLDPROOF_LAUNCH"}, {"timeout", "FOLDPROOF_TIMEOUT"}};
  json_t *asked = json_object(), *guests = guests_of(selection), *variables = json_object();
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const char *value = getenv(names[i][1]);
    if (value && *value) json_object_set_new(asked, names[i][0], json_string(value));
  }
  if (guests) json_object_set(asked, "guests", guests);
  for (int e = 0; e < FOLD_ENGINES; e++) json_object_update(variables, variables_of((enum fold_engine)e));
  if (json_object_size(variables)) json_object_set(asked, "variables", variables);
  json_decref(variables);
  return asked;
}

/* An empty value gives no option. */
static const char *said(const char *value) { return value && *value ? value : NULL; }

static void put(const char *name, const char *value, FILE *out) {
  if (!said(value)) return;
  fprintf(out, " %s ", name);
  fold_put_shell_word(value, out);
}

static void put_flag(const char *name, bool is_set, FILE *out) {
  if (is_set) fprintf(out, " %s", name);
}

static void put_guests(const json_t *guests, FILE *out) {
  for (size_t i = 0; i < json_array_size(guests); i++) {
    const json_t *guest = json_array_get(guests, i);
    const char *option = json_string_value(json_array_get(guest, 0));
    const bool program = option && strcmp(option, "--exec") == 0; /* checked, since a record may have any text here */
    put(program ? "--exec" : "--guest", json_string_value(json_array_get(guest, 1)), out);
  }
}

/* Whether --problem says what a guest computes. */
static bool has_one_run(const json_t *guests) {
  for (size_t i = 0; i < json_array_size(guests); i++) {
    const char *option = json_string_value(json_array_get(json_array_get(guests, i), 0)),
               *command = json_string_value(json_array_get(json_array_get(guests, i), 1));
    if (option && command && strcmp(option, "--exec") == 0 && fold_command_is_one_run(command)) return true;
  }
  return false;
}

static void put_selection(const struct fold_replay *r, FILE *out) {
  put("--subjects", r->subject, out);
  put("--engine", r->asked.one_engine ? NULL : r->engine, out);
  put("--claims", r->claim, out);
  put_flag("--probe", r->probe, out);
  put("--npy", r->npy, out);
  const bool is_sum = r->op && strcmp(r->op, "sum") == 0;
  put("--problem", said(r->npy) || (!is_sum && has_one_run(r->asked.guests)) ? r->op : NULL, out);
  put("--fixture-folder", r->folder, out);
  put("--set", r->fixtures && !r->asked.usual_set ? "all" : NULL, out);
  put("--sweep", r->asked.sweep, out);
  put("--fixtures", r->fixtures, out);
}

static void put_asked(const struct fold_replay *r, FILE *out) {
  char ranks[24];
  snprintf(ranks, 24, "%u", r->ranks);
  if (r->asked.repeats) fprintf(out, " --repeats '%u'", r->asked.repeats);
  put("--same-bits-as", r->asked.twin, out);
  put("--accurate-as", r->asked.accurate_as, out);
  put("--ulps", r->asked.ulps, out);
  put("--around", r->asked.around, out);
  put_flag("--strict", r->asked.strict, out);
  put_flag("--finite", r->asked.finite, out);
  put("--ranks", r->ranks ? ranks : r->asked.ranks, out);
  put("--launch", r->asked.launch, out);
  put("--timeout", r->asked.timeout, out);
}

/* Whether a replay sets a variable of that name, which may be any text. */
static bool is_repeated(const char *variable) {
  if (variable[strspn(variable, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")]) return false;
  for (size_t i = 0; i < OF_THREADS; i++)
    if (strcmp(variable, of_threads[i]) == 0) return true;
  for (int e = 0; e < FOLD_ENGINES; e++)
    if (fold_world_has_variable((enum fold_engine)e, variable)) return true;
  return false;
}

static void put_variables(const json_t *variables, FILE *out) {
  const char *name;
  json_t *value;
  json_object_foreach((json_t *)(uintptr_t)variables, name, value) {
    if (!json_is_string(value) || !is_repeated(name)) continue;
    fprintf(out, "%s=", name);
    fold_put_shell_word(json_string_value(value), out);
    fputc(' ', out);
  }
}

bool fold_replay_can_run(const struct fold_asked *asked, bool guest) {
  return !guest || said(asked->python) || json_array_size(asked->guests) > 0;
}

void fold_put_replay(const struct fold_replay *r, FILE *out) {
  if (said(r->asked.python)) {
    fputs("python3 -c ", out);
    fold_put_shell_word(r->asked.python, out);
    return;
  }
  put_variables(r->asked.variables, out);
  fold_put_shell_program(r->program, out);
  fputs(" verify", out);
  put_guests(r->asked.guests, out);
  put_selection(r, out);
  put_asked(r, out);
}

struct fold_replay fold_replay_of(const struct fold_judgement *j, const char *program, const char *folder) {
  const struct fold_case *c = j->c;
  const bool npy = strncmp(c->name, "npy:", 4) == 0;
  return (struct fold_replay){.program = program,
                              .subject = j->subject->name,
                              .engine = fold_engine_name(j->subject->engine),
                              .claim = j->claim ? j->claim->name : NULL,
                              .npy = npy ? c->npy : NULL,
                              .op = c->problem->name,
                              .ranks = npy ? c->ranks : 0,
                              .folder = npy ? NULL : folder,
                              .fixtures = npy ? NULL : c->name,
                              .asked = j->asked ? *j->asked : (struct fold_asked){0}};
}
