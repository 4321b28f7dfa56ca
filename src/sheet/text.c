/* sheet/text.c: escaping and numbers. */
#include "sheet/text.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* Whether HTML or XML gives this character a meaning. */
static bool means_html(const unsigned char *text, const unsigned char *c) {
  (void)text;
  return strchr("&<>\"'", *c) != NULL;
}

/* Whether Markdown gives this character a meaning, also in a table's cell. An underscore within a word has none and
 * stays, for people who read the source. GitHub would make links of "://" and "@". */
static bool means_markdown(const unsigned char *text, const unsigned char *c) {
  if (*c == '_') return c == text || !isalnum(c[-1]) || !isalnum(c[1]);
  if (*c == ':') return c[1] == '/';
  return strchr("&<>|`*[]\\~#!@$", *c) != NULL;
}

static bool means_nothing(const unsigned char *text, const unsigned char *c) {
  (void)text, (void)c;
  return false;
}

/* All text from records goes through here, in each format. A byte that a document may not contain becomes U+FFFD. So does the
 * first of a command for a CI runner, unless the format can escape it: no log of a page or a table gives a command. */
static void put_escaped(FILE *out, const char *text, bool (*means)(const unsigned char *text, const unsigned char *c)) {
  static const char replaced[] = "\xef\xbf\xbd";
  const char *start = text;
  for (size_t n; *text; text += n) {
    n = fold_text_character(text);
    if (n == 0 || !fold_text_is_plain(text, n)) {
      fputs(replaced, out);
      n = n ? n : 1;
    } else if (n > 1) {
      fwrite(text, 1, n, out);
    } else if ((unsigned char)*text < ' ') {
      fputc(' ', out);
    } else if (fold_text_is_command(start, text)) {
      fputs(means == means_nothing ? replaced : *text == '#' ? "&#35;" : "&#58;", out);
    } else if (means((const unsigned char *)start, (const unsigned char *)text)) {
      fprintf(out, "&#%d;", *text);
    } else {
      fputc(*text, out);
    }
  }
}

void fold_put_html(FILE *out, const char *text) { put_escaped(out, text, means_html); }
void fold_put_plain(FILE *out, const char *text) { put_escaped(out, text, means_nothing); }
void fold_put_markdown(FILE *out, const char *text) { put_escaped(out, text, means_markdown); }

const char *fold_text_number(double value, char text[16]) {
  const double size = fabs(value);
  if (isnan(value)) {
    snprintf(text, 16, "-");
  } else if (size >= 999.5 && size < 999999.5) {
    const int whole = (int)lround(size);
    snprintf(text, 16, "%s%d,%03d", value < 0 ? "-" : "", whole / 1000, whole % 1000);
  } else if (value == 0 || isinf(value) || (size >= 0.001 && size < 999.5)) {
    snprintf(text, 16, "%.3g", value);
  } else {
    /* "1.20e9": without the sign and zeros that printf writes before an exponent */
    char plain[24];
    snprintf(plain, sizeof plain, "%.2e", value);
    snprintf(text, 16, "%.*se%d", (int)strcspn(plain, "e"), plain, atoi(strchr(plain, 'e') + 1));
  }
  return text;
}
