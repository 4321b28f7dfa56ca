/* command/option.c: options and values of options that several subcommands take; a bad one ends the program with one line and
 * exit code 2. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "fixtures/number.h"

uint64_t fold_option_number(struct argp_state *state, const char *option, const char *text, uint64_t least,
                            uint64_t most) {
  /* A power as in fixture files (number.h), without sums and ranges. */
  uint64_t value = 0, last, step;
  const bool is_power = text[strspn(text, "0123456789e^")] == '\0';
  const char *wrong = is_power ? fold_number_range(text, &value, &last, &step) : fold_number_malformed;
  if (wrong == fold_number_too_large || (!wrong && value > most))
    argp_failure(state, 2, 0, "%s %s: at most %llu", option, text, (unsigned long long)most);
  if (wrong)
    argp_failure(state, 2, 0, "%s %s: not a whole number from %llu to %llu", option, text, (unsigned long long)least,
                 (unsigned long long)most);
  if (value < least) argp_failure(state, 2, 0, "%s %s: at least %llu", option, text, (unsigned long long)least);
  return value;
}

/* A file that an option takes is often given without the option. */
static void refuse_file(struct argp_state *state, const char *word) {
  static const char *const options[][2] = {{".npy", "--npy"}, {".so", "--guest"}, {".jsonl", "--jsonl"}};
  for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
    const char *end = strrchr(word, '.');
    if (end && strcmp(end, options[i][0]) == 0)
      argp_failure(state, 2, 0, "'%s' is a file and no subject: did you mean %s %s?", word, options[i][1], word);
  }
}

void fold_option_add_subject(struct argp_state *state, const char **subjects, char **added, const char *pattern) {
  char *joined = NULL;
  refuse_file(state, pattern);
  if (asprintf(&joined, "%s%s%s", *subjects ? *subjects : "", *subjects ? "," : "", pattern) < 0)
    argp_failure(state, 99, 0, "not enough memory for a list of subjects");
  free(*added);
  *subjects = *added = joined;
}

void fold_option_refuse(struct argp_state *state, const char *option, const char *text, const char *const names[]) {
  char list[200] = "", meant[160];
  for (size_t i = 0; names[i]; i++) {
    const size_t used = strlen(list);
    snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", names[i]);
  }
  argp_failure(state, 2, 0, "%s %s: not one of %s%s", option, text, list, fold_did_you_mean_of(text, names, meant));
}

const char *fold_option_generator(const char *word, char text[240]) {
  size_t n;
  char meant[160];
  struct fold_did_you_mean guess;
  const struct fold_generator *all = fold_generators(&n);
  fold_did_you_mean_open(&guess, word);
  for (size_t i = 0; i < n; i++) fold_did_you_mean_try(&guess, all[i].name);
  snprintf(text, 240, "see foldproof list generators%s", fold_did_you_mean_text(&guess, meant));
  return text;
}

int fold_option_dtype(struct argp_state *state, const char *option, const char *text) {
  int dtype = fold_dtype_parse(text);
  static const char *const names[] = {
#define FOLD_DTYPE(TAG, name, ...) #name,
#include "base/dtype.def"
      NULL};
  if (dtype < 0) fold_option_refuse(state, option, text, names);
  return dtype;
}

int fold_option_engine(struct argp_state *state, const char *option, const char *text) {
  const int engine = fold_engine_parse(text);
  static const char *const names[] = {
#define FOLD_ENGINE(TAG, name, ...) #name,
#include "base/engine.def"
      NULL};
  if (engine < 0) fold_option_refuse(state, option, text, names);
  return engine;
}

int fold_option_op(struct argp_state *state, const char *option, const char *text) {
  int op = fold_op_parse(text);
  const char *names[FOLD_OPS + 1] = {NULL};
  for (int k = 0; k < FOLD_OPS; k++) names[k] = fold_op_name((enum fold_op)k);
  if (op < 0) fold_option_refuse(state, option, text, names);
  return op;
}

const struct fold_problem *fold_option_problem(struct argp_state *state, const char *text) {
  const struct fold_problem *problem = fold_problem_find(text);
  const char *names[FOLD_PROBLEMS + 1] = {NULL};
  for (int p = 0; p < FOLD_PROBLEMS; p++) names[p] = fold_problem((enum fold_problem_id)p)->name;
  if (!problem) fold_option_refuse(state, "--problem", text, names);
  return problem;
}

size_t fold_option_numbers(struct argp_state *state, const char *option, char *list, uint64_t least, uint64_t most,
                           uint64_t *numbers, size_t room) {
  char *rest = NULL;
  size_t n = 0;
  for (char *text = strtok_r(list, ",", &rest); text; text = strtok_r(NULL, ",", &rest)) {
    if (n == room) argp_failure(state, 2, 0, "%s: at most %zu numbers", option, room);
    numbers[n++] = fold_option_number(state, option, text, least, most);
  }
  return n;
}

void fold_option_set_number(struct argp_state *state, const char *option, const char *text, uint64_t most,
                            const char *variable) {
  char number[24];
  uint64_t value = fold_option_number(state, option, text, 1, most);
  snprintf(number, sizeof number, "%llu", (unsigned long long)value);
  setenv(variable, number, 1);
}

unsigned fold_option_mask(struct argp_state *state, const char *option, char *list,
                          int (*parse_name)(struct argp_state *, const char *, const char *)) {
  char *rest = NULL;
  unsigned mask = 0;
  for (char *name = strtok_r(list, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
    mask |= 1u << parse_name(state, option, name);
  return mask;
}

/* How the ranks of collectives are started and how long a run may last, as argp children without input. They set the variables of the ranks,
 * so that the new processes of fresh_process have them too. */
enum { LAUNCH = 0x300, RANKS, TIMEOUT };

static const struct argp_option options[] = {
    {"launch", LAUNCH, "COMMAND", 0,
     "start ranks by mpirun (the default of MPI), as threads of one process (the default of NCCL), or by this command; "
     "the word {ranks} in it becomes their number",
     4},
    {"ranks", RANKS, "N", 0, "start N ranks (MPI: 8; NCCL: one for each GPU); cases that need more are skipped", 4},
    {0},
};

static const struct argp_option limits[] = {
    {"timeout", TIMEOUT, "SECONDS", 0, "time limit of a subject's run or a rank's answer (20)", 4}, {0}};

static error_t parse(int key, char *arg, struct argp_state *state) {
  switch (key) {
    case LAUNCH: setenv("FOLDPROOF_LAUNCH", arg, 1); return 0;
    case RANKS: fold_option_set_number(state, "--ranks", arg, 1024, "FOLDPROOF_RANKS"); return 0;
    default: return ARGP_ERR_UNKNOWN;
  }
}

static error_t parse_limit(int key, char *arg, struct argp_state *state) {
  if (key != TIMEOUT) return ARGP_ERR_UNKNOWN;
  fold_option_set_number(state, "--timeout", arg, 86400, "FOLDPROOF_TIMEOUT");
  return 0;
}

const struct argp fold_timeout_argp = {.options = limits, .parser = parse_limit};
static const struct argp_child limit_child[] = {{&fold_timeout_argp, 0, NULL, 0}, {0}};
const struct argp fold_world_argp = {.options = options, .parser = parse, .children = limit_child};
const struct argp_child fold_world_child[2] = {{&fold_world_argp, 0, NULL, 0}, {0}};
