/* world_door.c: where the ranks of a world come in: each says who it is, once; whoever does not is turned away.
 *
 * Promised: however many others connect, say nothing or talk nonsense, the ranks get their seats, or a status says within the
 * time which rank is missing; a rank of another version, of another library or of another world's size is named. The
 * secret keeps strays out, and no more: it stands on the ranks' command lines, which everybody on their machines can read.
 */
#include "world_start.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST_GUESTS = 64, MOST_BACKLOG = 1024 };
static const double manners = 5; /* seconds in which a guest has to say who it is */

/* Somebody who connected, and what was heard of its hello so far. */
struct guest {
  int fd;
  struct fold_limit patience; /* with it */
  size_t n;
  struct {
    struct wire_head head;
    struct wire_hello hello;
  } said;
};

static fold_status system_failed(const char *what) {
  return fold_error(FOLD_ENVIRONMENT, "%s: %s", what, strerror(errno));
}

fold_status fold_door_open(struct fold_door *door) {
  const char *address = getenv("FOLDPROOF_ADDRESS");
  struct sockaddr_in at = {.sin_family = AF_INET};
  socklen_t size = sizeof at;
  if (address == NULL || *address == '\0') address = "127.0.0.1";
  if (inet_pton(AF_INET, address, &at.sin_addr) != 1)
    return fold_error(FOLD_BAD_INPUT, "FOLDPROOF_ADDRESS=%.60s: not an IPv4 address", address);
  door->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (door->fd < 0) return system_failed("a socket for the ranks");
  if (bind(door->fd, (struct sockaddr *)&at, size))
    return fold_error(FOLD_ENVIRONMENT, "FOLDPROOF_ADDRESS=%s: %s: it must be an address of this machine", address,
                      strerror(errno));
  if (listen(door->fd, MOST_BACKLOG) || getsockname(door->fd, (struct sockaddr *)&at, &size))
    return system_failed("a socket for the ranks");
  if (getrandom(&door->secret, sizeof door->secret, 0) != sizeof door->secret) return system_failed("getrandom");
  snprintf(door->address, sizeof door->address, "%s:%u", address, ntohs(at.sin_port));
  return fold_ok();
}

/* The rank is one of this world's, and like the others. */
static fold_status check_hello(const struct fold_world *w, const struct wire_hello *hello) {
  const struct wire_hello *other = NULL;
  for (unsigned r = 0; r < w->ranks && !other; r++)
    if (w->rank[r].fd >= 0) other = &w->rank[r].hello;
  if (strcmp(hello->version, FOLD_VERSION) != 0)
    return fold_error(FOLD_ENVIRONMENT, "rank %u on %.40s is foldproof %.20s, this is " FOLD_VERSION, hello->rank,
                      hello->host, hello->version);
  if (hello->rank >= w->ranks || hello->ranks != w->ranks)
    return fold_error(FOLD_ENVIRONMENT, "the launcher started rank %u of %u on %.40s, asked for were %u", hello->rank,
                      hello->ranks, hello->host, w->ranks);
  if (w->rank[hello->rank].fd >= 0)
    return fold_error(FOLD_ENVIRONMENT, "two processes say that they are rank %u", hello->rank);
  if (other && strcmp(other->library, hello->library) != 0)
    return fold_error(FOLD_ENVIRONMENT, "rank %u on %.40s has %.60s, rank %u on %.40s has %.60s", hello->rank,
                      hello->host, hello->library, other->rank, other->host, other->library);
  return fold_ok();
}

/* A guest that told the secret gets its seat, or is the reason why the world fails. */
static fold_status seat(struct fold_world *w, struct guest *guest, unsigned *seated) {
  struct wire_hello *hello = &guest->said.hello;
  hello->version[sizeof hello->version - 1] = hello->library[sizeof hello->library - 1] = '\0';
  hello->host[sizeof hello->host - 1] = hello->device[sizeof hello->device - 1] = '\0';
  FOLD_TRY(check_hello(w, hello));
  fold_wire_tend(guest->fd);
  w->rank[hello->rank].fd = guest->fd;
  w->rank[hello->rank].hello = *hello;
  guest->fd = -1;
  ++*seated;
  return fold_ok();
}

static void turn_away(struct guest *guest) {
  if (guest->fd >= 0) close(guest->fd);
  guest->fd = -1;
}

