/* signals.c: the kernel names a signal's sender; /proc tells its ancestors. */
#include "process/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "process/proc.h"

static const int watched[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM};
enum { WATCHED = sizeof watched / sizeof *watched, MOST_GENERATIONS = 64 };

static struct sigaction former[NSIG];
static pid_t watcher;
static volatile sig_atomic_t by_subject;

/* Whether a process descends from the one that watches, as workers do, and all that they have started. */
static bool is_below(pid_t process) {
  for (int k = 0; process > 1 && process != watcher && k < MOST_GENERATIONS; k++) {
    struct fold_proc found;
    fold_proc_read(process, &found);
    process = found.parent;
    if (process == watcher) return true;
  }
  return false;
}

/* Does what the former handler would have done. */
static void pass_on(int number, siginfo_t *info, void *context) {
  const struct sigaction *before = &former[number];
  if (before->sa_flags & SA_SIGINFO) {
    before->sa_sigaction(number, info, context);
  } else if (before->sa_handler == SIG_DFL) {
    signal(number, SIG_DFL);
    raise(number);
  } else {
    before->sa_handler(number);
  }
}

static void on_signal(int number, siginfo_t *info, void *context) {
  const int error = errno;
  const bool below = info->si_code <= 0 && is_below(info->si_pid);
  if (!below) {
    pass_on(number, info, context);
  } else if (getpid() == watcher) {
    by_subject = number;
  } else {
    signal(number, SIG_DFL);
    raise(number);
  }
  errno = error;
}

void fold_signals_watch(void) {
  struct sigaction ours = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
  sigemptyset(&ours.sa_mask);
  watcher = getpid();
  by_subject = 0;
  for (int k = 0; k < WATCHED; k++) {
    sigaction(watched[k], NULL, &former[watched[k]]);
    if (former[watched[k]].sa_handler != SIG_IGN) sigaction(watched[k], &ours, NULL);
  }
}

void fold_signals_leave(void) {
  for (int k = 0; k < WATCHED; k++) sigaction(watched[k], &former[watched[k]], NULL);
}

int fold_signals_of_subject(void) {
  const int number = by_subject;
  by_subject = 0;
  return number;
}
