/* idle.c: a sched_yield that sleeps if it is called again and again, for programs whose ranks wait for one that hangs.
 *
 * Open MPI waits by yielding in a loop, which takes a whole core until the time limit if no other process wants it.
 * Suites of ranks spent half of their processor time in that way, while other suites had work to do. A short wait stays
 * as short as before.
 */
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SOON = 200, PAUSE = 200 * 1000, OTHER = 2 * 1000 * 1000 }; /* calls; nanoseconds */

static long long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/* Who did something else for a while waits for something else now. */
int sched_yield(void) {
  static _Thread_local long long last;
  static _Thread_local unsigned calls;
  if (now() - last > OTHER) calls = 0;
  if (calls++ < SOON)
    syscall(SYS_sched_yield);
  else
    nanosleep(&(struct timespec){.tv_nsec = PAUSE}, NULL);
  last = now();
  return 0;
}
