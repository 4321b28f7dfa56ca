/* process/guard.c: the guard waits for the signal that its parent has ended. The groups are in memory that all processes
 * share. All of them but the guard inherit the end of a pipe for writing: once it is closed everywhere, none of them can
 * make a file any more. */
#include "process/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fold.h"
#include "base/scratch.h"
#include "process/proc.h"

enum { GROUPS = 1024, MOST_TIMES = 50, BETWEEN = 10000 /* microseconds */ };
enum { OF_A_KILLED = 10, OF_AN_ENDED = 2 }; /* most seconds, for the processes that such a parent leaves */

static struct shared {
  _Atomic pid_t groups[GROUPS];              /* 0: none */
  _Atomic unsigned long long starts[GROUPS]; /* when their first processes have started; 0: not known */
  _Atomic bool over;
  char folder[FOLD_GUARD_PATH];
} * shared;
static pid_t owner, keeper = -1;
static int alive; /* the pipe's end for writing */

/* 0 if the process has ended, or there is no /proc. */
static unsigned long long start_of(pid_t process) {
  struct fold_proc found;
  fold_proc_read(process, &found);
  return found.start;
}

/* A group whose first process is another one than was noted has been given the number since. */
static bool is_ours(int i) {
  const unsigned long long noted = atomic_load(&shared->starts[i]), now = start_of(atomic_load(&shared->groups[i]));
  return noted == 0 || now == 0 || noted == now;
}

/* Once a group is empty, the system may give its number to another one. */
static bool is_empty(pid_t group) { return kill(-group, 0) != 0 && errno == ESRCH; }

static void forget_empty(void) {
  for (int i = 0; i < GROUPS; i++) {
    pid_t there = atomic_load(&shared->groups[i]);
    if (!there || (!is_empty(there) && is_ours(i))) continue;
    atomic_store(&shared->starts[i], 0);
    atomic_compare_exchange_strong(&shared->groups[i], &there, 0);
  }
}

void fold_guard_group(pid_t group) {
  if (shared == NULL) return;
  forget_empty();
  for (int i = 0; i < GROUPS; i++) {
    pid_t none = 0;
    if (!atomic_compare_exchange_strong(&shared->groups[i], &none, group)) continue;
    atomic_store(&shared->starts[i], start_of(group));
    return;
  }
}

/* Kills several times, since some processes may just be starting others. */
static void end_groups(void) {
  bool any = true;
  for (int k = 0; any && k < MOST_TIMES; k++) {
    if (k > 0) usleep(BETWEEN);
    any = false;
    for (int i = 0; i < GROUPS; i++) {
      const pid_t group = atomic_load(&shared->groups[i]);
      any |= group && is_ours(i) && kill(-group, SIGKILL) == 0;
    }
  }
}

static bool all_ended(void) {
  struct pollfd writers = {.fd = STDIN_FILENO};
  return poll(&writers, 1, BETWEEN / 1000) == 1 && writers.revents & POLLHUP;
}

/* A killed process that waits for a disk makes its folder first and ends then: removes the folder until all have ended.
 * A process that a guest has left to itself may go on for ever. */
static void end_all(double seconds) {
  const double end = fold_now() + seconds;
  for (bool last = false; !last || (access(shared->folder, F_OK) == 0 && fold_now() < end);) {
    last = all_ended() || fold_now() > end;
    end_groups();
    if (shared->folder[0]) fold_scratch_remove(shared->folder);
  }
}

/* `all` signals are blocked from the start: one that ended this process before it waits would leave the groups. */
static void guard(const sigset_t *all, int reading) {
  int number;
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  setpgid(0, 0);
  dup2(reading, STDIN_FILENO);
  close_range(1, ~0u, 0); /* a reader of the command's output waits until it is closed */
  while (getppid() == owner && !atomic_load(&shared->over)) sigwait(all, &number);
  end_all(getppid() == owner ? OF_AN_ENDED : OF_A_KILLED);
  _exit(0);
}

char *fold_guard_folder(void) { return shared ? shared->folder : NULL; }

static fold_status start(void) {
  int ends[2];
  sigset_t all, own;
  owner = getpid();
  alive = -1;
  if (pipe2(ends, O_CLOEXEC)) return fold_error(FOLD_ENVIRONMENT, "a pipe cannot be made: %s", strerror(errno));
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, &own);
  keeper = fork();
  if (keeper == 0) guard(&all, ends[0]);
  const int why = errno;
  if (keeper > 0)
    setpgid(keeper, keeper); /* before this process goes on: a signal to its group must not reach the guard */
  sigprocmask(SIG_SETMASK, &own, NULL);
  close(ends[0]);
  alive = ends[1];
  return keeper > 0 ? fold_ok() : fold_error(FOLD_ENVIRONMENT, "a process cannot be started: %s", strerror(why));
}

fold_status fold_guard_begin(void) {
  void *memory = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return fold_no_memory("to start a process");
  shared = memory;
  const fold_status status = start();
  if (status.code != FOLD_OK) fold_guard_end();
  return status;
}

void fold_guard_end(void) {
  if (shared == NULL || getpid() != owner) return;
  atomic_store(&shared->over, true);
  if (alive >= 0) close(alive);
  if (keeper > 0) kill(keeper, SIGTERM);
  while (keeper > 0 && waitpid(keeper, NULL, 0) < 0 && errno == EINTR) continue;
  munmap(shared, sizeof *shared);
  shared = NULL;
}
