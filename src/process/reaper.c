/* reaper.c: see reaper.h. Uses Linux's child subreaper. */
#include "process/reaper.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fold.h"
#include "process/proc.h"

void fold_reaper_begin(struct fold_reaper *reaper) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  reaper->n = fold_proc_children(0, reaper->before, FOLD_REAPER_MOST);
}

static bool was_there(const struct fold_reaper *reaper, pid_t child) {
  for (int i = 0; i < reaper->n; i++)
    if (reaper->before[i] == child) return true;
  return false;
}

/* Sends each orphan the signal (0: none); returns how many there still are. */
static int reap(const struct fold_reaper *reaper, int number) {
  pid_t children[FOLD_REAPER_MOST];
  int left = 0, n = fold_proc_children(0, children, FOLD_REAPER_MOST);
  for (int i = 0; i < n; i++) {
    if (was_there(reaper, children[i]) || waitpid(children[i], NULL, WNOHANG) == children[i]) continue;
    if (number) kill(children[i], number);
    left++;
  }
  return left;
}

void fold_reaper_end(const struct fold_reaper *reaper, double timeout) {
  double end = fold_now() + timeout;
  while (reap(reaper, 0) > 0 && fold_now() < end) usleep(2000);
  if (reap(reaper, SIGTERM) > 0)
    for (end = fold_now() + 5; reap(reaper, 0) > 0 && fold_now() < end;) usleep(2000);
  for (end = fold_now() + 2; reap(reaper, SIGKILL) > 0 && fold_now() < end;) usleep(2000);
}
