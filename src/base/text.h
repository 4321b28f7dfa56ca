/* text.h: bytes from outside (names of files, records, libraries' words) as text: UTF-8, on one line. */
#ifndef FOLD_TEXT_H
#define FOLD_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* How many bytes the UTF-8 character at `c` has, 1 to 4. 0 where there is no valid one: an invalid byte, a character
 * that was cut short, an overlong form, a surrogate. Reads nothing behind a zero byte. */
size_t fold_text_character(const char *c);
/* Whether such a character, of `n` bytes, may be in a document: it is no control character (other than tabs and line
 * ends), no Unicode line separator, no control of the direction of text, and no noncharacter (XML forbids two of
 * these). */
bool fold_text_is_plain(const char *c, size_t n);

/* Whether a command for a CI runner begins at `c`, a place in `text`: "::error" where the text begins, "##[group]" and the like
 * anywhere. */
bool fold_text_is_command(const char *text, const char *c);

/* Whether the text has nothing that fold_text_one_line would replace. */
bool fold_text_is_one_line(const char *text);

/* Replaces by '?' every byte that is not UTF-8, ends the line or moves the cursor, and the first of what a CI runner
 * takes for a command ("::error" at the beginning, "##[error]"). */
void fold_text_one_line(char *text);

/* Escapes a name so that it can be read back: a byte that fold_text_one_line would replace becomes \xHH, and so does a
 * backslash that would be read as such an escape. The caller frees the text; NULL: no memory. */
char *fold_text_escape(const char *name);
char *fold_text_unescape(const char *text);

/* Prints a line on standard output and returns what puts does. The text may contain names and records with any bytes:
 * it is escaped by fold_text_escape. */
int fold_print_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints any bytes as one word for a shell, on one line. */
void fold_put_shell_word(const char *text, FILE *out);
/* The same for a program's name, without quotes where it needs none. */
void fold_put_shell_program(const char *name, FILE *out);

/* A whole number below 2^53 in full; any other with three digits. */
const char *fold_text_count(double value, char text[32]);

/* The same with thousands separators: "1,000,000". */
const char *fold_text_grouped(double value, char text[32]);

#endif
