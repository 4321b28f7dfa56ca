/* late.c: see late.h. Whether a thread waits to be woken is told by the system call that it is in (Linux, /proc/PID/task/TID/syscall):
 * one that waits without a time limit, where all others do, does nothing until the subject is called again. */
#include "late.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "footing.h"
#include "subject.h"
#include "watch.h"

/* Seconds: for one look; for all of a subject's in a process, whose threads may never rest; for all of one that was seen to write, who
 * would else end the process when nobody looks. */
static const double OF_A_LOOK = 0.3, OF_A_SUBJECT = 1, OF_A_WRITER = 5;
enum { SUBJECTS = 64 };

/* Where the limit of time stands among the call's arguments, and what stands there for none. */
static const struct {
  long number;
  int limit; /* -1: it has no such argument */
  unsigned long none;
} waits[] = {
    {SYS_futex, 3, 0},
    {SYS_ppoll, 2, 0},
    {SYS_pselect6, 4, 0},
    {SYS_epoll_pwait, 3, 0xffffffff},
    {SYS_rt_sigtimedwait, 2, 0},
    {SYS_rt_sigsuspend, -1, 0},
    {SYS_read, -1, 0},
    {SYS_recvmsg, -1, 0},
    {SYS_accept4, -1, 0},
#ifdef SYS_poll
    {SYS_poll, 2, 0xffffffff},
#endif
#ifdef SYS_epoll_wait
    {SYS_epoll_wait, 3, 0xffffffff},
#endif
#ifdef SYS_pause
    {SYS_pause, -1, 0},
#endif
};

static bool is_wait(long number, const unsigned long *arguments) {
  for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
    if (waits[i].number == number) return waits[i].limit < 0 || arguments[waits[i].limit] == waits[i].none;
  return false;
}

/* What can't be read of a thread that is there tells nothing of it: a subject may have taken all descriptors. */
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

static bool all_rest(void) {
  const struct dirent *entry;
  const long own = syscall(SYS_gettid);
  DIR *tasks = opendir("/proc/self/task");
  bool all = tasks != NULL;
  while (all && (entry = readdir(tasks)))
    all = entry->d_name[0] == '.' || strtol(entry->d_name, NULL, 10) == own || rests(entry->d_name);
  if (tasks) closedir(tasks);
  return all;
}

/* What was spent on each; of more than there are places, on the last ones together. */
static struct account {
  const void *who;
  double seconds;
  bool late;
} accounts[SUBJECTS];
static bool any_late;

static struct account *account_of(const void *who) {
  size_t i = 0;
  while (i < SUBJECTS - 1 && accounts[i].who && accounts[i].who != who) i++;
  accounts[i].who = who;
  return &accounts[i];
}

bool fold_late_is(const void *who) { return any_late && account_of(who)->late; }
bool fold_late_was_any(void) { return any_late; }

unsigned fold_late_threads(const struct fold_subject *who) {
  return who->guest && fold_watch_is_set() ? fold_footing_threads() : 0;
}

static void wait_for_rest(struct account *account) {
  const struct timespec pause = {.tv_nsec = 200 * 1000};
  const double begun = fold_now(), left = (account->late ? OF_A_WRITER : OF_A_SUBJECT) - account->seconds,
               end = begun + (left < OF_A_LOOK ? left : OF_A_LOOK);
  while (!all_rest() && fold_now() < end) nanosleep(&pause, NULL);
  account->seconds += fold_now() - begun;
}

static void allow(const struct fold_watched *watched, size_t n, int access) {
  for (size_t i = 0; i < n; i++) mprotect(watched[i].region->at, watched[i].region->bytes, access);
}

enum { OUTPUT, SCRATCH, INPUT };
static const char *const what[] = {[OUTPUT] = "its output, by a thread that wrote to it after the call had returned",
                                   [SCRATCH] = "its scratch, by a thread that wrote to it after the call had returned",
                                   [INPUT] = "its input, by a thread that wrote to it after the call had returned"};

/* Before: whether each was written to by the call itself. */
static const char *find_written(struct fold_watched *watched, size_t n, size_t own, const bool *before) {
  const char *found = NULL;
  for (size_t i = n; i-- > 0;) {
    if (watched[i].inside.seen && !before[i]) found = what[i >= own ? INPUT : i];
    if (i < own) watched[i].inside.seen = false; /* to write there is no fault */
  }
  return found;
}

/* What was written, now or, of the output, before we looked. */
static const char *look(struct account *account, struct fold_watched *watched, size_t n, size_t own, const void *got) {
  const struct fold_watched *out = &watched[0];
  bool before[FOLD_INPUTS + 2];
  if (memcmp(got, out->region->at + out->first, out->last - out->first) != 0) return what[OUTPUT];
  if (!fold_watch_is_set() || !(account->late || fold_footing_has_company())) return NULL;
  for (size_t i = 0; i < n; i++) before[i] = watched[i].inside.seen;
  allow(watched, own, PROT_READ);
  wait_for_rest(account);
  allow(watched, own, PROT_READ | PROT_WRITE);
  return find_written(watched, n, own, before);
}

const char *fold_late_look(const void *who, struct fold_watched *watched, size_t n, size_t own, const void *got) {
  struct account *account = account_of(who);
  const char *found = look(account, watched, n, own, got);
  account->late |= found != NULL;
  any_late |= account->late;
  return found;
}
