/* world.c: asks the ranks of a world, and watches that each answers in time.
 *
 * Promised: a question ends within the time limit, with all answers or with a status that names the rank that died, is
 * late, or called with other arguments, and its call. Starting and ending the ranks is world_start.c.
 */
#include "world_start.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

static struct fold_world worlds[FOLD_ENGINES];

double fold_world_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

fold_status fold_world_of(enum fold_engine engine, struct fold_world **world) {
  struct fold_world *w = &worlds[engine];
  if (!w->started) {
    w->started = true;
    w->engine = engine;
    w->status = fold_world_start(w);
    if (w->status.code != FOLD_OK) fold_world_end(w, false);
  }
  *world = w;
  return w->status;
}

unsigned fold_world_ranks(const struct fold_world *world) { return world->ranks; }
const struct wire_hello *fold_world_hello(const struct fold_world *world, unsigned rank) {
  return &world->rank[rank].hello;
}

void fold_worlds_close(void) {
  for (int e = 0; e < FOLD_ENGINES; e++) {
    if (worlds[e].started && worlds[e].status.code == FOLD_OK) fold_world_end(&worlds[e], true);
    worlds[e] = (struct fold_world){0};
  }
}

static struct fold_world_call *last_call(const struct fold_rank *rank) {
  return rank->n_calls ? &((struct fold_rank *)(uintptr_t)rank)->calls[rank->n_calls - 1] : NULL;
}

/* The k-th call that every rank must make alike: the first two that differ, in words. */
static bool find_other_arguments(const struct fold_world *w, unsigned first, unsigned n, char text[200]) {
  for (unsigned r = first + 1; r < first + n; r++)
    for (size_t k = 0; k < w->rank[r].n_calls && k < w->rank[first].n_calls; k++) {
      const struct wire_enter *a = &w->rank[first].calls[k].enter, *b = &w->rank[r].calls[k].enter;
      if (a->count == b->count && strcmp(a->call, b->call) == 0 && strcmp(a->type, b->type) == 0) continue;
      snprintf(text, 200, "rank %u called %s of %llu %s where rank %u called %s of %llu %s", r, b->call,
               (unsigned long long)b->count, b->type, first, a->call, (unsigned long long)a->count, a->type);
      return true;
    }
  return false;
}

/* Where a rank is, as far as its announcements tell. */
static void tell_place(const struct fold_rank *rank, const char *what, char text[120]) {
  const struct fold_world_call *call = last_call(rank);
  if (call)
    snprintf(text, 120, "in call %zu (%.31s of %llu %.15s) of %.32s", rank->n_calls, call->enter.call,
             (unsigned long long)call->enter.count, call->enter.type, what);
  else
    snprintf(text, 120, "in %.60s", what);
}

/* The rank that holds the others up: not yet answered, and with the fewest calls entered. */
static unsigned find_late(const struct fold_world *w, unsigned first, unsigned n, unsigned *alike) {
  unsigned late = first;
  *alike = 0;
  for (unsigned r = first; r < first + n; r++) {
    if (w->rank[r].answered) continue;
    if (w->rank[late].answered || w->rank[r].n_calls < w->rank[late].n_calls) {
      late = r;
      *alike = 0;
    }
    *alike += w->rank[r].n_calls == w->rank[late].n_calls;
  }
  return late;
}

static fold_status fail(struct fold_world *w, enum fold_code code, const char *text) {
  w->status = fold_error(code, "%s: %s", fold_engine_name(w->engine), text);
  fold_world_end(w, false);
  return w->status;
}

static fold_status fail_late(struct fold_world *w, unsigned first, unsigned n, const char *what) {
  unsigned alike, late = find_late(w, first, n, &alike);
  char text[240], place[120];
  tell_place(&w->rank[late], what, place);
  if (alike > 1)
    snprintf(text, sizeof text, "rank %u and %u others of %u got no further than %.100s within %.0f s", late, alike - 1,
             n, place, w->limit);
  else
    snprintf(text, sizeof text, "rank %u of %u hangs: no further than %.100s within %.0f s", late, n, place, w->limit);
  return fail(w, FOLD_ENVIRONMENT, text);
}

