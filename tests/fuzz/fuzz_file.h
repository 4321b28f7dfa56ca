/* fuzz_file.h: what a fuzzer makes up as a file in memory, for readers that take a path. */
#ifndef FUZZ_FILE_H
#define FUZZ_FILE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static inline const char *fuzz_file(const uint8_t *bytes, size_t n) {
  static char path[32];
  static int fd = -1;
  if (fd < 0) fd = memfd_create("fuzz", MFD_CLOEXEC);
  if (fd < 0 || ftruncate(fd, 0) != 0 || pwrite(fd, bytes, n, 0) != (ssize_t)n) abort();
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  return path;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#endif
