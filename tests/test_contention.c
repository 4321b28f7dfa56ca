/* test_contention.c: the processes that keep a machine busy run, stop, and end with the process that started them, at
 * whatever moment that ends. */
#include "rig/contention.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "files_open.h"

enum { TRIALS = 100, TIMEOUT_MS = 20000, MOST = 16 };

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
  for (int ms = 0; ms < TIMEOUT_MS; ms++, usleep(1000))
    if (children_in(states) == n) return true;
  return false;
}

static cpu_set_t processors(void) {
  cpu_set_t all;
  cr_assert_eq(sched_getaffinity(0, sizeof all, &all), 0);
  return all;
}

/* One a processor. */
static int wanted(void) {
  const cpu_set_t all = processors();
  return CPU_COUNT(&all) < MOST ? CPU_COUNT(&all) : MOST;
}

Test(contention, runs_pauses_and_ends) {
  const int n = wanted();
  cr_assert_eq(fold_contention_begin().code, FOLD_OK);
  cr_assert_eq(children_in(NULL), n);
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

static void stay_on_one_processor(void) {
  const cpu_set_t all = processors();
  cpu_set_t one;
  int first = 0;
  while (!CPU_ISSET(first, &all)) first++;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  cr_assert_eq(sched_setaffinity(0, sizeof one, &one), 0);
}

/* The first one does: also where there is one alone. */
Test(contention, every_other_one_works_on_memory) {
  for (int turn = 0; turn < 2; turn++) {
    if (turn == 1) stay_on_one_processor();
    const int n = wanted();
    cr_assert_eq(fold_contention_begin().code, FOLD_OK);
    for (int ms = 0; ms < TIMEOUT_MS && children_on_memory() != (n + 1) / 2; ms++) usleep(1000);
    cr_expect_eq(children_on_memory(), (n + 1) / 2, "%d of %d", children_on_memory(), n);
    fold_contention_end();
  }
}

Test(contention, who_starts_them_keeps_his_signals_and_descriptors) {
  sigset_t before, after;
  const unsigned n = files_open();
  pthread_sigmask(SIG_SETMASK, NULL, &before);
  cr_assert_eq(fold_contention_begin().code, FOLD_OK);
  pthread_sigmask(SIG_SETMASK, NULL, &after);
  cr_expect_eq(files_open(), n);
  fold_contention_end();
  for (int number = 1; number < 32; number++)
    cr_expect_eq(sigismember(&after, number), sigismember(&before, number), "signal %d", number);
}

static unsigned long blocked_by(pid_t process) {
  char path[64], line[200];
  unsigned long mask = 0;
  snprintf(path, sizeof path, "/proc/%d/status", process);
  FILE *file = fopen(path, "r");
  while (file && fgets(line, sizeof line, file) && sscanf(line, "SigBlk: %lx", &mask) != 1) continue;
  if (file) fclose(file);
  return mask;
}

/* It would run a handler of the program's between fork and the end. */
Test(contention, no_signal_that_can_be_blocked_reaches_them) {
  const unsigned long all = 0x7fffffffUL & ~(1UL << (SIGKILL - 1)) & ~(1UL << (SIGSTOP - 1));
  pid_t child;
  cr_assert_eq(fold_contention_begin().code, FOLD_OK);
  FILE *file = fopen("/proc/thread-self/children", "r");
  while (file && fscanf(file, "%d", &child) == 1) cr_expect_eq(blocked_by(child) & all, all, "%lx", blocked_by(child));
  if (file) fclose(file);
  fold_contention_end();
}

/* 0 where it starts as many of its own, and ends them. */
static int begin_in_child(int n) {
  if (fold_contention_begin().code != FOLD_OK || children_in(NULL) != n) return 1;
  fold_contention_end();
  return children_in(NULL) != 0 ? 2 : 0;
}

static int stop_in_child(void) {
  fold_contention_pause();
  fold_contention_end();
  return 0;
}

Test(contention, a_child_of_who_started_them_has_its_own_and_stops_no_others) {
  const int n = wanted();
  cr_assert_eq(fold_contention_begin().code, FOLD_OK);
  for (int begins = 0; begins <= 1; begins++) {
    int status = -1;
    const pid_t child = fork();
    if (child == 0) _exit(begins ? begin_in_child(n) : stop_in_child());
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect_eq(status, 0, "begins %d: %x", begins, (unsigned)status);
    cr_expect_eq(children_in("RS"), n, "begins %d: %d run", begins, children_in("RS"));
  }
  fold_contention_end();
}

/* 0 where it is reported; as a user for whom the limit holds. */
static int begin_without(int resource, const char *text) {
  const rlim_t most = resource == RLIMIT_NOFILE ? 3 : 0;
  if (setrlimit(resource, &(struct rlimit){most, most}) != 0 || (geteuid() == 0 && setuid(65534) != 0)) return 1;
  const fold_status status = fold_contention_begin();
  return status.code != FOLD_ENVIRONMENT || strncmp(status.text, text, strlen(text)) != 0 ? 2 : 0;
}

Test(contention, what_keeps_them_from_starting_is_told) {
  static const struct {
    int resource;
    const char *text;
  } rows[] = {{RLIMIT_NPROC, "no process to keep the machine busy: "},
              {RLIMIT_NOFILE, "no pipe for processes that keep the machine busy: "}};
  for (size_t i = 0; i < 2; i++) {
    int status = -1;
    const pid_t child = fork();
    if (child == 0) {
      for (int fd = 3; fd < 256; fd++) close(fd);
      _exit(begin_without(rows[i].resource, rows[i].text));
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect_eq(status, 0, "row %zu: %x", i, (unsigned)status);
  }
}

/* A process that keeps the write end of a pipe open keeps its reader waiting: that is how a caller of a killed command hangs. */
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
    cr_assert_eq(poll(&end, 1, TIMEOUT_MS), 1, "trial %d: somebody still holds the pipe", trial);
    close(ends[0]);
  }
}
