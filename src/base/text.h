/* text.h: bytes from outside (names of files, records, libraries' words) as text: UTF-8, on one line. */
#ifndef FOLD_TEXT_H
#define FOLD_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* How many bytes the character of UTF-8 at `c` has, 1 to 4; 0 where there is none: a byte that can't stand there, a
 * character that was cut short, an overlong form, a surrogate. Nothing behind a zero byte is read. */
size_t fold_text_character(const char *c);
/* Whether such a character, of `n` bytes, may stand in a document: no control (tabs and line ends are none here), no
 * separator of lines, and none that Unicode gives to nobody, two of which XML forbids. */
bool fold_text_is_plain(const char *c, size_t n);

/* Whether there is nothing of what fold_text_one_line replaces. */
bool fold_text_is_one_line(const char *text);

/* Replaces by '?' whatever is not UTF-8, ends the line or moves the cursor. */
void fold_text_one_line(char *text);

/* A name as text that can be read back: what fold_text_one_line would replace becomes \xHH, and so does a backslash that
 * would be read as one. The caller frees it; NULL: no memory. */
char *fold_text_escape(const char *name);
char *fold_text_unescape(const char *text);

/* Prints a line on standard output: of names and records, which may say anything, as fold_text_escape tells them. As puts. */
int fold_print_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints any bytes as one word for a shell, itself on one line. */
void fold_put_shell_word(const char *text, FILE *out);
/* The same, without quotes where it needs none: a program's name. */
void fold_put_shell_program(const char *name, FILE *out);

#endif
