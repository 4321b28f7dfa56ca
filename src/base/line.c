/* line.c: see line.h. */
#include "base/line.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

fold_status fold_line_check(const char *text, size_t n) {
  static const char *const marks[] = {"\xef\xbb\xbf", "\xff\xfe", "\xfe\xff"}; /* of UTF-8, UTF-16 */
  bool changed = n > 1 && memcmp(text + n - 2, "\r\n", 2) == 0;
  for (size_t k = 0; k < sizeof marks / sizeof *marks && !changed; k++)
    changed = n >= strlen(marks[k]) && memcmp(text, marks[k], strlen(marks[k])) == 0;
  if (!changed) return fold_ok();
  return fold_error(FOLD_BAD_INPUT,
                    "the file was made text of Windows (CR LF, or a byte order mark): take it as it was written, or "
                    "convert it back (dos2unix)");
}
