/* orphans.c: see orphans.h. Uses Linux's child subreaper and /proc. */
#include "base/orphans.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fold.h"

/* Asked once in a process, since each short run's judges ask. */
bool fold_proc_is_ours(void) {
  static pid_t asked;
  static bool ours;
  char own[16] = "";
  const pid_t process = getpid();
  if (asked == process) return ours;
  ours = readlink("/proc/self", own, sizeof own - 1) > 0 && strtol(own, NULL, 10) == process;
  asked = process;
  return ours;
}

static int read_children(pid_t *children) {
  FILE *file = fold_proc_is_ours() ? fopen("/proc/thread-self/children", "re") : NULL;
  int n = 0;
  while (file && n < FOLD_ORPHANS_MOST && fscanf(file, "%d", &children[n]) == 1) n++;
  if (file) fclose(file);
  return n;
}

void fold_orphans_adopt(struct fold_orphans *orphans) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  orphans->n = read_children(orphans->before);
}

static bool was_there(const struct fold_orphans *orphans, pid_t child) {
  for (int i = 0; i < orphans->n; i++)
    if (orphans->before[i] == child) return true;
  return false;
}

/* Sends each orphan the signal (0: none); returns how many there still are. */
static int reap(const struct fold_orphans *orphans, int number) {
  pid_t children[FOLD_ORPHANS_MOST];
  int left = 0, n = read_children(children);
  for (int i = 0; i < n; i++) {
    if (was_there(orphans, children[i]) || waitpid(children[i], NULL, WNOHANG) == children[i]) continue;
    if (number) kill(children[i], number);
    left++;
  }
  return left;
}

void fold_orphans_end(const struct fold_orphans *orphans, double patience) {
  double end = fold_now() + patience;
  while (reap(orphans, 0) > 0 && fold_now() < end) usleep(2000);
  if (reap(orphans, SIGTERM) > 0)
    for (end = fold_now() + 1; reap(orphans, 0) > 0 && fold_now() < end;) usleep(2000);
  for (end = fold_now() + 2; reap(orphans, SIGKILL) > 0 && fold_now() < end;) usleep(2000);
}
