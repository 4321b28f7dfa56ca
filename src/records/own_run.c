/* own_run.c: see own_run.h. */
#include "records/own_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/build.h"
#include "base/text.h"
#include "records/schema.h"

void fold_own_run_set_date(json_t *environment) {
  const char *build = json_string_value(json_object_get(environment, FOLD_KEY(build)));
  const time_t now = time(NULL);
  struct tm day;
  char text[16];
  if (!build || strcmp(build, fold_build_commit()) != 0 || json_object_get(environment, FOLD_KEY(date))) return;
  if (gmtime_r(&now, &day) && strftime(text, sizeof text, "%Y-%m-%d", &day))
    json_object_set_new(environment, FOLD_KEY(date), json_string(text));
}

/* Reads the arguments from /proc, where they keep their sequence: argp permutes argv. */
static void put_command(FILE *arguments, FILE *out) {
  char *word = NULL;
  size_t room = 0;
  for (bool first = true; getdelim(&word, &room, '\0', arguments) > 0; first = false) {
    const char *folder = first ? strrchr(word, '/') : NULL;
    if (!first) fputc(' ', out);
    fold_put_shell_program(folder ? folder + 1 : word, out);
  }
  free(word);
}

void fold_own_run_set_command(json_t *environment) {
  char *text = NULL;
  size_t size;
  FILE *arguments = fopen("/proc/self/cmdline", "r"), *out = open_memstream(&text, &size);
  if (arguments && out) put_command(arguments, out);
  if (arguments) fclose(arguments);
  if (out && fclose(out) == 0 && *text) json_object_set_new(environment, FOLD_KEY(command), json_string(text));
  free(text);
}

bool fold_own_run_has(const char *key) {
  static const enum fold_field fields[] = {FOLD_FIELD_date, FOLD_FIELD_command, FOLD_FIELD_schema,
                                           FOLD_FIELD_closing_line};
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
    if (strcmp(key, fold_fields[fields[i]].key) == 0) return true;
  return false;
}
