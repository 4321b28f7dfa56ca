/* method.c: methods, and the dtypes to which factors may be rounded, by name, as records, goldens and guests write them. */
#include <string.h>

#include "model/claim.h"

const char *const fold_method_names[] = {"plain", "kahan", "neumaier", "truncated", "exact", NULL};
_Static_assert(sizeof fold_method_names / sizeof *fold_method_names == FOLD_EXACT + 2, "a method without a name");

const char *const fold_factor_dtype_names[] = {"", "tf32", "bf16", "f16", NULL};
_Static_assert(sizeof fold_factor_dtype_names / sizeof *fold_factor_dtype_names == FOLD_FACTORS_F16 + 2,
               "a dtype of factors without a name");

static int find(const char *const names[], const char *text) {
  for (int k = 0; names[k]; k++)
    if (strcmp(text, names[k]) == 0) return k;
  return -1;
}

int fold_method_parse(const char *text) { return find(fold_method_names, text); }
int fold_factor_dtype_parse(const char *text) { return find(fold_factor_dtype_names, text); }
