/* scratch.h: a folder of its own for a test that writes files; each test runs in a process of its own. */
#ifndef SCRATCH_H
#define SCRATCH_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fold.h"

struct scratch {
  char folder[64], path[256];
};

static inline bool scratch_open(struct scratch *s) {
  strcpy(s->folder, "/tmp/foldproof-test-XXXXXX");
  return mkdtemp(s->folder) != NULL;
}

/* "folder/name", valid until the next call. */
static inline const char *scratch_path(struct scratch *s, const char *name) {
  snprintf(s->path, sizeof s->path, "%s/%s", s->folder, name);
  return s->path;
}

static inline const char *scratch_write(struct scratch *s, const char *name, const void *bytes, size_t n) {
  const char *path = scratch_path(s, name);
  FILE *file = fopen(path, "wb");
  if (!file || fwrite(bytes, 1, n, file) != n || fclose(file) != 0) abort();
  return path;
}

/* How many files lie in the folder; each is removed if asked. */
static inline int scratch_count(struct scratch *s, bool removing) {
  int n = 0;
  DIR *folder = opendir(s->folder);
  for (struct dirent *entry; folder && (entry = readdir(folder));) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    n++;
    if (removing) remove(scratch_path(s, entry->d_name));
  }
  if (folder) closedir(folder);
  return n;
}

static inline void scratch_close(struct scratch *s) {
  scratch_count(s, true);
  rmdir(s->folder);
}

#endif
