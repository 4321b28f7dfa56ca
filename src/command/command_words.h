/* command_words.h: words, each once, in the order in which they came. */
#ifndef FOLD_COMMAND_WORDS_H
#define FOLD_COMMAND_WORDS_H

#include "fold.h"

/* Zeroed, it is empty. */
struct fold_words {
  char **at;
  size_t n, room;
};

/* The first n bytes of a word, unless it is there. */
fold_status fold_words_add(struct fold_words *words, const char *word, size_t n);
/* "a,b", for the caller to free; NULL: memory is short. */
char *fold_words_join(const struct fold_words *words);
void fold_words_free(struct fold_words *words);

#endif
