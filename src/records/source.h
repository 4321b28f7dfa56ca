/* records/source.h: reads the lines of records from a file or a file that gzip made, and lists those of a folder. */
#ifndef FOLD_SOURCE_H
#define FOLD_SOURCE_H

#include <stdio.h>
#include <sys/types.h>

#include "base/fold.h"

enum { FOLD_SOURCE_LONGEST = 1 << 26 }; /* bytes of a line */

struct fold_source_file {
  FILE *file;
  pid_t gunzip; /* 0: gzip is not needed */
  char *block;  /* what was read but not yet returned as a line: from ... to */
  size_t from, to, room;
  bool ended;
};
/* A file that begins like gzip's is read through gzip, whatever its name. BAD_INPUT if it can't be read. */
fold_status fold_source_open(struct fold_source_file *source, const char *path);
/* The next line with its line end, valid until the next call; *length is 0 at the end of the file. */
fold_status fold_source_line(struct fold_source_file *source, const char **text, size_t *length);
/* BAD_INPUT if the file was read to its end and gzip found it cut or damaged. */
fold_status fold_source_close(struct fold_source_file *source, const char *path, bool whole);

/* The *.jsonl and *.jsonl.gz files of a folder, sorted by name; NULL ends the list. The caller frees it and each name.
 * *names is NULL if `path` is no folder. */
fold_status fold_source_folder(const char *path, char ***names);

#endif
