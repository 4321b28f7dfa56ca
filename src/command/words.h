/* command/words.h: a list of words without repetition, in the order in which they came. */
#ifndef FOLD_COMMAND_WORDS_H
#define FOLD_COMMAND_WORDS_H

#include "base/fold.h"

/* All zeros: it is empty. */
struct fold_words {
  char **at;
  size_t n, room;
};

/* Adds the first n bytes of a word, unless the list has that word. */
fold_status fold_words_add(struct fold_words *words, const char *word, size_t n);
/* "a,b", for the caller to free; NULL if memory is short. */
char *fold_words_join(const struct fold_words *words);
void fold_words_free(struct fold_words *words);

#endif
