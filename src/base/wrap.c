/* wrap.c: see wrap.h. */
#include "base/wrap.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { NARROWEST = 40, USUAL = 80 };

/* How many columns a line has: the variable COLUMNS, else the width of the terminal that standard output is, else 80. */
static unsigned line_width(void) {
  const char *columns = getenv("COLUMNS");
  const int asked = columns ? atoi(columns) : 0;
  struct winsize size;
  if (asked >= NARROWEST) return (unsigned)asked;
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= NARROWEST) return size.ws_col;
  return USUAL;
}

/* Characters of UTF-8, not bytes. */
static unsigned columns_of(const char *word, size_t n) {
  unsigned columns = 0;
  for (size_t i = 0; i < n; i++) columns += ((unsigned char)word[i] & 0xc0) != 0x80;
  return columns;
}

static void put_words(FILE *out, unsigned first, unsigned rest, const char *text) {
  const unsigned width = line_width();
  unsigned at = first;
  bool begun = false;
  fprintf(out, "%*s", (int)first, "");
  for (size_t n; text += strspn(text, " \n"), (n = strcspn(text, " \n")) > 0; text += n) {
    const unsigned columns = columns_of(text, n);
    if (begun && at + 1 + columns > width) {
      fprintf(out, "\n%*s", (int)rest, "");
      at = rest;
    } else if (begun) {
      fputc(' ', out);
      at++;
    }
    fwrite(text, 1, n, out);
    at += columns;
    begun = true;
  }
  fputc('\n', out);
}

void fold_put_wrapped(FILE *out, unsigned first, unsigned rest, const char *format, ...) {
  char *text = NULL;
  va_list arguments;
  va_start(arguments, format);
  const int length = vasprintf(&text, format, arguments);
  va_end(arguments);
  if (length < 0) return;
  put_words(out, first, rest, text);
  free(text);
}

bool fold_has_colour(FILE *out) {
  const char *none = getenv("NO_COLOR"), *term = getenv("TERM");
  if (isatty(fileno(out)) != 1 || (none && *none)) return false;
  return !term || strcmp(term, "dumb") != 0;
}
