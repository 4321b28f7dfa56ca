/* line.h: reads text files line by line, with a limit on a line's length (/dev/zero never ends one), and finds lines
 * that Windows has changed. */
#ifndef FOLD_LINE_H
#define FOLD_LINE_H

#include <stdio.h>
#include <sys/types.h>

#include "base/fold.h"

/* Like getline, but returns -1 with errno EOVERFLOW once a line is longer than `most` bytes. */
ssize_t fold_line_read(char **text, size_t *room, size_t most, FILE *file);
/* FOLD_BAD_INPUT for a line that an editor or a copy under Windows has changed: it ends in CR LF, or begins with a byte
 * order mark. For files whose hash is checked: this gives the harmless reason, before the hash would call the file
 * changed. */
fold_status fold_line_check(const char *text, size_t n);

#endif
