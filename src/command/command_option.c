/* command_option.c: values of options that several subcommands take; a bad one ends the program with one line and
 * exit code 2. */
#include <string.h>

#include "command.h"
#include "number.h"

/* A fixture file's power (number.h) and no more: no sum, no range. False when it is none or past 2^63. */
static bool parse_number(const char *text, uint64_t *value) {
  uint64_t last;
  return text[strspn(text, "0123456789e^")] == '\0' && fold_number_range(text, value, &last) == NULL &&
         *value >> 63 == 0;
}

uint64_t fold_option_number(struct argp_state *state, const char *option, const char *text, uint64_t most) {
  uint64_t value = 0;
  if (!parse_number(text, &value) || value > most)
    argp_failure(state, 2, 0, "%s %s: not a whole number from 0 to %llu", option, text, (unsigned long long)most);
  return value;
}

int fold_option_dtype(struct argp_state *state, const char *text) {
  int dtype = fold_dtype_parse(text);
  if (dtype < 0) argp_failure(state, 2, 0, "--dtype %s: not one of f16, bf16, f32, f64", text);
  return dtype;
}

int fold_option_op(struct argp_state *state, const char *text) {
  int op = fold_op_parse(text);
  if (op < 0) argp_failure(state, 2, 0, "--op %s: not one of sum, prod, max, min", text);
  return op;
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

unsigned fold_option_mask(struct argp_state *state, const char *option, char *list,
                          int (*parse_name)(struct argp_state *, const char *)) {
  char *rest = NULL;
  unsigned mask = 0;
  for (char *name = strtok_r(list, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
    mask |= 1u << parse_name(state, name);
  if (mask == 0) argp_failure(state, 2, 0, "%s: an empty list", option);
  return mask;
}
