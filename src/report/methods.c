/* report/methods.c: see report/methods.h. */
#include "report/methods.h"

#include <stdbool.h>
#include <string.h>

enum { KINDS = 5 };

static bool ends_in(const char *name, const char *end) {
  const size_t n = strlen(name), m = strlen(end);
  return n >= m && strcmp(name + n - m, end) == 0;
}

int fold_methods_kind(const char *subject) {
  if (strstr(subject, "numpy")) return 0;
  if (strcmp(subject, "flat/shuffle") == 0 || strcmp(subject, "rows/par_256") == 0) return 1;
  if (strcmp(subject, "cub/reduce") == 0 || strcmp(subject, "cub/segmented") == 0) return 2;
  if (ends_in(subject, "/exact")) return 3;
  return strcmp(subject, "flat/canonical") == 0 ? 4 : -1;
}

size_t fold_methods_split(const char *const *subjects, size_t n, size_t order[FOLD_METHODS_MOST],
                          size_t end[FOLD_METHODS_MOST]) {
  bool taken[FOLD_METHODS_MOST] = {0};
  size_t at = 0, figures = 0;
  if (n > FOLD_METHODS_MOST) n = FOLD_METHODS_MOST;
  for (int kind = 0; kind < KINDS && n > FOLD_METHODS_TOGETHER; kind++)
    for (size_t i = 0; i < n; i++)
      if (!taken[i] && fold_methods_kind(subjects[i]) == kind) {
        taken[i] = true;
        order[at++] = i;
        break;
      }
  /* a single method compares with nothing */
  if (at == 1) taken[order[0]] = false, at = 0;
  if (at) end[figures++] = at;
  for (size_t i = 0, together = 0; i < n; i++) {
    if (taken[i]) continue;
    if (together++ % FOLD_METHODS_TOGETHER == 0) end[figures++] = at;
    order[at++] = i;
    end[figures - 1] = at;
  }
  return figures;
}

static int rank_of(const char *word, const char *const *words, int n) {
  for (int i = 0; i < n; i++)
    if (strcmp(word, words[i]) == 0) return i;
  return n;
}

int fold_methods_compare(const char *a, const char *b) {
  static const char *const first[] = {"sum", "prod", "max",   "min",          "f32",    "f64",
                                      "f16", "bf16", "mixed", "pathological", "normal", "default"};
  int n = sizeof first / sizeof *first, d = rank_of(a, first, n) - rank_of(b, first, n);
  return d ? d : strcmp(a, b);
}
