/* ranks/listen.c: where the ranks of a world connect: each says who it is, once; one that is silent loses its place when another needs it.
 *
 * Promised: however many others connect, say nothing or send nonsense, the ranks are admitted, or a status says in time
 * which rank is missing. A rank with another version, another library or another number of ranks is named. The secret
 * keeps out only strays: it is on the ranks' command lines, which everybody on their machines can read.
 */
#include "ranks/start.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST_CONNECTIONS = 64, MOST_BACKLOG = 1024 };

/* One process that connected, and what was received of its hello so far. */
struct connection {
  int fd;
  double since; /* when it connected */
  size_t n;
  struct {
    struct fold_wire_head head;
    struct fold_wire_hello hello;
  } said;
};

fold_status fold_listener_open(struct fold_listener *listener) {
  const char *address = getenv("FOLDPROOF_ADDRESS");
  struct sockaddr_in at = {.sin_family = AF_INET};
  socklen_t size = sizeof at;
  if (address == NULL || *address == '\0') address = "127.0.0.1";
  if (inet_pton(AF_INET, address, &at.sin_addr) != 1)
    return fold_error(FOLD_BAD_INPUT, "FOLDPROOF_ADDRESS=%.60s: not an IPv4 address", address);
  listener->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener->fd < 0) return fold_system_failed("a socket for the ranks");
  if (bind(listener->fd, (struct sockaddr *)&at, size))
    return fold_error(FOLD_ENVIRONMENT, "FOLDPROOF_ADDRESS=%s: %s: it must be an address of this machine", address,
                      strerror(errno));
  if (listen(listener->fd, MOST_BACKLOG) || getsockname(listener->fd, (struct sockaddr *)&at, &size))
    return fold_system_failed("a socket for the ranks");
  if (getrandom(&listener->secret, sizeof listener->secret, 0) != sizeof listener->secret)
    return fold_system_failed("getrandom");
  snprintf(listener->address, sizeof listener->address, "%s:%u", address, ntohs(at.sin_port));
  return fold_ok();
}

/* Checks that the rank belongs to this world, and is like the others. */
static fold_status check_hello(const struct fold_world *w, const struct fold_wire_hello *hello) {
  const struct fold_wire_hello *other = NULL;
  for (unsigned r = 0; r < w->ranks && !other; r++)
    if (w->rank[r].fd >= 0) other = &w->rank[r].hello;
  if (strcmp(hello->version, FOLD_VERSION) != 0)
    return fold_error(FOLD_ENVIRONMENT, "rank %u on %.40s is foldproof %.20s, this is " FOLD_VERSION, hello->rank,
                      hello->host, hello->version);
  if (hello->rank >= w->ranks || hello->ranks != w->ranks)
    return fold_error(FOLD_ENVIRONMENT, "the launcher started rank %u of %u on %.40s; %u ranks were requested",
                      hello->rank, hello->ranks, hello->host, w->ranks);
  if (w->rank[hello->rank].fd >= 0)
    return fold_error(FOLD_ENVIRONMENT, "two processes say that they are rank %u", hello->rank);
  if (other && strcmp(other->library, hello->library) != 0)
    return fold_error(FOLD_ENVIRONMENT, "rank %u on %.40s has %.60s, rank %u on %.40s has %.60s", hello->rank,
                      hello->host, hello->library, other->rank, other->host, other->library);
  return fold_ok();
}

/* A connection that sent the secret becomes a rank's, or is the reason why the world fails. */
static fold_status admit(struct fold_world *w, struct connection *connection, unsigned *admitted) {
  struct fold_wire_hello *hello = &connection->said.hello;
  hello->version[sizeof hello->version - 1] = hello->library[sizeof hello->library - 1] = '\0';
  hello->host[sizeof hello->host - 1] = hello->device[sizeof hello->device - 1] = '\0';
  FOLD_TRY(check_hello(w, hello));
  fold_wire_tend(connection->fd);
  w->rank[hello->rank].fd = connection->fd;
  w->rank[hello->rank].hello = *hello;
  connection->fd = -1;
  ++*admitted;
  return fold_ok();
}

static void drop(struct connection *connection) {
  if (connection->fd >= 0) close(connection->fd);
  connection->fd = -1;
}

