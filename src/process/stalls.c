/* stalls.c: a process that can run, but has used no processor, waited for one. One that sleeps, or uses a processor, is not stalled. */
#include "process/stalls.h"

#include <math.h>
#include <time.h>

#include "base/fold.h"
#include "process/proc.h"

enum { DEEPEST = 4, MOST_CHILDREN = 16 };
/* Seconds. The system notes what is used at its ticks, so that more frequent looks would tell little. */
static const double BETWEEN_LOOKS = 0.02, OWN_GAP = 1;

struct seen {
  bool stopped, runs;
  double used;
};

static double used_by(pid_t process) {
  clockid_t clock;
  struct timespec used;
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &used) != 0) return 0;
  return (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
}

/* `all`: all children, else only those that lead a group of their own: others are the worker's own helpers, which it stops itself. */
static void look_at(pid_t process, bool all, int depth, struct seen *seen) {
  pid_t children[MOST_CHILDREN];
  struct fold_proc found;
  if (!fold_proc_read(process, &found)) return;
  seen->stopped |= found.state == 'T' || found.state == 't';
  seen->runs |= found.state == 'R';
  seen->used += used_by(process);
  const int n = depth < DEEPEST ? fold_proc_children(process, children, MOST_CHILDREN) : 0;
  for (int i = 0; i < n; i++)
    if (all || (fold_proc_read(children[i], &found) && found.group == children[i]))
      look_at(children[i], true, depth + 1, seen);
}

struct fold_stalls fold_stalls_begin(void) {
  return (struct fold_stalls){fold_now(), -1};
}

double fold_stalls_look(struct fold_stalls *stalls, pid_t process) {
  const double now = fold_now(), passed = now - stalls->looked;
  if (passed < BETWEEN_LOOKS) return 0;
  struct seen seen = {0};
  look_at(process, false, 0, &seen);
  const bool waits = seen.runs && stalls->used >= 0;
  const double used = fmax(0, seen.used - stalls->used);
  *stalls = (struct fold_stalls){now, seen.used};
  if (passed > OWN_GAP) return 0;
  return seen.stopped ? passed : waits ? fmax(0, passed - used) : 0;
}
