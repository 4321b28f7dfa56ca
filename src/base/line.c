/* line.c: see line.h. */
#include "line.h"

#include <errno.h>
#include <stdlib.h>

static int reserve(char **text, size_t *room, size_t wanted) {
  if (wanted <= *room) return 0;
  size_t more = *room < 256 ? 256 : 2 * *room;
  char *grown = realloc(*text, more);
  if (grown == NULL) return -1; /* with errno */
  *text = grown;
  *room = more;
  return 0;
}

ssize_t fold_line_read(char **text, size_t *room, size_t most, FILE *file) {
  size_t n = 0;
  int c;
  flockfile(file);
  while ((c = getc_unlocked(file)) != EOF) {
    if (n == most) {
      errno = EOVERFLOW;
      n = 0;
      break;
    }
    if (reserve(text, room, n + 2) != 0) {
      n = 0;
      break;
    }
    (*text)[n++] = (char)c;
    if (c == '\n') break;
  }
  funlockfile(file);
  if (n == 0 || ferror(file)) return -1;
  (*text)[n] = '\0';
  return (ssize_t)n;
}
