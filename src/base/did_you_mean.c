/* base/did_you_mean.c: see base/did_you_mean.h. */
#include "base/did_you_mean.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 100 };

static unsigned least(unsigned a, unsigned b) { return a < b ? a : b; }

/* Letters to insert, delete, replace or swap with a neighbour (optimal string alignment). Words longer than MOST letters match nothing. */
static unsigned edits(const char *a, const char *b) {
  const size_t n = strlen(a), m = strlen(b);
  unsigned row[3][MOST + 1];
  if (n > MOST || m > MOST) return UINT_MAX;
  for (size_t j = 0; j <= m; j++) row[0][j] = (unsigned)j;
  for (size_t i = 1; i <= n; i++) {
    unsigned *now = row[i % 3], *before = row[(i + 2) % 3], *two = row[(i + 1) % 3];
    now[0] = (unsigned)i;
    for (size_t j = 1; j <= m; j++) {
      now[j] = least(least(now[j - 1], before[j]) + 1, before[j - 1] + (a[i - 1] != b[j - 1]));
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) now[j] = least(now[j], two[j - 2] + 1);
    }
  }
  return row[n % 3][m];
}

void fold_did_you_mean_open(struct fold_did_you_mean *guess, const char *word) {
  const size_t third = strlen(word) / 3;
  *guess = (struct fold_did_you_mean){.word = word, .distance = (unsigned)(third > 1 ? third : 1) + 1};
}

void fold_did_you_mean_try(struct fold_did_you_mean *guess, const char *candidate) {
  const char *slash = strrchr(candidate, '/');
  unsigned distance = edits(guess->word, candidate);
  if (slash && !strchr(guess->word, '/')) distance = least(distance, edits(guess->word, slash + 1));
  if (distance >= guess->distance) return;
  guess->distance = distance;
  snprintf(guess->best, sizeof guess->best, "%s", candidate);
}

const char *fold_did_you_mean_text(const struct fold_did_you_mean *guess, char text[160]) {
  text[0] = '\0';
  if (guess->best[0]) snprintf(text, 160, ": did you mean '%s'?", guess->best);
  return text;
}

const char *fold_did_you_mean_of(const char *word, const char *const names[], char text[160]) {
  struct fold_did_you_mean guess;
  fold_did_you_mean_open(&guess, word);
  for (size_t i = 0; names[i]; i++) fold_did_you_mean_try(&guess, names[i]);
  return fold_did_you_mean_text(&guess, text);
}