static fold_status fail_gone(struct fold_world *w, unsigned gone, unsigned n, const char *what) {
  char text[240], place[120];
  tell_place(&w->rank[gone], what, place);
  snprintf(text, sizeof text, "rank %u of %u (process %lld on %.30s) died %.100s", gone, n,
           (long long)w->rank[gone].hello.pid, w->rank[gone].hello.host, place);
  return fail(w, FOLD_ENVIRONMENT, text);
}

static fold_status take_call(struct fold_rank *rank, int fd) {
  if (rank->n_calls == rank->capacity) {
    size_t capacity = rank->capacity ? 2 * rank->capacity : 8;
    void *grown = realloc(rank->calls, capacity * sizeof *rank->calls);
    if (!grown) return fold_error(FOLD_NO_MEMORY, "not enough memory to follow a rank's calls");
    rank->calls = grown;
    rank->capacity = capacity;
  }
  if (!fold_wire_read(fd, &rank->calls[rank->n_calls].enter, sizeof(struct wire_enter)))
    return fold_error(FOLD_ENVIRONMENT, "gone");
  rank->n_calls++;
  return fold_ok();
}

/* What a question's end may be for one rank. */
enum heard { HEARD_NOTHING, HEARD_ANSWER, HEARD_FAILURE, HEARD_GONE, HEARD_NONSENSE };

static enum heard listen_to(struct fold_rank *rank, const struct fold_question *question, void *answer) {
  struct wire_head head;
  if (!fold_wire_read(rank->fd, &head, sizeof head)) return HEARD_GONE;
  switch (head.kind) {
    case WIRE_ENTER: return take_call(rank, rank->fd).code == FOLD_OK ? HEARD_NOTHING : HEARD_GONE;
    case WIRE_FAILED:
      if (head.n_bytes != sizeof rank->failure) return HEARD_NONSENSE;
      return fold_wire_read(rank->fd, &rank->failure, sizeof rank->failure) ? HEARD_FAILURE : HEARD_GONE;
    case WIRE_DONE:
      if (head.n_bytes != question->answer_bytes) return HEARD_NONSENSE;
      return fold_wire_read(rank->fd, answer, question->answer_bytes) ? HEARD_ANSWER : HEARD_GONE;
    default: return HEARD_NONSENSE;
  }
}

/* Reads whatever has arrived, for up to `wait` milliseconds. */
static int wait_for_any(struct fold_world *w, unsigned first, unsigned n, int wait) {
  for (unsigned i = 0; i < n; i++) {
    bool open = !w->rank[first + i].answered && !w->rank[first + i].gone;
    w->polled[i] = (struct pollfd){.fd = open ? w->rank[first + i].fd : -1, .events = POLLIN};
  }
  int ready = poll(w->polled, n, wait);
  return ready < 0 && errno == EINTR ? 0 : ready;
}

struct hearing {
  unsigned left, gone, failed, n_gone, n_failed; /* `gone` and `failed` are the first of them */
  bool nonsense;
};

static void hear(struct fold_world *w, unsigned first, unsigned n, const struct fold_question *question,
                 unsigned char *answers, struct hearing *h) {
  for (unsigned i = 0; i < n; i++) {
    if (w->polled[i].fd < 0 || w->polled[i].revents == 0) continue;
    struct fold_rank *rank = &w->rank[first + i];
    enum heard heard = listen_to(rank, question, answers + i * question->answer_bytes);
    rank->answered = heard == HEARD_ANSWER || heard == HEARD_FAILURE;
    rank->gone = heard == HEARD_GONE;
    h->left -= rank->answered || rank->gone;
    if (heard == HEARD_FAILURE && h->n_failed++ == 0) h->failed = first + i;
    if (heard == HEARD_GONE && h->n_gone++ == 0) h->gone = first + i;
    h->nonsense |= heard == HEARD_NONSENSE;
  }
}

/* A rank that failed, or is gone, leaves the others waiting for it: what they said by then is heard for this long, so
 * that the first cause is named, and not the rank that noticed it first. */
static const double settling = 1.0;

