/* counts.c: see counts.h. */
#include "counts.h"

#include <stdio.h>

size_t fold_counts_all(const size_t count[FOLD_VERDICTS]) {
  size_t all = 0;
  for (int v = 0; v < FOLD_VERDICTS; v++) all += count[v];
  return all;
}

void fold_counts_add(size_t total[FOLD_VERDICTS], size_t *total_known, const size_t count[FOLD_VERDICTS],
                     size_t known) {
  for (int v = 0; v < FOLD_VERDICTS; v++) total[v] += count[v];
  total[FOLD_REFUTED] -= known;
  *total_known += known;
}

enum fold_gravest fold_counts_gravest(const size_t count[FOLD_VERDICTS], size_t known, size_t *n) {
  const size_t each[] = {count[FOLD_REFUTED] - known, count[FOLD_BROKEN], known, count[FOLD_HELD]};
  for (int k = 0; k < FOLD_IS_SKIPPED; k++)
    if (each[k]) {
      *n = each[k];
      return (enum fold_gravest)k;
    }
  *n = count[FOLD_SKIPPED];
  return FOLD_IS_SKIPPED;
}

bool fold_counts_untold(const size_t count[FOLD_VERDICTS], size_t telling, size_t idle) {
  return idle > 0 && telling == 0 && count[FOLD_REFUTED] == 0;
}

int fold_counts_print(const size_t total[FOLD_VERDICTS], char text[100]) {
  return snprintf(text, 100, "%zu held, %zu refuted, %zu skipped", total[FOLD_HELD], total[FOLD_REFUTED],
                  total[FOLD_SKIPPED]);
}