/* Other versions say hello with the same first words, and then perhaps with more or fewer than ours. */
static fold_status hear_first(const struct guest *guest, uint64_t secret, bool *known) {
  const struct wire_first *first = (const struct wire_first *)&guest->said.hello;
  *known = guest->said.head.kind == WIRE_HELLO && first->secret == secret;
  if (*known && (first->protocol != FOLD_WIRE_PROTOCOL || guest->said.head.n_bytes != sizeof guest->said.hello))
    return fold_error(FOLD_ENVIRONMENT, "a rank is another version of foldproof: it speaks protocol %u, this is %u",
                      first->protocol, FOLD_WIRE_PROTOCOL);
  return fold_ok();
}

/* Hears what a guest has to say by now. */
static fold_status listen_to(struct fold_world *w, struct guest *guest, uint64_t secret, unsigned *seated) {
  const size_t first = sizeof(struct wire_head) + sizeof(struct wire_first);
  ssize_t got = recv(guest->fd, (char *)&guest->said + guest->n, sizeof guest->said - guest->n, MSG_DONTWAIT);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return fold_ok();
  if (got <= 0) {
    turn_away(guest);
    return fold_ok();
  }
  guest->n += (size_t)got;
  if (guest->n < first) return fold_ok();
  bool known;
  FOLD_TRY(hear_first(guest, secret, &known));
  if (!known) turn_away(guest);
  return known && guest->n == sizeof guest->said ? seat(w, guest, seated) : fold_ok();
}

/* Lets everybody in who waits outside; where there is no room left, in the place of who has been silent longest. */
static void let_in(struct fold_door *door, struct guest *guests) {
  for (;;) {
    int fd = accept4(door->fd, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0) return;
    struct guest *place = guests;
    for (int i = 0; i < MOST_GUESTS && place->fd >= 0; i++)
      if (guests[i].fd < 0 || guests[i].patience.end < place->patience.end) place = &guests[i];
    turn_away(place);
    *place = (struct guest){.fd = fd, .patience = fold_limit_until(fold_now() + manners)};
  }
}

static void wait_for_words(const struct fold_door *door, const struct guest *guests) {
  struct pollfd at[MOST_GUESTS + 1];
  for (int i = 0; i < MOST_GUESTS; i++) at[i] = (struct pollfd){.fd = guests[i].fd, .events = POLLIN};
  at[MOST_GUESTS] = (struct pollfd){.fd = door->fd, .events = POLLIN};
  poll(at, MOST_GUESTS + 1, 50);
}

static fold_status tell_missing(const struct fold_world *w, const char *why) {
  char line[FOLD_WORLD_LINE];
  unsigned missing = 0;
  while (missing < w->ranks && w->rank[missing].fd >= 0) missing++;
  fold_world_printed(w, line);
  return fold_error(FOLD_ENVIRONMENT, "rank %u of %u did not start: %s%s", missing, w->ranks, why, line);
}

/* One round: who waits comes in, who speaks is heard, who is silent for too long goes. */
static fold_status receive(struct fold_world *w, struct fold_door *door, struct guest *guests, unsigned *seated) {
  wait_for_words(door, guests);
  let_in(door, guests);
  for (int i = 0; i < MOST_GUESTS; i++) {
    if (guests[i].fd >= 0) FOLD_TRY(listen_to(w, &guests[i], door->secret, seated));
    if (guests[i].fd >= 0 && fold_limit_left(&guests[i].patience) <= 0) turn_away(&guests[i]);
  }
  return fold_ok();
}

fold_status fold_door_seat_all(struct fold_world *w, struct fold_door *door, double end) {
  struct guest *guests = calloc(MOST_GUESTS, sizeof *guests);
  if (!guests) return fold_error(FOLD_NO_MEMORY, "not enough memory to let ranks in");
  for (int i = 0; i < MOST_GUESTS; i++) guests[i].fd = -1;
  struct fold_limit limit = fold_limit_until(end);
  fold_status status = fold_ok();
  for (unsigned seated = 0; seated < w->ranks && status.code == FOLD_OK;) {
    bool ended = fold_world_launcher_ended(w); /* before the round, which hears what was said by then */
    status = receive(w, door, guests, &seated);
    if (status.code != FOLD_OK || seated == w->ranks) break;
    if (ended)
      status = tell_missing(w, "the launcher ended");
    else if (fold_limit_left(&limit) <= 0)
      status = tell_missing(w, "no word from it in time");
  }
  for (int i = 0; i < MOST_GUESTS; i++) turn_away(&guests[i]);
  free(guests);
  return status;
}
