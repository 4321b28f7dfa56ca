/* test_contention.c: the processes that keep a machine busy run, stop, and are gone with who started them, whenever that is. */
#include "contention.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TRIALS = 100, PATIENCE_MS = 20000 };

/* How many of this process's children are in a state of these, or in any with NULL. */
static int children_in(const char *states) {
  DIR *folder = opendir("/proc");
  int n = 0;
  for (struct dirent *e; (e = readdir(folder));) {
    char path[300], state = 0;
    int parent = -1;
    snprintf(path, sizeof path, "/proc/%s/stat", e->d_name);
    FILE *stat = fopen(path, "r");
    if (stat == NULL) continue;
    const bool ours = fscanf(stat, "%*d (%*[^)]) %c %d", &state, &parent) == 2 && parent == getpid();
    n += ours && (states == NULL || strchr(states, state));
    fclose(stat);
  }
  closedir(folder);
  return n;
}

static bool soon(int n, const char *states) {
  for (int ms = 0; ms < PATIENCE_MS; ms++, usleep(1000))
    if (children_in(states) == n) return true;
  return false;
}

Test(contention, runs_pauses_and_ends) {
  cr_assert_eq(fold_contention_begin().code, FOLD_OK);
  const int n = children_in(NULL);
  cr_assert_geq(n, 1);
  for (int turn = 0; turn < 3; turn++) {
    cr_expect(soon(n, "RS"), "turn %d: %d of %d run", turn, children_in("RS"), n);
    fold_contention_pause();
    cr_expect(soon(n, "T"), "turn %d: %d of %d are stopped", turn, children_in("T"), n);
    cr_assert_eq(fold_contention_begin().code, FOLD_OK);
    cr_expect_eq(children_in(NULL), n, "started once");
  }
  fold_contention_end();
  cr_expect_eq(children_in(NULL), 0);
  cr_assert_eq(fold_contention_begin().code, FOLD_OK);
  cr_expect_eq(children_in(NULL), n);
  fold_contention_end();
}

/* Pages of a process's memory; 0: it is none. */
static long pages_of(pid_t process) {
  char path[64];
  long pages = 0;
  snprintf(path, sizeof path, "/proc/%d/statm", process);
  FILE *file = fopen(path, "r");
  if (file && fscanf(file, "%ld", &pages) != 1) pages = 0;
  if (file) fclose(file);
  return pages;
}

/* How many of this process's children have room for more than a cache beside what they have of it. */
static int children_on_memory(void) {
  const long enough = pages_of(getpid()) + (8 << 20) / sysconf(_SC_PAGESIZE);
  FILE *file = fopen("/proc/thread-self/children", "r");
  int n = 0;
  for (pid_t child; file && fscanf(file, "%d", &child) == 1;) n += pages_of(child) > enough;
  if (file) fclose(file);
  return n;
}

Test(contention, every_other_one_works_on_memory) {
  cr_assert_eq(fold_contention_begin().code, FOLD_OK);
  const int n = children_in(NULL);
  for (int ms = 0; ms < PATIENCE_MS && children_on_memory() != (n + 1) / 2; ms++) usleep(1000);
  cr_expect_eq(children_on_memory(), (n + 1) / 2, "%d of %d", children_on_memory(), n);
  fold_contention_end();
}

/* Whoever keeps the write end of a pipe open keeps its reader waiting: that is how a caller of a killed command hangs. */
Test(contention, who_is_killed_after_a_pause_leaves_nobody) {
  for (int trial = 0; trial < TRIALS; trial++) {
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      dup2(ends[1], STDOUT_FILENO);
      fold_contention_begin();
      fold_contention_pause();
      raise(SIGKILL);
    }
    close(ends[1]);
    waitpid(child, NULL, 0);
    struct pollfd end = {.fd = ends[0], .events = POLLIN};
    cr_assert_eq(poll(&end, 1, PATIENCE_MS), 1, "trial %d: somebody still holds the pipe", trial);
    close(ends[0]);
  }
}
