/* sheet_text.h: escaped text and numbers, of all formats.
 *
 * Promised: whatever a record holds, its text stays text. Valid UTF-8 passes; other bytes, control characters and code points
 * without a character (text.h) become U+FFFD. Failures to write show in ferror(out), which the opener of the file must check.
 */
#ifndef FOLD_SHEET_TEXT_H
#define FOLD_SHEET_TEXT_H

#include <stdio.h>

/* As text or a quoted attribute of HTML and of XML. */
void fold_put_html(FILE *out, const char *text);
/* As text of GitHub's Markdown, in a table's cell too. */
void fold_put_markdown(FILE *out, const char *text);

/* For a terminal. */
void fold_put_plain(FILE *out, const char *text);

/* Three digits ("1.23", "12,300" whole, "1.20e9"), or "-" for NaN. */
const char *fold_text_number(double value, char text[16]);
/* A whole number below 2^53 in full, and otherwise as above. */
const char *fold_text_count(double value, char text[32]);

/* The same for people who read tables: "1,000,000". */
const char *fold_text_grouped(double value, char text[32]);

#endif
