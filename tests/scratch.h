/* scratch.h: a folder of its own for a test that writes files; each test runs in a process of its own. */
#ifndef SCRATCH_H
#define SCRATCH_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fold.h"

struct scratch {
  char folder[64], path[384];
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

/* A file in memory, for tests that write thousands of files: its content is replaced, its path ("/proc/self/fd/N")
 * stays. */
struct memory_file {
  int fd;
  char path[32];
};

static inline void memory_file_open(struct memory_file *m) {
  m->fd = memfd_create("foldproof-test", MFD_CLOEXEC);
  if (m->fd < 0) abort();
  snprintf(m->path, sizeof m->path, "/proc/self/fd/%d", m->fd);
}

static inline void memory_file_write(struct memory_file *m, const void *bytes, size_t n) {
  if (ftruncate(m->fd, 0) != 0 || pwrite(m->fd, bytes, n, 0) != (ssize_t)n) abort();
}

/* Counts the files in the folder, and removes them if `removing`. */
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

/* A folder that is removed where its block ends. */
#define SCRATCH(s)                                          \
  struct scratch s __attribute__((cleanup(scratch_close))); \
  if (!scratch_open(&s)) abort()

#endif
