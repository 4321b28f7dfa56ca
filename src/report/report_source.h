/* report_source.h: where records are read from: a file, one that gzip made, or all such of a folder. */
#ifndef FOLD_REPORT_SOURCE_H
#define FOLD_REPORT_SOURCE_H

#include <stdio.h>
#include <sys/types.h>

#include "fold.h"

struct fold_source_file {
  FILE *file;
  pid_t gunzip; /* 0: none is needed */
};
/* What begins as gzip's files do is read through gzip, whatever its name. BAD_INPUT names what can't be read. */
fold_status fold_source_open(struct fold_source_file *source, const char *path);
/* BAD_INPUT where gzip found the file cut or damaged, unless it was not read to its end. */
fold_status fold_source_close(struct fold_source_file *source, const char *path, bool whole);

/* The *.jsonl and *.jsonl.gz of a folder, by name; NULL-terminated and to be freed with each name. *names is NULL where `path` is no folder. */
fold_status fold_source_folder(const char *path, char ***names);

#endif
