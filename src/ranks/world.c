/* world.c: asks the ranks of a world, and watches that each answers in time.
 *
 * Promised: a question ends within the time limit, with all answers or with a status that names a rank and its call:
 * the rank that died, is late, or called with other arguments. Not counted in the limit is the time of messages that
 * take longer than a second, and the time for which this process was stopped. Ranks are started in ranks/start.c and
 * ended in ranks/end.c.
 */
#include "ranks/start.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct fold_world worlds[FOLD_ENGINES];

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
size_t fold_worlds_sizes(unsigned ranks, unsigned sizes[FOLD_WORLDS_MOST]) {
  static const unsigned usual[] = {1, 2, 3, 4, 5, 8};
  size_t n = 0;
  for (size_t k = 0; k < sizeof usual / sizeof *usual; k++)
    if (usual[k] <= ranks) sizes[n++] = usual[k];
  if (n > 0 && sizes[n - 1] < ranks) sizes[n++] = ranks;
  return n;
}

uint64_t fold_world_loads(const struct fold_world *world) { return world->loads; }
const struct fold_wire_hello *fold_world_hello(const struct fold_world *world, unsigned rank) {
  return &world->rank[rank].hello;
}

double fold_world_limit(const struct fold_world *world) { return world->limit; }

fold_status fold_world_close(enum fold_engine engine) {
  struct fold_world *w = &worlds[engine];
  fold_status status = fold_ok();
  if (w->started && w->status.code == FOLD_OK) status = fold_world_end(w, true);
  *w = (struct fold_world){.loads = w->loads + 1}; /* so that no rig believes that the next world holds its parts */
  return status;
}

fold_status fold_worlds_close(void) {
  fold_status first = fold_ok();
  for (int e = 0; e < FOLD_ENGINES; e++) {
    fold_status status = fold_world_close((enum fold_engine)e);
    if (first.code == FOLD_OK) first = status;
  }
  return first;
}

enum { MOST_CALLS = 1 << 16 }; /* in one question: a rank that announces more is broken */

/* What came of listening to a rank. All but the first end the rank's question. */
enum heard {
  HEARD_NOTHING,
  HEARD_ANSWER,
  HEARD_FAILURE,
  HEARD_GONE,
  HEARD_CUT,
  HEARD_LATE,
  HEARD_NONSENSE,
  HEARD_TOO_MUCH
};

static enum heard of_wire(enum fold_wire how, enum heard done) {
  switch (how) {
    case FOLD_WIRE_DONE: return done;
    case FOLD_WIRE_LATE: return HEARD_LATE;
    case FOLD_WIRE_CUT: return HEARD_CUT;
    case FOLD_WIRE_GONE: return HEARD_GONE;
  }
  return HEARD_NONSENSE;
}

static enum heard take_call(struct fold_rank *rank, double end) {
  if (rank->n_calls == rank->capacity) {
    size_t capacity = rank->capacity ? 2 * rank->capacity : 8;
    void *grown = capacity <= MOST_CALLS ? realloc(rank->calls, capacity * sizeof *rank->calls) : NULL;
    if (!grown) return HEARD_TOO_MUCH;
    rank->calls = grown;
    rank->capacity = capacity;
  }
  struct fold_wire_enter *enter = &rank->calls[rank->n_calls].enter;
  enum heard heard = of_wire(fold_wire_read_by(rank->fd, end, enter, sizeof *enter), HEARD_NOTHING);
  enter->call[sizeof enter->call - 1] = enter->type[sizeof enter->type - 1] = '\0';
  rank->n_calls += heard == HEARD_NOTHING;
  return heard;
}

static enum heard take_failure(struct fold_rank *rank, double end) {
  fold_status *failure = &rank->failure;
  enum heard heard = of_wire(fold_wire_read_by(rank->fd, end, failure, sizeof *failure), HEARD_FAILURE);
  failure->text[sizeof failure->text - 1] = '\0';
  if (heard == HEARD_FAILURE && (failure->code <= FOLD_OK || failure->code > FOLD_ENVIRONMENT)) return HEARD_NONSENSE;
  return heard;
}

