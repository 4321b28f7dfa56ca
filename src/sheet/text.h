/* sheet/text.h: writes escaped text and numbers, for all formats.
 *
 * Promised: whatever a record holds, its text stays text. Valid UTF-8 passes; other bytes, control characters and code points
 * without a character (text.h) become U+FFFD. Nothing in it is a command for a CI runner ("##[error]", "::error"). Failures to write show in ferror(out), which the opener of the file must check.
 */
#ifndef FOLD_SHEET_TEXT_H
#define FOLD_SHEET_TEXT_H

#include <stdio.h>

#include "base/text.h"

/* Escapes text for HTML and XML, also within a quoted attribute. */
void fold_put_html(FILE *out, const char *text);
/* Escapes text for GitHub's Markdown, also within a table's cell. */
void fold_put_markdown(FILE *out, const char *text);

/* Escapes text for a terminal. */
void fold_put_plain(FILE *out, const char *text);

/* Three digits ("1.23", "12,300" whole, "1.20e9"), or "-" for NaN. */
const char *fold_text_number(double value, char text[16]);

#endif
