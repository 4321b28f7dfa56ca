/* replay.c: see replay.h. */
#include "replay.h"

#include <stdlib.h>
#include <string.h>

#include "job.h"
#include "text.h"

/* Made once: they are the same for the whole of a command. */
static json_t *guests_of(const struct fold_selection *selection) {
  static json_t *guests;
  if (selection->n_guests == 0) return NULL;
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

/* NULL where none is set. Made once, too. */
static json_t *variables_of_threads(void) {
  static json_t *variables;
  for (size_t i = 0; i < OF_THREADS && variables == NULL; i++)
    if (getenv(of_threads[i])) variables = json_object();
  for (size_t i = 0; i < OF_THREADS && variables; i++)
    if (getenv(of_threads[i])) json_object_set_new(variables, of_threads[i], json_string(getenv(of_threads[i])));
  return variables;
}

void fold_asked_for(struct fold_asked *asked, const struct fold_judgement *j, const struct fold_selection *selection,
                    bool strict) {
  *asked = (struct fold_asked){
      .strict = strict && j->known, .guests = guests_of(selection), .variables = variables_of_threads()};
  if (j->claim->id == FOLD_RUN_TO_RUN && selection->repeats != FOLD_REPEATS) asked->repeats = selection->repeats;
  if (j->claim->id == FOLD_SAME_BITS_AS) asked->twin = selection->twin;
  if (j->claim->id == FOLD_BATCH_INVARIANT) asked->around = selection->around_text;
  if (!fold_engine_has_ranks(j->subject->engine)) return;
  asked->ranks = getenv("FOLDPROOF_RANKS");
  asked->launch = getenv("FOLDPROOF_LAUNCH");
  asked->timeout = getenv("FOLDPROOF_TIMEOUT");
}

json_t *fold_asked_of(const struct fold_selection *selection) {
  static const char *const names[][2] = {
      {"ranks", "FOLDPROOF_RANKS"}, {"launch", "FOLDPROOF_LAUNCH"}, {"timeout", "FOLDPROOF_TIMEOUT"}};
  json_t *asked = json_object(), *guests = guests_of(selection), *variables = variables_of_threads();
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const char *value = getenv(names[i][1]);
    if (value && *value) json_object_set_new(asked, names[i][0], json_string(value));
  }
  if (guests) json_object_set(asked, "guests", guests);
  if (variables) json_object_set(asked, "variables", variables);
  return asked;
}

/* Of a value that is "" there is no option. */
static const char *said(const char *value) { return value && *value ? value : NULL; }

static void add_said(struct fold_options *options, const char *name, const char *value) {
  if (said(value)) fold_options_add(options, name, value);
}

static void add_guests(struct fold_options *options, const json_t *guests) {
  for (size_t i = 0; i < json_array_size(guests); i++) {
    const json_t *guest = json_array_get(guests, i);
    const char *option = json_string_value(json_array_get(guest, 0));
    const bool program = option && strcmp(option, "--exec") == 0; /* of a record, which may say anything */
    add_said(options, program ? "--exec" : "--guest", json_string_value(json_array_get(guest, 1)));
  }
}

static void add_asked(struct fold_options *options, const struct fold_replay *r, char repeats[24], char ranks[24]) {
  snprintf(repeats, 24, "%u", r->asked.repeats);
  snprintf(ranks, 24, "%u", r->ranks);
  if (r->asked.repeats) fold_options_add(options, "--repeats", repeats);
  add_said(options, "--same-bits-as", r->asked.twin);
  add_said(options, "--around", r->asked.around);
  if (r->asked.strict) fold_options_add(options, "--strict", NULL);
  add_said(options, "--ranks", r->ranks ? ranks : r->asked.ranks);
  add_said(options, "--launch", r->asked.launch);
  add_said(options, "--timeout", r->asked.timeout);
}

/* Of a record, which may say anything, those that are known. */
static void put_variables(const json_t *variables, FILE *out) {
  for (size_t i = 0; i < OF_THREADS; i++) {
    const char *value = json_string_value(json_object_get(variables, of_threads[i]));
    if (value == NULL) continue;
    fprintf(out, "%s=", of_threads[i]);
    fold_put_shell_word(value, out);
    fputc(' ', out);
  }
}

void fold_put_replay(const struct fold_replay *r, FILE *out) {
  struct fold_options options = {0};
  char repeats[24], ranks[24];
  if (said(r->asked.python)) {
    fputs("python3 -c ", out);
    fold_put_shell_word(r->asked.python, out);
    return;
  }
  add_guests(&options, r->asked.guests);
  fold_options_add_job(&options, &(struct fold_job){.subjects = said(r->subject),
                                                    .engine = said(r->engine),
                                                    .claims = said(r->claim),
                                                    .probe = r->probe,
                                                    .npy = &r->npy,
                                                    .n_npy = said(r->npy) != NULL,
                                                    .op = said(r->op),
                                                    .folder = said(r->folder),
                                                    .set = r->fixtures ? "all" : NULL,
                                                    .fixtures = said(r->fixtures)});
  add_asked(&options, r, repeats, ranks);
  put_variables(r->asked.variables, out);
  fold_put_shell_program(r->program, out);
  fputs(" verify", out);
  if (options.failed) fputs(" (not enough memory to say more)", out);
  for (size_t i = 0; i < options.n; i++) {
    const struct fold_option *option = &options.at[i];
    fprintf(out, option->value ? " %s " : " %s", option->name);
    if (option->value) fold_put_shell_word(option->value, out);
  }
  fold_options_free(&options);
}
