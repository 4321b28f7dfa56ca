#include "rig/contention.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rig/process_state.h"

/* One a core; where there are many, some cores stay free, as on any machine. */
enum { MOST = 16, MEMORY = 16 << 20, LINE = 64 };

static struct {
  pid_t owner, process[MOST];
  unsigned n;
} busy;

static unsigned cores(void) {
  cpu_set_t set;
  const int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  return n < MOST ? (unsigned)n : MOST; /* unseen: <= */
}

/* Runs in a forked child, where a lock that another thread held stays taken for ever: so it makes only system calls.
 * Every second child works on memory beyond the caches. It closes its files after it is sure to end with its parent,
 * since the parent stops it only then: a child stopped before that might stay stopped for ever. */
static _Noreturn void work(pid_t parent, bool on_memory) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  close_range(0, ~0u, 0);
  unsigned char *memory = MAP_FAILED;
  if (on_memory) memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  volatile unsigned char *at = memory;
  for (size_t i = 0; getppid() == parent;) /* unseen: 1 */
    for (size_t k = 0; k < 1 << 16; k++, i = (i + LINE) % MEMORY)
      if (memory != MAP_FAILED) at[i]++;
  _exit(0);
}

/* Waits until each child has closed its files. */
static void wait_for_all(const int ends[2]) {
  char byte;
  close(ends[1]);
  while (read(ends[0], &byte, 1) < 0 && errno == EINTR) continue;
  close(ends[0]);
}

static fold_status start(void) {
  const pid_t parent = getpid();
  int ends[2]; /* unseen: 3 */
  if (pipe2(ends, O_CLOEXEC) != 0)
    return fold_error(FOLD_ENVIRONMENT, "no pipe for processes that keep the machine busy: %s", strerror(errno));
  sigset_t all, before;
  if (busy.owner != parent) busy.n = 0; /* those of our parent are not ours */
  busy.owner = parent;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before); /* so that they run none of our handlers */
  while (busy.n < cores()) {
    const pid_t child = fork();
    if (child == 0) work(parent, busy.n % 2 == 0); /* unseen: 3 */
    if (child < 0) break;
    busy.process[busy.n++] = child;
    fold_process_state_own_child(child);
  }
  wait_for_all(ends);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (busy.n == 0) return fold_error(FOLD_ENVIRONMENT, "no process to keep the machine busy: %s", strerror(errno));
  return fold_ok();
}

static void tell(int number) {
  for (unsigned k = 0; busy.owner == getpid() && k < busy.n; k++) kill(busy.process[k], number);
}

fold_status fold_contention_begin(void) {
  if (busy.n == 0 || busy.owner != getpid()) return start();
  tell(SIGCONT);
  return fold_ok();
}

void fold_contention_pause(void) { tell(SIGSTOP); }

void fold_contention_end(void) {
  for (unsigned k = 0; busy.owner == getpid() && k < busy.n; k++)
    if (kill(busy.process[k], SIGKILL) == 0)
      while (waitpid(busy.process[k], NULL, 0) < 0 && errno == EINTR) continue;
  busy.n = 0;
}
