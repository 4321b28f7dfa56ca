/* method.c: methods by name, as records, goldens and guests write them. */
#include <string.h>

#include "model/claim.h"

const char *const fold_method_names[] = {"plain", "kahan", "neumaier", "exact", NULL};
_Static_assert(sizeof fold_method_names / sizeof *fold_method_names == FOLD_EXACT + 2, "a method without a name");

int fold_method_parse(const char *text) {
  for (int m = 0; fold_method_names[m]; m++)
    if (strcmp(text, fold_method_names[m]) == 0) return m;
  return -1;
}
