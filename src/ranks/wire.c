/* wire.c: whole messages over a stream socket, each with a deadline. */
#include "ranks/wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

/* An Open MPI daemon gives up a little earlier (ranks/start.c), while it only waits for the next message:
 * once its ranks have ended, it has a report of that to send, and would wait for this to arrive. */
enum { ASK_AFTER_S = 1, UNANSWERED = 11, CONNECT_MS = 10000 };

static void set(int fd, int level, int option, int value) { setsockopt(fd, level, option, &value, sizeof value); }

void fold_wire_tend(int fd) {
  set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(fd, IPPROTO_TCP, TCP_KEEPIDLE, ASK_AFTER_S);
  set(fd, IPPROTO_TCP, TCP_KEEPINTVL, ASK_AFTER_S);
  set(fd, IPPROTO_TCP, TCP_KEEPCNT, UNANSWERED);
  /* No limit on unacknowledged bytes: to Linux a stopped process, which reads nothing, would look silent too. */
  set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, 0);
}

int fold_wire_connect(const char *where) {
  char address[80];
  const char *colon = strrchr(where, ':');
  struct sockaddr_in at = {.sin_family = AF_INET};
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  snprintf(address, sizeof address, "%.*s", colon ? (int)(colon - where) : 0, where);
  at.sin_port = htons((uint16_t)(colon ? atoi(colon + 1) : 0));
  set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, CONNECT_MS);
  errno = EINVAL;
  if (inet_pton(AF_INET, address, &at.sin_addr) != 1 || connect(fd, (struct sockaddr *)&at, sizeof at)) {
    int error = errno;
    close(fd);
    errno = error;
    return -1;
  }
  fold_wire_tend(fd);
  return fd;
}

bool fold_wire_is_cut(int fd) {
  struct tcp_info info = {0};
  socklen_t size = sizeof info;
  if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size)) return false;
  return info.tcpi_probes > 1 || info.tcpi_retransmits > 1; /* a single one may just be under way */
}

/* What a final error of a call on a socket means. */
static enum fold_wire of_error(void) {
  return errno == ETIMEDOUT || errno == EHOSTUNREACH || errno == ENETUNREACH ? FOLD_WIRE_CUT : FOLD_WIRE_GONE;
}

/* Waits until the socket can go on. A stopped process does not close its sockets, so only the time limit ends this. */
static enum fold_wire wait_for(int fd, short events, struct fold_limit *limit) {
  for (;;) {
    struct pollfd at = {.fd = fd, .events = events};
    double left = fold_limit_left(limit);
    if (left <= 0) return FOLD_WIRE_LATE;
    int ready = poll(&at, 1, left > 0.5 ? 500 : (int)ceil(1000 * left));
    if (ready > 0) return FOLD_WIRE_DONE;
    if (ready < 0 && errno != EINTR) return FOLD_WIRE_GONE;
  }
}

static bool would_wait(ssize_t moved) { return moved < 0 && (errno == EAGAIN || errno == EWOULDBLOCK); }

/* Advances past the `sent` bytes of a message. */
static void advance(struct iovec *part, size_t sent) {
  for (; sent > 0; part++) {
    size_t taken = sent < part->iov_len ? sent : part->iov_len;
    part->iov_base = (unsigned char *)part->iov_base + taken;
    part->iov_len -= taken;
    sent -= taken;
  }
}

static enum fold_wire send_whole(int fd, double end, int how, uint32_t kind, const void *a, size_t n_a, const void *b,
                                 size_t n_b) {
  struct fold_wire_head head = {.kind = kind, .n_bytes = n_a + n_b};
  struct iovec parts[] = {{&head, sizeof head}, {(void *)(uintptr_t)a, n_a}, {(void *)(uintptr_t)b, n_b}};
  struct msghdr message = {.msg_iov = parts, .msg_iovlen = 3};
  struct fold_limit limit = fold_limit_until(end);
  for (size_t left = sizeof head + n_a + n_b; left > 0;) {
    ssize_t sent = sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT | how);
    if (sent < 0 && errno == EINTR) continue;
    if (would_wait(sent)) {
      enum fold_wire waited = wait_for(fd, POLLOUT, &limit);
      if (waited != FOLD_WIRE_DONE) return waited;
      continue;
    }
    if (sent <= 0) return sent < 0 ? of_error() : FOLD_WIRE_GONE;
    advance(parts, (size_t)sent);
    left -= (size_t)sent;
  }
  return FOLD_WIRE_DONE;
}

enum fold_wire fold_wire_send_by(int fd, double end, uint32_t kind, const void *a, size_t n_a, const void *b,
                                 size_t n_b) {
  return send_whole(fd, end, 0, kind, a, n_a, b, n_b);
}

bool fold_wire_send_with_next(int fd, uint32_t kind, const void *a, size_t n_a) {
  return send_whole(fd, INFINITY, MSG_MORE, kind, a, n_a, NULL, 0) == FOLD_WIRE_DONE;
}

enum fold_wire fold_wire_read_by(int fd, double end, void *bytes, size_t n) {
  unsigned char *to = bytes;
  struct fold_limit limit = fold_limit_until(end);
  while (n > 0) {
    ssize_t got = recv(fd, to, n, MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (would_wait(got)) {
      enum fold_wire waited = wait_for(fd, POLLIN, &limit);
      if (waited != FOLD_WIRE_DONE) return waited;
      continue;
    }
    if (got <= 0) return got < 0 ? of_error() : FOLD_WIRE_GONE;
    to += got;
    n -= (size_t)got;
  }
  return FOLD_WIRE_DONE;
}

bool fold_wire_send(int fd, uint32_t kind, const void *a, size_t n_a, const void *b, size_t n_b) {
  return fold_wire_send_by(fd, INFINITY, kind, a, n_a, b, n_b) == FOLD_WIRE_DONE;
}

bool fold_wire_read(int fd, void *bytes, size_t n) {
  return fold_wire_read_by(fd, INFINITY, bytes, n) == FOLD_WIRE_DONE;
}

bool fold_wire_has_word(int fd, int milliseconds) {
  struct pollfd at = {.fd = fd, .events = POLLIN};
  int ready = poll(&at, 1, milliseconds);
  return ready > 0 || (ready < 0 && errno != EINTR);
}
