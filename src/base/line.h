/* line.h: text files, a line at a time, with an end to what one may hold: /dev/zero has no line's end. */
#ifndef FOLD_LINE_H
#define FOLD_LINE_H

#include <stdio.h>
#include <sys/types.h>

/* As getline, but -1 with errno EOVERFLOW once a line is longer than `most` bytes. */
ssize_t fold_line_read(char **text, size_t *room, size_t most, FILE *file);

#endif
