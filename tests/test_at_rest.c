/* test_at_rest.c: a thread that waits in any way is at rest if it has no time limit, and is not if it has one, however
 * far off. */
#include "rig/at_rest.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static const struct timespec hours = {.tv_sec = 1 << 14};
static int pair[2], pipes[2], server, events;
static uint32_t word;
static sigset_t no_signals;

/* Of an int the compiler may fill the upper half with anything: -1 in both ways. */
static void by_futex(bool ends) { syscall(SYS_futex, &word, 0, 0, ends ? &hours : NULL); }
static void by_ppoll(bool ends) { ppoll(NULL, 0, ends ? &hours : NULL, NULL); }
static void by_pselect(bool ends) { pselect(0, NULL, NULL, NULL, ends ? &hours : NULL, NULL); }
static void by_epoll(bool ends) { epoll_pwait(events, &(struct epoll_event){0}, 1, ends ? 1 << 24 : -1, NULL); }
static void by_wide_epoll(bool ends) {
  syscall(SYS_epoll_pwait, events, &(struct epoll_event){0}, 1L, ends ? 1L << 24 : -1L, NULL, 8L);
}
static void by_signals(bool ends) { ends ? sigtimedwait(&no_signals, NULL, &hours) : sigwaitinfo(&no_signals, NULL); }
static void by_suspend(bool ends) { (void)ends, sigsuspend(&no_signals); }
static void by_read(bool ends) { (void)ends, (void)!read(pipes[0], &(char){0}, 1); }
static void by_message(bool ends) { (void)ends, recvmsg(pair[0], &(struct msghdr){0}, 0); }
static void by_accept(bool ends) { (void)ends, accept4(server, NULL, NULL, SOCK_CLOEXEC); }
#ifdef SYS_poll
static void by_poll(bool ends) { syscall(SYS_poll, NULL, 0L, ends ? 1L << 24 : 0xffffffffL); }
#endif
#ifdef SYS_epoll_wait
static void by_epoll_wait(bool ends) {
  syscall(SYS_epoll_wait, events, &(struct epoll_event){0}, 1L, ends ? 1L << 24 : 0xffffffffL);
}
#endif
#ifdef SYS_pause
static void by_pause(bool ends) { (void)ends, syscall(SYS_pause); }
#endif
static void by_sleep(bool ends) { (void)ends, syscall(SYS_nanosleep, &hours, NULL); }

enum { ALWAYS, WITHOUT_LIMIT, NEVER };
static const struct {
  void (*wait)(bool ends);
  long number;
  int rests;
} ways[] = {{by_futex, SYS_futex, WITHOUT_LIMIT},
            {by_ppoll, SYS_ppoll, WITHOUT_LIMIT},
            {by_pselect, SYS_pselect6, WITHOUT_LIMIT},
            {by_epoll, SYS_epoll_pwait, WITHOUT_LIMIT},
            {by_wide_epoll, SYS_epoll_pwait, WITHOUT_LIMIT},
            {by_signals, SYS_rt_sigtimedwait, WITHOUT_LIMIT},
            {by_suspend, SYS_rt_sigsuspend, ALWAYS},
            {by_read, SYS_read, ALWAYS},
            {by_message, SYS_recvmsg, ALWAYS},
            {by_accept, SYS_accept4, ALWAYS},
#ifdef SYS_poll
            {by_poll, SYS_poll, WITHOUT_LIMIT},
#endif
#ifdef SYS_epoll_wait
            {by_epoll_wait, SYS_epoll_wait, WITHOUT_LIMIT},
#endif
#ifdef SYS_pause
            {by_pause, SYS_pause, ALWAYS},
#endif
            {by_sleep, SYS_nanosleep, NEVER}};

struct waiting {
  size_t way;
  bool ends;
  atomic_int thread;
};

static void *wait_so(void *context) {
  struct waiting *w = context;
  w->thread = (int)syscall(SYS_gettid);
  ways[w->way].wait(w->ends);
  return NULL;
}

/* The system call that the thread is in; -1: none. */
static long call_of(int thread) {
  char path[64];
  long number = -1;
  snprintf(path, sizeof path, "/proc/self/task/%d/syscall", thread);
  FILE *file = fopen(path, "r");
  if (file && fscanf(file, "%ld", &number) != 1) number = -1;
  if (file) fclose(file);
  return number;
}

static void interrupt(int number) { (void)number; }

/* Threads of Criterion's own may be at something: they are given half a minute. */
static bool all_come_to_rest(void) {
  for (int k = 0; k < 3000; k++) {
    if (fold_all_are_at_rest()) return true;
    usleep(10000);
  }
  return false;
}

static void expect(size_t way, bool ends) {
  struct waiting w = {.way = way, .ends = ends};
  pthread_t thread;
  cr_assert_eq(pthread_create(&thread, NULL, wait_so, &w), 0);
  while (call_of(w.thread) != ways[way].number) usleep(100);
  const bool rests = ways[way].rests == ALWAYS || (ways[way].rests == WITHOUT_LIMIT && !ends);
  cr_expect_eq(rests ? all_come_to_rest() : fold_all_are_at_rest(), rests, "way %zu, %s limit", way, ends ? "with a" : "without");
  cr_assert_eq(pthread_kill(thread, SIGUSR1), 0);
  pthread_join(thread, NULL);
}

Test(at_rest, who_waits_without_a_limit_of_time_and_nobody_else) {
  const struct sigaction on_signal = {.sa_handler = interrupt};
  const struct sockaddr_un nobody = {.sun_family = AF_UNIX};
  sigemptyset(&no_signals);
  sigaction(SIGUSR1, &on_signal, NULL);
  cr_assert_eq(pipe(pipes), 0);
  cr_assert_eq(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair), 0);
  cr_assert((server = socket(AF_UNIX, SOCK_STREAM, 0)) >= 0 && (events = epoll_create1(0)) >= 0);
  cr_assert(bind(server, (const struct sockaddr *)&nobody, sizeof nobody.sun_family) == 0 && listen(server, 1) == 0);
  cr_expect(all_come_to_rest(), "nobody else is there");
  for (size_t way = 0; way < sizeof ways / sizeof *ways; way++)
    for (int ends = 0; ends <= 1; ends++) expect(way, ends);
}

static atomic_bool works, ends;
static void *work(void *context) {
  (void)context;
  for (works = true; !ends;) continue;
  return NULL;
}

Test(at_rest, not_who_works) {
  pthread_t thread;
  cr_assert_eq(pthread_create(&thread, NULL, work, NULL), 0);
  while (!works) usleep(100);
  for (int k = 0; k < 100; k++) cr_expect_not(fold_all_are_at_rest());
  ends = true;
  pthread_join(thread, NULL);
}
