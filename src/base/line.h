/* line.h: reads text files line by line, with a limit on a line's length: /dev/zero never ends a line. */
#ifndef FOLD_LINE_H
#define FOLD_LINE_H

#include <stdio.h>
#include <sys/types.h>

/* As getline, but -1 with errno EOVERFLOW once a line is longer than `most` bytes. */
ssize_t fold_line_read(char **text, size_t *room, size_t most, FILE *file);

#endif
