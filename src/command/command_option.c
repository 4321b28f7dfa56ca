/* command_option.c: values of options that several subcommands take; a bad one ends the program with one line and
 * exit code 2. */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "number.h"

/* A power as in fixture files (number.h), without sums and ranges. False if it is none or is above 2^63. */
static bool parse_number(const char *text, uint64_t *value) {
  uint64_t last;
  return text[strspn(text, "0123456789e^")] == '\0' && fold_number_range(text, value, &last) == NULL &&
         *value >> 63 == 0;
}

char *fold_option_named(struct argp_state *state, const char *option, char *text) {
  if (text[strspn(text, " \t\n")] == '\0') argp_failure(state, 2, 0, "%s '%s': it names nothing", option, text);
  return text;
}

uint64_t fold_option_number(struct argp_state *state, const char *option, const char *text, uint64_t most) {
  uint64_t value = 0;
  if (!parse_number(text, &value) || value > most)
    argp_failure(state, 2, 0, "%s %s: not a whole number from 0 to %llu", option, text, (unsigned long long)most);
  return value;
}

void fold_option_refuse(struct argp_state *state, const char *option, const char *text, const char *const names[]) {
  char list[200] = "", meant[160];
  for (size_t i = 0; names[i]; i++) {
    const size_t used = strlen(list);
    snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", names[i]);
  }
  argp_failure(state, 2, 0, "%s %s: not one of %s%s", option, text, list, fold_near_of(text, names, meant));
}

const char *fold_option_generator(const char *word, char text[240]) {
  size_t n;
  char meant[160];
  struct fold_near near;
  const struct fold_generator *all = fold_generators(&n);
  fold_near_open(&near, word);
  for (size_t i = 0; i < n; i++) fold_near_try(&near, all[i].name);
  snprintf(text, 240, "see foldproof list generators%s", fold_near_text(&near, meant));
  return text;
}

int fold_option_dtype(struct argp_state *state, const char *option, const char *text) {
  int dtype = fold_dtype_parse(text);
  static const char *const names[] = {
#define FOLD_DTYPE(TAG, name, ...) #name,
#include "dtype.def"
      NULL};
  if (dtype < 0) fold_option_refuse(state, option, text, names);
  return dtype;
}

int fold_option_engine(struct argp_state *state, const char *option, const char *text) {
  const int engine = fold_engine_parse(text);
  static const char *const names[] = {
#define FOLD_ENGINE(TAG, name, ...) #name,
#include "engine.def"
      NULL};
  if (engine < 0) fold_option_refuse(state, option, text, names);
  return engine;
}

int fold_option_op(struct argp_state *state, const char *option, const char *text) {
  int op = fold_op_parse(text);
  static const char *const names[] = {"sum", "prod", "max", "min", NULL};
  if (op < 0) fold_option_refuse(state, option, text, names);
  return op;
}

const struct fold_problem *fold_option_problem(struct argp_state *state, const char *text) {
  const struct fold_problem *problem = fold_problem_find(text);
  const char *names[FOLD_PROBLEMS + 1] = {NULL};
  for (int p = 0; p < FOLD_PROBLEMS; p++) names[p] = fold_problem((enum fold_problem_id)p)->name;
  if (!problem) fold_option_refuse(state, "--op", text, names);
  return problem;
}

size_t fold_option_numbers(struct argp_state *state, const char *option, char *list, uint64_t most, uint64_t *numbers,
                           size_t room) {
  char *rest = NULL;
  size_t n = 0;
  for (char *text = strtok_r(list, ",", &rest); text; text = strtok_r(NULL, ",", &rest)) {
    if (n == room) argp_failure(state, 2, 0, "%s: at most %zu numbers", option, room);
    numbers[n++] = fold_option_number(state, option, text, most);
  }
  if (n == 0) argp_failure(state, 2, 0, "%s: an empty list", option);
  return n;
}

void fold_option_set_number(struct argp_state *state, const char *option, const char *text, uint64_t most,
                            const char *variable) {
  char number[24];
  uint64_t value = fold_option_number(state, option, text, most);
  if (value == 0) argp_failure(state, 2, 0, "%s 0: at least 1", option);
  snprintf(number, sizeof number, "%llu", (unsigned long long)value);
  setenv(variable, number, 1);
}

unsigned fold_option_mask(struct argp_state *state, const char *option, char *list,
                          int (*parse_name)(struct argp_state *, const char *, const char *)) {
  char *rest = NULL;
  unsigned mask = 0;
  for (char *name = strtok_r(list, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
    mask |= 1u << parse_name(state, option, name);
  if (mask == 0) argp_failure(state, 2, 0, "%s: an empty list", option);
  return mask;
}
