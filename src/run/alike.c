/* alike.c: see alike.h. */
#include "run/alike.h"

#include "run/runner.h"

static unsigned log2_of(size_t n) {
  unsigned k = 0;
  while (n >>= 1) k++;
  return k;
}

static unsigned rows_of(size_t rows) {
  enum { FEW = 4 };
  return rows > FEW ? 2 : rows > 1;
}

static bool are_alike(const struct fold_case *a, const struct fold_case *b) {
  return a->ranks == b->ranks && a->dtype == b->dtype && fold_case_problem(a) == fold_case_problem(b) &&
         rows_of(a->rows) == rows_of(b->rows) && log2_of(a->rows * a->cols) == log2_of(b->rows * b->cols);
}

bool fold_stands_for_alike(const struct fold_cases *cases, size_t at, const char *claim) {
  enum { OF_A_KIND = 4 };
  size_t n = 0, before = 0;
  for (size_t i = 0; i < cases->n; i++) {
    if (!are_alike(&cases->at[i], &cases->at[at]) || !fold_glob_match(cases->at[i].claims, claim)) continue;
    before += i < at;
    n++;
  }
  return before == 0 || before * OF_A_KIND / n != (before - 1) * OF_A_KIND / n;
}

bool fold_is_spared(const struct fold_cases *cases, size_t at, const struct fold_subject *subject, unsigned repeats) {
  return subject->guest && repeats == FOLD_REPEATS && !fold_stands_for_alike(cases, at, "run_to_run");
}
