/* ranks/end.c: ends the ranks of a world, whatever state they are in. No process is left, and nothing waits for long.
 *
 * Promised: this takes at most about 8 seconds, whatever the ranks and the launcher do. Ranks on this machine are found
 * by the world's secret on their command lines, so even one that never connected, or that is stopped, is found.
 */
#include "ranks/start.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

bool fold_world_launcher_ended(struct fold_world *w) {
  if (w->launcher > 0 && waitpid(w->launcher, NULL, WNOHANG) == w->launcher) w->launcher = 0;
  return w->launcher == 0;
}

static void wait_for_launcher(struct fold_world *w, double seconds) {
  double end = fold_now() + seconds;
  while (!fold_world_launcher_ended(w) && fold_now() < end) usleep(2000);
}

/* Whether a process was started for this world: its command line has the secret. With `rank`, only if it runs the
 * program that ranks run: the launcher's command line ends with the ranks' own. */
static bool is_ours(const struct fold_world *w, const char *pid, bool rank) {
  char path[300], line[8192];
  struct stat runs;
  snprintf(path, sizeof path, "/proc/%.20s/exe", pid);
  if (rank && (stat(path, &runs) || runs.st_dev != w->program.st_dev || runs.st_ino != w->program.st_ino)) return false;
  snprintf(path, sizeof path, "/proc/%.20s/cmdline", pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t n = fd >= 0 ? read(fd, line, sizeof line) : 0;
  if (fd >= 0) close(fd);
  return n > 0 && memmem(line, (size_t)n, w->secret, strlen(w->secret));
}

static unsigned kill_ours(const struct fold_world *w, bool rank) {
  DIR *all = opendir("/proc");
  unsigned found = 0;
  for (struct dirent *entry; all && (entry = readdir(all));) {
    pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
    if (pid > 1 && pid != getpid() && is_ours(w, entry->d_name, rank)) found += kill(pid, SIGKILL) == 0;
  }
  if (all) closedir(all);
  return found;
}

/* Kills until none is found any more: a killed process takes a moment to be gone. */
static void kill_all_ours(const struct fold_world *w) {
  double end = fold_now() + 2;
  while (kill_ours(w, false) > 0 && fold_now() < end) usleep(2000);
}

void fold_world_end_launcher(struct fold_world *w) {
  wait_for_launcher(w, 0.5);
  kill_ours(w, true);
  if (w->launcher > 0) {
    kill(-w->launcher, SIGTERM);
    wait_for_launcher(w, 3);
  }
  if (w->launcher > 0) {
    kill(-w->launcher, SIGKILL);
    wait_for_launcher(w, 2);
  }
  kill_all_ours(w);
}

/* The guard ends after the launcher has ended; when its pipe is closed, it ends the launcher. */
static void end_guard(struct fold_world *w, bool well) {
  if (well) wait_for_launcher(w, 5);
  if (w->harness_pipe >= 0) close(w->harness_pipe);
  wait_for_launcher(w, 8);
  if (w->launcher > 0) {
    kill(w->launcher, SIGKILL);
    wait_for_launcher(w, 1);
  }
  kill_all_ours(w);
}

fold_status fold_world_end(struct fold_world *w, bool well) {
  if (well) {
    struct fold_question end = {.kind = WIRE_END, .what = "ending"};
    fold_status status = fold_world_ask(w, 0, w->ranks, &end, NULL);
    if (status.code != FOLD_OK) return status; /* the failure has ended the world */
  }
  for (unsigned r = 0; w->rank && r < w->ranks; r++)
    if (w->rank[r].fd >= 0) close(w->rank[r].fd); /* the rank sees that, and ends itself */
  if (w->secret[0]) end_guard(w, well);
  if (w->output >= 0) close(w->output);
  for (unsigned r = 0; w->rank && r < w->ranks; r++) free(w->rank[r].calls);
  free(w->rank);
  free(w->polled);
  w->rank = NULL;
  w->polled = NULL;
  w->ranks = 0;
  w->launcher = 0;
  w->output = w->harness_pipe = -1;
  return fold_ok();
}