static enum heard listen_to(struct fold_rank *rank, const struct fold_question *question, void *answer, double end) {
  struct fold_wire_head head;
  enum fold_wire how = fold_wire_read_by(rank->fd, end, &head, sizeof head);
  if (how != FOLD_WIRE_DONE) return of_wire(how, HEARD_NOTHING);
  switch (head.kind) {
    case WIRE_ENTER: return head.n_bytes == sizeof(struct fold_wire_enter) ? take_call(rank, end) : HEARD_NONSENSE;
    case WIRE_FAILED: return head.n_bytes == sizeof rank->failure ? take_failure(rank, end) : HEARD_NONSENSE;
    case WIRE_DONE:
      if (head.n_bytes != question->answer_bytes) return HEARD_NONSENSE;
      return of_wire(fold_wire_read_by(rank->fd, end, answer, question->answer_bytes), HEARD_ANSWER);
    default: return HEARD_NONSENSE;
  }
}

/* Waits up to `wait` milliseconds until some rank has sent something. */
static int wait_for_any(struct fold_world *w, unsigned first, unsigned n, int wait) {
  for (unsigned i = 0; i < n; i++) {
    bool open = !w->rank[first + i].answered && !w->rank[first + i].gone;
    w->polled[i] = (struct pollfd){.fd = open ? w->rank[first + i].fd : -1, .events = POLLIN};
  }
  int ready = poll(w->polled, n, wait);
  return ready < 0 && errno == EINTR ? 0 : ready;
}

struct hearing {
  unsigned left, gone, failed, garbled; /* gone, failed, garbled: the first rank that is so */
  unsigned n_gone, n_cut, n_failed, n_garbled;
  bool late; /* a message did not arrive whole */
};

static void hear(struct fold_world *w, unsigned first, unsigned n, const struct fold_question *question,
                 unsigned char *answers, struct fold_limit *limit, struct hearing *h) {
  for (unsigned i = 0; i < n; i++) {
    if (w->polled[i].fd < 0 || w->polled[i].revents == 0) continue;
    struct fold_rank *rank = &w->rank[first + i];
    (void)fold_limit_left(limit);
    enum heard heard = listen_to(rank, question, answers + i * question->answer_bytes, limit->end);
    bool garbled = heard == HEARD_NONSENSE || heard == HEARD_TOO_MUCH;
    rank->answered = heard == HEARD_ANSWER || heard == HEARD_FAILURE;
    rank->cut = heard == HEARD_CUT;
    rank->gone = heard == HEARD_GONE || rank->cut || garbled; /* after nonsense nothing more is read from it */
    h->left -= rank->answered || rank->gone;
    if (heard == HEARD_FAILURE && h->n_failed++ == 0) h->failed = first + i;
    if (heard == HEARD_GONE && h->n_gone++ == 0) h->gone = first + i;
    h->n_cut += rank->cut;
    h->late |= heard == HEARD_LATE;
    if (garbled && h->n_garbled++ == 0) h->garbled = first + i;
  }
}

/* When a rank has failed or is gone, the others wait for it. Their messages are read for this many seconds more, so
 * that the first cause is named, not the rank that noticed it first. */
static const double settling = 1.0;

static fold_status conclude(struct fold_world *w, unsigned first, unsigned n, const struct fold_question *question,
                            const struct hearing *h) {
  const char *what = question->what;
  char text[200];
  if (n > 1 && fold_world_find_other_arguments(w, first, n, text)) {
    char whole[240];
    snprintf(whole, sizeof whole, "%.180s, in %.50s", text, what);
    return fold_world_fail(w, FOLD_ENVIRONMENT, whole);
  }
  /* A launcher that has lost a node kills its ranks on the other nodes: so the lost node is named as the cause. */
  unsigned cut = fold_world_find_cut(w, first, n);
  if (cut < w->ranks) return fold_world_blame_cut(w, cut, n, what);
  if (h->n_gone) return fold_world_blame_gone(w, h->gone, n, what);
  if (h->n_garbled) {
    snprintf(text, sizeof text, "rank %u of %u answered out of turn in %.60s", h->garbled, n, what);
    return fold_world_fail(w, FOLD_ENVIRONMENT, text);
  }
  if (h->n_failed) {
    /* If all ranks refused alike, the world is intact, and the next question may be asked. */
    fold_status failure = w->rank[h->failed].failure;
    if (h->n_failed == n && failure.code == FOLD_UNSUPPORTED) return failure;
    fold_status within = fold_within(failure, "rank %u of %u in %s", h->failed, n, what);
    if (h->n_failed == n || (question->each_alone && h->left == 0)) return within;
    return fold_world_fail(w, failure.code == FOLD_UNSUPPORTED ? FOLD_ENVIRONMENT : failure.code, within.text);
  }
  return fold_world_blame_late(w, first, n, what);
}

