/* wrap.h: text for people, in lines that fit the terminal. */
#ifndef FOLD_WRAP_H
#define FOLD_WRAP_H

#include <stdbool.h>
#include <stdio.h>

/* Prints the words with line breaks where a line would be longer than that. A word that is longer than a line, such as
 * a case's name, stays whole. `first` blanks begin the first line, `rest` blanks all others. */
void fold_put_wrapped(FILE *out, unsigned first, unsigned rest, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Whether to colour what goes there: a terminal that knows colours, and no variable NO_COLOR. */
bool fold_has_colour(FILE *out);
#define FOLD_RED "\033[31m"
#define FOLD_GREEN "\033[32m"
#define FOLD_YELLOW "\033[33m"
#define FOLD_PLAIN_COLOUR "\033[0m"

#endif