static fold_status conclude(struct fold_world *w, unsigned first, unsigned n, const char *what,
                            const struct hearing *h) {
  char text[200];
  if (n > 1 && find_other_arguments(w, first, n, text)) {
    char whole[240];
    snprintf(whole, sizeof whole, "%.180s, in %.50s", text, what);
    return fail(w, FOLD_ENVIRONMENT, whole);
  }
  if (h->n_gone) return fail_gone(w, h->gone, n, what);
  if (h->nonsense) return fail(w, FOLD_ENVIRONMENT, "a rank answered out of turn");
  if (h->n_failed) {
    /* All refused alike: the world is as it was, and the next question may be asked. */
    fold_status failure = w->rank[h->failed].failure;
    if (h->n_failed == n && failure.code == FOLD_UNSUPPORTED) return failure;
    fold_status within = fold_within(failure, "rank %u of %u in %s", h->failed, n, what);
    if (h->n_failed == n) return within;
    return fail(w, failure.code == FOLD_UNSUPPORTED ? FOLD_ENVIRONMENT : failure.code, within.text);
  }
  return fail_late(w, first, n, what);
}

static bool send_question(struct fold_world *w, unsigned first, unsigned n, const struct fold_question *q,
                          unsigned *gone) {
  const unsigned char *heads = q->head;
  for (unsigned i = 0; i < n; i++) {
    const void *body = q->body ? q->body[i] : NULL;
    *gone = first + i;
    if (!fold_wire_send(w->rank[first + i].fd, q->kind, heads + i * q->head_bytes, q->head_bytes, body,
                        q->body_bytes ? q->body_bytes[i] : 0))
      return false;
  }
  return true;
}

fold_status fold_world_ask(struct fold_world *w, unsigned first, unsigned n, const struct fold_question *question,
                           void *answers) {
  if (w->status.code != FOLD_OK) return w->status;
  struct hearing h = {.left = n};
  for (unsigned r = first; r < first + n; r++) {
    w->rank[r].answered = w->rank[r].gone = false;
    w->rank[r].n_calls = 0;
  }
  if (!send_question(w, first, n, question, &h.gone)) return fail_gone(w, h.gone, n, question->what);
  double end = fold_world_now() + w->limit;
  bool troubled = false;
  while (h.left > 0 && fold_world_now() < end) {
    if (wait_for_any(w, first, n, 50) < 0) return fail(w, FOLD_ENVIRONMENT, strerror(errno));
    hear(w, first, n, question, answers, &h);
    bool now = h.n_gone || h.nonsense || (h.n_failed && h.n_failed < n);
    if (now && !troubled && end > fold_world_now() + settling) end = fold_world_now() + settling;
    troubled |= now;
  }
  if (h.left == 0 && !h.n_gone && !h.n_failed && !h.nonsense) {
    char text[200];
    /* Ranks that called alike enough to end may still not have called alike. */
    if (!find_other_arguments(w, first, n, text)) return fold_ok();
  }
  return conclude(w, first, n, question->what, &h);
}

fold_status fold_world_need(struct fold_world *w, unsigned ranks) {
  if (w->status.code != FOLD_OK) return w->status;
  if (ranks == 0 || ranks > w->ranks)
    return fold_error(FOLD_UNSUPPORTED, "needs %u ranks, there are %u%s", ranks, w->ranks,
                      w->engine == FOLD_NCCL ? " (one a GPU)" : "");
  if (w->rank[ranks - 1].opened) return fold_ok();
  struct wire_open open = {.ranks = ranks};
  struct fold_question token = {.kind = WIRE_TOKEN, .answer_bytes = sizeof open.token, .what = "making a communicator"};
  FOLD_TRY(fold_world_ask(w, 0, 1, &token, open.token));
  struct wire_open *heads = calloc(ranks, sizeof *heads);
  if (!heads) return fold_error(FOLD_NO_MEMORY, "not enough memory for %u ranks", ranks);
  for (unsigned r = 0; r < ranks; r++) heads[r] = open;
  struct fold_question question = {
      .kind = WIRE_OPEN, .head = heads, .head_bytes = sizeof *heads, .what = "opening a communicator"};
  fold_status status = fold_world_ask(w, 0, ranks, &question, NULL);
  free(heads);
  w->rank[ranks - 1].opened = status.code == FOLD_OK;
  return status;
}
