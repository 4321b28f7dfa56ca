/* counts.c: see counts.h. */
#include "records/counts.h"

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

size_t fold_counts_of(const size_t count[FOLD_VERDICTS], size_t known, enum fold_gravest kind) {
  switch (kind) {
    case FOLD_IS_REFUTED: return count[FOLD_REFUTED] - known;
    case FOLD_IS_BROKEN: return count[FOLD_BROKEN];
    case FOLD_IS_KNOWN: return known;
    case FOLD_IS_HELD: return count[FOLD_HELD];
    case FOLD_IS_SKIPPED: return count[FOLD_SKIPPED];
  }
  return 0;
}

enum fold_gravest fold_counts_gravest(const size_t count[FOLD_VERDICTS], size_t known, size_t *n) {
  enum fold_gravest kind = FOLD_IS_REFUTED;
  while (kind < FOLD_IS_SKIPPED && fold_counts_of(count, known, kind) == 0) kind++;
  *n = fold_counts_of(count, known, kind);
  return kind;
}

bool fold_counts_untold(const size_t count[FOLD_VERDICTS], size_t telling, size_t idle) {
  return idle > 0 && telling == 0 && count[FOLD_REFUTED] == 0;
}
