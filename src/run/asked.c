/* asked.c: the kernel names a signal's sender; /proc tells its ancestors. */
#include "run/asked.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const int watched[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM};
enum { WATCHED = sizeof watched / sizeof *watched, MOST_GENERATIONS = 64 };

static struct sigaction former[NSIG];
static pid_t watcher;
static volatile sig_atomic_t by_subject;

/* Writes "/proc/PID/stat", by code that is safe in a signal handler. */
static void path_of(pid_t process, char path[32]) {
  char digits[12];
  size_t n = 0;
  for (pid_t left = process; left > 0 || n == 0; left /= 10) digits[n++] = (char)('0' + left % 10);
  memcpy(path, "/proc/", 6);
  for (size_t i = 0; i < n; i++) path[6 + i] = digits[n - 1 - i];
  memcpy(path + 6 + n, "/stat", 6);
}

/* Reads the parent from "PID (any name) STATE PARENT ..."; 0 if the process is gone. */
static pid_t parent_of(pid_t process) {
  char path[32], text[128];
  path_of(process, path);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  const ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
  if (fd >= 0) close(fd);
  if (n <= 0) return 0;
  text[n] = '\0';
  const char *name_end = strrchr(text, ')');
  return name_end && strlen(name_end) > 4 ? (pid_t)strtol(name_end + 4, NULL, 10) : 0;
}

/* Whether a process descends from the one that watches, as workers do, and all that they have started. */
static bool is_below(pid_t process) {
  for (int k = 0; process > 1 && process != watcher && k < MOST_GENERATIONS; k++) {
    process = parent_of(process);
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

void fold_asked_watch(void) {
  struct sigaction ours = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
  sigemptyset(&ours.sa_mask);
  watcher = getpid();
  by_subject = 0;
  for (int k = 0; k < WATCHED; k++) {
    sigaction(watched[k], NULL, &former[watched[k]]);
    if (former[watched[k]].sa_handler != SIG_IGN) sigaction(watched[k], &ours, NULL);
  }
}

void fold_asked_leave(void) {
  for (int k = 0; k < WATCHED; k++) sigaction(watched[k], &former[watched[k]], NULL);
}

int fold_asked_by_subject(void) {
  const int number = by_subject;
  by_subject = 0;
  return number;
}
