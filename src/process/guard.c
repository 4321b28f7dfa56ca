/* process/guard.c: the guard waits for the signal that its parent has ended. The groups are in memory that all processes
 * share. */
#include "process/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/scratch.h"
#include "process/proc.h"

enum { GROUPS = 1024, MOST_TIMES = 50, BETWEEN = 10000 /* microseconds */ };

static struct shared {
  _Atomic pid_t groups[GROUPS];              /* 0: none */
  _Atomic unsigned long long starts[GROUPS]; /* when their first processes have started; 0: not known */
  _Atomic bool over;
  char folder[FOLD_GUARD_PATH];
} * shared;
static pid_t owner, keeper;

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

/* `all` signals are blocked from the start: one that ended this process before it waits would leave the groups. */
static void guard(const sigset_t *all) {
  int number;
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  setpgid(0, 0);
  close_range(0, ~0u, 0); /* a reader of the command's output waits until it is closed */
  while (getppid() == owner && !atomic_load(&shared->over)) sigwait(all, &number);
  /* What a killed parent had just started may note its group, or write, a little later; so may what is ended here. */
  const bool died = getppid() != owner;
  for (int k = 0; k < 20 && (k == 0 || died || access(shared->folder, F_OK) == 0); k++) {
    if (k > 0) usleep(BETWEEN);
    end_groups();
    if (shared->folder[0]) fold_scratch_remove(shared->folder);
  }
  _exit(0);
}

char *fold_guard_folder(void) { return shared ? shared->folder : NULL; }

fold_status fold_guard_begin(void) {
  void *memory = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return fold_no_memory("to start a process");
  shared = memory;
  sigset_t all, own;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, &own);
  owner = getpid();
  keeper = fork();
  if (keeper == 0) guard(&all);
  const int why = errno;
  if (keeper > 0)
    setpgid(keeper, keeper); /* before this process goes on: a signal to its group must not reach the guard */
  sigprocmask(SIG_SETMASK, &own, NULL);
  if (keeper > 0) return fold_ok();
  fold_guard_end();
  return fold_error(FOLD_ENVIRONMENT, "a process cannot be started: %s", strerror(why));
}

void fold_guard_end(void) {
  if (shared == NULL || getpid() != owner) return;
  atomic_store(&shared->over, true);
  if (keeper > 0) kill(keeper, SIGTERM);
  while (keeper > 0 && waitpid(keeper, NULL, 0) < 0 && errno == EINTR) continue;
  munmap(shared, sizeof *shared);
  shared = NULL;
}