/* Asks one rank after the other; `at` is the rank that could not be asked. Here, and where answers are read, a message
 * that took longer than a second was progress, so its time is added to the limit of the others (fold_limit). */
static enum fold_wire send_question(struct fold_world *w, unsigned first, unsigned n, const struct fold_question *q,
                                    struct fold_limit *limit, unsigned *at) {
  const unsigned char *heads = q->head;
  for (unsigned i = 0; i < n; i++) {
    const void *head = heads ? heads + (q->one_head ? 0 : i * q->head_bytes) : NULL,
               *body = q->body ? q->body[i] : NULL;
    *at = first + i;
    (void)fold_limit_left(limit);
    enum fold_wire how = fold_wire_send_by(w->rank[*at].fd, limit->end, q->kind, head, q->head_bytes, body,
                                           q->body_bytes ? q->body_bytes[i] : 0);
    if (how != FOLD_WIRE_DONE) return how;
  }
  return FOLD_WIRE_DONE;
}

static fold_status fail_unasked(struct fold_world *w, enum fold_wire how, unsigned at, const char *what) {
  unsigned cut = how == FOLD_WIRE_CUT ? at : fold_world_find_cut(w, 0, w->ranks);
  if (cut < w->ranks) return fold_world_blame_cut(w, cut, w->ranks, what);
  return how == FOLD_WIRE_GONE ? fold_world_blame_gone(w, at, w->ranks, what) : fold_world_blame_late(w, at, 1, what);
}

fold_status fold_world_ask(struct fold_world *w, unsigned first, unsigned n, const struct fold_question *question,
                           void *answers) {
  if (w->status.code != FOLD_OK) return w->status;
  struct hearing h = {.left = n};
  struct fold_limit limit = fold_limit_until(fold_now() + w->limit);
  unsigned at;
  for (unsigned r = first; r < first + n; r++) {
    w->rank[r].answered = w->rank[r].gone = w->rank[r].cut = false;
    w->rank[r].n_calls = 0;
  }
  if (question->kind == WIRE_LOAD || question->kind == WIRE_FILL) w->loads += n;
  enum fold_wire asked = send_question(w, first, n, question, &limit, &at);
  if (asked != FOLD_WIRE_DONE) return fail_unasked(w, asked, at, question->what);
  bool troubled = false;
  for (bool over = false; h.left > 0 && !over && !h.late;) {
    over = fold_limit_left(&limit) <= 0; /* what has arrived by now is still read */
    if (wait_for_any(w, first, n, over ? 0 : 50) < 0) return fold_world_fail(w, FOLD_ENVIRONMENT, strerror(errno));
    hear(w, first, n, question, answers, &limit, &h);
    bool now = h.n_gone || h.n_cut || h.n_garbled || (h.n_failed && h.n_failed < n);
    if (now && !troubled && limit.end > fold_now() + settling) limit.end = fold_now() + settling;
    troubled |= now;
  }
  if (h.left == 0 && !h.n_gone && !h.n_cut && !h.n_failed && !h.n_garbled) {
    char text[200];
    /* All ranks have ended their calls, but these may still have differed. */
    if (!fold_world_find_other_arguments(w, first, n, text)) return fold_ok();
  }
  return conclude(w, first, n, question, &h);
}

fold_status fold_world_need(struct fold_world *w, unsigned ranks) {
  if (w->status.code != FOLD_OK) return w->status;
  if (ranks == 0 || ranks > w->ranks)
    return fold_error(FOLD_UNSUPPORTED, "needs %u ranks, there are %u%s", ranks, w->ranks,
                      fold_engine_is_host(w->engine) ? "" : " (one a GPU)");
  if (w->rank[ranks - 1].opened) return fold_ok();
  struct fold_wire_open open = {.ranks = ranks};
  struct fold_question token = {.kind = WIRE_TOKEN, .answer_bytes = sizeof open.token, .what = "making a communicator"};
  FOLD_TRY(fold_world_ask(w, 0, 1, &token, open.token));
  struct fold_wire_open *heads = calloc(ranks, sizeof *heads);
  if (!heads) return fold_no_memory("for %u ranks", ranks);
  for (unsigned r = 0; r < ranks; r++) heads[r] = open;
  struct fold_question question = {
      .kind = WIRE_OPEN, .head = heads, .head_bytes = sizeof *heads, .what = "opening a communicator"};
  fold_status status = fold_world_ask(w, 0, ranks, &question, NULL);
  free(heads);
  if (status.code == FOLD_OK) w->rank[ranks - 1].opened = true; /* a failed world has no ranks any more */
  return status;
}