/* A hello of another version begins with the same fields, but may be longer or shorter than ours. */
static fold_status hear_first(const struct connection *connection, uint64_t secret, bool *known) {
  const struct fold_wire_first *first = (const struct fold_wire_first *)&connection->said.hello;
  *known = connection->said.head.kind == WIRE_HELLO && first->secret == secret;
  if (*known &&
      (first->protocol != FOLD_WIRE_PROTOCOL || connection->said.head.n_bytes != sizeof connection->said.hello))
    return fold_error(FOLD_ENVIRONMENT,
                      "a rank runs a different version of foldproof: it speaks protocol %u, this is %u",
                      first->protocol, FOLD_WIRE_PROTOCOL);
  return fold_ok();
}

/* Receives what a connection has sent by now. */
static fold_status hear(struct fold_world *w, struct connection *connection, uint64_t secret, unsigned *admitted) {
  const size_t first = sizeof(struct fold_wire_head) + sizeof(struct fold_wire_first);
  ssize_t got = recv(connection->fd, (char *)&connection->said + connection->n, sizeof connection->said - connection->n,
                     MSG_DONTWAIT);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return fold_ok();
  if (got <= 0) {
    drop(connection);
    return fold_ok();
  }
  connection->n += (size_t)got;
  if (connection->n < first) return fold_ok();
  bool known;
  FOLD_TRY(hear_first(connection, secret, &known));
  if (!known) drop(connection);
  return known && connection->n == sizeof connection->said ? admit(w, connection, admitted) : fold_ok();
}

/* Accepts the connections that wait. If there is no place left, a new one replaces the one that has been silent
 * longest. */
static void accept_all(struct fold_listener *listener, struct connection *all) {
  for (;;) {
    int fd = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0) return;
    struct connection *place = all;
    for (int i = 0; i < MOST_CONNECTIONS && place->fd >= 0; i++)
      if (all[i].fd < 0 || all[i].since < place->since) place = &all[i];
    drop(place);
    *place = (struct connection){.fd = fd, .since = fold_now()};
  }
}

static void wait_for_words(const struct fold_listener *listener, const struct connection *all) {
  struct pollfd at[MOST_CONNECTIONS + 1];
  for (int i = 0; i < MOST_CONNECTIONS; i++) at[i] = (struct pollfd){.fd = all[i].fd, .events = POLLIN};
  at[MOST_CONNECTIONS] = (struct pollfd){.fd = listener->fd, .events = POLLIN};
  poll(at, MOST_CONNECTIONS + 1, 50);
}

static fold_status tell_missing(const struct fold_world *w, const char *why) {
  char line[FOLD_WORLD_LINE];
  unsigned missing = 0;
  while (missing < w->ranks && w->rank[missing].fd >= 0) missing++;
  fold_world_printed(w, line);
  return fold_error(FOLD_ENVIRONMENT, "rank %u of %u did not start: %s%s", missing, w->ranks, why, line);
}

/* One round: accepts new connections, and receives hellos. A rank may be stopped for any time before it sends its own. */
static fold_status receive(struct fold_world *w, struct fold_listener *listener, struct connection *all,
                           unsigned *admitted) {
  wait_for_words(listener, all);
  accept_all(listener, all);
  for (int i = 0; i < MOST_CONNECTIONS; i++)
    if (all[i].fd >= 0) FOLD_TRY(hear(w, &all[i], listener->secret, admitted));
  return fold_ok();
}

fold_status fold_listener_admit_all(struct fold_world *w, struct fold_listener *listener, double end) {
  struct connection *all = calloc(MOST_CONNECTIONS, sizeof *all);
  if (!all) return fold_no_memory("to admit ranks");
  for (int i = 0; i < MOST_CONNECTIONS; i++) all[i].fd = -1;
  struct fold_limit limit = fold_limit_until(end);
  fold_status status = fold_ok();
  for (unsigned admitted = 0; admitted < w->ranks && status.code == FOLD_OK;) {
    bool ended = fold_world_launcher_ended(w); /* asked before the round, which still reads what was sent by then */
    status = receive(w, listener, all, &admitted);
    if (status.code != FOLD_OK || admitted == w->ranks) break;
    if (ended)
      status = tell_missing(w, "the launcher ended");
    else if (fold_limit_left(&limit) <= 0)
      status = tell_missing(w, "no word from it in time");
  }
  for (int i = 0; i < MOST_CONNECTIONS; i++) drop(&all[i]);
  free(all);
  return status;
}
