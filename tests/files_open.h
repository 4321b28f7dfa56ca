/* files_open.h: counts the descriptors that a process has open. */
#ifndef FILES_OPEN_H
#define FILES_OPEN_H

#include <fcntl.h>

/* Looks at the first 256. */
static inline unsigned files_open(void) {
  unsigned n = 0;
  for (int fd = 0; fd < 256; fd++) n += fcntl(fd, F_GETFD) >= 0;
  return n;
}

#endif
