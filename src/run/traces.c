/* traces.c: the log of a trial's runs. */
#include "traces.h"

#include <stdio.h>
#include <string.h>

static const char *const arguments[FOLD_ARGUMENTS] = {"output", "input", "scratch", "other input"};
static const char *const accesses[FOLD_ACCESSES] = {"overwritten", "read", "touched"};

static int find(const char *const *names, int n, const char *name) {
  for (int i = 0; name && i < n; i++)
    if (strcmp(name, names[i]) == 0) return i;
  return -1;
}

const char *fold_argument_name(enum fold_argument argument) { return arguments[argument]; }
int fold_argument_parse(const char *name) { return find(arguments, FOLD_ARGUMENTS, name); }
const char *fold_access_name(enum fold_access access) { return accesses[access]; }
int fold_access_parse(const char *name) { return find(accesses, FOLD_ACCESSES, name); }

void fold_log_add(struct fold_log *log, const struct fold_traces *traces) {
  log->runs++;
  log->had_company |= traces->ranks > 1;
  if (traces->out_of_bounds && !log->stray.out_of_bounds) log->stray = *traces;
  if (traces->wrote_input && !log->writer.wrote_input) log->writer = *traces;
  if (traces->left[0] && !log->leaver.left[0]) log->leaver = *traces;
  if (traces->ranks_differ && !log->split.ranks_differ) log->split = *traces;
}

void fold_traces_describe_stray(const struct fold_traces *traces, char text[120]) {
  snprintf(text, 120, "byte %td from the start of the %s was %s", traces->bounds_at,
           fold_argument_name(traces->bounds_of), fold_access_name(traces->bounds_by));
}
