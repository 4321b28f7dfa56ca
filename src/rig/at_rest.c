/* at_rest.c: whether a thread waits to be woken, by the system call that it is in (Linux, /proc/PID/task/TID/syscall). */
#include "rig/at_rest.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The system calls that wait, and which argument limits the time: milliseconds (less than 0: no limit) or a pointer
 * (NULL: no limit). */
static const struct {
  long number;
  int milliseconds, pointer; /* counted from 1; 0: there is no such argument */
} waits[] = {
    {SYS_futex, .pointer = 4},
    {SYS_ppoll, .pointer = 3},
    {SYS_pselect6, .pointer = 5},
    {SYS_epoll_pwait, .milliseconds = 4},
    {SYS_rt_sigtimedwait, .pointer = 3},
    {.number = SYS_rt_sigsuspend},
    {.number = SYS_read},
    {.number = SYS_recvmsg},
    {.number = SYS_accept4},
#ifdef SYS_poll
    {SYS_poll, .milliseconds = 3},
#endif
#ifdef SYS_epoll_wait
    {SYS_epoll_wait, .milliseconds = 4},
#endif
#ifdef SYS_pause
    {.number = SYS_pause},
#endif
};

/* The upper half of an argument that is an int may hold anything. */
static bool is_wait(long number, const unsigned long *arguments) {
  for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
    if (waits[i].number != number) continue;
    if (waits[i].milliseconds) return (int)arguments[waits[i].milliseconds - 1] < 0;
    return !waits[i].pointer || !arguments[waits[i].pointer - 1];
  }
  return false;
}

/* A thread whose file can't be opened has ended only if the file is not there: a subject may have taken all
 * descriptors. */
static bool has_ended(const char *thread) {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/task/%.20s", thread);
  return access(path, F_OK) != 0 && errno == ENOENT;
}

static bool rests(const char *thread) {
  char path[64];
  long number;
  unsigned long a[6];
  int n = 0;
  snprintf(path, sizeof path, "/proc/self/task/%.20s/syscall", thread);
  FILE *file = fopen(path, "re");
  if (file) n = fscanf(file, "%ld %lx %lx %lx %lx %lx %lx", &number, &a[0], &a[1], &a[2], &a[3], &a[4], &a[5]);
  if (file) fclose(file);
  return n == 7 ? is_wait(number, a) : has_ended(thread);
}

bool fold_all_are_at_rest(void) {
  const struct dirent *entry;
  const long own = syscall(SYS_gettid);
  DIR *tasks = opendir("/proc/self/task");
  bool all = tasks != NULL;
  while (all && (entry = readdir(tasks)))
    all = entry->d_name[0] == '.' || strtol(entry->d_name, NULL, 10) == own || rests(entry->d_name);
  if (tasks) closedir(tasks);
  return all;
}
