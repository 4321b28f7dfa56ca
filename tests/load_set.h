/* load_set.h: the cases of a set of the fixtures in fixtures/. */
#ifndef FOLD_LOAD_SET_H
#define FOLD_LOAD_SET_H

#include <criterion/criterion.h>

#include "fixtures/fixture.h"

static inline struct fold_cases load_set(const char *set) {
  struct fold_cases cases = {0};
  fold_status status = fold_cases_load(FOLD_FIXTURE_FOLDER, set, NULL, &cases);
  cr_assert(status.code == FOLD_OK && cases.n > 0, "%s: %zu cases: %s", set, cases.n, status.text);
  return cases;
}

#endif
