/* traces.c: the names in traces, and their descriptions. */
#include "model/traces.h"

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

void fold_traces_describe_stray(const struct fold_traces *traces, char text[120]) {
  snprintf(text, 120, "byte %td from the start of the %s was %s", traces->bounds_at,
           fold_argument_name(traces->bounds_of), fold_access_name(traces->bounds_by));
}
