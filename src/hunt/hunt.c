/* hunt.c: see hunt.h. Starts the processes of a hunt, and adds up what they say. */
#include "hunt/hunt.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest/guest.h"
#include "hunt/lane.h"

struct hunting {
  const struct fold_hunt *hunt;
  const struct fold_hunt_sink *sink;
  struct fold_hunted *hunted;
  struct fold_hunt_shared *shared;
  pid_t pid[FOLD_HUNT_LANES];
  unsigned started, ended;
  int fd[2];
  double begun;
  fold_status status;
};

static size_t shared_bytes(const struct fold_hunt *hunt) {
  return sizeof(struct fold_hunt_shared) + hunt->registry->n * sizeof(struct fold_hunt_refuted);
}

/* False if the reader has ended. */
static bool send_by_pipe(void *context, const struct fold_lane_message *message) {
  ssize_t n;
  do n = write(*(const int *)context, message, sizeof *message);
  while (n < 0 && errno == EINTR);
  return n == (ssize_t)sizeof *message;
}

/* A process whose starter has ended ends, too. */
static fold_status start(struct hunting *h) {
  const struct fold_lane_channel channel = {send_by_pipe, &h->fd[1]};
  const pid_t parent = getpid(), pid = fork();
  if (pid < 0) return fold_system_failed("a process of the hunt cannot be started");
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    close(h->fd[0]);
    fold_programs_separate(h->started);
    if (getppid() == parent) fold_lane_run(h->hunt, h->shared, h->started, &channel);
    _exit(0);
  }
  h->pid[h->started++] = pid;
  return fold_ok();
}

static void add_round(struct fold_hunted *to, const struct fold_hunted *round) {
  to->cases += round->cases;
  to->trials += round->trials;
  to->expected += round->expected;
  to->hung += round->hung;
  for (int i = 0; i < FOLD_VERDICTS; i++) to->verdicts[i] += round->verdicts[i];
  for (int i = 0; i < FOLD_PROBLEMS; i++) to->by_problem[i] += round->by_problem[i];
  for (int i = 0; i < FOLD_DTYPES; i++) to->by_dtype[i] += round->by_dtype[i];
  for (size_t i = 0; i < sizeof to->by_terms / sizeof *to->by_terms; i++) to->by_terms[i] += round->by_terms[i];
  if (!(round->closest > to->closest || (isnan(to->closest) && !isnan(round->closest)))) return;
  to->closest = round->closest;
  memcpy(to->closest_case, round->closest_case, sizeof to->closest_case);
}

static void take(struct hunting *h, const struct fold_lane_message *message) {
  fold_status status = fold_ok();
  if (message->word == FOLD_LANE_ROUND) add_round(h->hunted, &message->hunted);
  if (message->word == FOLD_LANE_FOUND) status = h->sink->found(h->sink->context, &message->find);
  if (message->word == FOLD_LANE_ENDED) {
    status = message->status;
    h->ended++;
  }
  if (status.code == FOLD_OK) return;
  if (h->status.code == FOLD_OK) h->status = status;
  h->shared->over = 1;
}

/* Reads one message, if there is one in time. False where all processes have ended. */
static bool listen(struct hunting *h) {
  struct fold_lane_message message;
  struct pollfd at = {.fd = h->fd[0], .events = POLLIN};
  if (poll(&at, 1, 50) <= 0) return true;
  size_t n = 0;
  while (n < sizeof message) {
    const ssize_t got = read(h->fd[0], (char *)&message + n, sizeof message - n);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    n += (size_t)got;
  }
  take(h, &message);
  return true;
}

/* Who is told of the progress may stop the hunt. */
static void look_at_time(struct hunting *h) {
  const double seconds = fold_now() - h->begun;
  if (h->sink->progress) h->sink->progress(h->sink->context, h->hunted, seconds);
  if (*h->hunt->stop) h->shared->interrupted = 1;
  if (*h->hunt->stop || (h->hunt->seconds > 0 && seconds >= h->hunt->seconds)) h->shared->over = 1;
}

/* All have closed their ends of the pipe. */
static void await_ends(struct hunting *h) {
  for (unsigned i = 0; i < h->started; i++) {
    int status = 0;
    while (waitpid(h->pid[i], &status, 0) < 0 && errno == EINTR) continue;
  }
  if (h->ended < h->started && h->status.code == FOLD_OK)
    h->status = fold_error(FOLD_ENVIRONMENT, "a process of the hunt ended before its time");
}

static fold_status run_lanes(struct hunting *h) {
  if (pipe(h->fd) != 0) return fold_system_failed("a hunt cannot be started");
  for (unsigned i = 0; i < h->hunt->processes && h->status.code == FOLD_OK; i++) h->status = start(h);
  close(h->fd[1]);
  while (listen(h)) look_at_time(h);
  await_ends(h);
  close(h->fd[0]);
  return h->status;
}

/* ---- in this process ---- */

static bool send_here(void *context, const struct fold_lane_message *message) {
  struct hunting *h = context;
  take(h, message);
  return true;
}

static bool is_over(void *context) {
  struct hunting *h = context;
  look_at_time(h);
  return h->shared->over;
}

/* The time that is over ends a round, but nothing that is being made small: that ends where the selection's own `here` says so. */
static fold_status run_here(struct hunting *h) {
  const struct fold_lane_channel channel = {send_here, h};
  h->shared->here = (struct fold_here){is_over, h};
  fold_lane_run(h->hunt, h->shared, 0, &channel);
  return h->status;
}

/* Finds out before the hunt whether the folder can be written. *made: it was not there. */
static fold_status check_folder(const char *folder, bool *made) {
  *made = mkdir(folder, 0777) == 0;
  if ((*made || errno == EEXIST) && access(folder, W_OK | X_OK) == 0) return fold_ok();
  return fold_error(fold_write_code(errno), "%.200s: cannot be written: %s", folder, strerror(errno));
}

/* What is expected counts as found. */
static void begin_found(const struct fold_hunt *hunt, struct fold_hunt_shared *shared) {
  for (size_t i = 0; i < hunt->registry->n && hunt->expected; i++) {
    shared->refuted[i].any = hunt->expected[i];
    shared->refuted[i].lost_tail = hunt->tails[i];
  }
}

fold_status fold_hunt_run(const struct fold_hunt *hunt, const struct fold_hunt_sink *sink, struct fold_hunted *hunted) {
  struct hunting h = {.hunt = hunt, .sink = sink, .hunted = hunted, .begun = fold_now(), .status = fold_ok()};
  struct fold_draw draw;
  *hunted = (struct fold_hunted){.closest = (double)NAN};
  FOLD_TRY(fold_draw_open(hunt->registry, hunt->selection, hunt->seed, hunt->terms, &draw));
  fold_draw_close(&draw);
  bool made;
  FOLD_TRY(check_folder(hunt->folder, &made));
  h.shared = mmap(NULL, shared_bytes(hunt), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (h.shared == MAP_FAILED) return fold_no_memory("for a hunt");
  begin_found(hunt, h.shared);
  const fold_status status = hunt->selection->here ? run_here(&h) : run_lanes(&h);
  munmap(h.shared, shared_bytes(hunt));
  if (made) rmdir(hunt->folder); /* if it is empty */
  return status;
}
