/* base/did_you_mean.h: "did you mean": finds the known word that is nearest to a mistyped one. */
#ifndef FOLD_DID_YOU_MEAN_H
#define FOLD_DID_YOU_MEAN_H

#include <stddef.h>

struct fold_did_you_mean {
  const char *word;
  char best[120];
  unsigned distance; /* of the best; above a third of the word's length it does not count as similar */
};

void fold_did_you_mean_open(struct fold_did_you_mean *guess, const char *word);
/* Tries a known word, also without what precedes its last '/'. */
void fold_did_you_mean_try(struct fold_did_you_mean *guess, const char *candidate);
/* ": did you mean 'rows/par_256'?"; "" where nothing is near. */
const char *fold_did_you_mean_text(const struct fold_did_you_mean *guess, char text[160]);
/* All of the above for a list of names, which ends in NULL. */
const char *fold_did_you_mean_of(const char *word, const char *const names[], char text[160]);

#endif
