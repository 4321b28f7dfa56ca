/* idle.c: a sched_yield that sleeps if it is called again and again, each time longer up to 13 ms, for programs whose ranks
 * wait for one that hangs.
 *
 * Open MPI waits by yielding in a loop, which takes a whole core until the time limit if no other process wants it.
 * Suites of ranks spent half of their processor time in that way, while other suites had work to do. A short wait stays
 * as short as before.
 */
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SOON = 200, MORE = 50, DOUBLINGS = 6 };        /* calls; calls until a pause is doubled, and how often */
enum { PAUSE = 200 * 1000, OTHER = 2 * 1000 * 1000 }; /* nanoseconds */

static long long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static void pause_after(unsigned calls) {
  const unsigned doublings = (calls - SOON) / MORE < DOUBLINGS ? (calls - SOON) / MORE : DOUBLINGS;
  nanosleep(&(struct timespec){.tv_nsec = (long)PAUSE << doublings}, NULL);
}

/* Who did something else for a while waits for something else now. */
int sched_yield(void) {
  static _Thread_local long long last;
  static _Thread_local unsigned calls;
  if (now() - last > OTHER) calls = 0;
  if (calls++ < SOON)
    syscall(SYS_sched_yield);
  else
    pause_after(calls);
  last = now();
  return 0;
}
