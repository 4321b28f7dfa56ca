/* wire.c: whole messages over a stream socket. */
#include "wire.h"

#include <errno.h>
#include <sys/socket.h>

static bool send_all(int fd, const unsigned char *bytes, size_t n, int flags) {
  while (n > 0) {
    ssize_t sent = send(fd, bytes, n, MSG_NOSIGNAL | flags);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes += sent;
    n -= (size_t)sent;
  }
  return true;
}

bool fold_wire_send(int fd, enum wire_kind kind, const void *a, size_t n_a, const void *b, size_t n_b) {
  struct wire_head head = {.kind = kind, .n_bytes = n_a + n_b};
  return send_all(fd, (const unsigned char *)&head, sizeof head, n_a + n_b ? MSG_MORE : 0) &&
         send_all(fd, a, n_a, n_b ? MSG_MORE : 0) && send_all(fd, b, n_b, 0);
}

bool fold_wire_read(int fd, void *bytes, size_t n) {
  unsigned char *to = bytes;
  while (n > 0) {
    ssize_t got = recv(fd, to, n, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    to += got;
    n -= (size_t)got;
  }
  return true;
}
