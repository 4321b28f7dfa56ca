/* command/env.c: foldproof env: describes the machine and software that make results. */
#include <stdio.h>

#include "command/command.h"
#include "run/environment.h"

enum { JSON = 0x200 };

static const struct argp_option options[] = {{"json", JSON, NULL, 0, "as one JSON object", 0}, {0}};

static error_t parse(int key, char *arg, struct argp_state *state) {
  (void)arg;
  if (key != JSON) return ARGP_ERR_UNKNOWN;
  *(bool *)state->input = true;
  return 0;
}

static const struct argp argp = {.options = options,
                                 .parser = parse,
                                 .doc =
                                     "Print the machine and the software that make the results.\n"
                                     "\n"
                                     "Examples:\n"
                                     "  foldproof env\n"
                                     "  foldproof env --json\n"
                                     "  foldproof env | grep -i gpu"};

static void print_value(const char *key, json_t *value) {
  if (json_is_string(value))
    printf("%-20s %s\n", key, json_string_value(value));
  else if (json_is_integer(value))
    printf("%-20s %lld\n", key, (long long)json_integer_value(value));
}

static void print_lines(json_t *environment) {
  const char *key, *inner;
  json_t *value, *element, *field;
  size_t i;
  json_object_foreach(environment, key, value) {
    print_value(key, value);
    json_array_foreach(value, i, element) {
      char name[64];
      json_object_foreach(element, inner, field) {
        snprintf(name, sizeof name, "gpu%zu.%s", i, inner);
        print_value(name, field);
      }
    }
  }
}

int fold_command_env(int argc, char **argv, const struct fold_registry *registry) {
  (void)registry;
  bool as_json = false;
  fold_parse(&argp, argc, argv, &as_json);
  json_t *environment = fold_environment();
  if (environment == NULL) return fold_print_error(argv[0], fold_no_memory("for the environment"));
  if (as_json) {
    json_dumpf(environment, stdout, JSON_INDENT(2));
    putchar('\n');
  } else {
    print_lines(environment);
  }
  json_decref(environment);
  return 0;
}
