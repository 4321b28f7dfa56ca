/* text.c: see text.h. */
#include "base/text.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t decode(const unsigned char *c, size_t n) {
  uint32_t code = n == 1 ? c[0] : c[0] & (0x7fu >> n);
  for (size_t i = 1; i < n; i++) code = code << 6 | (c[i] & 0x3fu);
  return code;
}

size_t fold_text_character(const char *text) {
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const unsigned char *c = (const unsigned char *)text;
  size_t n = c[0] < 0x80 ? 1 : c[0] < 0xc0 ? 0 : c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 : c[0] < 0xf8 ? 4 : 0;
  for (size_t i = 1; i < n; i++)
    if ((c[i] & 0xc0) != 0x80) return 0;
  if (n == 0) return 0;
  uint32_t code = decode(c, n);
  return code < least[n] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ? 0 : n;
}

/* A character that has the text around it read from right to left, or ends that: a text may then look like another. */
static bool turns_text(uint32_t code) {
  return code == 0x61c || code == 0x200e || code == 0x200f || (code >= 0x202a && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069);
}

bool fold_text_is_plain(const char *c, size_t n) {
  uint32_t code = decode((const unsigned char *)c, n);
  if (code < ' ') return code == '\t' || code == '\n' || code == '\r';
  if ((code >= 0x7f && code < 0xa0) || code == 0x2028 || code == 0x2029 || turns_text(code)) return false;
  return (code & 0xfffe) != 0xfffe && !(code >= 0xfdd0 && code <= 0xfdef);
}

/* How many bytes of white space begin the text. A runner leaves them out, those of Unicode too. */
static size_t count_blanks(const char *text) {
  const char *c = text;
  for (size_t n; (n = fold_text_character(c)) != 0 && *c; c += n) {
    const uint32_t code = decode((const unsigned char *)c, n);
    const bool blank = code == ' ' || (code >= '\t' && code <= '\r') || code == 0xa0 || code == 0x1680 ||
                       (code >= 0x2000 && code <= 0x200a) || code == 0x202f || code == 0x205f || code == 0x3000;
    if (!blank) break;
  }
  return (size_t)(c - text);
}

bool fold_text_is_command(const char *text, const char *c) {
  if (c[0] == '#' && c[1] == '#')
    return c[2] == '[' || strncmp(c + 2, "vso[", 4) == 0 || strncmp(c + 2, "teamcity[", 9) == 0;
  return c[0] == ':' && c[1] == ':' && text + count_blanks(text) == c;
}

/* How many bytes at `c` make one character that may stay as it is in that line; 0: none. */
static size_t fine(const char *text, const char *c) {
  size_t n = fold_text_character(c);
  return n && (unsigned char)*c >= ' ' && fold_text_is_plain(c, n) && !fold_text_is_command(text, c) ? n : 0;
}

bool fold_text_is_one_line(const char *text) {
  const char *c = text;
  for (size_t n; *c; c += n)
    if ((n = fine(text, c)) == 0) return false;
  return true;
}

void fold_text_one_line(char *text) {
  for (char *c = text; *c;) {
    size_t n = fine(text, c);
    if (n == 0) *c = '?', n = 1;
    c += n;
  }
}

static bool is_escape(const char *c) {
  return c[0] == '\\' && c[1] == 'x' && isxdigit((unsigned char)c[2]) && isxdigit((unsigned char)c[3]);
}

char *fold_text_escape(const char *name) {
  char *text = malloc(4 * strlen(name) + 1), *at = text;
  for (const char *c = name; text && *c;) {
    size_t n = is_escape(c) ? 0 : fine(name, c);
    if (n == 0) {
      at += sprintf(at, "\\x%02x", (unsigned char)*c++);
      continue;
    }
    memcpy(at, c, n);
    at += n;
    c += n;
  }
  if (text) *at = '\0';
  return text;
}

char *fold_text_unescape(const char *text) {
  char *name = malloc(strlen(text) + 1), *at = name;
  while (name && *text) {
    unsigned byte = 0;
    bool escaped = is_escape(text) && sscanf(text + 2, "%2x", &byte) == 1 && byte;
    *at++ = escaped ? (char)byte : *text;
    text += escaped ? 4 : 1;
  }
  if (name) *at = '\0';
  return name;
}

int fold_print_line(const char *format, ...) {
  char *text = NULL;
  va_list args;
  va_start(args, format);
  if (vasprintf(&text, format, args) < 0) text = NULL;
  va_end(args);
  char *escaped = text && !fold_text_is_one_line(text) ? fold_text_escape(text) : text;
  const int printed = puts(escaped ? escaped : "not enough memory for a line");
  if (escaped != text) free(escaped);
  free(text);
  return printed;
}

/* Writes any bytes in plain characters, from which a shell makes them again by printf. */
static void put_octal(const char *text, FILE *out) {
  fputs("\"$(printf '", out);
  for (; *text; text++)
    if (*text > ' ' && *text < 0x7f && !strchr("'\\%#", *text))
      fputc(*text, out);
    else
      fprintf(out, "\\%03o", (unsigned char)*text);
  fputs("')\"", out);
}

static void put_quoted(const char *text, FILE *out) {
  fputc('\'', out);
  for (; *text; text++)
    if (*text == '\'')
      fputs("'\\''", out);
    else
      fputc(*text, out);
  fputc('\'', out);
}

void fold_put_shell_word(const char *text, FILE *out) {
  (fold_text_is_one_line(text) ? put_quoted : put_octal)(text, out);
}

void fold_put_shell_program(const char *name, FILE *out) {
  static const char safe[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./+-,:@%";
  if (*name && name[strspn(name, safe)] == '\0')
    fputs(name, out);
  else
    fold_put_shell_word(name, out);
}

const char *fold_text_count(double value, char text[32]) {
  if (isnan(value))
    snprintf(text, 32, "-");
  else
    snprintf(text, 32, fabs(value) < 0x1p53 && value == floor(value) ? "%.0f" : "%.3g", value);
  return text;
}

const char *fold_text_grouped(double value, char text[32]) {
  char plain[32];
  size_t n = strlen(fold_text_count(value, plain)), at = 0;
  bool digits = strspn(plain, "0123456789") == n;
  for (size_t k = 0; k < n; k++) {
    if (digits && k > 0 && (n - k) % 3 == 0) text[at++] = ',';
    text[at++] = plain[k];
  }
  text[at] = '\0';
  return text;
}
