/* command/words.c: see command/words.h. */
#include "command/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"

/* Searches backwards, because mostly the word is one of the last. */
fold_status fold_words_add(struct fold_words *w, const char *word, size_t n) {
  for (size_t i = w->n; i-- > 0;)
    if (strlen(w->at[i]) == n && memcmp(w->at[i], word, n) == 0) return fold_ok();
  char **added = fold_list_grow(&w->at, &w->n, &w->room, sizeof *added);
  if (added) *added = strndup(word, n);
  return added && *added ? fold_ok() : fold_error(FOLD_NO_MEMORY, "not enough memory for a list of words");
}

char *fold_words_join(const struct fold_words *w) {
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  for (size_t i = 0; out && i < w->n; i++) fprintf(out, "%s%s", i ? "," : "", w->at[i]);
  return out && fclose(out) == 0 ? text : NULL;
}

void fold_words_free(struct fold_words *w) {
  for (size_t i = 0; i < w->n; i++) free(w->at[i]);
  free(w->at);
}
