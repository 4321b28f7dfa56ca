/* reaper.c: see reaper.h. Uses Linux's child subreaper. */
#include "process/reaper.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fold.h"
#include "process/proc.h"

void fold_reaper_begin(struct fold_reaper *orphans) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  orphans->n = fold_proc_children(0, orphans->before, FOLD_REAPER_MOST);
}

static bool was_there(const struct fold_reaper *orphans, pid_t child) {
  for (int i = 0; i < orphans->n; i++)
    if (orphans->before[i] == child) return true;
  return false;
}

/* Sends each orphan the signal (0: none); returns how many there still are. */
static int reap(const struct fold_reaper *orphans, int number) {
  pid_t children[FOLD_REAPER_MOST];
  int left = 0, n = fold_proc_children(0, children, FOLD_REAPER_MOST);
  for (int i = 0; i < n; i++) {
    if (was_there(orphans, children[i]) || waitpid(children[i], NULL, WNOHANG) == children[i]) continue;
    if (number) kill(children[i], number);
    left++;
  }
  return left;
}

void fold_reaper_end(const struct fold_reaper *orphans, double patience) {
  double end = fold_now() + patience;
  while (reap(orphans, 0) > 0 && fold_now() < end) usleep(2000);
  if (reap(orphans, SIGTERM) > 0)
    for (end = fold_now() + 5; reap(orphans, 0) > 0 && fold_now() < end;) usleep(2000);
  for (end = fold_now() + 2; reap(orphans, SIGKILL) > 0 && fold_now() < end;) usleep(2000);
}
