/* broken_ranks.c: collectives that fail like processes and networks: a rank is killed, exits, crashes, stops, hangs, or
 * makes other calls than the rest. It is always rank 1. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "kernels/collective/comm.h"
#include "mutants.h"

static bool is_culprit(const struct fold_call *call) { return call->comm->rank == 1; }

/* What a rank, a process or a thread, does when it has announced its call, before the call. */
static _Thread_local struct {
  void (*enter)(void *context, const char *call, size_t count, const char *type);
  int signal;
} announced;

/* A signal that arrives while the rank waits in its call for another, which never comes. */
static void signal_soon(int number) {
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = number};
  struct itimerspec soon = {.it_value = {.tv_nsec = 200000000}};
  timer_t timer;
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &soon, NULL)) abort();
}

/* MPI waits by asking again and again, for as long as the others do not come: with time that no other process wants. */
static void enter(void *context, const char *name, size_t count, const char *type) {
  announced.enter(context, name, count, type);
  if (nice(19) < 0) abort();
  if (announced.signal) signal_soon(announced.signal);
}

static fold_status allreduce(const struct fold_call *call, size_t count, enum fold_comm_type type) {
  if (call->comm->enter != enter) announced.enter = call->comm->enter;
  call->comm->enter = enter;
  return fold_comm_allreduce(call->comm, call->in[0], call->out, count, type, FOLD_SUM, NULL);
}
static fold_status right(const struct fold_call *call) { return allreduce(call, call->rows, FOLD_COMM_F32); }

static fold_status signalled(const struct fold_call *call, int number) {
  if (is_culprit(call)) announced.signal = number;
  while (call->comm->rank == (call->comm->ranks > 2 ? 2 : 0)) pause();
  return right(call);
}

#define BROKEN(name) fold_status broken_##name(const struct fold_subject *subject, const struct fold_call *call)
BROKEN(rank_killed) {
  (void)subject;
  return signalled(call, SIGKILL);
}
BROKEN(rank_stops_in_call) {
  (void)subject;
  return signalled(call, SIGSTOP);
}
BROKEN(rank_exits) {
  (void)subject;
  if (is_culprit(call)) exit(0);
  return right(call);
}
/* No core, no message of a sanitizer: as it would die without one. */
BROKEN(rank_crashes) {
  (void)subject;
  prctl(PR_SET_DUMPABLE, 0);
  signal(SIGSEGV, SIG_DFL);
  if (is_culprit(call)) raise(SIGSEGV);
  return right(call);
}
/* FOLD_SEEN: a file that is there from when the faulty rank is about to hang or stop. */
static void tell(void) {
  const char *path = getenv("FOLD_SEEN");
  int fd = path ? open(path, O_CREAT | O_WRONLY, 0600) : -1;
  if (fd >= 0) close(fd);
}
BROKEN(rank_hangs) {
  (void)subject;
  if (is_culprit(call)) tell();
  while (is_culprit(call)) pause();
  return right(call);
}
BROKEN(rank_stops) {
  (void)subject;
  if (is_culprit(call)) tell(), raise(SIGSTOP);
  return right(call);
}
BROKEN(rank_other_count) {
  (void)subject;
  return allreduce(call, is_culprit(call) ? call->rows - 1 : call->rows, FOLD_COMM_F32);
}
/* As many elements, of twice the size. */
BROKEN(rank_other_type) {
  (void)subject;
  return allreduce(call, call->rows / 2, is_culprit(call) ? FOLD_COMM_F64 : FOLD_COMM_F32);
}
BROKEN(rank_other_call) {
  size_t at[64] = {0};
  (void)subject;
  for (int r = 0; r <= call->comm->ranks; r++) at[r] = 4 * fold_comm_cut(call->rows, 1, call->comm->ranks, r);
  return is_culprit(call) ? fold_comm_gather(call->comm, call->in[0], call->out, at, NULL) : right(call);
}
BROKEN(rank_fails) {
  (void)subject;
  if (is_culprit(call)) return fold_error(FOLD_ENVIRONMENT, "its device fell off the bus");
  return right(call);
}
BROKEN(ranks_fail) {
  (void)subject, (void)call;
  return fold_error(FOLD_UNSUPPORTED, "not on Fridays");
}
/* Announces calls without end. */
BROKEN(rank_babbles) {
  (void)subject;
  while (is_culprit(call)) call->comm->enter(call->comm->context, "nothing", 0, "bytes");
  return right(call);
}

/* No fault, but a look: whether each element lies where it should. Element c of row r is c + 1 + r * all_cols; each result is
 * the number of ranks that have their columns of a row, all of them and no other. */
fold_status probe_places(const struct fold_subject *subject, const struct fold_call *call) {
  const fold_element_f32 *x = call->in[0];
  fold_element_f32 *right = call->out;
  size_t grain = subject->grain ? subject->grain(call->whole.extent.k) : 1;
  size_t at = fold_comm_cut(call->whole.extent.k, grain, call->comm->ranks, call->comm->rank);
  size_t end = fold_comm_cut(call->whole.extent.k, grain, call->comm->ranks, call->comm->rank + 1);
  for (size_t r = 0; r < call->rows; r++) {
    size_t found = 0;
    for (size_t c = 0; c < call->cols; c++)
      found += x[r * call->cols + c] == (float)(at + c + 1 + r * call->whole.extent.k);
    right[r] = call->whole.first.k == at && call->cols == end - at && found == call->cols;
  }
  return fold_comm_allreduce(call->comm, call->out, call->out, call->rows, FOLD_COMM_F32, FOLD_SUM, NULL);
}

size_t probe_grain(size_t cols) { return cols / 5 + 1; }
