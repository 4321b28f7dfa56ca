/* wire.c: whole messages over a stream socket, each by a deadline. */
#include "wire.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <sys/socket.h>

/* Until the socket can go on. A stopped process does not close its sockets: only the time tells. */
static enum fold_wire wait_for(int fd, short events, double end) {
  for (;;) {
    struct pollfd at = {.fd = fd, .events = events};
    double left = end - fold_now();
    if (left <= 0) return FOLD_WIRE_LATE;
    int ready = poll(&at, 1, left > 1 ? 1000 : (int)ceil(1000 * left));
    if (ready > 0) return FOLD_WIRE_DONE;
    if (ready < 0 && errno != EINTR) return FOLD_WIRE_GONE;
  }
}

static bool would_wait(ssize_t moved) { return moved < 0 && (errno == EAGAIN || errno == EWOULDBLOCK); }

static enum fold_wire send_all(int fd, const unsigned char *bytes, size_t n, int flags, double end) {
  while (n > 0) {
    ssize_t sent = send(fd, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT | flags);
    if (sent < 0 && errno == EINTR) continue;
    if (would_wait(sent)) {
      enum fold_wire waited = wait_for(fd, POLLOUT, end);
      if (waited != FOLD_WIRE_DONE) return waited;
      continue;
    }
    if (sent <= 0) return FOLD_WIRE_GONE;
    bytes += sent;
    n -= (size_t)sent;
  }
  return FOLD_WIRE_DONE;
}

enum fold_wire fold_wire_send_by(int fd, double end, enum wire_kind kind, const void *a, size_t n_a, const void *b,
                                 size_t n_b) {
  struct wire_head head = {.kind = kind, .n_bytes = n_a + n_b};
  enum fold_wire how = send_all(fd, (const unsigned char *)&head, sizeof head, n_a + n_b ? MSG_MORE : 0, end);
  if (how == FOLD_WIRE_DONE) how = send_all(fd, a, n_a, n_b ? MSG_MORE : 0, end);
  return how == FOLD_WIRE_DONE ? send_all(fd, b, n_b, 0, end) : how;
}

enum fold_wire fold_wire_read_by(int fd, double end, void *bytes, size_t n) {
  unsigned char *to = bytes;
  while (n > 0) {
    ssize_t got = recv(fd, to, n, MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (would_wait(got)) {
      enum fold_wire waited = wait_for(fd, POLLIN, end);
      if (waited != FOLD_WIRE_DONE) return waited;
      continue;
    }
    if (got <= 0) return FOLD_WIRE_GONE;
    to += got;
    n -= (size_t)got;
  }
  return FOLD_WIRE_DONE;
}

bool fold_wire_send(int fd, enum wire_kind kind, const void *a, size_t n_a, const void *b, size_t n_b) {
  return fold_wire_send_by(fd, INFINITY, kind, a, n_a, b, n_b) == FOLD_WIRE_DONE;
}

bool fold_wire_read(int fd, void *bytes, size_t n) {
  return fold_wire_read_by(fd, INFINITY, bytes, n) == FOLD_WIRE_DONE;
}
